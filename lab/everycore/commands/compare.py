# SPDX-License-Identifier: MIT
"""everycore compare: is one of two programs slower, and where?"""

import json as jsonlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    CpuNumber,
    Json,
    KernelNames,
    KeyBits,
    Modes,
    Out,
    Sizes,
    context_of,
    message_sizes,
    print_output_path,
    split_commas,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.measure import permutation
from everycore.model import stats
from everycore.model.domain import Revision
from everycore.model.protocol import Bench, Hello
from everycore.model.run_lines import Run
from everycore.report import changes, matrix_changes
from everycore.report.changes import Comparison, Operation
from everycore.run.bench_calls import Job, plan, usual_modes
from everycore.run.session import pin, run_of
from everycore.run.sides import Side, in_turn, open_side
from everycore.store import matrix_files as matrix_results
from everycore.store import run_files
from everycore.store.run_files import Results

SIZES_BYTES = (64, 1500, 16384)
ROUNDS, MOST_ROUNDS = 16, 1000
RUN_PERCENT, STORED_PERCENT = 1.0, 3.0
NO_VERDICT = (
    "No verdict: the two runs lie apart in time, and the machine may have changed between them."
    " `everycore compare --run A B` runs two programs in turn, and decides."
)
NOTHING_IN_COMMON = "compare two results of the same command with the same options"
LIMITS = "limits"  # the command whose results have no operation
NAMES = 6  # of operations in a warning


@dataclass(frozen=True, slots=True)
class CompareRequest:
    """The kernels, modes and sizes that both sides measure, and how often."""

    kernels: Sequence[str]
    modes: Sequence[str]
    sizes_bytes: Sequence[int]
    key_bits: int
    rounds: int
    cpu: int | None

    def jobs(self) -> list[Job]:
        return plan(self.modes, self.sizes_bytes)


@dataclass(frozen=True, slots=True)
class Show:
    """How a comparison is shown."""

    percent: float  # the threshold
    everything: bool
    json: bool


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of two programs that run in turn."""

    run: Annotated[
        bool, typer.Option("--run", help="Run A and B in turn, and decide what is slower.")
    ] = False
    processes: Annotated[
        int,
        typer.Option(
            "--processes",
            metavar="N",
            min=permutation.FEWEST,
            max=MOST_ROUNDS,
            help="Of each side, with --run.",
        ),
    ] = ROUNDS
    kernel: KernelNames = None
    mode: Modes = None
    bytes_: Sizes = None
    key_bits: KeyBits = 256
    cpu: CpuNumber = None
    cc: CompilerCommand = None
    flags: CompilerFlags = None
    out: Out = None

    def refuse_without_run(self) -> None:
        """Raise an error if an option says what is to be run, and nothing is."""
        words = (self.kernel, self.mode, self.bytes_, self.cc, self.flags, self.out)
        if any(words) or self.cpu is not None:
            raise EverycoreError(
                "--kernel, --mode, --bytes, --cpu, --cc, --flags and --out say what is to be run",
                "add --run; stored results are compared without these options",
            )

    def request(self) -> CompareRequest:
        return CompareRequest(
            split_commas(self.kernel),
            split_commas(self.mode),
            message_sizes(split_commas(self.bytes_)) or SIZES_BYTES,
            self.key_bits,
            self.processes,
            self.cpu,
        )


@dataclass(frozen=True, slots=True)
class ShowOptions:
    """Options of what is shown."""

    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            metavar="PERCENT",
            help="Smaller changes do not count."
            f" Default: {RUN_PERCENT:g} with --run, else {STORED_PERCENT:g}.",
        ),
    ] = None
    fail: Annotated[
        bool, typer.Option("--fail/--no-fail", help="Exit code 1 if something is slower.")
    ] = True
    everything: Annotated[bool, typer.Option("--all", help="Show what did not change too.")] = False
    json: Json = False

    def show(self, default: float) -> Show:
        percent = default if self.threshold is None else self.threshold
        if not 0 <= percent < float("inf"):
            raise EverycoreError(f"--threshold {percent:g} is no percentage", "give one, such as 1")
        return Show(percent, self.everything, self.json)


@with_option_sets
def compare(
    command: typer.Context,
    running: RunOptions,
    showing: ShowOptions,
    before: Annotated[
        str | None,
        typer.Argument(metavar="A", help="Result file; with --run: tree, revision or harness."),
    ] = None,
    after: Annotated[
        str | None, typer.Argument(metavar="B", help="As A. Default: the last stored runs.")
    ] = None,
) -> None:
    """Show whether one of two programs is slower, and where."""
    context = context_of(command)
    is_slower = False
    if running.run:
        show = showing.show(RUN_PERCENT)
        if not before or not after:
            raise EverycoreError(
                "--run needs two programs", "everycore compare --run HEAD~1 . (revision, folder)"
            )
        is_slower = _compare_programs(context, before, after, running, show)
    elif before and not after and (stored := _sides_of(before)):
        running.refuse_without_run()
        is_slower = _judge_stored(context, stored, showing.show(RUN_PERCENT))
    else:
        running.refuse_without_run()
        show = showing.show(STORED_PERCENT)
        if before and after and all(map(_is_of_matrix, (before, after))):
            _compare_matrices(context, Path(before), Path(after), show)
        else:
            _compare_stored(context, before, after, show)
    raise typer.Exit(1 if is_slower and showing.fail else 0)


# ---- Two programs in turn ------------------------------------------------------------------------


def _compare_programs(
    context: Context, before: str, after: str, running: RunOptions, show: Show
) -> bool:
    """Run two programs in turn; return whether the second is slower."""
    asked = running.request()
    output = SampleOutput.of(context, running.out, show.json)
    sides = (
        open_side(output.context, "A", before, running.cc, running.flags),
        open_side(output.context, "B", after, running.cc, running.flags),
    )
    run, benches, path = _measure(output, sides, asked)
    title = f"{before} (A) -> {after} (B)"
    show = replace(show, json=output.json)
    is_slower = _judge(output.context, benches, title, _caption(run), show)
    print_output_path(output.context, "samples", path)
    return is_slower


def _judge_stored(context: Context, stored: Results, show: Show) -> bool:
    """Judge a stored run of two programs; return whether the second is slower."""
    title = " -> ".join(f"{s['name']} ({s['label']})" for s in stored.run.options["sides"])
    return _judge(context, _whole_rounds(context, stored), title, _caption(stored.run), show)


def _measure(
    output: SampleOutput, sides: tuple[Side, Side], asked: CompareRequest
) -> tuple[Run, list[Bench], Path]:
    """Measure both sides; return the run, its figures, and the file that has them."""
    context = output.context
    sessions = [pin(context, side.session, asked.cpu) for side in sides]
    pinned = [replace(s, session=session) for s, session in zip(sides, sessions, strict=True)]
    if sides[0].digest == sides[1].digest:
        context.warn("A and B are the same program: what differs is noise")
    registry = catalog.registry(sides[0].session.tree)
    modes = asked.modes or usual_modes(asked.kernels, registry)
    jobs = plan(modes, asked.sizes_bytes)
    hello, _ = (_greeting(side, modes, asked) for side in pinned)  # B must know the modes, too
    options = {
        "sides": [
            {"label": s.label, "name": s.name, "origin": s.origin, "revision": s.revision}
            | {"digest": s.digest}
            for s in sides
        ],
        "rounds": asked.rounds,
        "key_bits": asked.key_bits,
        "bytes": list(asked.sizes_bytes),
        "kernels": list(asked.kernels),
        "modes": list(modes),
    }
    run = run_of(context, pinned[1].session, hello, "compare", options)
    if sides[1].origin == "revision":
        run = run.replace(revision=Revision(sides[1].revision, dirty=False))
    path = output.path_of(run)
    benches: list[Bench] = []
    with (
        output.writer(run, path) as writer,
        Progress(context.err, "measuring", None) as progress,
    ):
        for record in in_turn(pinned, jobs, asked.kernels, asked.key_bits, asked.rounds, _coin):
            writer.write(record)
            assert isinstance(record, Bench)
            benches.append(record)
            progress.step(f"round {record.process + 1} of {asked.rounds}")
        if not any(bench.cycles for bench in benches):
            raise EverycoreError(
                "nothing was measured",
                "is there a counter? are the sizes long enough for the modes? does the kernel run?",
            )
    return run, benches, path


def _caption(run: Run) -> str:
    """Name the two programs and the run that the figures come from."""
    sides = "; ".join(f"{side['label']}: {_commit(side)}" for side in run.options["sides"])
    machine = f"{run.machine.title()}, {run.counter}, {run.compiler} {' '.join(run.flags)}"
    return f"{machine}, {run.date[:10]}; {sides}"


def _commit(side: Mapping[str, str]) -> str:
    """The commit of a program, else the digest of its file."""
    if side["revision"]:
        commit, changes, _ = side["revision"].partition("+changes")
        return f"commit {commit[:12]}{changes}"
    return f"program without a commit, SHA-256 {side['digest'][:12]}"


def _coin() -> bool:
    return bool(secrets.randbits(1))


def _greeting(side: Side, modes: Sequence[str], asked: CompareRequest) -> Hello:
    """The first line of the harness; an error if it cannot measure these modes."""
    arguments = ["--mode", ",".join(modes), "--key-bits", str(asked.key_bits)]
    arguments += ["--kernel", ",".join(asked.kernels), *side.session.pinned]
    try:
        lines = list(side.session.records("bench", "--dry-run", *arguments))
    except EverycoreError as error:
        message = f"{side.label} ({side.name}): {error.message}"
        raise EverycoreError(message, error.hint, error.code) from error
    hello = next((line for line in lines if isinstance(line, Hello)), None)
    if hello is None:
        raise EverycoreError(
            f"{side.label} ({side.name}) did not say what it is",
            "is it a harness of everycore? `everycore bench` builds one",
        )
    return hello


def _sides_of(name: str) -> Results | None:
    """A stored run of two programs, if the file is one."""
    try:
        found = run_files.read(Path(name), partial=True)
    except EverycoreError:
        return None
    return found if any(bench.side for bench in found.benches()) else None


def _whole_rounds(context: Context, stored: Results) -> list[Bench]:
    """The figures of a stored run, without the round that an interruption cut short."""
    benches = list(stored.benches())
    if not stored.cut_off:
        return benches
    context.warn(f"{stored.path} is a partial result: {stored.cut_off}; its last round is left out")
    last = max(bench.process for bench in benches)
    return [bench for bench in benches if bench.process < last]


def _judge(
    context: Context, benches: Sequence[Bench], title: str, caption: str, show: Show
) -> bool:
    """Tell what changed; whether something is slower."""
    found = changes.compare(benches, show.percent / 100)
    if not found.compared:
        raise EverycoreError(
            "no operation has a figure in every process of both programs",
            "let other programs end, or measure fewer kernels and modes with more time",
        )
    slower, faster = found.having("slower"), found.having("faster")
    undecided = [
        compared for compared in found.compared if compared.is_undecided(show.percent / 100)
    ]
    shown = list(found.compared) if show.everything else [*slower, *faster, *undecided]
    if show.json:
        for item in shown:
            context.print_raw(jsonlib.dumps({"type": "change", **asdict(item)}))
    elif shown:
        context.out.print(changes.table(shown, title, caption))
    else:
        context.out.print(f"{title}\n{caption}", markup=False, soft_wrap=True)
    _warn_of_rest(context, found)
    unchanged = len(found.compared) - len(slower) - len(faster) - len(undecided)
    summary = (
        f"{len(found.compared)} operations, {found.rounds} processes a side: {len(slower)} slower,"
        f" {len(faster)} faster, {unchanged} unchanged"
        + (f", {len(undecided)} undecided (give more --processes)" if undecided else "")
        + f" (more than {show.percent:g} %; chance of any false alarm: {2 * permutation.LEVEL:.1%})"
    )
    (context.err if show.json else context.out).print(summary, soft_wrap=True)
    if uncertain := sum(compared.is_uncertain for compared in found.compared):
        context.warn(
            f"{uncertain} of {len(found.compared)} ratios are uncertain by more than"
            f" {stats.WIDEST:.0%}, so a smaller change of them may be hidden: let other programs"
            " end, or give more --processes"
        )
    if found.rounds < permutation.FEWEST:
        context.warn(
            f"{found.rounds} processes a side cannot give a verdict:"
            f" {permutation.FEWEST} are needed"
        )
    return bool(slower)


def _warn_of_rest(context: Context, found: Comparison) -> None:
    """Operations that were not compared."""
    rest: dict[str, list[Operation]] = {}
    if found.incomplete:
        rest["too many processes have no figure of them"] = list(found.incomplete)
    for side, operation in found.only:
        rest.setdefault(f"only {side} has them", []).append(operation)
    for why, operations in rest.items():
        named = [" ".join(operation.words()) for operation in operations[:NAMES]]
        more = f" and {len(operations) - NAMES} more" if len(operations) > NAMES else ""
        context.warn(f"not compared, for {why}: {', '.join(named)}{more}")


# ---- Two stored runs -----------------------------------------------------------------------------


def _compare_stored(context: Context, before: str | None, after: str | None, show: Show) -> None:
    """Show the differences between two files, and why they are no verdict."""
    first, second = _load(context, Path(before) if before else None, Path(after) if after else None)
    _name_files(context, first.path, second.path, show)
    _refuse_limits_of_one(first, second)
    _warn_about_differences(context, first, second)
    found = changes.compare_stored(*(list(results.records) for results in (first, second)))
    if not found:
        raise EverycoreError(
            f"{first.path} and {second.path} have no operation in common", NOTHING_IN_COMMON
        )
    limit = 1 + show.percent / 100
    differ = [pair for pair in found if not 1 / limit <= pair.ratio <= limit]
    shown = found if show.everything else differ
    if show.json:
        for item in shown:
            line = {"type": "difference", **asdict(item), "ratio": item.ratio}
            context.print_raw(jsonlib.dumps(line))
    elif shown:
        title = f"{first.run.title()}  ->  {second.run.title()}"
        caption = f"{second.run.machine.title()}; {second.run.counter}"
        context.out.print(changes.stored_table(shown, title, caption))
    summary = f"{len(found)} operations: {len(differ)} differ by more than {show.percent:g} %."
    (context.err if show.json else context.out).print(f"{summary} {NO_VERDICT}", soft_wrap=True)


def _load(context: Context, before: Path | None, after: Path | None) -> tuple[Results, Results]:
    """The files named, or the last two that time kernels; what cannot be read is named."""
    folder = context.state_dir() / "results"
    if after is None:
        found, unreadable = run_files.latest(folder, 1 if before else 2)
    else:
        found, unreadable = [], []
    named: list[Results] = []
    for path in (before, after):
        if path is None:
            continue
        try:
            named.append(run_files.read(path, partial=True))
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
    for stored in results:
        if any(bench.side for bench in stored.benches()):
            raise EverycoreError(
                f"{stored.path} has both programs of a comparison", "name it alone: compare FILE"
            )
    return results[0], results[1]


def _name_files(context: Context, before: Path, after: Path, show: Show) -> None:
    """Print the names of the two files, above all; refuse one file twice."""
    if before.resolve() == after.resolve():
        raise EverycoreError(
            f"{before} would be compared with itself", "name two files, or run `everycore bench`"
        )
    console = context.err if show.json else context.out
    for side, path in (("Before", before), ("After", after)):
        console.print(f"{side}: {path}", markup=False, soft_wrap=True)


def _refuse_limits_of_one(first: Results, second: Results) -> None:
    """Refuse the CPU's limits beside operations: their figures answer different questions."""
    first_command, second_command = first.run.command, second.run.command
    if first_command != second_command and LIMITS in (first_command, second_command):
        raise EverycoreError(
            f"{first.path} is of `everycore {first_command}`,"
            f" {second.path} of `everycore {second_command}`",
            NOTHING_IN_COMMON,
        )


def _warn_about_differences(context: Context, first: Results, second: Results) -> None:
    first_run, second_run = first.run, second.run
    for results in (first, second):
        if results.cut_off:
            context.warn(f"{results.path} is a partial result: {results.cut_off}")
    for what, a, b in (
        ("machines", first_run.machine.title(), second_run.machine.title()),
        ("cores", _number(first_run), _number(second_run)),
        ("microcode", first_run.machine.microcode, second_run.machine.microcode),
        ("governors", first_run.machine.governor, second_run.machine.governor),
        ("targets", first_run.target, second_run.target),
        ("compilers", first_run.compiler, second_run.compiler),
        ("flags", " ".join(first_run.flags), " ".join(second_run.flags)),
        ("counters", first_run.counter, second_run.counter),
    ):
        if a != b:
            context.warn(f"different {what}: {a or 'unknown'} / {b or 'unknown'}")


def _number(run: Run) -> str:
    return str(run.machine.cpu_index) if run.machine.cpu_index >= 0 else ""


# ---- Two matrices --------------------------------------------------------------------------------


def _is_of_matrix(name: str) -> bool:
    try:
        return bool(matrix_results.read(Path(name)).heads)
    except EverycoreError:
        return False


def _compare_matrices(context: Context, before: Path, after: Path, show: Show) -> None:
    first, second = matrix_results.read(before), matrix_results.read(after)
    _name_files(context, before, after, show)
    old, new = first.heads[-1], second.heads[-1]
    for what, a, b in (
        ("machines", old.machine.title(), new.machine.title()),
        ("counters", old.counter, new.counter),
    ):
        if a != b:
            context.warn(f"different {what}: {a or 'unknown'} / {b or 'unknown'}")
    found = matrix_changes.compare_stored(first.results, second.results)
    if not found:
        raise EverycoreError(f"{before} and {after} have no cell in common", NOTHING_IN_COMMON)
    differ = [item for item in found if item.differs(show.percent / 100)]
    shown = found if show.everything else differ
    if show.json:
        for item in shown:
            context.print_raw(jsonlib.dumps({"type": "difference", **item.as_object()}))
    elif shown:
        title = f"{old.revision} {old.date[:10]}  ->  {new.revision} {new.date[:10]}"
        context.out.print(
            matrix_changes.table(shown, title, f"{new.machine.title()}; {new.counter}")
        )
    summary = f"{len(found)} cells: {len(differ)} end otherwise or differ by more than"
    summary += f" {show.percent:g} %. {NO_VERDICT}"
    (context.err if show.json else context.out).print(summary, soft_wrap=True)
