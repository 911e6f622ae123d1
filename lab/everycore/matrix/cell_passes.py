# SPDX-License-Identifier: MIT
"""The passes over the cells of a run: measure, look for leaks, look for causes, reduce.

Each writes what it finds as it finds it, so that a run that is ended can be resumed.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from everycore.binary.disassembly import can_read_code
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.progress import Progress
from everycore.matrix import anomalies, bugs, second_pass
from everycore.matrix.bisect import BisectOutcome, Switch
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.cell_runs import Run
from everycore.matrix.compiled_cell import contents_of
from everycore.matrix.failures import group_failures
from everycore.matrix.miscompilations import explain_wrong, reported, with_figures
from everycore.matrix.reduce import Reducer
from everycore.matrix.regressions import Explained, explain_all
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import Clock
from everycore.matrix.trials import Trials
from everycore.model.cells import (
    Anomaly,
    Cell,
    Kind,
    Line,
    Outcome,
    Reduced,
    Result,
    is_same,
)
from everycore.store import matrix_files
from everycore.subjects.sweep import VERSION

Repairs = tuple[Cell, tuple[Switch, ...]]  # a cell, and repairs of others like it


class CellRunner(Protocol):
    """A place that runs cells, and does what needs no timing: this host, or a farm's workers."""

    @property
    def left_out(self) -> int: ...

    def cells(self, planned: Sequence[ResolvedCell]) -> Iterator[Result]: ...

    def looked_at(
        self, results: Sequence[Result], has_time: Callable[[], bool]
    ) -> Iterator[Result]: ...

    def bisected(
        self, anomalies: Sequence[Anomaly], has_time: Callable[[], bool]
    ) -> Iterable[BisectOutcome]: ...

    def made_right(
        self, cells: Sequence[Repairs], has_time: Callable[[], bool]
    ) -> Iterable[Anomaly]: ...


@dataclass(frozen=True, slots=True)
class ThisHost:
    """Runs cells here. It explains nothing ahead: the passes do that one anomaly at a time."""

    run: Run
    pipeline: CellPipeline

    @property
    def left_out(self) -> int:
        return self.run.left_out

    def cells(self, planned: Sequence[ResolvedCell]) -> Iterator[Result]:
        return self.run.cells(planned)

    def looked_at(
        self, results: Sequence[Result], has_time: Callable[[], bool]
    ) -> Iterator[Result]:
        return second_pass.looked_at(self.pipeline, results, os.cpu_count() or 1, has_time)

    def bisected(
        self, anomalies: Sequence[Anomaly], has_time: Callable[[], bool]
    ) -> Iterable[BisectOutcome]:
        del anomalies, has_time
        return ()

    def made_right(
        self, cells: Sequence[Repairs], has_time: Callable[[], bool]
    ) -> Iterable[Anomaly]:
        del cells, has_time
        return ()


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run whose file is open."""

    context: Context
    writer: matrix_files.Writer
    runner: CellRunner
    pipeline: CellPipeline
    clock: Clock
    json: bool  # print results as they are found

    def write(self, result: Result) -> None:
        self.writer.write(result)
        self.show(result)

    def show(self, line: Line) -> None:
        if self.json:
            self.context.print_raw(encode_line(line))


@dataclass(frozen=True, slots=True)
class Reduction:
    """The program that makes test cases, and the time of each."""

    cvise: str  # its path
    seconds: float


@dataclass(frozen=True, slots=True)
class Causes:
    """Results of the pass for causes."""

    results: list[Result]
    reports: list[str]  # one for each cause
    lines: list[Line]  # the same, as results have it
    summary: str
    is_odd: bool  # a cell is odd, or may be, or failed when it was measured again


# ---- Measure


def measure(run: OpenRun, cells: Sequence[ResolvedCell]) -> list[Result]:
    """Return the results of these cells, those that an earlier run had among them."""
    context, stored = run.context, run.writer.stored
    if stored.dropped:
        context.warn(f"{stored.path}: the half of a line at its end is dropped")
    warn_of_clock(context, stored)
    done = _done_before(run, cells)
    if len(revisions := run.writer.revisions()) > 1:
        context.warn(f"cells of {len(revisions)} revisions: {', '.join(revisions)}")
    results = [done[resolved.cell] for resolved in cells if resolved.cell in done]
    if results:
        context.err.print(f"going on with {stored.path}: {len(results)} cells are there")
    left = [resolved for resolved in cells if resolved.cell not in done]
    with Progress(context.err, "measuring", len(left)) as progress:
        for result in run.runner.cells(left):
            if stored.results.get(result.cell) != result:
                run.writer.write(result)
            results.append(result)
            progress.step(result.cell.title)
            run.show(result)
    if run.runner.left_out:
        context.warn(f"no time for {run.runner.left_out} cells: --resume goes on with them")
    return results


def _done_before(run: OpenRun, cells: Sequence[ResolvedCell]) -> dict[Cell, Result]:
    """Return the results of earlier runs that stand; a warning tells which do not."""
    context, tools, stored = run.context, run.pipeline.tools, run.writer.stored
    known = stored.results
    has_estimator = tools.estimator is not None
    done = stored.done(tools.limits.run, has_estimator, can_read_code(), VERSION)
    planned = {resolved.cell: resolved for resolved in cells}
    if less := sum(
        known[c].has_answers and known[c].sweep < VERSION for c in planned if c in known
    ):
        context.warn(f"{less} cells were compared by fewer inputs than today: once more")
    other = {
        cell
        for cell, result in done.items()
        if cell in planned and not is_same(result.compiler, planned[cell].compiler_title)
    }
    if other:
        context.warn(f"{len(other)} cells are of other versions of their compilers: once more")
        done = {cell: result for cell, result in done.items() if cell not in other}
    changed = {
        cell
        for cell, resolved in planned.items()
        if cell in done and not is_same(done[cell].contents, contents_of(tools, resolved))
    }
    if changed:
        names = ", ".join(sorted({cell.subject for cell in changed}))
        context.warn(f"{len(changed)} cells are of other contents of {names}: once more")
        done = {cell: result for cell, result in done.items() if cell not in changed}
    return done


def warn_of_clock(context: Context, stored: matrix_files.Stored) -> None:
    """Warn if the clock went back since the file was written: history is ordered by dates."""
    last = max((head.date for head in stored.heads), default="")
    now = context.now().isoformat(timespec="seconds")
    if last > now:
        context.warn(
            f"the clock went back: {stored.path.name} was written at {last}, and now it is"
            f" {now}; set the clock, for the last date counts in reports"
        )


# ---- Look for leaks


def look_for_leaks(run: OpenRun, results: Sequence[Result]) -> list[Result]:
    """Return the results with verdicts where they can have some."""
    found = {result.cell: result for result in results}
    left = second_pass.left(results)
    with Progress(run.context.err, "looking for leaks", len(left)) as progress:
        for result in run.runner.looked_at(left, run.clock.has_time):
            if found[result.cell] != result:
                run.writer.write(result)
            found[result.cell] = result
            progress.step(result.cell.title)
            run.show(result)
    if late := sum(found[result.cell] is result for result in left):
        run.context.warn(
            f"no time to look at {late} cells: `everycore matrix leaks --resume` goes on with them"
        )
    return list(found.values())


# ---- Look for causes


def look_for_causes(
    run: OpenRun, results: Sequence[Result], reduction: Reduction | None = None
) -> Causes:
    """Find what repairs wrong and slow cells; with a reduction, each cause has a test case."""
    trials, stored = Trials(run.pipeline), run.writer.now()
    explained, n_odd = _explain(run, trials, results, stored.anomalies)
    found = list(explained.results.values())
    why = _look_for_miscompilations(run, trials, found, stored.anomalies)
    if reduction:
        _reduce_all(run, trials, reduction, explained, why)
    groups = explained.anomaly_groups()
    head = stored.heads[-1]
    reports = [
        bugs.miscompilation(
            failure_group, why, head, trials.source(failure_group.first.cell), explained.results
        )
        for failure_group in reported(group_failures(found), why)
    ]
    reports += [
        bugs.report(group, explained.results, head, trials.source(group.worst.cell))
        for group in groups
    ]
    lines: list[Line] = [*explained.failed.values(), *why.values()]
    lines += explained.anomalies.values()
    summary = _summary(found, n_odd, explained, len(reports))
    is_odd = bool(groups or explained.failed or explained.left)
    return Causes(found, reports, lines, summary, is_odd)


def _explain(
    run: OpenRun, trials: Trials, results: Sequence[Result], stored: Sequence[Anomaly]
) -> tuple[Explained, int]:
    """Explain slow cells; return also how many cells are worse than a neighbour."""
    context, has_time = run.context, run.clock.has_time
    every = {result.cell: result for result in results}
    n_odd = len(anomalies.find(every))
    with Progress(context.err, "looking for causes", n_odd) as progress:
        explained = explain_all(
            trials,
            every,
            stored,
            run.writer.write,
            progress.step,
            has_time,
            elsewhere=lambda odd: run.runner.bisected(odd, has_time),
        )
    for said in explained.noise:
        context.err.print(f"noise: {said}", markup=False, soft_wrap=True)
    for result in explained.failed.values():
        shown = "WRONG" if result.outcome is Outcome.WRONG else result.outcome
        said = f"{shown} when it was run again: {result.cell.title}: {result.reason}"
        context.err.print(said, markup=False, soft_wrap=True)
    if explained.left:
        context.warn(f"no time for {explained.left} slow cells: --resume goes on with them")
    return explained, n_odd


def _look_for_miscompilations(
    run: OpenRun, trials: Trials, results: Sequence[Result], stored: Sequence[Anomaly]
) -> dict[Cell, Anomaly]:
    """Find for each cell with wrong answers what makes them right."""
    wrong = [result for result in results if result.outcome is Outcome.WRONG]
    if not wrong:
        return {}
    has_time = run.clock.has_time
    run.context.err.print(f"looking for what makes the answers of {len(wrong)} cells right")
    found = explain_wrong(
        trials,
        wrong,
        stored,
        has_time,
        elsewhere=lambda some: run.runner.made_right(some, has_time),
    )
    found = with_figures(trials, found, has_time)
    if late := len(wrong) - len(found):
        run.context.warn(f"no time for {late} cells with wrong answers: --resume goes on with them")
    for anomaly in found.values():
        if anomaly not in stored:
            run.writer.write(anomaly)
    return found


def _summary(results: Sequence[Result], n_odd: int, explained: Explained, n_causes: int) -> str:
    wrong = sum(result.outcome is Outcome.WRONG for result in results)
    text = f"{len(results)} cells: {wrong} with wrong answers, {n_odd} worse than a neighbour"
    text += f" ({len(explained.noise)} of them only the first time)" if explained.noise else ""
    text += f", {len(explained.failed)} failed the second time" if explained.failed else ""
    return f"{text}; {n_causes} {'cause' if n_causes == 1 else 'causes'}"


# ---- Reduce


def _reduce_all(
    run: OpenRun,
    trials: Trials,
    reduction: Reduction,
    explained: Explained,
    why: dict[Cell, Anomaly],
) -> None:
    """Make test cases of the first wrong cell and the worst slow cell of each cause."""
    results = list(explained.results.values())
    firsts = [failure_group.first.cell for failure_group in reported(group_failures(results), why)]
    asked = [why[cell] for cell in firsts if cell in why]
    asked += [group.worst for group in explained.anomaly_groups()]
    for found in _reduced(run, trials, reduction, asked, explained.results):
        run.writer.write(found)
        if found.kind is Kind.WRONG:
            why[found.cell] = found
        else:
            explained.anomalies[found.cell, found.kind] = found


def _reduced(
    run: OpenRun,
    trials: Trials,
    reduction: Reduction,
    asked: Sequence[Anomaly],
    results: Mapping[Cell, Result],
) -> Iterator[Anomaly]:
    """Yield the anomalies with their test cases; those that have a final one are passed over."""
    context, clock = run.context, run.clock
    late = 0
    reducer = Reducer(trials, reduction.cvise)
    for anomaly in asked:
        if anomaly.reduced and anomaly.reduced.source and anomaly.reduced.is_final:
            continue
        seconds = min(reduction.seconds, clock.end - clock.now())
        if seconds <= 0:
            late += 1
            continue
        title = f"{anomaly.kind}: {anomaly.cell.title}"
        said = f"reducing for at most {seconds:.0f} s: {title}"
        context.err.print(said, markup=False, soft_wrap=True)
        begin = clock.now()
        found = reducer.reduced(anomaly, results, seconds)
        said = _end_of(found, clock.now() - begin)
        is_lost = bool(anomaly.reduced and anomaly.reduced.source and not found.source)
        said += "; the earlier test case is kept" if is_lost else ""
        context.err.print(said, markup=False, soft_wrap=True)
        if not is_lost:
            yield anomaly.replace(reduced=found)
    if late:
        again = "`everycore matrix reduce --resume` goes on with them"
        context.warn(f"no time for {late} test cases: {again}")


def _end_of(found: Reduced, seconds: float) -> str:
    """Say how a reduction ended, for the person who waits for it."""
    if not found.source:
        return f"no test case: {found.why_not}"
    lines = f"{found.n_lines} {'line' if found.n_lines == 1 else 'lines'}"
    if found.is_final:
        return f"reduced to {lines} in {seconds:.0f} s"
    if found.why_not:
        return f"stopped at {lines} after {seconds:.0f} s: {found.why_not}"
    return (
        f"stopped at {lines}, as the time ended after {seconds:.0f} s:"
        " `everycore matrix reduce --resume` goes on with them, --reduce-time allows more"
    )
