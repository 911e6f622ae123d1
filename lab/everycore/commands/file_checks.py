# SPDX-License-Identifier: MIT
"""The parts of `rom check`, `efi check` and `canary check` that are the same."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import typer

from everycore.commands.options import InputErrors, read_input
from everycore.environment.context import Context
from everycore.environment.outputs import refuse_input
from everycore.firmware import sarif
from everycore.firmware.efi import linker_map
from everycore.firmware.efi.linker_map import Symbols
from everycore.firmware.findings import CheckedFile, Rule

MOST_MAP_BYTES = 64 << 20


def refuse_sarif_of_input(
    context: Context, sarif_file: Path | None, files: Sequence[str | Path | None]
) -> None:
    """Refuse a SARIF file that is one of the files that are read; None: it was not named."""
    if sarif_file is not None:
        read = [context.cwd / name for name in files if name is not None]
        refuse_input("--sarif", context.cwd / sarif_file, read)


def read_map(context: Context, map_file: Path, base: int) -> Symbols:
    """Read the linker's map of an image whose preferred base is given."""
    remedy = "name the map that the linker wrote"
    data = read_input(context, str(map_file), MOST_MAP_BYTES, remedy, "no map is so large")
    return linker_map.read(data.decode("utf-8", errors="replace"), str(map_file), base)


def show(context: Context, checked: CheckedFile, json: bool) -> None:
    """Show what was found in a file."""
    if json:
        for line in checked.json_lines():
            context.print_raw(line)
        return
    for style, line in checked.lines():
        context.out.print(line, style=style, markup=False, soft_wrap=True)
    for note in checked.notes:
        context.warn(f"{checked.name}: {note}")


def end(
    errors: InputErrors,
    command: str,
    found: Sequence[CheckedFile],
    rules: Iterable[Rule],
    sarif_file: Path | None,
    addresses: str = sarif.ABSOLUTE,
) -> typer.Exit:
    """Write what was found in files as SARIF, and return the command's end."""
    if sarif_file is not None:
        errors.write_sarif(sarif_file, sarif.document(command, rules, found, addresses))
    return errors.end(any(checked.has_violations for checked in found))
