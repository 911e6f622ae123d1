# SPDX-License-Identifier: MIT
"""everycore canary: where do functions take their stack canaries from, and what is wrong?"""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from everycore.binary import pe
from everycore.binary.malformed import named
from everycore.commands import file_checks
from everycore.commands.options import InputErrors, Json, SarifFile, context_of, read_input
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.firmware.canary import check_binary as checking
from everycore.firmware.canary import decoder
from everycore.firmware.canary.arrays import Arrays
from everycore.firmware.canary.canary_output import Checked
from everycore.firmware.canary.canary_rules import RULES
from everycore.firmware.canary.check_binary import Options
from everycore.firmware.canary.policy import Policy, Wanted, missing_symbol

MOST_FILE_BYTES = 1 << 30  # an unstripped kernel has 500 MiB
PROGRAMS = "name an ELF or PE file"
LARGE = "name a program"

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check the stack canaries that compilers put into a binary.",
)


@app.callback()
def canary() -> None:
    """Commands of stack canaries; check is the one there is."""


@app.command("check")
def check(
    command: typer.Context,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="ELF programs, libraries, objects; PE images."),
    ],
    wanted: Annotated[
        Wanted, typer.Option("--policy", help="Where guards must come from.")
    ] = Wanted.ANY,
    register: Annotated[
        str, typer.Option("--register", metavar="NAME", help="The register wanted: tpidr_el0, fs.")
    ] = "",
    offset: Annotated[
        str, typer.Option("--offset", metavar="N", help="The offset wanted, from the register.")
    ] = "",
    symbol: Annotated[
        str,
        typer.Option("--symbol", metavar="NAME", help="The variable that holds the guard."),
    ] = "",
    arrays: Annotated[
        Arrays, typer.Option("--arrays", help="Arrays that ask for a canary, by DWARF.")
    ] = Arrays.ANY,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="FUNCTION", help="Leave out this function; repeatable."),
    ] = None,
    residue: Annotated[
        bool, typer.Option("--residue", help="Run functions; is the guard in a register at return?")
    ] = False,
    map_file: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE", help="The linker's map of a PE image, for names."),
    ] = None,
    sarif_file: SarifFile = None,
    json: Json = False,
) -> None:
    """Check binaries; exit code 1 if one violates a rule."""
    context = context_of(command)
    file_checks.refuse_sarif_of_input(context, sarif_file, [*files, map_file])
    if map_file and len(files) != 1:
        raise EverycoreError(f"--map belongs to one image, not to {len(files)}", "check one image")
    decoder.require()
    options = Options(
        policy=Policy(wanted, register.lower(), _number(offset), symbol),
        arrays=arrays,
        allowed=frozenset(allow or ()),
        residue=residue,
    )
    found: list[Checked] = []
    errors = InputErrors(context)
    with Progress(context.err, "checking", len(files)) as progress:
        for name in files:
            progress.step(name)
            checked = errors.of(name, partial(_check, context, name, map_file, options))
            found += [checked] if checked else []
    for checked in found:
        file_checks.show(context, checked, json)
    raise file_checks.end(errors, "canary check", found, RULES.values(), sarif_file)


def _number(text: str) -> int | None:
    if not text:
        return None
    try:
        return int(text, 0)
    except ValueError:
        raise EverycoreError(
            f"--offset {text} is no number", "name it as the compiler has it: 16 or 0x10"
        ) from None


def _check(context: Context, name: str, map_file: Path | None, options: Options) -> Checked:
    data = read_input(context, name, MOST_FILE_BYTES, PROGRAMS, LARGE)
    symbol = options.policy.symbol
    names: dict[int, str] = {}
    if map_file is not None:
        names = _map_names(context, name, map_file, data)
    with named(name):
        program = checking.read(data, name, names, [symbol] if symbol else [])
        if missing_symbol(program, options.policy):
            raise EverycoreError(
                f"{name}: no variable '{symbol}' in its symbol table",
                "name the guard with --symbol as the linker has it",
            )
        return checking.check(program, data, options)


def _map_names(context: Context, name: str, map_file: Path, data: bytes) -> dict[int, str]:
    if not pe.is_pe(data):
        raise EverycoreError(f"{name} is no PE image", "--map is for these; ELF has symbols itself")
    with named(name):
        base = pe.read(data).base
    found = file_checks.read_map(context, map_file, base)
    return dict(zip(found.addresses, found.names, strict=True))
