# SPDX-License-Identifier: MIT
"""The steps of which the commands of the matrix are made."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO

from everycore.commands.matrix import CellOptions, MeasuringOptions
from everycore.commands.options import print_output_path, split_commas, tables_on_stderr
from everycore.compile.binaries import tidy
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import is_standard_output
from everycore.farm.matrix_jobs import cell_runner, planned_jobs
from everycore.matrix.cell_choice import Choice, flags_given, numbers
from everycore.matrix.cell_passes import (
    Causes,
    OpenRun,
    Reduction,
    ThisHost,
    look_for_causes,
    look_for_leaks,
    measure,
)
from everycore.matrix.cell_runs import Run
from everycore.matrix.reduce import find_cvise
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.run_request import (
    Request,
    Wish,
    find_request,
    head_of,
    plan_cells,
    result_path,
)
from everycore.matrix.time_limits import REDUCTION_SECONDS, Clock, duration
from everycore.model.cells import Anomaly, Cell, Head, Kind, Outcome, Result
from everycore.report import leak_table, matrix_tables
from everycore.store import matrix_files

__all__ = [
    "begin",
    "exit_code",
    "find_reduction",
    "list_plan",
    "look_for_causes",
    "look_for_leaks",
    "measured",
    "show_causes",
    "show_tables",
]

FIRST_PASS = 0.6  # of --budget, if another pass follows
BAD = {Outcome.WRONG, Outcome.CRASHED, Outcome.TIME_LIMIT}


@dataclass
class MatrixJob:
    """A run of the matrix, from the command line to its exit code."""

    request: Request
    cells: list[ResolvedCell]
    head: Head
    path: Path
    stdout: IO[str]
    resume: bool
    json: bool
    scheduler: str
    begin: float
    end: float
    has_more_passes: bool
    wrong: dict[Cell, Anomaly] = field(default_factory=dict)  # what makes wrong answers right

    @property
    def context(self) -> Context:
        return self.request.context

    @property
    def first_end(self) -> float:
        """The end of the first pass: the others need a share of the time."""
        return self.begin + (self.end - self.begin) * (FIRST_PASS if self.has_more_passes else 1)


# ---- Begin


def begin(
    context: Context, cells: CellOptions, measuring: MeasuringOptions, here_only: str = ""
) -> MatrixJob:
    """Look up what the command line names; nothing is measured yet.

    `here_only`: the command, if no board can do it.
    """
    now = monotonic()
    stdout = context.out.file
    context = tables_on_stderr(context, cells.out)
    end = now + (duration(measuring.budget) if measuring.budget else float("inf"))
    path = result_path(context, cells.out, cells.resume)
    request = find_request(
        context,
        Wish(
            _choice(cells),
            cells.time_limit,
            measuring.estimate,
            measuring.cpu,
            path if cells.resume else None,
            {f"matrix {here_only}": bool(here_only), "--scheduler": bool(measuring.scheduler)},
        ),
    )
    planned = plan_cells(request)
    return MatrixJob(
        request,
        planned,
        head_of(request),
        path,
        stdout,
        cells.resume,
        cells.json and not is_standard_output(cells.out),
        measuring.scheduler,
        now,
        end,
        bool(here_only),
    )


def list_plan(context: Context, options: CellOptions, *, with_ct: bool) -> None:
    """List the cells of the plan; with --json the jobs that they are, as lines."""
    path = result_path(context, options.out, options.resume)
    resumed = path if options.resume else None
    here_only = {"matrix plan": True}
    wish = Wish(_choice(options), options.time_limit, resumed=resumed, here_only=here_only)
    request = find_request(context, wish)
    cells = plan_cells(request)
    if options.json:
        for job in planned_jobs(request, cells, with_ct):
            context.print_raw(encode_line(job))
    else:
        for resolved in cells:
            context.print_raw(matrix_tables.plan_line(resolved.cell, resolved.why_not))
    skipped = sum(bool(resolved.why_not) for resolved in cells)
    context.err.print(f"{len(cells)} cells, {skipped} of them skipped")


def find_reduction(context: Context, time: str) -> Reduction:
    """Find cvise; an error is raised before anything is measured."""
    return Reduction(find_cvise(context), duration(time) if time else REDUCTION_SECONDS)


def _choice(cells: CellOptions) -> Choice:
    return Choice(
        subjects=tuple(split_commas(cells.subject)),
        functions=tuple(split_commas(cells.function)),
        toolchains=tuple(split_commas(cells.toolchain)),
        flag_sets=(*split_commas(cells.flag_set), *map(flags_given, cells.flags or ())),
        targets=tuple(split_commas(cells.target)),
        key_bits=numbers("--key-bits", split_commas(cells.key_bits), (128, 192, 256)),
        bytes=numbers("--bytes", split_commas(cells.bytes_), range(1, 1 << 24)),
    )


# ---- Run


@contextmanager
def measured(job: MatrixJob) -> Iterator[tuple[OpenRun, list[Result]]]:
    """Measure the cells; yield the run, whose file is open for other passes, and the results.

    The file is opened once the workers have answered.
    """
    context, request = job.context, job.request
    pipeline = request.pipeline()
    here = ThisHost(Run(pipeline, Clock(monotonic, job.first_end)), pipeline)
    with (
        cell_runner(request, job.scheduler, here, job.cells) as runner,
        matrix_files.Writer(job.path, job.head, job.resume, job.stdout) as writer,
    ):
        clock = Clock(monotonic, job.end)
        opened = OpenRun(context, writer, runner, pipeline, clock, job.json)
        yield opened, measure(opened, job.cells)
        known = writer.now().anomalies
        job.wrong = {anomaly.cell: anomaly for anomaly in known if anomaly.kind is Kind.WRONG}
    tidy(context)


# ---- Show


def show_tables(job: MatrixJob, results: Sequence[Result]) -> None:
    """Print tables and verdicts; with --json, what failed and was skipped alone."""
    context = job.context
    source = f"{job.head.machine.title()}, {job.head.counter}; {job.path}"
    if job.json:
        _show_troubles(job, results)
    else:
        for table in matrix_tables.tables(results, context.out.width, source, job.wrong):
            context.out.print(table)
        _show_verdicts(job, results)


def show_causes(job: MatrixJob, causes: Causes) -> int:
    """Print a report for each cause; return the exit code."""
    context = job.context
    for text in () if job.json else causes.reports:
        context.print_raw(text)
    for line in causes.lines if job.json else ():
        context.print_raw(encode_line(line))
    context.err.print(causes.summary, soft_wrap=True)
    _show_troubles(job, causes.results)
    if not job.json:
        _show_verdicts(job, causes.results)
    return exit_code(job, causes.results) or int(causes.is_odd)


def _show_troubles(job: MatrixJob, results: Sequence[Result]) -> None:
    for group in matrix_tables.troubles(results):
        job.context.err.print(group)


def _show_verdicts(job: MatrixJob, results: Sequence[Result]) -> None:
    if any(result.verdicts for result in results):
        for paragraph in leak_table.paragraphs(results, _claims(job)):
            job.context.out.print(paragraph)


def _claims(job: MatrixJob) -> set[tuple[str, str]]:
    """Return the functions that promise constant time."""
    return {(s.name, f.name) for s in job.request.subjects for f in s.functions if f.constant_time}


def exit_code(job: MatrixJob, results: Sequence[Result]) -> int:
    """Say where the results are; return 1 if answers are wrong, or a promise is broken."""
    print_output_path(job.context, "results", job.path)
    if not results:
        raise EverycoreError("no time for a single cell", "give --budget more; --resume goes on")
    if all(result.outcome is Outcome.SKIPPED for result in results):
        raise EverycoreError("every cell was skipped", "the reasons are above")
    broken = leak_table.broken(results, _claims(job))
    return int(_is_bad(results) or bool(broken))


def _is_bad(results: Sequence[Result]) -> bool:
    """A program went wrong, or none came to figures; what a compiler refuses alone is no fault."""
    ends = {result.outcome for result in results}
    return not ends & {Outcome.MEASURED, Outcome.COUNTED} or bool(ends & BAD)
