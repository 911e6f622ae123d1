# SPDX-License-Identifier: MIT
"""everycore check: is every kernel right here?"""

import json as jsonlib
from dataclasses import asdict
from typing import Annotated

import typer

from everycore import vectors, wycheproof
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    Json,
    KernelNames,
    TargetName,
    context_of,
    words,
)
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.progress import Progress
from everycore.protocol import Check, Failure, Summary, Vector
from everycore.report import tables
from everycore.session import Session, open_session


def check(
    command: typer.Context,
    kernel: KernelNames = None,
    property_: Annotated[
        str | None, typer.Option("--property", metavar="NAME", help="Only this property.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Seed of the random tests.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer lengths.")] = False,
    published: Annotated[
        bool, typer.Option("--vectors", help="Published vectors instead: NIST CAVP, Wycheproof...")
    ] = False,
    target: TargetName = "host",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
) -> None:
    """Is every kernel right here?

    Each against the reference at every length and alignment, in place, split, and more; exit
    code 1 if one is wrong.
    """
    context = context_of(command)
    session = open_session(context, target, cc, flags)
    if published:
        good = _check_vectors(context, session, json)
    else:
        arguments = ["check"]
        for name in words(kernel):
            arguments += ["--kernel", name]
        if property_:
            arguments += ["--property", property_]
        if seed is not None:
            arguments += ["--seed", str(seed)]
        if quick:
            arguments.append("--quick")
        good = _check_properties(context, session, arguments, json)
    raise typer.Exit(0 if good else 1)


def _check_properties(context: Context, session: Session, arguments: list[str], json: bool) -> bool:
    checks: list[Check] = []
    summary: Summary | None = None
    failures: list[Failure] = []
    with Progress(context.err, "checking", None) as progress:
        for record in session.records(*arguments):
            if json:
                context.print_raw(record.text)
            match record.line:
                case Check() as line:
                    checks.append(line)
                    progress.step(f"{line.kernel} {line.property}")
                case Summary() as line:
                    summary = line
                case Failure() as line:
                    failures.append(line)
    if summary is None:
        raise EverycoreError("the harness ended before it was done", code=1)
    bad = [c for c in checks if c.result == "fail"]
    if not json:
        where = (
            f"{session.target.name}, {session.build.compiler.name} {' '.join(session.build.flags)}"
        )
        context.out.print(tables.checks_table(checks, caption=f"{where}; seed {summary.seed}"))
        for line in bad:
            _show_failure(context, f"{line.kernel} {line.property}: {line.detail}")
        for failure in failures:
            _show_failure(context, f"{failure.kernel} {failure.mode}: {failure.detail}")
        context.out.print(
            f"{summary.passed} passed, {summary.failed} failed, {summary.skipped} skipped"
        )
    return not bad and not failures and summary.failed == 0


def _show_failure(context: Context, text: str) -> None:
    context.out.print(f"FAIL {text}", style="bold red", markup=False, soft_wrap=True)


def _vector_files(context: Context, json: bool) -> list[vectors.VectorFile]:
    """All that can be had; what cannot is a visible skip with its reason."""
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
    counts: list[tables.VectorCount] = []
    wrong: list[tuple[str, Vector]] = []
    with Progress(context.err, "vectors", len(files)) as progress:
        for file in files:
            count, failed = _check_file(session, file)
            counts.append(count)
            wrong += [(file.name, line) for line in failed]
            progress.step(file.name)
            if json:
                context.print_raw(jsonlib.dumps({"type": "vectors", **asdict(count)}))
    if not json:
        where = (
            f"{session.target.name}, {session.build.compiler.name} {' '.join(session.build.flags)}"
        )
        context.out.print(tables.vectors_table(counts, caption=where))
        for name, line in wrong:
            _show_failure(context, f"{name} {line.id} {line.kernel}: {line.detail}")
        passed, failures = sum(c.passed for c in counts), sum(c.failed for c in counts)
        context.out.print(f"{passed} passed, {failures} failed")
    return not wrong and all(c.failed == 0 for c in counts)


def _check_file(
    session: Session, file: vectors.VectorFile
) -> tuple[tables.VectorCount, list[Vector]]:
    lines = list(vectors.lines(file))
    failed: list[Vector] = []
    summary: Summary | None = None
    for record in session.records("vectors", stdin=lines):
        if isinstance(record.line, Vector) and record.line.result == "fail":
            failed.append(record.line)
        elif isinstance(record.line, Summary):
            summary = record.line
    if summary is None:
        raise EverycoreError(f"the harness ended within {file.name}", code=1)
    count = tables.VectorCount(
        file.name, len(lines), summary.passed, summary.failed, summary.skipped
    )
    return count, failed
