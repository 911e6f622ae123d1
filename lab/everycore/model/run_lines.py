# SPDX-License-Identifier: MIT
"""Lines of result files that the lab writes itself, beside those of the harness.

The first line of a file describes the run, the last one tells that it is whole.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from everycore.environment.decoding import Record, written
from everycore.model import protocol
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import Samples

FORMAT = 1


class Run(Record, frozen=True, tag="run"):
    """The facts that make a measurement worth anything: the first line of a file."""

    command: str
    date: str
    everycore: str
    revision: Revision
    machine: Machine
    target: str
    compiler: str
    flags: tuple[str, ...]
    counter: str
    options: dict[str, Any]
    resumed: tuple[str, ...] = written(())  # when the runs began that this one goes on with
    format: int = written(FORMAT)

    def title(self) -> str:
        return f"{self.revision} {self.compiler} {' '.join(self.flags)}"

    def source(self) -> str:
        """Say where the numbers come from, for the foot of a table."""
        return (
            f"{self.machine.title()}, {self.counter}, {self.compiler} {' '.join(self.flags)},"
            f" commit {self.revision}, {self.date[:10]}{self.in_parts()}"
        )

    def in_parts(self) -> str:
        return f", in {len(self.resumed) + 1} parts" if self.resumed else ""

    def same_as(self, other: "Run") -> bool:
        """Whether the two would measure the same: the same harness, machine and options."""
        return all(
            getattr(self, name) == getattr(other, name)
            for name in ("command", "target", "compiler", "flags", "counter", "options")
        ) and (
            self.machine.is_same_host(other.machine)
            and (self.machine.midr, self.machine.cpu_index)
            == (other.machine.midr, other.machine.cpu_index)
        )


class End(Record, frozen=True, tag="end"):
    """The last line of a file."""

    lines: int  # between the first and this one
    partial: str = ""  # why the run ended early


class JobDone(Record, frozen=True, tag="job"):
    """All lines of a job of `everycore bench` stand before this one."""

    mode: str
    style: str
    messages: int
    process: int = written(0)


class Conditions(Record, frozen=True, tag="conditions"):
    """Conditions that may change during a measurement; those that cannot be read have no member."""

    at: str
    governor: str = ""
    mhz: int = 0
    temperature_c: float | None = None
    throttled: str = ""  # bits, as `vcgencmd get_throttled` gives them


# ---- Counts and estimates ------------------------------------------------------------------------


class GoalLine(Record, frozen=True, tag="goal"):
    """A goal on one core, and what is reached of it."""

    goal: str
    core: str
    mode: str
    bytes: int | str  # "bulk": long messages
    kernel: str | None
    instructions_per_byte: float | None
    model: float | None
    low: float | None
    high: float | None
    against: str | None  # the code that it is held against
    against_instructions_per_byte: float | None
    ratio: float | None
    limits: Mapping[str, float]
    met: bool | None


class CoreEstimate(Record, frozen=True):
    """Cycles per byte on a core: a range, or why none is shown."""

    low: float | None = None
    high: float | None = None
    model: float | None = written(None)  # uncalibrated
    margin: float | None = None
    calibrated: bool | None = None
    basis: str = ""  # which points, and how far the model missed them
    hidden: str = ""  # why no range is shown


class PublishedFigure(Record, frozen=True):
    """A published figure of the same code."""

    cycles_per_byte: float
    source: str


class EstimateLine(Record, frozen=True, tag="estimate"):
    """Exact counts of an operation, and estimates by core."""

    owner: str
    kernel: str
    mode: str
    techniques: tuple[str, ...]
    key_bits: int
    bytes: int | str  # "bulk": long messages
    instructions_per_byte: float
    classes: Mapping[str, float]
    estimates: Mapping[str, CoreEstimate]
    published: Mapping[str, PublishedFigure]
    ratios: Mapping[str, Mapping[str, float]] | None = None  # to other code, by core


# ---- Pointer authentication ----------------------------------------------------------------------


class PauthEmulator(Record, frozen=True, tag="pauth-emulator"):
    """An emulator that runs programs, and what a probe found that it does."""

    emulator: str
    properties: tuple[str, ...]
    signs_by_default: bool | None  # what programs get that ask for no CPU; None: unknown


class PauthProgram(Record, frozen=True, tag="pauth-program"):
    """A program that runs under emulators; lines of its times follow."""

    program: str
    says: str
    scale: float
    work: int
    computed: int | None  # instructions that compute a code; None: nothing could count them
    counted_by: str | None
    sampled: bool  # shares were looked for


class PauthTime(Record, frozen=True, tag="pauth"):
    """A program run under one variant; ratios to other algorithms are within the emulator."""

    program: str
    emulator: str
    algorithm: str
    seconds: float | None  # median; None where no run was timed
    spread: float | None  # None for a single run
    samples: tuple[float, ...]
    ns_per_operation: float | None
    ratio_to_off: float | None
    ratio_to_impdef: float | None
    wrong: str = written("")
    share: float | None = written(None)  # of the time that is spent in pointer authentication
    is_noisy: bool = written(False)  # the median
    is_noisy_to_off: bool = written(False)  # what is made of this median and that of `off`
    is_noisy_to_impdef: bool = written(False)


class PauthCompared(Record, frozen=True, tag="pauth-compared"):
    """The comparison with QEMU's functions, before any was timed."""

    qemu: str
    compiler: str
    flags: tuple[str, ...]
    equal: tuple[str, ...]
    bytes: int


class PauthFigure(Record, frozen=True, tag="pauth-primitive"):
    """Core cycles of one operation; `ratio`: of QEMU's own function to them."""

    table: str
    who: str
    operation: str
    mode: str
    cycles: float
    ratio: float | None
    samples: tuple[Samples, ...]


PauthLine = PauthEmulator | PauthProgram | PauthTime | PauthCompared | PauthFigure
RunLine = protocol.Line | JobDone | Conditions | GoalLine | EstimateLine | PauthLine
LINES = msgspec.json.Decoder(Run | End | RunLine)
