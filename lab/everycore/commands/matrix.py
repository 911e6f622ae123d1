# SPDX-License-Identifier: MIT
"""everycore matrix: any C kernel over every compiler and flag."""

import os
import platform
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from everycore import subjects
from everycore.binary.disassembly import can_read_code
from everycore.commands.options import (
    CpuNumber,
    Json,
    context_of,
    print_output_path,
    split_commas,
    tables_on_stderr,
)
from everycore.compile import catalog
from everycore.compile.binaries import tidy
from everycore.compile.toolchains.installed import installed, named_or_fetchable
from everycore.environment.context import Context
from everycore.environment.decoding import decode, encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.outputs import is_standard_output
from everycore.environment.progress import Progress
from everycore.farm import work as farm_work
from everycore.farm.worker import machine_words, own_version, tree_digest
from everycore.matrix import anomalies, bugs, second_pass
from everycore.matrix.board import BoardLink, open_board, with_board
from everycore.matrix.cell_runs import Clock, Run
from everycore.matrix.counter import counter_name
from everycore.matrix.failures import group_failures
from everycore.matrix.flagsets import FlagSet, chosen
from everycore.matrix.make import CellPipeline, Limits
from everycore.matrix.miscompilations import explain_wrong, reported, with_figures
from everycore.matrix.modelled import open_estimator
from everycore.matrix.plan import HOST, Axes, HostCpu, Planned, PlannedFunction, plan
from everycore.matrix.portable_paths import file_named
from everycore.matrix.reduce import LIMIT_SECONDS, Reducer, find_cvise
from everycore.matrix.regressions import explain_all
from everycore.matrix.trials import Trials
from everycore.model.cells import (
    Anomaly,
    Cell,
    Head,
    Kind,
    Line,
    Outcome,
    Reduced,
    Result,
    as_json,
    is_same,
)
from everycore.model.domain import Machine, Toolchain, Tree
from everycore.model.targets import load_target
from everycore.report import leak_table, matrix_tables
from everycore.run import machine
from everycore.run.session import split_flags
from everycore.store import matrix_files as store
from everycore.subjects import Subject
from everycore.subjects.sweep import VERSION

if TYPE_CHECKING:
    from everycore.farm.matrix_run import FarmRun

UNITS = {"s": 1, "m": 60, "h": 3600}
FIRST_PASS = 0.6  # of --budget, with --ct


@dataclass(frozen=True)
class _Reduction:
    """The program that makes test cases, and the time of each."""

    cvise: str  # its path
    seconds: float


def matrix(
    command: typer.Context,
    subject: Annotated[
        list[str] | None,
        typer.Option(
            "--subject",
            metavar="NAME",
            help="Code to measure: catalog/subjects/, our kernels, a TOML file.",
        ),
    ] = None,
    function: Annotated[
        list[str] | None,
        typer.Option("--function", metavar="NAME", help="Only this function; repeatable."),
    ] = None,
    toolchain: Annotated[
        list[str] | None,
        typer.Option("--toolchain", metavar="NAME", help="Such as gcc-12; default: all."),
    ] = None,
    flag_set: Annotated[
        list[str] | None,
        typer.Option("--flag-set", metavar="NAME", help="Such as O2+ubsan; default: all."),
    ] = None,
    flags: Annotated[
        list[str] | None,
        typer.Option("--flags", metavar="FLAGS", help="These flags, quoted; repeatable."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target", metavar="NAME", help="Of catalog/targets/; emulated ones are counted."
        ),
    ] = None,
    key_bits: Annotated[
        list[str] | None,
        typer.Option(
            "--key-bits", metavar="N", help="128, 192 or 256 (default, where there is one)."
        ),
    ] = None,
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", metavar="N", help="Of a message: 4096 by default; repeatable."),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="TIME", help="Time for all, such as 10m.")
    ] = "",
    time_limit: Annotated[
        float | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            min=0.1,
            help=f"Seconds a process may run: {Limits().run:.0f} by default.",
        ),
    ] = None,
    ct: Annotated[
        bool, typer.Option("--ct", help="A second pass: is each cell constant-time?")
    ] = False,
    estimate: Annotated[
        bool,
        typer.Option("--estimate", help="Of emulated cells: ranges for calibrated cores."),
    ] = False,
    cpu: CpuNumber = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where the results go; `-`: standard output."),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with --out, or with the last run: its cells, --time-limit and --estimate.",
        ),
    ] = False,
    regressions: Annotated[
        bool,
        typer.Option(
            "--regressions",
            help="Find the flags that repair wrong and slow cells, and print reports.",
        ),
    ] = False,
    reduce: Annotated[
        bool,
        typer.Option(
            "--reduce",
            help="With --regressions: a short test case of each cause, by cvise.",
        ),
    ] = False,
    reduce_time: Annotated[
        str,
        typer.Option(
            "--reduce-time",
            metavar="TIME",
            help=f"With --reduce: time for each test case; {LIMIT_SECONDS / 60:.0f}m by default.",
        ),
    ] = "",
    dry: Annotated[
        bool,
        typer.Option(
            "--plan", help="List the cells in their order, and measure nothing; --json: as jobs."
        ),
    ] = False,
    scheduler: Annotated[
        str,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Let the workers of Dask's scheduler there do what needs no timing:"
            " tcp://host:8786.",
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Check and time a C function under every compiler and flag.

    A subject is the code: a kernel of ours, another project's, or your own (a TOML file). A cell is
    one function of it, from one compiler with one set of flags, on one target. Each cell is
    compiled, checked, and timed in core cycles; on emulated targets its instructions are counted.
    docs/MATRIX.md says how to read the tables.
    """
    begin = monotonic()
    context = context_of(command)
    stdout = context.out.file
    context, json = tables_on_stderr(context, out), json and not is_standard_output(out)
    reduction = _reduction(context, regressions, reduce, reduce_time)
    choice = Choice(
        subjects=tuple(split_commas(subject)),
        functions=tuple(split_commas(function)),
        toolchains=tuple(split_commas(toolchain)),
        flag_sets=(*split_commas(flag_set), *map(flags_given, flags or ())),
        targets=tuple(split_commas(target)),
        key_bits=_numbers("--key-bits", split_commas(key_bits), (128, 192, 256)),
        bytes=_numbers("--bytes", split_commas(bytes_), range(1, 1 << 24)),
    )
    end = begin + (duration(budget) if budget else float("inf"))
    path = _path(context, out, resume)
    local_only = {
        "--ct": ct,
        "--regressions": regressions,
        "--scheduler": bool(scheduler),
        "--plan": dry,
    }
    request = _request_of(
        *(context, choice, time_limit, estimate, path if resume else None, cpu, local_only)
    )
    cells = _cells_of(request)
    if dry:
        _list(context, cells, _planned_jobs(request, cells, ct, json))
        return
    passes = _Passes(ct, regressions, reduction, scheduler, json, begin, end)
    head = _head_of(request)
    opened = partial(store.Writer, path, head, resume, stdout)
    results, odd, why = _run_passes(request, cells, opened, passes)
    tidy(context)
    source = f"{head.machine.title()}, {head.counter}; {path}"
    broken = _show(request, results, source, passes, why)
    print_output_path(context, "results", path)
    _refuse_empty(results)
    if _is_bad(results) or odd or broken:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Passes:
    """The passes that are made over the cells, and their end."""

    ct: bool
    regressions: bool
    reduction: _Reduction | None
    scheduler: str
    json: bool
    begin: float
    end: float

    @property
    def first_end(self) -> float:
        """The end of the first pass: the others need a share of the time."""
        share = FIRST_PASS if self.ct or self.regressions else 1
        return self.begin + (self.end - self.begin) * share


@dataclass(frozen=True)
class _Request:
    """The code, the compilers and the machine of a run, as they were found here."""

    context: Context
    tree: Tree
    choice: "Choice"
    run_options: "RunOptions"
    subjects: Sequence[Subject]
    facts: machine.Facts
    cpu: int | None  # the core that was named
    board: BoardLink | None
    toolchains: dict[str, Toolchain]

    @property
    def core(self) -> int:
        return machine.fastest_cpu(self.facts) if self.cpu is None else self.cpu

    def workbench(self) -> CellPipeline:
        """Open what compiles and runs cells; an estimator is looked for here."""
        cpus = machine.like(self.facts, self.core) if self.cpu is None else (self.core,)
        return CellPipeline(
            self.context,
            self.tree,
            self.toolchains,
            _place(self.facts),
            {one.name: one for one in self.subjects},
            cpus=cpus,
            limits=Limits(run=self.run_options.time_limit),
            estimator=open_estimator(self.context) if self.run_options.estimate else None,
            board=self.board,
        )


def _request_of(
    context: Context,
    choice: "Choice",
    time_limit: float | None,
    estimate: bool,
    resumed: Path | None,
    cpu: int | None,
    local_only: Mapping[str, bool],
) -> _Request:
    """Find what is named. Options that are not given, a run that is resumed has from its file.

    `local_only`: options that do not go with a board, and whether they are given.
    """
    tree = catalog.find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))
    run_options = RunOptions(time_limit or Limits().run, estimate)
    if resumed:
        given = choice
        choice, before = _resumed_choice(resumed, given)
        run_options = RunOptions(time_limit or before.time_limit, estimate or before.estimate)
        found = (_subjects if given.subjects else _subjects_before)(tree, choice)
    else:
        found = _subjects(tree, choice)
    facts = machine.gather(context)
    _refuse_absent(tree, choice.targets, facts, cpu)
    here = {one.name: one for one in installed(context, tree)}
    others = {**local_only, "--estimate": run_options.estimate}
    board = _board(context, tree, choice.targets, cpu, others)
    here = with_board(tree, here, board.target) if board else here
    return _Request(context, tree, choice, run_options, found, facts, cpu, board, here)


def _cells_of(request: _Request) -> list[Planned]:
    """Plan the cells; an error names a function or a compiler that is not there."""
    choice, board = request.choice, request.board
    axes = Axes(
        functions=tuple(_functions(request.subjects, choice)),
        toolchains=_toolchains(request.context, request.tree, request.toolchains, choice),
        flag_sets=choice.sets(),
        targets=(board.target.name,) if board else choice.targets or (HOST,),
        key_bits=choice.key_bits,
        n_bytes=choice.bytes or (4096,),
    )
    return plan(axes, _place(request.facts))


def _head_of(request: _Request) -> Head:
    """Return the head of the run's file; the machine's counter is asked for."""
    context, tree, board = request.context, request.tree, request.board
    target = board.target if board else load_target(tree, HOST)
    return Head(
        date=context.now().isoformat(timespec="seconds"),
        everycore=_version(),
        revision=machine.revision(context, tree),
        machine=_machine(context, request.facts, request.core, board),
        counter=counter_name(context, tree, target, board.run if board else None),
        options=asdict(request.choice.without_paths(context.cwd)) | asdict(request.run_options),
    )


def _run_passes(
    request: _Request,
    cells: Sequence[Planned],
    open_file: Callable[[], store.Writer],
    passes: _Passes,
) -> tuple[list[Result], bool, dict[Cell, Anomaly]]:
    """The results of all passes, whether something is odd, and what makes wrong answers right. Each
    pass writes what it has found as it finds it, and prints it with --json. The file is opened once
    the workers have answered."""
    context, bench, odd = request.context, request.workbench(), False
    local = Run(bench, Clock(monotonic, passes.first_end))
    jobs = _jobs_of(request.tree, request.subjects, cells, bench)
    with _runner(context, passes.scheduler, local, bench, jobs) as run, open_file() as writer:
        results = _measure(context, writer, run, cells, bench, passes.json)
        clock = Clock(monotonic, passes.end)
        if passes.ct:
            results = _look_for_leaks(context, writer, run, bench, clock, results, passes.json)
        if passes.regressions:
            results, odd = _look_for_regressions(
                *(context, writer, run, bench, clock, results, passes.json), passes.reduction
            )
        known = writer.now().anomalies
    return results, odd, {one.cell: one for one in known if one.kind is Kind.WRONG}


def _refuse_empty(results: Sequence[Result]) -> None:
    """Raise an error if no cell came to anything."""
    if not results:
        raise EverycoreError("no time for a single cell", "give --budget more; --resume goes on")
    if all(one.outcome is Outcome.SKIPPED for one in results):
        raise EverycoreError("every cell was skipped", "the reasons are above")


def _show(
    request: _Request,
    results: Sequence[Result],
    source: str,
    passes: _Passes,
    why: Mapping[Cell, Anomaly],
) -> bool:
    """Print tables and verdicts; where standard output is for others, what failed and was skipped
    all the same. Returns whether code that claims constant time has lost it."""
    context = request.context
    if passes.json or passes.regressions:
        for one in matrix_tables.troubles(results):
            context.err.print(one)
    else:
        for one in matrix_tables.tables(results, context.out.width, source, why):
            context.out.print(one)
    claims = {(s.name, f.name) for s in request.subjects for f in s.functions if f.constant_time}
    if any(one.verdicts for one in results) and not passes.json:
        for one in leak_table.paragraphs(results, claims):
            context.out.print(one)
    return bool(leak_table.broken(results, claims))


def _is_bad(results: Sequence[Result]) -> bool:
    """A program went wrong, or none came to figures; what a compiler refuses alone is no fault."""
    ends = {one.outcome for one in results}
    return not ends & {Outcome.MEASURED, Outcome.COUNTED} or bool(
        ends & {Outcome.WRONG, Outcome.CRASHED, Outcome.TIME_LIMIT}
    )


@dataclass(frozen=True, slots=True)
class Choice:
    """The choices of the command line; empty: all, or the usual ones."""

    subjects: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    flag_sets: tuple[str, ...] = ()  # names, and flags as they were given
    targets: tuple[str, ...] = ()
    key_bits: tuple[int, ...] = ()
    bytes: tuple[int, ...] = ()

    def sets(self) -> tuple[FlagSet, ...]:
        """Return the sets of flags that are named, and those that were given word by word."""
        given = [one for one in self.flag_sets if one.startswith("-")]
        names = [one for one in self.flag_sets if not one.startswith("-")]
        return chosen(names, map(split_flags, given))

    def without_paths(self, cwd: Path) -> "Choice":
        """Return the choice with files by their names, as results keep it."""
        return replace(
            self,
            subjects=tuple(file_named(name, cwd) for name in self.subjects),
            targets=tuple(file_named(name, cwd) for name in self.targets),
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How cells are run, beside which there are."""

    time_limit: float = Limits().run
    estimate: bool = False


def flags_given(text: str) -> str:
    """Return flags as one text that a shell would split again."""
    if not text.strip().startswith("-"):
        raise EverycoreError(f"--flags '{text}' begins with no flag", 'such as --flags="-O2"')
    return shlex.join(split_flags(text))


def _resumed_choice(path: Path, given: Choice) -> tuple[Choice, RunOptions]:
    """Return the choice of the run before, but for what is given now."""
    try:
        before, options = stored_choice(path)
    except EverycoreError:
        if given == Choice():
            raise
        return given, RunOptions()
    names = [one.name for one in fields(Choice)]
    merged = {name: getattr(given, name) or getattr(before, name) for name in names}
    return Choice(**merged), options


def stored_choice(path: Path) -> tuple[Choice, RunOptions]:
    """Return the choice of the run that wrote a file last."""
    heads = store.read(path).heads
    try:
        options = dict(heads[-1].options)
        names = {one.name for kind in (Choice, RunOptions) for one in fields(kind)}
        if unknown := options.keys() - names:
            raise TypeError(f"unknown: {unknown}")
        return decode(Choice, options), decode(RunOptions, options)
    except (IndexError, TypeError) as error:
        raise EverycoreError(
            f"{path} does not say which cells it was to have", "give the options of its run again"
        ) from error


def _measure(
    context: Context,
    writer: store.Writer,
    run: "Run | FarmRun",
    cells: Sequence[Planned],
    bench: CellPipeline,
    json: bool,
) -> list[Result]:
    """The results of these cells, those that an earlier run had among them."""
    stored = writer.stored
    if stored.dropped:
        context.warn(f"{stored.path}: the half of a line at its end is dropped")
    _warn_of_clock(context, stored)
    known = stored.results
    done = stored.done(bench.limits.run, bench.estimator is not None, can_read_code(), VERSION)
    planned = {one.cell: one.compiler for one in cells}
    if less := sum(
        known[c].has_answers and known[c].sweep < VERSION for c in planned if c in known
    ):
        context.warn(f"{less} cells were compared by fewer inputs than today: once more")
    other = {c for c, r in done.items() if not is_same(r.compiler, planned.get(c, ""))}
    if other:
        context.warn(f"{len(other)} cells are of other versions of their compilers: once more")
        done = {cell: one for cell, one in done.items() if cell not in other}
    changed = {c for c in planned if c in done and not is_same(done[c].contents, bench.contents(c))}
    if changed:
        names = ", ".join(sorted({cell.subject for cell in changed}))
        context.warn(f"{len(changed)} cells are of other contents of {names}: once more")
        done = {cell: one for cell, one in done.items() if cell not in changed}
    if len(revisions := writer.revisions()) > 1:
        context.warn(f"cells of {len(revisions)} revisions: {', '.join(revisions)}")
    results = [done[one.cell] for one in cells if one.cell in done]
    if results:
        context.err.print(f"going on with {stored.path}: {len(results)} cells are there")
    left = [one for one in cells if one.cell not in done]
    with Progress(context.err, "measuring", len(left)) as progress:
        for result in run.cells(left):
            if known.get(result.cell) != result:
                writer.write(result)
            results.append(result)
            progress.step(result.cell.title)
            if json:
                context.print_raw(as_json(result))
    if run.left_out:
        context.warn(f"no time for {run.left_out} cells: --resume goes on with them")
    return results


def _look_for_leaks(
    context: Context,
    writer: store.Writer,
    run: "Run | FarmRun",
    bench: CellPipeline,
    clock: Clock,
    results: Sequence[Result],
    json: bool,
) -> list[Result]:
    """The results, with verdicts where they can have some; the later line of a cell counts."""
    found = {one.cell: one for one in results}
    left = second_pass.left(results)
    with Progress(context.err, "looking for leaks", len(left)) as progress:
        if isinstance(run, Run):
            cores = os.cpu_count() or 1
            looked = second_pass.looked_at(bench, left, cores, clock.has_time)
        else:
            looked = run.looked_at(left, clock.has_time)
        for result in looked:
            if found[result.cell] != result:
                writer.write(result)
            found[result.cell] = result
            progress.step(result.cell.title)
            if json:
                context.print_raw(as_json(result))
    if late := sum(found[one.cell] is one for one in left):
        context.warn(f"no time to look at {late} cells: --ct --resume goes on with them")
    return list(found.values())


def _look_for_regressions(
    context: Context,
    writer: store.Writer,
    run: "Run | FarmRun",
    bench: CellPipeline,
    clock: Clock,
    results: Sequence[Result],
    json: bool,
    reduction: _Reduction | None,
) -> tuple[list[Result], bool]:
    """The results, and whether a cell is odd, or may be, or fails when it is measured again.

    A report on each cause is printed. With a reduction, it has a test case.
    """
    trials, stored = Trials(bench), writer.now()
    every = {one.cell: one for one in results}
    number = len(anomalies.find(every))
    with Progress(context.err, "looking for causes", number) as progress:
        explained = explain_all(
            *(trials, every, stored.anomalies, writer.write, progress.step, clock.has_time),
            elsewhere=lambda odd: () if isinstance(run, Run) else run.bisected(odd, clock.has_time),
        )
    anomaly_groups = explained.anomaly_groups()
    for said in explained.noise:
        context.err.print(f"noise: {said}", markup=False, soft_wrap=True)
    for one in explained.failed.values():
        said = f"{one.cell.title}: {one.reason}"
        shown = "WRONG" if one.outcome is Outcome.WRONG else one.outcome
        context.err.print(f"{shown} when it was run again: {said}", markup=False, soft_wrap=True)
    results = list(explained.results.values())
    if explained.left:
        context.warn(f"no time for {explained.left} slow cells: --resume goes on with them")
    head = stored.heads[-1]
    why = _look_for_miscompilations(context, trials, run, results, stored.anomalies, clock)
    for found in why.values():
        if found not in stored.anomalies:
            writer.write(found)
    if reduction:
        firsts = [one.first.cell for one in reported(group_failures(results), why)]
        asked = [why[cell] for cell in firsts if cell in why]
        asked += [anomaly_group.worst for anomaly_group in anomaly_groups]
        for found in _reduce(context, trials, reduction, clock, asked, explained.results):
            writer.write(found)
            if found.kind is Kind.WRONG:
                why[found.cell] = found
            else:
                explained.anomalies[found.cell, found.kind] = found
        anomaly_groups = explained.anomaly_groups()
    texts = [
        bugs.miscompilation(one, why, head, trials.source(one.first.cell), explained.results)
        for one in reported(group_failures(results), why)
    ]
    for anomaly_group in anomaly_groups:
        source = trials.source(anomaly_group.worst.cell)
        texts.append(bugs.report(anomaly_group, explained.results, head, source))
    for text in () if json else texts:
        context.print_raw(text)
    lines: list[Line] = [*explained.failed.values(), *why.values()]
    lines += explained.anomalies.values()
    for line in lines if json else ():
        context.print_raw(as_json(line))
    wrong = sum(one.outcome is Outcome.WRONG for one in results)
    total = f"{len(results)} cells: {wrong} with wrong answers, {number} worse than a neighbour"
    total += f" ({len(explained.noise)} of them only the first time)" if explained.noise else ""
    total += f", {len(explained.failed)} failed the second time" if explained.failed else ""
    causes = len(texts)  # a report for each
    context.err.print(f"{total}; {causes} {'cause' if causes == 1 else 'causes'}", soft_wrap=True)
    return results, bool(anomaly_groups or explained.failed or explained.left)


def _reduce(
    context: Context,
    trials: Trials,
    reduction: _Reduction,
    clock: Clock,
    asked: Sequence[Anomaly],
    results: Mapping[Cell, Result],
) -> Iterator[Anomaly]:
    """The anomalies with their test cases; those that have a final one are passed over."""
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
            yield replace(anomaly, reduced=found)
    if late:
        context.warn(f"no time for {late} test cases: --reduce --resume goes on with them")


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
        " --resume --regressions --reduce goes on with them, --reduce-time allows more"
    )


def _reduction(context: Context, regressions: bool, reduce: bool, time: str) -> _Reduction | None:
    """The cvise that is here, and its time; errors are raised before anything is measured."""
    if time and not reduce:
        raise EverycoreError("--reduce-time is the time of --reduce", "give both")
    if not reduce:
        return None
    if not regressions:
        raise EverycoreError("--reduce makes test cases of what --regressions finds", "give both")
    return _Reduction(find_cvise(context), duration(time) if time else LIMIT_SECONDS)


def _look_for_miscompilations(
    context: Context,
    trials: Trials,
    run: "Run | FarmRun",
    results: Sequence[Result],
    stored: Sequence[Anomaly],
    clock: Clock,
) -> dict[Cell, Anomaly]:
    """Find for each cell with wrong answers what makes them right."""
    wrong = [one for one in results if one.outcome is Outcome.WRONG]
    if not wrong:
        return {}
    context.err.print(f"looking for what makes the answers of {len(wrong)} cells right")
    found = explain_wrong(
        *(trials, wrong, stored, clock.has_time),
        elsewhere=lambda some: () if isinstance(run, Run) else run.made_right(some, clock.has_time),
    )
    found = with_figures(trials, found, clock.has_time)
    if late := len(wrong) - len(found):
        context.warn(f"no time for {late} cells with wrong answers: --resume goes on with them")
    return found


def duration(text: str) -> float:
    """Seconds: "90", "90s", "10m", "1.5h"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or not float(found[1]):
        raise EverycoreError(f"'{text}' is no time", "such as 90s, 10m or 1h")
    return float(found[1]) * UNITS[found[2] or "s"]


def _numbers(option: str, given: Sequence[str], valid: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of an option, each once; an error names one that is not valid."""
    for word in given:
        if not word.isdecimal() or int(word) not in valid:
            shown = f"{valid[0]} to {valid[-1]}" if isinstance(valid, range) else f"{valid}"
            raise EverycoreError(f"{option} {word} is not possible", f"valid: {shown.strip('()')}")
    return tuple(dict.fromkeys(map(int, given)))


def _subjects(tree: Tree, names: Choice) -> list[Subject]:
    """Return the subjects that are named; else all that can be compiled for one of the targets."""
    if names.subjects:
        return [subjects.find_subject(tree, name) for name in dict.fromkeys(names.subjects)]
    every = [*subjects.kernel_subjects(tree), *subjects.load_subjects(tree)]
    targets = {*(names.targets or (HOST,))}
    return [one for one in every if not (where := _targets(one)) or {*where} & targets]


def _subjects_before(tree: Tree, names: Choice) -> list[Subject]:
    """Return the subjects of an earlier run, which may have been in another folder."""
    try:
        return _subjects(tree, names)
    except EverycoreError as error:
        hint = "results do not say where your folders are: go on in the folder of that run, or"
        raise EverycoreError(error.message, f"{hint} give its options again") from error


def _targets(subject: Subject) -> tuple[str, ...]:
    """Return the targets for which its files can be compiled; empty: all."""
    portable = all(name.endswith(".c") for name in subject.files)
    ours = subject.name.startswith("c_") or not subject.adapter_defines
    return () if portable and ours else (subject.target,)


def _functions(found: Sequence[Subject], names: Choice) -> list[PlannedFunction]:
    """Return the functions that are named; else those that each subject has measured."""
    selected = [
        PlannedFunction(one.name, f.name, f.key_bits, f.multiple_of, _targets(one), one.is_assembly)
        for one in found
        for f in (one.functions if names.functions else one.measured)
        if not names.functions or f.name in names.functions
    ]
    for name in names.functions:
        if not any(name == one.function for one in selected):
            every = dict.fromkeys(f.name for one in found for f in one.functions)
            raise unknown_name("function", name, every)
    return selected


def _toolchains(
    context: Context, tree: Tree, here: dict[str, Toolchain], names: Choice
) -> tuple[Toolchain, ...]:
    """Return the compilers that are named; else all that are here."""
    for name in names.toolchains:
        if name not in here:
            raise named_or_fetchable(context, tree, name, here)
    chosen_names = names.toolchains or here
    if not chosen_names:
        raise EverycoreError("no compiler is here", "Debian: apt-get install gcc libc6-dev")
    return tuple(here[name] for name in dict.fromkeys(chosen_names))


def _refuse_absent(
    tree: Tree, targets: Sequence[str], facts: machine.Facts, cpu: int | None
) -> None:
    """Raise an error for a core that this machine lacks, and for a board among other targets."""
    boards = [name for name in targets if load_target(tree, name).transport == "ssh"]
    if not boards:
        machine.refuse_absent_cpu(facts, cpu)
    elif len(targets) > 1:
        raise EverycoreError(
            f"{boards[0]} is a board: a file of the matrix has cells of one machine",
            "name it alone; runs on several boards may go on side by side, each with its --out",
        )


def _board(
    context: Context,
    tree: Tree,
    targets: Sequence[str],
    cpu: int | None,
    others: Mapping[str, bool],
) -> BoardLink | None:
    """Return the connection to the board that is to measure, if one is; `others`: options that need
    this machine, and whether they are given."""
    for name in targets:
        if (target := load_target(tree, name)).transport == "ssh":
            if option := next((option for option, given in others.items() if given), ""):
                raise EverycoreError(
                    f"{option} is not for boards, and {name} is one",
                    f"leave out {option}, or {name}",
                )
            return open_board(context, target, cpu)
    return None


def _machine(context: Context, facts: machine.Facts, core: int, board: BoardLink | None) -> Machine:
    """Describe the machine that measures; a board has none of everycore's installations."""
    if board:
        return board.machine
    return replace(machine.describe(facts, core), installation=machine.installation(context))


def _place(facts: machine.Facts) -> HostCpu:
    """Return what this machine can execute."""
    own = machine.processor(facts.texts.get("/proc/cpuinfo", ""), 0)
    return HostCpu(platform.machine(), frozenset(own.get("flags", "").split()))


def _path(context: Context, out: Path | None, resume: bool) -> Path:
    """Return the file of the run: the named one, the last one, or a new one."""
    folder = context.state_dir() / "results"
    if out:
        return out
    return store.newest(folder) if resume else store.new_path(folder, context.now())


def _jobs(
    context: Context,
    tree: Tree,
    found: Sequence[Subject],
    toolchains: Mapping[str, Toolchain],
    cells: Sequence[Planned],
    time_limit: float,
    with_ct: bool,
) -> list[farm_work.Job]:
    """Return the jobs of the plan, each with the file of its subject if that is not in the tree."""
    first = farm_work.Work.COMPILE
    digest = tree_digest(tree)
    files = {
        one.name: str((one.home / f"{one.name}.toml").resolve())
        for one in found
        if not one.home.is_relative_to(tree.root)
    }
    machines: dict[tuple[str, tuple[str, ...], str], str] = {}
    for one in cells:
        cell = one.cell
        compiler = toolchains[cell.toolchain].compiler(cell.target)
        key = (cell.toolchain, cell.flags, cell.target)
        if compiler and not one.why_not and key not in machines:
            machines[key] = machine_words(context, compiler, cell)
    emulated = {name for name in {one.cell.target for one in cells} if _is_emulated(tree, name)}
    return [
        job
        for one in cells
        for job in farm_work.jobs_of(
            one,
            farm_work.Job(
                *(first, one.cell, own_version(), digest),
                machine=machines.get((one.cell.toolchain, one.cell.flags, one.cell.target), ""),
                subject_file=files.get(one.cell.subject, ""),
                time_limit=time_limit,
            ),
            one.cell.target in emulated,
            with_ct,
        )
    ]


def _jobs_of(
    tree: Tree, found: Sequence[Subject], cells: Sequence[Planned], bench: CellPipeline
) -> Callable[[], dict[Cell, farm_work.Job]]:
    """Return a function that makes the first job of each cell: a run without workers needs none."""
    return lambda: {
        job.cell: job
        for job in _jobs(
            *(bench.context, tree, found, bench.toolchains, cells, bench.limits.run),
            with_ct=False,
        )
    }


@contextmanager
def _runner(
    context: Context,
    scheduler: str,
    local: Run,
    bench: CellPipeline,
    jobs_of: Callable[[], dict[Cell, farm_work.Job]],
) -> Iterator["Run | FarmRun"]:
    """Yields what runs the cells: this host alone, or the workers of a scheduler beside it."""
    if not scheduler:
        yield local
        return
    from everycore.farm.matrix_run import FarmRun
    from everycore.farm.scheduler import connected

    if bench.estimator is not None:
        raise EverycoreError("--estimate and --scheduler do not go together", "estimate later")
    jobs = jobs_of()
    if not jobs:
        yield local
        return
    with connected(context, scheduler, next(iter(jobs.values()))) as farm:
        yield FarmRun(farm, bench, local, jobs)


def _warn_of_clock(context: Context, stored: store.Stored) -> None:
    """Warn if the clock went back since the file was written: history is ordered by dates."""
    last = max((one.date for one in stored.heads), default="")
    now = context.now().isoformat(timespec="seconds")
    if last > now:
        context.warn(
            f"the clock went back: {stored.path.name} was written at {last}, and now it is"
            f" {now}; set the clock, for the last date counts in reports"
        )


def _planned_jobs(
    request: _Request, cells: Sequence[Planned], with_ct: bool, wanted: bool
) -> list[farm_work.Job] | None:
    """Return the jobs of a plan, where they are wanted."""
    time_limit = request.run_options.time_limit
    if not wanted:
        return None
    about = (request.context, request.tree, request.subjects, request.toolchains)
    return _jobs(*about, cells, time_limit, with_ct)


def _is_emulated(tree: Tree, name: str) -> bool:
    """Whether cells of this target run under QEMU."""
    return load_target(tree, name).transport == "qemu"


def _list(context: Context, cells: Sequence[Planned], jobs: Sequence[farm_work.Job] | None) -> None:
    """List the cells of the plan; with `jobs`, these as lines of JSON."""
    if jobs is None:
        for one in cells:
            context.print_raw(matrix_tables.plan_line(one.cell, one.why_not))
    for job in jobs or ():
        context.print_raw(encode_line(job))
    skipped = sum(bool(one.why_not) for one in cells)
    context.err.print(f"{len(cells)} cells, {skipped} of them skipped")


def _version() -> str:
    """Return the version of everycore; empty where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("everycore")
    except PackageNotFoundError:
        return ""
