# SPDX-License-Identifier: MIT
"""everycore check: is every kernel right here?"""

import json as jsonlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, ClassVar

import typer

from everycore.commands.command_groups import DefaultCommandGroup
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    BuildOptions,
    CompilerCommand,
    CompilerFlags,
    Json,
    KernelNames,
    PrimitiveNames,
    context_of,
    refuse_unknown_kernels,
    refuse_unknown_primitives,
    split_commas,
)
from everycore.compile import catalog
from everycore.ct import placement as placement_check
from everycore.ct.taint import open_watched
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool
from everycore.model.protocol import Check, CtOperation, Failure, Summary, Vector
from everycore.report import check_tables
from everycore.run import vectors, wycheproof
from everycore.run.session import Session, open_session


class CheckGroup(DefaultCommandGroup):
    """The checks; `run` need not be named."""

    moved: ClassVar[Mapping[str, str]] = {"--vectors": "vectors", "--placement": "placement"}


app = typer.Typer(
    cls=CheckGroup,
    rich_markup_mode=None,
    help="""Check that every kernel gives right answers here.

    Without a command: `run`.
    """,
)


@app.command("run")
@with_option_sets
def run(
    command: typer.Context,
    build: BuildOptions,
    kernel: KernelNames = None,
    primitive: PrimitiveNames = None,
    property_: Annotated[
        str | None, typer.Option("--property", metavar="NAME", help="Only this property.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of the random tests.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer lengths.")] = False,
    json: Json = False,
) -> None:
    """Check the properties of every kernel. The default.

    Each against the reference at every length and alignment, in place, split, and more; exit
    code 1 if one is wrong.
    """
    context = context_of(command)
    refuse_unknown_kernels(context, split_commas(kernel))
    refuse_unknown_primitives(context, split_commas(primitive))
    for name in split_commas([property_] if property_ else None):
        if name not in (known := catalog.properties(catalog.tree_of(context))):
            raise unknown_name("property", name, known)
    session = open_session(context, build.target, build.cc, build.flags)
    arguments = ["check"]
    for name in split_commas(kernel):
        arguments += ["--kernel", name]
    for name in split_commas(primitive):
        arguments += ["--primitive", name]
    if property_:
        arguments += ["--property", property_]
    if seed is not None:
        arguments += ["--seed", str(seed)]
    if quick:
        arguments.append("--quick")
    good = _check_properties(context, session, arguments, json)
    raise typer.Exit(0 if good else 1)


@app.command("vectors")
@with_option_sets
def check_vectors(command: typer.Context, build: BuildOptions, json: Json = False) -> None:
    """Compare all kernels with published vectors.

    They are those of NIST CAVP and of Wycheproof.
    """
    context = context_of(command)
    session = open_session(context, build.target, build.cc, build.flags)
    raise typer.Exit(0 if _check_vectors(context, session, json) else 1)


@app.command("placement")
def check_placement(
    command: typer.Context,
    kernel: KernelNames = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer lengths.")] = False,
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
) -> None:
    """Trace every access: none reaches a page without its buffer.

    Nor does what a mask leaves out of an access. It is traced on this machine alone.
    """
    context = context_of(command)
    refuse_unknown_kernels(context, split_commas(kernel))
    session = open_watched(context, "host", cc, flags)
    good = _check_placement(context, session, split_commas(kernel), quick, json)
    raise typer.Exit(0 if good else 1)


def _check_placement(
    context: Context, session: Session, kernels: list[str], quick: bool, json: bool
) -> bool:
    groups = placement_check.groups_of_operations(session, kernels)
    thorough = set() if quick else placement_check.kernels_with_masks(session)
    checks: list[Check] = []
    with (
        Progress(context.err, "tracing", len(groups), lines=True) as progress,
        worker_pool() as pool,
    ):

        def check(group: Sequence[CtOperation]) -> list[Check]:
            is_thorough = (group[0].primitive, group[0].kernel) in thorough
            checks = placement_check.check_kernel(context, session, group, thorough=is_thorough)
            return list(checks)

        futures = [pool.submit(check, group) for group in groups]
        for group, future in zip(groups, futures, strict=True):
            for line in future.result():
                checks.append(line)
                if json:
                    context.print_raw(encode_line(line))
            progress.step(group[0].kernel)
    count = {word: sum(c.result == word for c in checks) for word in ("pass", "fail", "skip")}
    if json:
        numbers = dict(zip(("passed", "failed", "skipped"), count.values(), strict=True))
        context.print_raw(jsonlib.dumps({"type": "summary", **numbers}))
    else:
        what = "an operation is a property, an access under a mask a case"
        _show_checks(context, checks, f"{session.build.title}; {what}")
        _show_counts(context, *count.values())
    return not count["fail"]


def _check_properties(context: Context, session: Session, arguments: list[str], json: bool) -> bool:
    checks: list[Check] = []
    summary: Summary | None = None
    failures: list[Failure] = []
    with Progress(context.err, "checking", None, lines=True) as progress:
        for record in session.records(*arguments):
            if json:
                context.print_raw(encode_line(record))
            match record:
                case Check() as line:
                    checks.append(line)
                    progress.step(f"{line.primitive} {line.kernel} {line.property}: {line.result}")
                case Summary() as line:
                    summary = line
                case Failure() as line:
                    failures.append(line)
    if summary is None:
        raise EverycoreError("the harness ended before it was done", code=1)
    if not json:
        where = f"{session.target.name}, {session.build.title}"
        _show_checks(context, checks, f"{where}; seed {summary.seed}")
        for failure in failures:
            _show_failure(context, f"{failure.kernel} {failure.mode}: {failure.detail}")
        _show_counts(context, summary.passed, summary.failed, summary.skipped)
    is_bad = any(c.result == "fail" for c in checks)
    return not is_bad and not failures and summary.failed == 0


def _show_checks(context: Context, checks: Sequence[Check], caption: str) -> None:
    context.out.print(check_tables.checks_table(checks, caption))
    for line in checks:
        if line.result == "fail":
            _show_failure(context, f"{line.kernel} {line.property}: {line.detail}")


def _show_counts(context: Context, passed: int, failed: int, skipped: int) -> None:
    context.out.print(f"{passed} passed, {failed} failed, {skipped} skipped")


def _show_failure(context: Context, text: str) -> None:
    context.out.print(f"FAIL {text}", style="bold red", markup=False, soft_wrap=True)


def _vector_files(context: Context, json: bool) -> list[vectors.VectorFile]:
    """Return all files that can be had; print a skip with its reason for the others."""
    files = vectors.find_files() or []
    if not files:
        _skip(context, json, "published vectors of NIST: pip install cryptography-vectors")
    try:
        files += wycheproof.find_files(context)
    except EverycoreError as error:
        _skip(context, json, f"vectors of Wycheproof: {error.message}")
    return files


def _skip(context: Context, json: bool, what: str) -> None:
    if json:
        context.print_raw(jsonlib.dumps({"type": "skip", "detail": what}))
    else:
        context.out.print(f"SKIP {what}", style="yellow", markup=False, soft_wrap=True)


def _check_vectors(context: Context, session: Session, json: bool) -> bool:
    files = _vector_files(context, json)
    counts: list[check_tables.VectorCount] = []
    wrong: list[tuple[str, Vector]] = []
    with Progress(context.err, "vectors", len(files), lines=True) as progress:
        for file in files:
            count, failed = _check_file(session, file)
            counts.append(count)
            wrong += [(file.name, line) for line in failed]
            progress.step(file.name)
            if json:
                context.print_raw(jsonlib.dumps({"type": "vectors", **asdict(count)}))
    if not json:
        where = f"{session.target.name}, {session.build.title}"
        context.out.print(check_tables.vectors_table(counts, where))
        for name, line in wrong:
            _show_failure(context, f"{name} {line.id} {line.kernel}: {line.detail}")
        passed, failures = sum(c.passed for c in counts), sum(c.failed for c in counts)
        context.out.print(f"{passed} passed, {failures} failed")
    return not wrong and all(c.failed == 0 for c in counts)


def _check_file(
    session: Session, file: vectors.VectorFile
) -> tuple[check_tables.VectorCount, list[Vector]]:
    lines = list(vectors.lines(file))
    failed: list[Vector] = []
    summary: Summary | None = None
    for record in session.records("vectors", stdin=lines):
        if isinstance(record, Vector) and record.result == "fail":
            failed.append(record)
        elif isinstance(record, Summary):
            summary = record
    if summary is None:
        raise EverycoreError(f"the harness ended within {file.name}", code=1)
    count = check_tables.VectorCount(
        file.name, len(lines), summary.passed, summary.failed, summary.skipped
    )
    return count, failed
