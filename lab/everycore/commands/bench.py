# SPDX-License-Identifier: MIT
"""everycore bench: what does each kernel cost on this machine, and which is selected?"""

import json as jsonlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

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
    KeyBits,
    Modes,
    Out,
    Sizes,
    TargetName,
    context_of,
    message_sizes,
    print_output_path,
    refuse_unknown_kernels,
    split_commas,
)
from everycore.commands.sample_output import SampleOutput
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError, LostError, SignalError, unknown_name
from everycore.environment.outputs import is_stream
from everycore.environment.progress import Progress
from everycore.measure import quiet
from everycore.measure.placement_costs import worst_costs
from everycore.measure.processes import merged
from everycore.model.protocol import (
    AAD_BYTES,
    Arithmetic,
    Bench,
    Burst,
    Failure,
    Placement,
)
from everycore.model.run_lines import Run
from everycore.report import (
    bench_notes,
    bench_tables,
    burst_table,
    headline,
    selection_tables,
    speed,
)
from everycore.report import placement_table as placement_report
from everycore.run import bench_run, placements
from everycore.run.bench_calls import (
    LAYERS,
    MODES_OF,
    PER_BYTE,
    kernels_of_layers,
    modes_of,
    usual_modes,
)
from everycore.run.bench_run import BenchRequest, HarnessInventory
from everycore.run.machine import may_not_count
from everycore.run.session import (
    Session,
    described,
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
PAUSES_US, MOST_PAUSE_US = (10, 100, 1000), 100_000  # between messages that come alone
ARM = ("a64", "a32")


def _primitive_apart(words: Sequence[str]) -> list[str]:
    """Return words of a command line; the value of --primitive is a word of its own."""
    return shlex.split(shlex.join(words).replace("--primitive=", "--primitive "))


class BenchGroup(DefaultCommandGroup):
    """The benchmarks; `run` need not be named."""

    moved: ClassVar[Mapping[str, str]] = {"--placement": "placement", "--primitive": "speed"}

    def refuse_moved(self, path: str, words: Sequence[str]) -> None:
        """Leave --primitive to `run` for primitives whose figures are cycles per byte."""
        apart = [*_primitive_apart(words), "--primitive", ""]
        if "--placement" in apart or apart[apart.index("--primitive") + 1] in LAYERS:
            super().refuse_moved(path, words)

    def new_lines(self, words: list[str]) -> list[list[str]]:
        """Return today's command line; the value of --primitive stands behind the command."""
        words = _primitive_apart(words)
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


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """Operations to measure, and their messages."""

    primitive: Annotated[
        str,
        typer.Option(
            "--primitive",
            metavar="NAME",
            help="Modes of aes, gcm, ghash, qarma or sha2 alone. rsa, dh, prime, bn: `speed`.",
            autocompletion=complete_words(*PER_BYTE),
        ),
    ] = ""
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
    """Measure cycles per byte of ciphers and hashes. The default.

    One line for each mode: the kernel that is selected, its cycles per byte, and which share of the
    CPU's limit it reaches. --all shows every kernel. Samples are stored. SHA-2 is measured if it is
    named: --primitive sha2. Its PBKDF2 has cycles per iteration.
    """
    context = context_of(command)
    kernels = split_commas(messages.kernel)
    refuse_unknown_kernels(context, kernels)
    modes = split_commas(messages.mode)
    if messages.primitive:
        _refuse_other_modes(messages.primitive, modes)
    request = BenchRequest(
        modes or _modes_with(context, kernels, messages),
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
    if primitive in PER_BYTE:
        raise EverycoreError(
            f"{primitive} is measured in cycles per byte",
            f"everycore bench --primitive {primitive}",
        )
    if primitive not in LAYERS:
        raise unknown_name("primitive", primitive, LAYERS)
    refuse_unknown_kernels(context, split_commas(kernel))
    modes, sizes = LAYERS[primitive]
    request = BenchRequest(
        modes,
        message_sizes(split_commas(bytes_)) or sizes,
        split_commas(kernel) or kernels_of_layers(catalog.registry(catalog.tree_of(context))),
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
    session = open_session(context, build.target, build.cc, build.flags, measures=True)
    session = pin(context, session, cpu)
    raise typer.Exit(_bench_placements(context, session, request, json))


@app.command("clock")
@with_option_sets
def clock(
    command: typer.Context,
    build: BuildOptions,
    kernel: KernelNames = None,
    bytes_: Sizes = None,
    pause: Annotated[
        list[int] | None,
        typer.Option(
            "--pause",
            metavar="US",
            min=1,
            max=MOST_PAUSE_US,
            help="Microseconds between messages; repeatable.",
        ),
    ] = None,
    cpu: CpuNumber = None,
    json: Json = False,
) -> None:
    """Measure messages of GCM that come alone, between other work.

    Back to back, wide vectors are at their best. A message that comes alone may cost more, and some
    cores lower the clock of the work around it. Each kernel that runs here seals messages with
    pauses between; the work in the pauses tells the clock. Nothing is stored.
    """
    context = context_of(command)
    refuse_unknown_kernels(context, split_commas(kernel))
    session = open_session(
        context, build.target, build.cc, build.flags, ciphers_alone=True, measures=True
    )
    session = pin(context, session, cpu)
    sizes = dict.fromkeys(message_sizes(split_commas(bytes_)) or QUICK_SIZES_BYTES)
    pauses = dict.fromkeys(pause or PAUSES_US)
    words = ["--bytes", ",".join(map(str, sizes)), "--pause-us", ",".join(map(str, pauses))]
    words += ["--kernel", ",".join(split_commas(kernel))] if kernel else []
    lines: list[Record] = []
    with Progress(context.err, "measuring", len(sizes) * len(pauses)) as progress:
        for line in session.records("bursts", *words, *session.pinned):
            lines.append(line)
            if isinstance(line, Burst) and line.kernel == burst_table.NO_MESSAGE:
                progress.step(f"{line.bytes} B, {line.pause_us} us")
    bursts = [line for line in lines if isinstance(line, Burst)]
    if all(line.kernel == burst_table.NO_MESSAGE for line in bursts):
        raise EverycoreError(
            "this CPU runs none of the kernels of GCM that were asked for",
            "`everycore list` has those that it runs; pairs of AES and GHASH are none of them",
        )
    if json:
        for line in lines:
            context.print_raw(encode_line(line))
        return
    machine = described(context, session).title()
    context.out.print(
        burst_table.table(burst_table.costs(bursts), f"{machine}; {session.build.title}")
    )


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
    output = SampleOutput.of(context, measuring.out, measuring.json)
    context, json = output.context, output.json
    session = open_session(
        context,
        measuring.target,
        measuring.cc,
        measuring.flags,
        ciphers_alone=request.is_of_ciphers(),
        measures=True,
    )
    session = pin(context, session, measuring.cpu)
    here = bench_run.ask(session, request)
    bench_run.refuse_foreign_modes(request, here)
    session.widths.extend(known_widths(context, session))
    options = {**request.options(), "harness": digest_of(session)}
    run = run_of(context, session, here.hello, "bench", options)
    path = output.path_of(run)
    may_resume = not measuring.fresh and not is_stream(path)
    is_named = output.file is not None
    earlier = _earlier(context, run, path, named=is_named) if may_resume else None
    if earlier:
        run = run.replace(resumed=(*earlier.run.resumed, earlier.run.date))
    _begin(context, run, here, request, json, selection)
    _warn_of_closed_counter(context, session, here, run)

    def show_first(benches: Sequence[Bench]) -> None:
        for text in headline.first_figures(benches, here.modes, request.processes):
            context.err.print(text, markup=False, soft_wrap=True)

    had = earlier.records if earlier else ()
    lines = bench_run.measure(context, session, request, here, had, show_first)
    records: list[Record] = []
    try:
        _write(output, output.writer(run, path), lines, records)
    except (LostError, SignalError) as error:
        _say_what_is_kept(error, earlier, run_files.partial_path(path), records)
        raise
    if earlier:
        earlier.path.unlink(missing_ok=True)
    if not json:
        _show(context, run, here, merged(quiet.marked(records)), every)
    print_output_path(context, "samples", path)
    return 1 if _say_failures(context, records) else 0


def _modes_with(
    context: Context, kernels: Sequence[str], messages: MessageOptions
) -> Sequence[str]:
    """The usual ones, unless calls are not."""
    if messages.primitive:
        modes = modes_of(messages.primitive)
    else:
        modes = usual_modes(kernels, catalog.registry(catalog.tree_of(context)))
    fit = (MODE_OF_KEYS,) if messages.keys > 1 else AAD_MODES if messages.is_unusual else modes
    found = [mode for mode in modes if mode in fit]
    if not found:
        what = messages.primitive or ", ".join(kernels)
        raise EverycoreError(
            f"{what}: no mode takes several keys or has associated data",
            "leave out --keys and --aad-bytes, or name --primitive gcm",
        )
    return found


def _refuse_other_modes(primitive: str, modes: Sequence[str]) -> None:
    if primitive not in PER_BYTE:
        raise unknown_name("primitive", primitive, (*PER_BYTE, *LAYERS))
    for mode in modes:
        if mode not in modes_of(primitive):
            raise unknown_name(f"mode of {primitive}", mode, modes_of(primitive))


def _say_failures(context: Context, records: Sequence[Record]) -> int:
    """Print what was wrong; return how many failures there are."""
    failures = dict.fromkeys(r for r in records if isinstance(r, Failure))
    for failure in failures:
        text = f"FAIL {failure.kernel} {failure.mode}: {failure.detail}"
        if failure.expected:
            text += f" ({failure.got}..., not {failure.expected}...)"
        context.err.print(text, style="bold red", markup=False)
    return len(failures)


def _warn_of_closed_counter(
    context: Context, session: Session, here: HarnessInventory, run: Run
) -> None:
    if here.hello.arch in ARM and may_not_count(facts_of(context, session), run.counter):
        context.warn(
            f"{run.counter}: the core's own counter is closed to users;"
            " there, `sudo sysctl kernel.perf_event_paranoid=2` opens it until the next start"
        )


def _write(
    output: SampleOutput,
    opened: run_files.Writer,
    lines: Iterable[Record],
    records: list[Record],
) -> None:
    """Store lines as they are measured, and keep them in `records`."""
    with opened as writer:
        for record in lines:
            writer.write(record)
            records.append(record)
            if output.json:
                output.context.print_raw(encode_line(record))
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
        caption = f"{session.build.title}; {points[0].counter}"
        context.out.print(placement_report.table(worst, caption))
        for cost in beyond:
            text = f"BEYOND {placement_report.sentence(cost)}"
            context.out.print(text, style="bold red", markup=False, soft_wrap=True)
        context.out.print(placement_report.summary(worst))
    return 1 if beyond else 0


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
    kernels = bench_run.kernels_shown(here, request.kernels, request.modes)
    context.out.print(selection_tables.selection_table(kernels, here.uses, title))


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
        advice = "" if every else f"{_all_of(benches)}: every kernel and size"
        context.out.print(headline.headline(figures, loops, caption, advice))
    for note in bench_notes.unmeasured_notes(benches):
        context.warn(f"no figure, {note}")
    notes = bench_notes.order_notes(benches, here.modes, constant_time)
    if figures and not every:
        if notes:
            context.out.print(
                _faster_than_selected(notes, run, benches), markup=False, soft_wrap=True
            )
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


def _all_of(benches: Sequence[Bench], quick: str = "") -> str:
    """Return the command that shows all kernels of what was measured."""
    first, *others = dict.fromkeys(bench.primitive for bench in benches)
    alone = f" --primitive {first}" if first in MODES_OF and not others else ""
    return f"everycore bench{alone}{quick} --all"


def _faster_than_selected(notes: Sequence[str], run: Run, benches: Sequence[Bench]) -> str:
    """Name the kernel that is faster than the selected one, in two lines, and how to see all of
    it."""
    quick = " --quick" if run.options["quick"] else ""
    more = (
        f"\n{len(notes)} figures like this one: {_all_of(benches, quick)} lists them."
        if len(notes) > 1
        else ""
    )
    return (
        f"Faster than the selected kernel, {notes[0]}. One order of kernels serves all sizes and"
        f" machines (src/kernels.def).{more}"
    )
