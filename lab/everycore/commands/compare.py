# SPDX-License-Identifier: MIT
"""everycore compare: what got slower or faster between two stored runs?"""

import json as jsonlib
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from everycore import store
from everycore.commands.options import Json, context_of
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.report import tables
from everycore.report.figures import NOISY
from everycore.store import Results


def compare(
    command: typer.Context,
    before: Annotated[
        Path | None, typer.Argument(metavar="A", help="Result file. Default: the last but one.")
    ] = None,
    after: Annotated[
        Path | None, typer.Argument(metavar="B", help="Result file. Default: the last one.")
    ] = None,
    threshold: Annotated[
        float, typer.Option("--threshold", metavar="PERCENT", help="Smaller changes do not count.")
    ] = 3.0,
    fail: Annotated[
        bool, typer.Option("--fail/--no-fail", help="Exit code 1 if something got slower.")
    ] = True,
    everything: Annotated[
        bool, typer.Option("--all", help="Show what did not change too.")
    ] = False,
    json: Json = False,
) -> None:
    """What got slower or faster between two runs."""
    context = context_of(command)
    if threshold < 0:
        raise EverycoreError("--threshold must not be negative")
    first, second = _load(context, before, after)
    _warn_about_differences(context, first, second)
    compared = tables.compare_benches(first.benches(), second.benches(), threshold / 100)
    if not compared:
        raise EverycoreError(f"{first.path} and {second.path} have no operation in common")
    slower = [c for c in compared if c.change.verdict == "slower"]
    faster = [c for c in compared if c.change.verdict == "faster"]
    shown = compared if everything else [*slower, *faster]
    if json:
        for item in shown:
            context.print_raw(jsonlib.dumps({"type": "change", **asdict(item)}))
    else:
        if shown:
            caption = (
                f"medians; spread: distance of the quartiles; counted: medians"
                f" more than {threshold:g} % apart whose quartiles do not overlap,"
                f" but not where something else on the core explains it ({NOISY});"
                f" {second.run.machine.title()}; {second.run.counter}"
            )
            title = f"{first.run.title()}  ->  {second.run.title()}"
            context.out.print(tables.compare_table(shown, title, caption))
        if crowded := sum(c.crowded for c in compared):
            context.warn(
                f"{crowded} of {len(compared)} operations were measured while something else used"
                " the core too: what that explains counts as unchanged (--all shows it);"
                " measure again"
            )
        context.out.print(
            f"{len(compared)} operations: {len(slower)} slower, {len(faster)} faster,"
            f" {len(compared) - len(slower) - len(faster)} unchanged"
            f" (threshold {threshold:g} % and the quartiles)"
        )
    raise typer.Exit(1 if slower and fail else 0)


def _load(context: Context, before: Path | None, after: Path | None) -> tuple[Results, Results]:
    """The files named, or the last two that time kernels; what cannot be read is named."""
    folder = context.state_dir() / "results"
    if after is None:
        found, unreadable = store.latest(folder, 1 if before else 2)
    else:
        found, unreadable = [], []
    named: list[Results] = []
    for path in (before, after):
        if path is None:
            continue
        try:
            named.append(store.read(path, partial=True))
        except EverycoreError as error:
            unreadable.append(error)
    for problem in unreadable:
        context.warn(f"skipped: {problem.message}")
    results = [*named, *found]
    if len(results) < 2:
        raise EverycoreError(
            "two readable result files are needed",
            f"name two, or run `everycore bench` twice; runs are kept in {folder}",
        )
    return results[0], results[1]


def _warn_about_differences(context: Context, first: Results, second: Results) -> None:
    one, other = first.run, second.run
    for results in (first, second):
        if results.cut_off:
            context.warn(f"{results.path} is a partial result: {results.cut_off}")
    for what, a, b in (
        ("machines", one.machine.title(), other.machine.title()),
        ("cores", _number(one), _number(other)),
        ("microcode", one.machine.microcode, other.machine.microcode),
        ("governors", one.machine.governor, other.machine.governor),
        ("targets", one.target, other.target),
        ("compilers", one.compiler, other.compiler),
        ("flags", " ".join(one.flags), " ".join(other.flags)),
        ("counters", one.counter, other.counter),
    ):
        if a != b:
            context.warn(f"different {what}: {a or 'unknown'} / {b or 'unknown'}")


def _number(run: store.Run) -> str:
    return str(run.machine.cpu_index) if run.machine.cpu_index >= 0 else ""
