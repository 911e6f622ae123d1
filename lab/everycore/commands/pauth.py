# SPDX-License-Identifier: MIT
"""everycore pauth: what does pointer authentication cost in an emulator?"""

import json as jsonlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    Json,
    Out,
    context_of,
    print_output_path,
    split_commas,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, UnavailableError
from everycore.environment.progress import Progress
from everycore.model.run_lines import Conditions, PauthLine, PauthTime, Run
from everycore.pauth import (
    counting,
    emulators,
    interleaved_runs,
    primitive,
    programs,
    qemu_build,
    stored_lines,
    system_boot,
    variants,
)
from everycore.pauth.emulators import Emulator
from everycore.pauth.programs import Program
from everycore.pauth.share import share
from everycore.pauth.variants import Variant
from everycore.report import pauth_tables as report
from everycore.report.pauth_terminal import pauth_table
from everycore.run import machine
from everycore.run.session import conditions, open_session, pin, run_of

LEAST_SCALE, MOST_SCALE = 0.001, 1000.0

Take = Callable[[Sequence[PauthLine | Conditions]], None]


@dataclass(frozen=True, slots=True)
class EmulationMode:
    """The differences between programs alone and a system."""

    command: str  # as runs are stored
    emulator: str
    package: str
    identify: Callable[[Context, Sequence[str]], Emulator]
    programs: Sequence[str]
    make: Callable[[Context, str, str, bool], Program]


USER = EmulationMode(
    "pauth",
    emulators.PROGRAM,
    emulators.PACKAGE,
    emulators.identify,
    tuple(programs.PROGRAMS),
    programs.make,
)
SYSTEM = EmulationMode(
    "pauth-system",
    system_boot.EMULATOR,
    system_boot.PACKAGE,
    system_boot.identify,
    tuple(system_boot.PROGRAMS),
    system_boot.make,
)


@dataclass(frozen=True, slots=True)
class PauthOptions:
    """The options of the command line."""

    system: Annotated[
        bool, typer.Option("--system", help="Boot a kernel, under qemu-system-aarch64.")
    ] = False
    qemu_: Annotated[
        list[Path] | None,
        typer.Option("--qemu", metavar="PATH", help="An emulator; repeatable. Default: PATH's."),
    ] = None
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", metavar="SUITE", help="The emulator of a Debian suite (trixie); repeatable."
        ),
    ] = None
    build_qemu: Annotated[
        bool,
        typer.Option(
            "--build-qemu",
            help="Build QEMU from a suite's sources (trixie), with our pointer authentication.",
        ),
    ] = False
    static: Annotated[
        bool,
        typer.Option("--static", help="With --build-qemu: a program that needs no library."),
    ] = False
    program: Annotated[
        list[str] | None,
        typer.Option("--program", metavar="NAME", help="Only this program; repeatable."),
    ] = None
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            "--algorithm",
            metavar="NAME",
            help="default, off, impdef, qarma5, qarma3, aes128; repeatable. "
            "Default: off,impdef,qarma5.",
        ),
    ] = None
    rounds: Annotated[
        int, typer.Option("--rounds", metavar="N", min=1, max=99, help="Runs of each.")
    ] = 3
    scale: Annotated[
        float,
        typer.Option(
            "--scale", metavar="F", help="So many times the work, in whole units. Default: 1."
        ),
    ] = 1.0
    cc: Annotated[str, typer.Option("--cc", metavar="CC", help="C compiler for AArch64 Linux.")] = (
        programs.COMPILER
    )
    update: Annotated[bool, typer.Option("--update", help="Take what the suites have now.")] = False
    primitive_: Annotated[
        bool,
        typer.Option(
            "--primitive", help="No programs: cycles of one code, beside QEMU's own functions."
        ),
    ] = False
    out: Out = None
    json: Json = False

    def refuse_contradictions(self) -> None:
        """Refuse options that do not go together."""
        if not LEAST_SCALE <= self.scale <= MOST_SCALE:
            raise EverycoreError(f"--scale {self.scale} is not from {LEAST_SCALE} to {MOST_SCALE}")
        if self.primitive_ and (self.update or self.stored().keys() - {"rounds"}):
            raise EverycoreError(
                "--primitive runs no emulator", "it goes with --rounds, --out and --json alone"
            )
        if self.static and (self.system or not self.build_qemu):
            raise EverycoreError(
                "--static is of a linux-user emulator that is built here",
                "everycore pauth --build-qemu",
            )
        if self.system and "default" in split_commas(self.algorithm):
            raise EverycoreError("--system has no algorithm 'default'", "machines name their CPU")

    def stored(self) -> dict[str, object]:
        """Return the options as a run of programs stores them."""
        options = {
            "system": self.system,
            "qemu": [path.name for path in self.qemu_ or ()],
            "suite": split_commas(self.suite),
            "build-qemu": self.build_qemu,
            "static": self.static,
            "program": split_commas(self.program),
            "algorithm": split_commas(self.algorithm),
            "rounds": self.rounds,
            "scale": self.scale if self.scale != 1.0 else None,
            "cc": Path(self.cc).name if self.cc != programs.COMPILER else None,
        }
        return {name: value for name, value in options.items() if value}


@with_option_sets
def pauth(command: typer.Context, options: PauthOptions) -> None:
    """Time programs in QEMU, with pointer authentication on and off."""
    output = SampleOutput.of(context_of(command), options.out, options.json)
    options.refuse_contradictions()
    if options.primitive_:
        _time_primitive(output, options.rounds)
    elif _time_programs(output, SYSTEM if options.system else USER, options):
        raise typer.Exit(1)


def _time_programs(output: SampleOutput, mode: EmulationMode, options: PauthOptions) -> int:
    """Time programs in emulators; return how many runs were wrong."""
    context, algorithms = output.context, split_commas(options.algorithm)
    try:
        found = _emulators(context, mode, options)
        every = variants.variants_of_all(found, algorithms or variants.DEFAULT, bool(algorithms))
        chosen = _programs(context, mode, options)
    except UnavailableError as error:
        if output.json:
            context.print_raw(jsonlib.dumps({"type": "skip", "detail": error.message}))
        raise
    by = counting.counter([*found, *_installed(context, mode, found)])
    wrong = 0
    with _stored(output, _run(context, mode, options)) as take:
        take([emulator.line() for emulator in found])
        for program in chosen:
            result = _measure(context, program, options.scale, every, options.rounds, by)
            if options.system:
                result = _with_shares(context, result, program, options.scale, every)
            take(result.lines())
            wrong += _complain(context, result.rows)
    if not output.json:
        _say_defaults(context, found)
    return wrong


def _time_primitive(output: SampleOutput, rounds: int) -> None:
    """Time one code of a pointer, beside QEMU's own functions."""
    context = output.context
    session = pin(context, open_session(context), primitive.last_core())
    program = primitive.theirs(context, session, primitive.SUBJECTS)
    plan = primitive.plan(session, program)
    options = {"primitive": True, "rounds": rounds}
    run = run_of(context, session, primitive.greeting(session), "pauth-primitive", options)
    steps = rounds * (len(plan.functions) + 1) + 1
    with _stored(output, run) as take:
        with Progress(context.err, "measuring", steps) as progress:
            progress.step("comparing")
            equal = primitive.compare(context, program)
            found = primitive.measure(context, session, program, plan, rounds, progress.step)
        figures = primitive.figures(program, plan, found)
        take([primitive.compared(program, equal), *figures])


@contextmanager
def _stored(output: SampleOutput, run: Run) -> Iterator[Take]:
    """Yield a function that stores and prints the lines of whole tables, as they come."""
    context = output.context
    path = output.path_of(run)
    legends: dict[str, None] = {}
    if output.json:
        context.print_raw(encode_line(run))
    with output.writer(run, path) as writer:

        def take(lines: Sequence[PauthLine | Conditions]) -> None:
            for line in lines:
                writer.write(line)
                if output.json:
                    context.print_raw(encode_line(line))
            for table in () if output.json else report.tables(lines):
                context.out.print(pauth_table(table, run.source()))
                legends[table.legend] = None

        take(conditions(context, machine.gather(context), run.machine.cpu_index))
        yield take
        take(conditions(context, machine.gather(context), run.machine.cpu_index))
    for legend in legends:
        context.out.print(legend, style="dim", markup=False)
    print_output_path(context, "samples", path)


def _emulators(context: Context, mode: EmulationMode, options: PauthOptions) -> list[Emulator]:
    """Return the emulators that are named; without any, the one that is installed."""
    argvs: list[tuple[str, ...]] = [_argv(context, mode, path) for path in options.qemu_ or ()]
    for suite in split_commas(options.suite):
        root = emulators.packaged(context, suite, options.update, mode.package)
        argvs.append(emulators.started_in(root, mode.emulator))
    if options.build_qemu:
        argvs += [(str(path),) for path in _built(context, mode, options)]
    if not argvs:
        path = shutil.which(mode.emulator, path=context.env.get("PATH", ""))
        if path is None:
            raise EverycoreError(
                f"no {mode.emulator} is installed",
                "--suite trixie takes Debian's, without installing it; --qemu PATH names one",
            )
        argvs.append((path,))
    return emulators.numbered([mode.identify(context, argv) for argv in argvs])


def _built(context: Context, mode: EmulationMode, options: PauthOptions) -> Iterator[Path]:
    tree = catalog.tree_of(context)
    for suite in split_commas(options.suite) or (programs.SUITE,):
        recipe = qemu_build.Recipe(suite, system=mode is SYSTEM, static=options.static)
        yield qemu_build.build_qemu(context, tree, recipe, options.update)


def _run(context: Context, mode: EmulationMode, options: PauthOptions) -> Run:
    """Describe the run. The compiler is that of the programs which are compiled here."""
    tree = catalog.tree_of(context)
    return Run(
        command=mode.command,
        date=context.now().isoformat(timespec="seconds"),
        everycore=catalog.version(tree),
        revision=machine.revision(context, tree),
        machine=machine.describe(machine.gather(context)),
        target="host",
        compiler=programs.compiler_name(context, options.cc),
        flags=programs.FLAGS,
        counter=interleaved_runs.COUNTER,
        options=options.stored(),
    )


def _argv(context: Context, mode: EmulationMode, path: Path) -> tuple[str, ...]:
    place = context.cwd / path
    if not place.is_file():
        raise EverycoreError(f"--qemu {path} is no file", f"name a {mode.emulator}")
    return (str(place),)


def _installed(context: Context, mode: EmulationMode, found: Sequence[Emulator]) -> list[Emulator]:
    """The installed one, which may count where those that are measured cannot."""
    path = shutil.which(mode.emulator, path=context.env.get("PATH", ""))
    if path is None or any(emulator.counts for emulator in found):
        return []
    try:
        return [mode.identify(context, (path,))]
    except EverycoreError:
        return []


def _programs(context: Context, mode: EmulationMode, options: PauthOptions) -> list[Program]:
    """Return the programs. A named program that cannot be had is an error; any other is reported
    and left out."""
    cc, update = options.cc, options.update
    if names := split_commas(options.program):
        return [mode.make(context, name, cc, update) for name in dict.fromkeys(names)]
    found, errors = [], []
    for name in mode.programs:
        try:
            found.append(mode.make(context, name, cc, update))
        except EverycoreError as error:
            errors.append(error)
            context.warn(f"skipped: {name}: {error.message}. {error.hint}".rstrip())
    if not found:
        fetched = all(isinstance(error, UnavailableError) for error in errors)
        kind = UnavailableError if fetched else EverycoreError
        raise kind("no program can be had", programs.COMPILER_HINT)
    return found


def _measure(
    context: Context,
    program: Program,
    scale: float,
    every: Sequence[Variant],
    rounds: int,
    by: Emulator | None,
) -> stored_lines.ProgramTable:
    count = None
    with Progress(context.err, program.name, len(every) * rounds + 2) as progress:
        found = interleaved_runs.run_in_turn(context, program, scale, every, rounds, progress.step)
        if by is not None:
            progress.step("counting")
            try:
                count = counting.count(context, by, program, scale)
            except EverycoreError as error:
                context.warn(f"{error.message}. {error.hint}".rstrip())
    return stored_lines.table_of(program, scale, found, count)


def _with_shares(
    context: Context,
    result: stored_lines.ProgramTable,
    program: Program,
    scale: float,
    every: Sequence[Variant],
) -> stored_lines.ProgramTable:
    """The share of each variant that runs well; why it is not known is told once."""
    rows, stripped = [], set()
    with Progress(context.err, "sampling", len(every)) as progress:
        for row, variant in zip(result.rows, every, strict=True):
            progress.step(variant.name)
            found = None
            if not row.wrong and row.emulator not in stripped:
                try:
                    found = share(context, variant, program, scale)
                except EverycoreError as error:
                    context.warn(f"no shares of time: {error.message}")
                    return result
                if found is None:
                    stripped.add(row.emulator)
            rows.append(row.replace(share=found))
    return replace(result, rows=tuple(rows), is_sampled=True)


def _complain(context: Context, rows: Sequence[PauthTime]) -> int:
    """Print what went wrong; return how many runs were wrong."""
    wrong = [row for row in rows if row.wrong]
    for row in wrong:
        text = f"{report.WRONG} {row.program} under {row.emulator} {row.algorithm}: {row.wrong}"
        context.err.print(text, style="bold red", markup=False, soft_wrap=True)
    return len(wrong)


def _say_defaults(context: Context, found: Sequence[Emulator]) -> None:
    for emulator in found:
        if emulator.signs_by_default is not None:
            does = "signs" if emulator.signs_by_default else "does not sign"
            text = f"{emulator.name} {does} where no -cpu is given"
            context.out.print(text, style="dim", markup=False)
