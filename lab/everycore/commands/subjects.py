# SPDX-License-Identifier: MIT
"""everycore subjects: other people's kernels, and how many instructions they need."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from json import dumps
from typing import Annotated

import typer

from everycore import subjects
from everycore.catalog import find_tree
from everycore.commands.options import CompilerCommand, CompilerFlags, Json, context_of, words
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.model import Tree
from everycore.progress import Progress
from everycore.report import subjects as report
from everycore.session import split_flags
from everycore.subjects import Function, Program, Subject, SubjectUnavailableError
from everycore.subjects.sources import pinned
from everycore.toolchains import DEFAULT_FLAGS

WHOLE = (512, 1500, 4096)  # messages that are counted as a whole


def subjects_command(
    command: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Only these subjects.")
    ] = None,
    function: Annotated[
        list[str] | None,
        typer.Option("--function", metavar="NAME", help="Only this function; repeatable."),
    ] = None,
    key_bits: Annotated[
        list[int] | None,
        typer.Option("--key-bits", metavar="N", help="128 (default), 192 or 256; repeatable."),
    ] = None,
    check_only: Annotated[
        bool, typer.Option("--check", help="Compare answers; count nothing.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Lock what the suite of each has now, first.")
    ] = False,
    target: Annotated[
        str,
        typer.Option("--target", metavar="NAME", help="Another target than that of the subject."),
    ] = "",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
) -> None:
    """Other people's kernels: answers checked, instructions counted."""
    context = context_of(command)
    tree = find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))
    chosen = [subjects.find_subject(tree, name) for name in names or ()]
    chosen = chosen or subjects.load_subjects(tree)
    for bits in key_bits or ():
        if bits not in (128, 192, 256):
            raise EverycoreError(f"AES has no keys of {bits} bits", "128, 192 or 256")
    wanted = words(function)
    for name in wanted:
        if not any(name == one.name for subject in chosen for one in subject.functions):
            chosen[0].function(name)
    plan = _Plan(
        tree,
        target,
        cc,
        DEFAULT_FLAGS if flags is None else tuple(split_flags(flags)),
        wanted,
        key_bits or [128],
        check_only,
    )
    found = _Found()
    for subject in chosen:
        if update and subject.package:
            pinned(context, subject, update=True)
        _look_at(context, subject, plan, found)
    found.refuse_nothing()
    if json:
        for row in found.rows:
            context.print_raw(dumps(row.as_json()))
    else:
        for table in report.tables(found.rows, plan.whole):
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
    key_bits: Sequence[int]
    check_only: bool

    @property
    def whole(self) -> Sequence[int]:
        return () if self.check_only else WHOLE

    def of(self, subject: Subject) -> list[Function]:
        return [f for f in subject.functions if not self.functions or f.name in self.functions]


@dataclass(slots=True)
class _Found:
    rows: list[report.Row] = field(default_factory=list)
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
    except SubjectUnavailableError as error:
        hint = f" ({error.hint})" if error.hint else ""
        context.warn(f"skipped: {subject.name}: {error.message}{hint}")


def _rows(context: Context, program: Program, function: Function, plan: _Plan) -> list[report.Row]:
    subject = program.subject
    package = f"{subject.package} {program.version}, " if subject.package else ""
    source = f"{package}{program.target.name}, {program.compiler.name}"
    row = report.Row(
        subject.name,
        subject.description,
        f"{source} {' '.join(program.flags)}",
        function.name,
        function.computes,
        function.technique,
    )
    if plan.check_only:
        return [row]
    rows: list[report.Row] = []
    for key_bits in plan.key_bits:
        if key_bits in function.key_bits:
            steady = subjects.steady(context, program, function, key_bits)
            sizes = [size for size in WHOLE if size % function.multiple_of == 0]
            calls = subjects.trace(context, program, function, key_bits, sizes)
            whole = {call.n_bytes: call.per_byte for call in calls}
            rows.append(replace(row, key_bits=key_bits, per_byte=steady.per_byte, whole=whole))
    return rows
