# SPDX-License-Identifier: MIT
"""Ask a harness about its kernels and modes, and measure them in several processes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from everycore.environment.context import Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.model import protocol
from everycore.model.protocol import AAD_BYTES, Arithmetic, Bench, Hello, Kernel, Mode, Resolved
from everycore.model.run_lines import Conditions
from everycore.model.selection import selected_kernel
from everycore.run.bench_calls import (
    LIMITS,
    MODES,
    MODES_OF,
    PROCESSES,
    QUICK_PROCESSES,
    Job,
    left_of,
    plan,
    points,
    selected_pair,
)
from everycore.run.session import Session, conditions_of

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


def ask(session: Session, request: BenchRequest) -> HarnessInventory:
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


def refuse_foreign_modes(request: BenchRequest, here: HarnessInventory) -> None:
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


def kernels_shown(
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


def measure(
    context: Context,
    session: Session,
    request: BenchRequest,
    here: HarnessInventory,
    had: Sequence[Record],
    show_first: Callable[[Sequence[Bench]], None],
) -> Iterator[Record]:
    """Yield the records of a run in the order of reading; those of an earlier run come first.

    `had`: the records of that run; `show_first`: is told the figures of the first process.
    """
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
                    show_first(read)
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


def _says_nothing(line: Record) -> bool:
    """A greeting; a loop that the CPU lacks, or that nothing can time: no loss to the reader of a
    result."""
    if isinstance(line, Arithmetic):
        return not line.cycles_per_byte
    return isinstance(line, Hello)
