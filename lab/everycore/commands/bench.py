# SPDX-License-Identifier: MIT
"""everycore bench: what does each kernel cost on this machine, and which is selected?"""

import json as jsonlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from everycore.commands.command_groups import DefaultCommandGroup
from everycore.commands.completion import complete_words
from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    AAD_MODES,
    MODE_OF_KEYS,
    MOST_AAD_BYTES,
    MOST_KEYS,
    BuildOptions,
    CompilerCommand,
    CompilerFlags,
    CpuNumber,
    Json,
    KernelNames,
    Out,
    TargetName,
    context_of,
    message_sizes,
    print_output_path,
    refuse_unknown_kernels,
    split_commas,
    tables_on_stderr,
)
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError, LostError, SignalError, unknown_name
from everycore.environment.outputs import is_standard_output, is_stream
from everycore.environment.progress import Progress
from everycore.measure import quiet
from everycore.measure.placement_costs import worst_costs
from everycore.measure.processes import merged
from everycore.model import protocol
from everycore.model.domain import RegistryLine
from everycore.model.protocol import (
    AAD_BYTES,
    Arithmetic,
    Bench,
    Failure,
    Hello,
    Kernel,
    Mode,
    Placement,
    Resolved,
)
from everycore.model.run_lines import Conditions, Run
from everycore.model.selection import selected_kernel
from everycore.report import bench_notes, bench_tables, headline, selection_tables, speed
from everycore.report import placement_table as placement_report
from everycore.run import placements
from everycore.run.bench_calls import (
    LAYERS,
    LIMITS,
    MODES,
    MODES_OF,
    PROCESSES,
    QUICK_PROCESSES,
    Job,
    kernels_of_layers,
    left_of,
    plan,
    points,
    selected_pair,
    usual_modes,
)
from everycore.run.machine import may_not_count
from everycore.run.session import (
    Session,
    conditions_of,
    digest_of,
    facts_of,
    known_widths,
    open_session,
    pin,
    run_of,
)
from everycore.store import run_files

SIZES_BYTES = (16, 64, 512, 1500, 4096, 16384)
QUICK_SIZES_BYTES = (64, 1500, 16384)
ARM = ("a64", "a32")
CIPHERS = ("aes", "ghash", "gcm", "qarma")  # measured without --primitive
SECONDS, QUICK_SECONDS = 40.0, 5.0  # sampling; checks of the results and start-up come on top


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """The options of the command line."""

    modes: Sequence[str]
    sizes_bytes: Sequence[int]
    kernels: Sequence[str]  # empty: all
    key_bits: int
    quick: bool
    sizes_named: bool  # by the user: what a mode does not take is an error
    keys: int = 1  # calls take one of so many, in random order
    aad_bytes: int = AAD_BYTES

    @property
    def processes(self) -> int:
        return QUICK_PROCESSES if self.quick else PROCESSES

    def jobs(self) -> list[Job]:
        """The jobs in the order in which processes do them; every job has several processes."""
        jobs = plan(self.modes, self.sizes_bytes)
        return [replace(job, process=n) for n in range(self.processes) for job in jobs]

    def is_of_ciphers(self) -> bool:
        """Whether only AES and GCM are measured: the other kernels need not be compiled."""
        return {*self.modes} <= {*MODES, *MODES_OF["ghash"]}

    def conditions(self) -> list[str]:
        """Words for the harness, if calls are not the usual ones."""
        keys = ["--keys", str(self.keys)] if self.keys > 1 else []
        aad = ["--aad-bytes", str(self.aad_bytes)] if self.aad_bytes != AAD_BYTES else []
        return [*keys, *aad]

    def options(self) -> dict[str, Any]:
        """As they are stored."""
        return {
            "keys": self.keys,
            "aad_bytes": self.aad_bytes,
            "key_bits": self.key_bits,
            "quick": self.quick,
            "processes": self.processes,
            "bytes": list(self.sizes_bytes),
            "kernels": list(self.kernels),
            "modes": list(self.modes),
        }


@dataclass(frozen=True, slots=True)
class HarnessInventory:
    """The harness's answers before anything is measured."""

    hello: Hello
    kernels: Sequence[Kernel]
    modes: Sequence[Mode]
    uses: Sequence[Resolved]

    def running(self, request: BenchRequest) -> list[Kernel]:
        names = request.kernels
        return [k for k in self.kernels if k.runs and (not names or k.name in names)]


@dataclass(frozen=True, slots=True)
class ResumedJob:
    """A job: what an earlier run has of it, and what is left."""

    job: Job
    left: Sequence[Job]
    earlier: Sequence[Record]


class BenchGroup(DefaultCommandGroup):
    """The benchmarks; `run` need not be named."""

    moved: ClassVar[Mapping[str, str]] = {"--placement": "placement", "--primitive": "speed"}

    def new_lines(self, words: list[str]) -> list[list[str]]:
        """Return today's command line; the value of --primitive stands behind the command."""
        text = shlex.join(words).replace("--primitive=", "--primitive ")
        words = shlex.split(text)
        if "--placement" in words:
            return super().new_lines([word for word in words if word != "--primitive"])
        at = words.index("--primitive")
        return [["speed", *words[at + 1 : at + 2], *words[:at], *words[at + 2 :]]]


app = typer.Typer(
    cls=BenchGroup,
    rich_markup_mode=None,
    help="""Measure what the selected kernels cost on this machine.

    Without a command: `run`.
    """,
)
Modes = Annotated[
    list[str] | None, typer.Option("--mode", metavar="MODE", help="Only this mode; repeatable.")
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--bytes", metavar="N", help="Message size in bytes; repeatable."),
]
KeyBits = Annotated[int, typer.Option("--key-bits", metavar="N", help="128, 192 or 256.")]


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """Operations to measure, and their messages."""

    kernel: KernelNames = None
    mode: Modes = None
    bytes_: Sizes = None
    key_bits: KeyBits = 256
    keys: Annotated[
        int,
        typer.Option(
            "--keys",
            metavar="N",
            min=1,
            max=MOST_KEYS,
            help="Each message under one of N keys, in random order. Of gcm-seal alone.",
        ),
    ] = 1
    aad_bytes: Annotated[
        int,
        typer.Option(
            "--aad-bytes",
            metavar="N",
            min=0,
            max=MOST_AAD_BYTES,
            help="Bytes of associated data, of GCM and CCM.",
        ),
    ] = AAD_BYTES
    quick: Annotated[bool, typer.Option("--quick", help="Under ten seconds.")] = False
    all_: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Show every kernel and size, and why each kernel was selected or not."
            " --kernel and --bytes imply it.",
        ),
    ] = False

    @property
    def is_unusual(self) -> bool:
        return self.keys > 1 or self.aad_bytes != AAD_BYTES

    @property
    def shows_every(self) -> bool:
        return self.all_ or bool(self.kernel) or bool(self.bytes_) or self.is_unusual


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The place that is measured, and where samples go."""

    target: TargetName = "host"
    cpu: CpuNumber = None
    cc: CompilerCommand = None
    flags: CompilerFlags = None
    out: Out = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do not go on with a run that was cut off.")
    ] = False
    json: Json = False


@app.command("run")
@with_option_sets
def run(command: typer.Context, messages: MessageOptions, measuring: MeasureOptions) -> None:
    """Measure cycles per byte of ciphers. The default.

    One line for each mode: the kernel that is selected, its cycles per byte, and which share of the
    CPU's limit it reaches. --all shows every kernel. Samples are stored.
    """
    context = context_of(command)
    kernels = split_commas(messages.kernel)
    refuse_unknown_kernels(context, kernels)
    modes = split_commas(messages.mode)
    request = BenchRequest(
        modes or _modes_with(context, kernels, messages.keys, messages.aad_bytes),
        message_sizes(split_commas(messages.bytes_))
        or (QUICK_SIZES_BYTES if messages.quick else SIZES_BYTES),
        kernels,
        messages.key_bits,
        messages.quick,
        bool(messages.bytes_),
        messages.keys,
        messages.aad_bytes,
    )
    every = messages.shows_every
    raise typer.Exit(_bench(context, request, measuring, every=every, selection=every))


@app.command("speed")
@with_option_sets
def speed_of(
    command: typer.Context,
    measuring: MeasureOptions,
    primitive: Annotated[
        str,
        typer.Argument(
            metavar="PRIMITIVE",
            help="rsa, dh, prime or bn.",
            autocompletion=complete_words(*LAYERS),
        ),
    ],
    kernel: KernelNames = None,
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", metavar="N", help="Size of n or p; repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer processes.")] = False,
) -> None:
    """Measure operations a second of rsa, dh, prime or bn.

    The table is that of `openssl speed`.
    """
    context = context_of(command)
    if primitive in CIPHERS:
        raise EverycoreError(
            f"{primitive} is measured in cycles per byte", "everycore bench --kernel NAME"
        )
    if primitive not in LAYERS:
        raise unknown_name("primitive", primitive, LAYERS)
    refuse_unknown_kernels(context, split_commas(kernel))
    modes, sizes = LAYERS[primitive]
    request = BenchRequest(
        modes,
        message_sizes(split_commas(bytes_)) or sizes,
        split_commas(kernel) or kernels_of_layers(_registry(context)),
        256,
        quick,
        bool(bytes_),
    )
    raise typer.Exit(_bench(context, request, measuring, every=True, selection=False))


@app.command("placement")
@with_option_sets
def placement(
    command: typer.Context,
    build: BuildOptions,
    kernel: KernelNames = None,
    mode: Modes = None,
    bytes_: Sizes = None,
    key_bits: KeyBits = 256,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer sizes; minutes for all kernels.")
    ] = False,
    cpu: CpuNumber = None,
    json: Json = False,
) -> None:
    """Measure what messages at the edges of pages cost.

    Beside the same inside pages: the worst of each mode and kernel. Exit code 1 beyond 1.10 times
    + 20 cycles. Nothing is stored; --json prints every figure.
    """
    context = context_of(command)
    refuse_unknown_kernels(context, split_commas(kernel))
    request = placements.PlacementRequest(
        split_commas(mode) or placements.MODES,
        message_sizes(split_commas(bytes_)) or placements.usual_sizes(quick=quick),
        split_commas(kernel),
        key_bits,
    )
    session = pin(context, open_session(context, build.target, build.cc, build.flags), cpu)
    raise typer.Exit(_bench_placements(context, session, request, json))


def _bench(
    context: Context,
    request: BenchRequest,
    measuring: MeasureOptions,
    *,
    every: bool,
    selection: bool,
) -> int:
    """Measure, store and show; return the exit code.

    `every`: show all kernels; `selection`: show which of them is selected, before.
    """
    stdout, out = context.out.file, measuring.out
    context = tables_on_stderr(context, out)
    json = measuring.json and not is_standard_output(out)
    session = _open_to_store(context, request, measuring)
    here = _ask(session, request)
    _refuse_foreign_modes(request, here)
    session.widths.extend(known_widths(context, session))
    options = {**request.options(), "harness": digest_of(session)}
    run = run_of(context, session, here.hello, "bench", options)
    folder = context.state_dir() / "results"
    path = out or run_files.new_path(folder, context.now(), run.revision, "bench")
    may_resume = not measuring.fresh and not is_stream(path)
    earlier = _earlier(context, run, path, named=out is not None) if may_resume else None
    if earlier:
        run = run.replace(resumed=(*earlier.run.resumed, earlier.run.date))
    _begin(context, run, here, request, json, selection)
    _warn_of_closed_counter(context, session, here, run)
    lines = _measure(context, session, request, here, earlier)
    writer = run_files.Writer(path, run, stdout)
    records: list[Record] = []
    try:
        _write(context, writer, lines, records, json=json)
    except (LostError, SignalError) as error:
        _say_what_is_kept(error, earlier, run_files.partial_path(path), records)
        raise
    if earlier:
        earlier.path.unlink(missing_ok=True)
    if not json:
        _show(context, run, here, merged(quiet.marked(records)), every)
    print_output_path(context, "samples", path)
    return 1 if _say_failures(context, records) else 0


def _registry(context: Context) -> Sequence[RegistryLine]:
    tree = catalog.tree_of(context)
    return catalog.registry(tree)


def _modes_with(
    context: Context, kernels: Sequence[str], keys: int, aad_bytes: int
) -> Sequence[str]:
    """The usual ones, unless calls are not."""
    modes = usual_modes(kernels, _registry(context))
    if keys > 1:
        return (MODE_OF_KEYS,)
    return modes if aad_bytes == AAD_BYTES else [mode for mode in modes if mode in AAD_MODES]


def _say_failures(context: Context, records: Sequence[Record]) -> int:
    """Print what was wrong; return how many failures there are."""
    failures = dict.fromkeys(r for r in records if isinstance(r, Failure))
    for failure in failures:
        text = f"FAIL {failure.kernel} {failure.mode}: {failure.detail}"
        if failure.expected:
            text += f" ({failure.got}..., not {failure.expected}...)"
        context.err.print(text, style="bold red", markup=False)
    return len(failures)


def _open_to_store(context: Context, request: BenchRequest, measuring: MeasureOptions) -> Session:
    if measuring.out:
        run_files.refuse_if_unusable(measuring.out)
    session = open_session(
        context,
        measuring.target,
        measuring.cc,
        measuring.flags,
        ciphers_alone=request.is_of_ciphers(),
    )
    return pin(context, session, measuring.cpu)


def _warn_of_closed_counter(
    context: Context, session: Session, here: HarnessInventory, run: Run
) -> None:
    if here.hello.arch in ARM and may_not_count(facts_of(context, session), run.counter):
        context.warn(
            f"{run.counter}: the core's own counter is closed to users;"
            " there, `sudo sysctl kernel.perf_event_paranoid=2` opens it until the next start"
        )


def _write(
    context: Context,
    opened: run_files.Writer,
    lines: Iterable[Record],
    records: list[Record],
    *,
    json: bool,
) -> None:
    """Store lines as they are measured, and keep them in `records`."""
    with opened as writer:
        for record in lines:
            writer.write(record)
            records.append(record)
            if json:
                context.print_raw(encode_line(record))
        if not any(isinstance(r, Bench | Failure) for r in records):
            raise EverycoreError(
                "nothing was measured",
                "are the sizes long enough for the modes? does the kernel run?",
            )


def _bench_placements(
    context: Context, session: Session, request: placements.PlacementRequest, json: bool
) -> int:
    """The exit code: 1 if an edge of a page costs more than the bound allows."""
    points: list[Placement] = []
    with Progress(context.err, "placements", len(request.modes)) as progress:
        for mode in request.modes:
            points += placements.measure_mode(session, mode, request)
            progress.step(mode)
    worst = worst_costs(points)
    if not worst:
        raise EverycoreError(
            "nothing was measured",
            "It has modes of AES and GCM. Are sizes long enough? Does the kernel run?",
        )
    beyond = [cost for cost in worst if cost.share > 1]
    if json:
        for point in points:
            context.print_raw(encode_line(point))
        facts = {"type": "summary", "within": len(worst) - len(beyond), "beyond": len(beyond)}
        context.print_raw(jsonlib.dumps(facts))
    else:
        build = session.build
        caption = f"{build.compiler.name} {' '.join(build.flags)}; {points[0].counter}"
        context.out.print(placement_report.table(worst, caption))
        for cost in beyond:
            text = f"BEYOND {placement_report.sentence(cost)}"
            context.out.print(text, style="bold red", markup=False, soft_wrap=True)
        context.out.print(placement_report.summary(worst))
    return 1 if beyond else 0


def _ask(session: Session, request: BenchRequest) -> HarnessInventory:
    """The harness knows its modes and kernels; it is asked about all before any is measured."""
    modes = ",".join(dict.fromkeys(job.mode for job in request.jobs()))
    arguments = ["--mode", modes, "--key-bits", str(request.key_bits)]
    arguments += ["--kernel", ",".join(request.kernels), *request.conditions(), *session.pinned]
    if request.sizes_named:
        arguments += ["--bytes", ",".join(map(str, request.sizes_bytes))]
    greeting = list(session.records("bench", "--dry-run", *arguments))
    hello = next((line for line in greeting if isinstance(line, Hello)), None)
    if hello is None:
        raise EverycoreError("the harness did not say what it is", code=1)
    resolved = list(session.records("resolve"))
    return HarnessInventory(
        hello,
        [r for r in session.records("list") if isinstance(r, Kernel)],
        [line for line in resolved if isinstance(line, Mode)],
        [line for line in resolved if isinstance(line, Resolved)],
    )


def _refuse_foreign_modes(request: BenchRequest, here: HarnessInventory) -> None:
    """Raise an error if the kernels that are named have none of the modes that are named."""
    running = {kernel.primitive for kernel in here.running(request)}
    if not request.kernels or not running:
        return
    for mode in request.modes:
        of = _primitives_of(mode, here)
        if not of or of & running:
            return
    named, modes = ", ".join(request.kernels), ", ".join(request.modes)
    raise EverycoreError(
        f"{named} ({', '.join(sorted(running))}) has none of the modes {modes}",
        "without --mode, all of its modes are measured",
    )


def _primitives_of(mode: str, here: HarnessInventory) -> set[str]:
    """Return the primitives whose kernels a mode is measured of; none: that is not known."""
    every = {kernel.primitive for kernel in here.kernels}
    if mode.startswith("gcm-"):  # also of pairs
        return {"gcm", "aes", "ghash"}
    if found := {name for name, modes in MODES_OF.items() if mode in modes}:
        return found
    return {
        primitive for primitive in every - {"gcm"} if selected_kernel(mode, primitive, here.modes)
    }


def _earlier(context: Context, run: Run, path: Path, *, named: bool) -> run_files.Results | None:
    """The run that was cut off and that this one goes on with."""
    found = run_files.partial_of(path, run) if named else run_files.latest_partial(path.parent, run)
    if found:
        context.err.print(
            f"going on with {found.path}: {len(list(found.benches()))} figures are there"
            " (--fresh measures all)",
            markup=False,
            soft_wrap=True,
        )
    return found


def _say_what_is_kept(
    error: LostError | SignalError,
    earlier: run_files.Results | None,
    partial: Path,
    records: Sequence[Record],
) -> None:
    """Add to an error what becomes of the figures, if it has cut off the run."""
    if not partial.exists():
        return
    if earlier and earlier.path != partial:
        earlier.path.unlink(missing_ok=True)  # it is all in the new one
    count = sum(isinstance(r, Bench) for r in records)
    remedy = f"{count} figures are in {partial}; the same command again measures the rest"
    if isinstance(error, LostError):
        error.hint = "\n".join(part for part in (error.hint, remedy) if part)
    else:
        error.__notes__ = [remedy]


def _measure(
    context: Context,
    session: Session,
    request: BenchRequest,
    here: HarnessInventory,
    earlier: run_files.Results | None,
) -> Iterator[Record]:
    """Yield the records of a run in the order of reading; those of an earlier run come first."""
    had = earlier.records if earlier else ()
    running = here.running(request)
    parts = _parts(request, running, selected_pair(here.uses), had)
    operations = max(1, sum(points(job, running, here.modes) for job in request.jobs()))
    budget_ms = int(1000 * (QUICK_SECONDS if request.quick else SECONDS) / operations)
    budget_ms = min(200, max(2, budget_ms))
    left = [job for part in parts for job in part.left if job.mode != LIMITS.mode]
    figures = sum(points(job, running, here.modes) for job in left)
    with Progress(context.err, "measuring", figures) as progress:
        yield from (r for r in had if isinstance(r, Conditions))
        yield from conditions_of(context, session)
        for part in parts:
            yield from part.earlier
            for job in part.left:
                read: list[Bench] = []
                for record in _run_job(session, request, job, budget_ms):
                    if isinstance(record, Bench):
                        progress.step(f"{record.kernel} {record.mode}")
                        read.append(record)
                    if not _says_nothing(record):
                        yield protocol.numbered(record, job.process)
                if job.process == 0:
                    for text in headline.first_figures(read, here.modes, request.processes):
                        context.err.print(text, markup=False, soft_wrap=True)
            yield part.job.done()
        yield from conditions_of(context, session)


def _parts(
    request: BenchRequest, running: Sequence[Kernel], pair: str, had: Sequence[Record]
) -> list[ResumedJob]:
    """Job by job, so that kernels are measured close together in time; then what the CPU can do."""
    limits = [replace(LIMITS, process=number) for number in range(request.processes)]
    jobs = [*request.jobs(), *limits]
    return [ResumedJob(job, *left_of(job, had, request.kernels, running, pair)) for job in jobs]


def _run_job(session: Session, request: BenchRequest, job: Job, budget_ms: int) -> Iterator[Record]:
    where = (*session.pinned, *session.expecting)
    if job.mode == LIMITS.mode:
        return session.records("limits", "--only", "arithmetic", *where)
    arguments = job.arguments(request.kernels, request.key_bits, budget_ms)
    arguments += request.conditions()
    return session.records("bench", *arguments, *where)


def _begin(
    context: Context,
    run: Run,
    here: HarnessInventory,
    request: BenchRequest,
    json: bool,
    every: bool,
) -> None:
    """Show the selection before anything is measured, if `every` is set: of the kernels that are
    named, or of all that have one of the modes."""
    if json:
        context.print_raw(encode_line(run))
        return
    if not every:
        return
    title = "Which kernel is selected here, and why not the others (policy ct)"
    kernels = _kernels_shown(here, request.kernels, request.modes)
    context.out.print(selection_tables.selection_table(kernels, here.uses, title))


def _kernels_shown(
    here: HarnessInventory, names: Sequence[str], modes: Sequence[str]
) -> list[Kernel]:
    """Return the kernels of these names, or of all, that have one of the modes."""
    primitives = [_primitives_of(mode, here) for mode in modes]
    asked = set().union(*primitives) if all(primitives) else set()  # empty: all of them
    return [
        kernel
        for kernel in here.kernels
        if (not names or kernel.name in names) and (not asked or kernel.primitive in asked)
    ]


def _says_nothing(line: Record) -> bool:
    """A greeting; a loop that the CPU lacks, or that nothing can time: no loss to the reader of a
    result."""
    if isinstance(line, Arithmetic):
        return not line.cycles_per_byte
    return isinstance(line, Hello)


def _show(
    context: Context, run: Run, here: HarnessInventory, lines: Sequence[Record], every: bool
) -> None:
    """Show what was measured; of all kernels, if `every` is set or no selected one was measured."""
    benches = [line for line in lines if isinstance(line, Bench)]
    if all(line.mode in speed.MODES for line in benches):
        _show_speed(context, run, benches)
        return
    loops = [line for line in lines if isinstance(line, Arithmetic)]
    constant_time = {(k.primitive, k.name) for k in here.kernels if k.timing == "ct"}
    fence = min((b.fence_cycles for b in benches if b.fence_cycles), default=0.0)
    caption = (
        f"{run.machine.title()}; {run.counter}; {run.compiler} {' '.join(run.flags)};"
        f" {run.revision}{run.in_parts()}"
    )
    if figures := headline.selected_figures(benches, here.modes):
        advice = "" if every else "everycore bench --all: every kernel and size"
        context.out.print(headline.headline(figures, loops, caption, advice))
    for note in bench_notes.unmeasured_notes(benches):
        context.warn(f"no figure, {note}")
    notes = bench_notes.order_notes(benches, here.modes, constant_time)
    if figures and not every:
        if notes:
            context.out.print(_faster_than_selected(notes, run), markup=False, soft_wrap=True)
        return
    for table in bench_tables.bench_tables(benches, here.modes, loops, caption, context.out.width):
        context.out.print(table)
    context.out.print(bench_tables.bench_legend(fence), style="dim", markup=False)
    if dropped := bench_notes.dropped_note(benches):
        context.out.print(dropped, style="dim", markup=False)
    if notes:
        context.out.print("\nConstant-time kernels that beat the selected one by more than 5 %:")
        for note in notes:
            context.out.print(f"  {note}", markup=False)


def _show_speed(context: Context, run: Run, benches: Sequence[Bench]) -> None:
    compiler = f"{run.compiler} {' '.join(run.flags)}"
    context.out.print(speed.speed_table(benches, f"{run.machine.title()}; {compiler}"))
    for note in bench_notes.unmeasured_notes(benches):
        context.warn(f"no figure, {note}")


def _faster_than_selected(notes: Sequence[str], run: Run) -> str:
    """Name the kernel that is faster than the selected one, in two lines, and how to see all of
    it."""
    quick = " --quick" if run.options["quick"] else ""
    more = (
        f"\n{len(notes)} figures like this one: everycore bench{quick} --all lists them."
        if len(notes) > 1
        else ""
    )
    return (
        f"Faster than the selected kernel, {notes[0]}. One order of kernels serves all sizes and"
        f" machines (src/kernels.def).{more}"
    )
