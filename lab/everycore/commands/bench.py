# SPDX-License-Identifier: MIT
"""everycore bench: what does each kernel cost on this machine, and which is selected?"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from everycore import machine, store
from everycore.commands.options import (
    CompilerCommand,
    CompilerFlags,
    Json,
    KernelNames,
    TargetName,
    context_of,
    message_sizes,
    words,
)
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.progress import Progress
from everycore.protocol import (
    Arithmetic,
    Bench,
    Failure,
    Hello,
    Kernel,
    Line,
    Mode,
    Record,
    Resolved,
)
from everycore.report import tables
from everycore.session import Session, open_session, run_of

MODES = (
    "cbc-enc", "cbc-dec", "ctr", "xts-enc", "xts-dec", "cmac", "ccm-seal", "gcm-seal", "gcm-open",
    "cbc-enc-many", "gcm-seal-many",
)  # fmt: skip
SIZES_BYTES = (16, 64, 512, 1500, 4096, 16384)
QUICK_SIZES_BYTES = (64, 1500, 16384)
ALONE_BYTES = 64  # up to here a message is also measured alone, between fences
SIDE_BY_SIDE = (16, 32)  # messages, where a mode takes many
SAMPLES = 31  # of some 50 microseconds
SECONDS, QUICK_SECONDS = 40.0, 5.0  # sampling; checks of the results and start-up come on top


@dataclass(frozen=True, slots=True)
class Job:
    """One call of `harness bench`."""

    mode: str
    sizes_bytes: tuple[int, ...]
    style: str = "streamed"
    messages: int = 1

    def arguments(self, kernels: Sequence[str], key_bits: int, budget_ms: int) -> list[str]:
        words = ["--mode", self.mode, "--key-bits", str(key_bits), "--style", self.style]
        for size in self.sizes_bytes:
            words += ["--bytes", str(size)]
        if self.messages > 1:
            words += ["--messages", str(self.messages)]
        for kernel in kernels:
            words += ["--kernel", kernel]
        return [*words, "--samples", str(SAMPLES), "--budget-ms", str(budget_ms)]


def plan(modes: Sequence[str], sizes_bytes: Sequence[int]) -> list[Job]:
    """Streamed at every size; short messages also alone; modes of many messages side by side."""
    jobs: list[Job] = []
    sizes = tuple(dict.fromkeys(sizes_bytes))
    short = tuple(size for size in sizes if size <= ALONE_BYTES)
    for mode in dict.fromkeys(modes):
        if mode.endswith("-many"):
            jobs += [Job(mode, sizes, messages=n) for n in SIDE_BY_SIDE]
        elif mode.startswith("setkey"):
            jobs.append(Job(mode, ()))
        else:
            jobs.append(Job(mode, sizes))
            if short:
                jobs.append(Job(mode, short, style="fenced"))
    return jobs


def points(job: Job, kernels: Sequence[Kernel], modes: Sequence[Mode]) -> int:
    """How many figures the job gives: kernels of the mode's primitive times sizes; of GCM, the
    selected pair too. Modes of every primitive, such as setkey, are not in `modes`."""
    gcm = job.mode.startswith("gcm-")
    own = [
        k
        for k in kernels
        if (k.primitive == "gcm") == gcm and tables.selected_kernel(job.mode, k.primitive, modes)
    ]
    return (len(own) + 1 if gcm else len(own or kernels)) * max(1, len(job.sizes_bytes))


def bench(
    command: typer.Context,
    kernel: KernelNames = None,
    mode: Annotated[
        list[str] | None, typer.Option("--mode", metavar="MODE", help="Only this mode; repeatable.")
    ] = None,
    bytes_: Annotated[
        list[str] | None,
        typer.Option("--bytes", metavar="N", help="Message size in bytes; repeatable."),
    ] = None,
    key_bits: Annotated[
        int, typer.Option("--key-bits", metavar="N", help="128, 192 or 256.")
    ] = 256,
    quick: Annotated[bool, typer.Option("--quick", help="Under ten seconds.")] = False,
    target: TargetName = "host",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to store the samples.")
    ] = None,
    json: Json = False,
) -> None:
    """What each kernel costs here, and which is selected."""
    context = context_of(command)
    sizes = message_sizes(words(bytes_)) or (QUICK_SIZES_BYTES if quick else SIZES_BYTES)
    jobs = plan(words(mode) or MODES, sizes)
    if out:
        store.refuse_if_unusable(out)
    session = open_session(context, target, cc, flags)
    chosen = words(kernel)
    _refuse_unknown_words(session, jobs, chosen, key_bits)
    kernels = [r.line for r in session.records("list") if isinstance(r.line, Kernel)]
    running = [k for k in kernels if k.runs and (not chosen or k.name in chosen)]
    resolved = [r.line for r in session.records("resolve")]
    modes = [line for line in resolved if isinstance(line, Mode)]
    uses = [line for line in resolved if isinstance(line, Resolved)]
    operations = max(1, sum(points(job, running, modes) for job in jobs))
    budget_ms = int(1000 * (QUICK_SECONDS if quick else SECONDS) / operations)
    budget_ms = min(200, max(2, budget_ms))
    revision = machine.revision(context, session.tree)
    path = out or store.new_path(context.state_dir() / "results", context.now(), revision, "bench")
    options = {"key_bits": key_bits, "quick": quick, "bytes": list(sizes), "kernels": chosen}
    writer: store.Writer | None = None
    records: list[Record] = []
    with ExitStack() as stack:
        progress = stack.enter_context(Progress(context.err, "measuring", operations))
        for record in _measure(session, jobs, chosen, key_bits, budget_ms):
            if isinstance(record.line, Hello) and writer is None:
                run = run_of(context, session, record.line, "bench", options)
                writer = stack.enter_context(store.Writer(path, run))
                _begin(context, run, uses, kernels, json)
            if writer is None or _says_nothing(record.line):
                continue
            writer.write(record.text)
            records.append(record)
            if json:
                context.print_raw(record.text)
            if isinstance(record.line, Bench):
                progress.step(f"{record.line.kernel} {record.line.mode}")
        if not any(isinstance(r.line, Bench | Failure) for r in records):
            raise EverycoreError(
                "nothing was measured",
                "are the sizes long enough for the modes? does the kernel run?",
            )
    benches = [r.line for r in records if isinstance(r.line, Bench)]
    failures = [r.line for r in records if isinstance(r.line, Failure)]
    loops = [r.line for r in records if isinstance(r.line, Arithmetic)]
    if not json:
        constant_time = {(k.primitive, k.name) for k in kernels if k.timing == "ct"}
        _show(context, run, benches, modes, loops, constant_time)
    context.err.print(f"samples: {path}", markup=False, soft_wrap=True)
    for failure in failures:
        text = f"FAIL {failure.kernel} {failure.mode}: {failure.detail}"
        if failure.expected:
            text += f" ({failure.got}..., not {failure.expected}...)"
        context.err.print(text, style="bold red", markup=False)
    raise typer.Exit(1 if failures else 0)


def _measure(
    session: Session,
    jobs: Sequence[Job],
    kernels: Sequence[str],
    key_bits: int,
    budget_ms: int,
) -> Iterator[Record]:
    """Job by job, so that kernels are measured close together in time; then what the CPU can do."""
    for job in jobs:
        yield from session.records("bench", *job.arguments(kernels, key_bits, budget_ms))
    yield from session.records("limits", "--only", "arithmetic")


def _refuse_unknown_words(
    session: Session, jobs: Sequence[Job], kernels: Sequence[str], key_bits: int
) -> None:
    """The harness knows its modes and kernels; it is asked about all before any is measured."""
    modes = ",".join(dict.fromkeys(job.mode for job in jobs))
    arguments = ["--mode", modes, "--key-bits", str(key_bits), "--kernel", ",".join(kernels)]
    for _ in session.records("bench", "--dry-run", *arguments):
        pass


def _begin(
    context: Context,
    run: store.Run,
    uses: Sequence[Resolved],
    kernels: Sequence[Kernel],
    json: bool,
) -> None:
    """What is known before anything is measured."""
    if json:
        context.print_raw(store.run_line(run))
        return
    title = "Which kernel is selected here, and why not the others (policy ct)"
    context.out.print(tables.selection_table(kernels, uses, title))


def _says_nothing(line: Line) -> bool:
    """A greeting; a loop that the CPU lacks, or that nothing can time: no loss to the reader of a
    result."""
    if isinstance(line, Arithmetic):
        return not line.cycles_per_byte
    return isinstance(line, Hello)


def _show(
    context: Context,
    run: store.Run,
    benches: Sequence[Bench],
    modes: Sequence[Mode],
    loops: Sequence[Arithmetic],
    constant_time: set[tuple[str, str]],
) -> None:
    fence = max((b.fence_cycles for b in benches), default=0.0)
    caption = (
        f"{run.machine.title()}; {run.counter}; {run.compiler} {' '.join(run.flags)};"
        f" {run.revision}"
    )
    for table in tables.bench_tables(benches, modes, loops, caption, context.out.width):
        context.out.print(table)
    context.out.print(tables.bench_legend(fence), style="dim", markup=False)
    if dropped := tables.dropped_note(benches):
        context.out.print(dropped, style="dim", markup=False)
    for note in tables.unmeasured_notes(benches):
        context.warn(f"no figure, {note}")
    notes = tables.order_notes(benches, modes, constant_time)
    if notes:
        context.out.print("\nConstant-time kernels that beat the selected one by more than 5 %:")
        for note in notes:
            context.out.print(f"  {note}", markup=False)
