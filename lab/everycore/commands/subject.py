# SPDX-License-Identifier: MIT
"""everycore subject: what is measured in place, got, checked and counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from json import dumps
from typing import Annotated

import typer

from everycore import subjects
from everycore.commands.completion import complete_subjects, complete_targets
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    Json,
    Sizes,
    context_of,
    message_sizes,
    split_commas,
)
from everycore.compile import debs
from everycore.compile.catalog import tree_of
from everycore.compile.toolchains import DEFAULT_FLAGS
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.model.domain import Tree
from everycore.report import subject_tables as report
from everycore.run.session import split_flags
from everycore.subjects import (
    Function,
    NotCompiledError,
    Program,
    Subject,
    SubjectUnavailableError,
)
from everycore.subjects.ours import is_ours
from everycore.subjects.source_files import pinned, sources, sources_in

WHOLE = (512, 1500, 4096)  # bytes of messages that are counted as a whole


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check other people's kernels, and count their instructions.",
)
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...",
        help="Of catalog/subjects/, a kernel of ours, or a TOML file.",
        autocompletion=complete_subjects,
    ),
]
FunctionNames = Annotated[
    list[str] | None,
    typer.Option("--function", metavar="NAME", help="Only this function; repeatable."),
]
OtherTarget = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="NAME",
        help="Another target than that of the subject.",
        autocompletion=complete_targets,
    ),
]


@app.command("list")
def list_subjects(
    command: typer.Context,
    names: Names = None,
    json: Json = False,
) -> None:
    """List the subjects, their origin, and their functions."""
    context, tree = _world(command)
    every = [*subjects.load_subjects(tree), *subjects.kernel_subjects(tree)]
    chosen = [subjects.find_subject(tree, name) for name in names or ()] or every
    rows = [_listed(context, subject) for subject in chosen]
    if json:
        for row in rows:
            context.print_raw(dumps(row.as_json()))
    else:
        context.out.print(report.list_table(rows, functions=bool(names)))


@app.command("get")
def get_subjects(
    command: typer.Context,
    names: Names = None,
    update: Annotated[
        bool, typer.Option("--update", help="Lock what the suite of each has now, first.")
    ] = False,
) -> None:
    """Fetch the sources of subjects into the cache; each only once."""
    context, tree = _world(command)
    if not names:
        raise EverycoreError("get wants names", "everycore subject list")
    for subject in [subjects.find_subject(tree, name) for name in names]:
        if update and subject.package:
            pinned(context, subject, update=True)
        folder, version = sources(context, subject)
        origin = f"{subject.package} {version}" if subject.package else "no package"
        context.out.print(f"{subject.name}: {origin}, in {folder}", markup=False, soft_wrap=True)


@app.command("check")
def check_subjects(
    command: typer.Context,
    names: Names = None,
    function: FunctionNames = None,
    target: OtherTarget = "",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
) -> None:
    """Compile, call and compare answers.

    By default of all of catalog/subjects/.
    """
    _run(command, names, _Options(function, None, target, cc, flags, True, json))


@app.command("count")
def count_subjects(
    command: typer.Context,
    names: Names = None,
    function: FunctionNames = None,
    key_bits: Annotated[
        list[int] | None,
        typer.Option("--key-bits", metavar="N", help="128 (default), 192 or 256; repeatable."),
    ] = None,
    bytes_: Sizes = None,
    target: OtherTarget = "",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
) -> None:
    """Compare answers, and count instructions exactly.

    By default of all of catalog/subjects/.
    """
    whole = message_sizes(split_commas(bytes_)) or WHOLE
    _run(command, names, _Options(function, key_bits, target, cc, flags, False, json, whole))


@dataclass(frozen=True, slots=True)
class _Options:
    """Options that check and count have in common."""

    function: list[str] | None
    key_bits: list[int] | None
    target: str
    cc: str | None
    flags: str | None
    check_only: bool
    json: bool
    whole: Sequence[int] = ()


def _world(command: typer.Context) -> tuple[Context, Tree]:
    context = context_of(command)
    return context, tree_of(context)


def _listed(context: Context, subject: Subject) -> report.Listed:
    lock = subject.package and subject.lock.is_file() and pinned(context, subject, update=False)
    files = sources_in(lock) if lock else []
    return report.Listed(
        subject.name,
        subject.description,
        _origin(subject),
        subject.target,
        tuple(function.name for function in subject.functions),
        tuple(function.name for function in subject.measured),
        sum(file.size for file in files),
        not subject.package or (bool(files) and all(debs.is_cached(context, f) for f in files)),
    )


def _origin(subject: Subject) -> str:
    if subject.package:
        return f"{subject.suite} {subject.package}"
    if subject.setting:
        return f"{subject.setting}=FOLDER"
    return "everycore" if is_ours(subject) else str(subject.home)


def _run(command: typer.Context, names: list[str] | None, options: _Options) -> None:
    context, tree = _world(command)
    chosen = [subjects.find_subject(tree, name) for name in names or ()]
    chosen = chosen or subjects.load_subjects(tree)
    for bits in options.key_bits or ():
        if bits not in (128, 192, 256):
            raise EverycoreError(f"AES has no keys of {bits} bits", "128, 192 or 256")
    wanted = split_commas(options.function)
    for name in wanted:
        if not any(name == function.name for subject in chosen for function in subject.functions):
            chosen[0].function(name)
    plan = _Plan(
        tree,
        options.target,
        options.cc,
        DEFAULT_FLAGS if options.flags is None else tuple(split_flags(options.flags)),
        wanted,
        options.key_bits or [],
        options.check_only,
        options.whole,
    )
    found = _Found()
    for subject in chosen:
        _look_at(context, subject, plan, found)
    found.refuse_nothing()
    if options.json:
        for row in found.rows:
            context.print_raw(dumps(row.as_json()))
    else:
        for table in report.tables(found.rows, plan.whole):
            context.out.print(table)
        for table in report.beside(found.rows, plan.whole):
            context.out.print(table)
    for said in found.wrong:
        context.err.print(f"everycore: {said}", style="bold red", markup=False)
    if found.wrong:
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Plan:
    tree: Tree
    target: str
    cc: str | None
    flags: Sequence[str]
    functions: Sequence[str]  # none: all
    key_bits: Sequence[int]  # none: 128, or the first that a function has
    check_only: bool
    whole: Sequence[int]  # bytes of messages that are counted as a whole

    def of(self, subject: Subject) -> list[Function]:
        return [f for f in subject.functions if not self.functions or f.name in self.functions]


@dataclass(slots=True)
class _Found:
    rows: list[report.FunctionResult] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def refuse_nothing(self) -> None:
        if not self.rows and not self.wrong:
            raise EverycoreError("no subject could be looked at", "what each lacks is said above")


def _look_at(context: Context, subject: Subject, plan: _Plan, found: _Found) -> None:
    functions = plan.of(subject)
    if not functions:
        return
    try:
        program = subjects.build(context, plan.tree, subject, plan.cc, plan.flags, plan.target)
        with Progress(context.err, f"counting {subject.name}", len(functions)) as progress:
            for function in functions:
                progress.step(function.name)
                try:
                    subjects.check(context, program, function)
                except SubjectUnavailableError:
                    raise
                except EverycoreError as error:
                    found.wrong.append(error.message)
                    continue
                found.rows += _rows(context, program, function, plan)
    except NotCompiledError as error:
        found.wrong.append(f"{subject.name}: {error.message}")
    except SubjectUnavailableError as error:
        hint = f" ({error.hint})" if error.hint else ""
        context.warn(f"skipped: {subject.name}: {error.message}{hint}")


def _rows(
    context: Context, program: Program, function: Function, plan: _Plan
) -> list[report.FunctionResult]:
    subject = program.subject
    package = f"{subject.package} {program.version}, " if subject.package else ""
    source = f"{package}{program.target.name}, {program.compiler.name}"
    row = report.FunctionResult(
        subject.name,
        subject.description,
        f"{source} {' '.join(program.flags)}",
        function.name,
        function.computes,
        function.technique,
        is_ours=is_ours(subject),
        target=program.target.name,
    )
    if plan.check_only:
        return [row]
    rows: list[report.FunctionResult] = []
    for key_bits in plan.key_bits or sorted(function.key_bits)[:1]:
        if key_bits in function.key_bits:
            steady = subjects.steady(context, program, function, key_bits)
            sizes = [size for size in plan.whole if function.takes(size)]
            calls = subjects.trace(context, program, function, key_bits, sizes)
            whole = {call.n_bytes: call.per_byte for call in calls}
            rows.append(replace(row, key_bits=key_bits, per_byte=steady.per_byte, whole=whole))
    return rows
