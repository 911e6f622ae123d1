# SPDX-License-Identifier: MIT
"""Estimates of a core that is not at hand, or the reason why there is none.

An estimate is what a model says of executed instructions, times what published measurements of the
same technique on the same core say about that model, as a range.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

SERIAL_MODES = ("cbc-enc", "cbcmac", "cmac", "ccm-seal", "ccm-open")  # a chain of blocks
BULK = 0  # instead of a length: what one byte more costs in a long message

FARTHEST = 1.7  # a model that misses a point by more says nothing about the core
DERIVED_MARGIN = 0.25  # of points that are differences or ratios of what was published


@dataclass(frozen=True, slots=True)
class Core:
    """A core and how it is modelled: one table of cores.toml."""

    name: str
    title: str
    model: str  # in-order, llvm-mca, cortex-m, hidden
    why: str
    arch: str = "a64"
    mcpu: str = ""
    pair: str = "apart"  # fused, apart, half
    pair_cycles: int = 3
    lacks: tuple[str, ...] = ()  # instructions
    margin: float = 0.0
    margins: dict[str, float] = field(default_factory=dict)  # by technique
    parameters: dict[str, float] = field(default_factory=dict)  # of in-order: fitted


@dataclass(frozen=True, slots=True)
class Point:
    """A published measurement of a function of a subject."""

    core: str
    subject: str
    function: str
    mode: str
    techniques: tuple[str, ...]
    cycles_per_byte: float
    source: str
    derived: bool = False
    use: str = "calibrate"  # or orientation: the code that was measured cannot be traced
    note: str = ""

    @property
    def serial(self) -> bool:
        return self.mode in SERIAL_MODES

    @property
    def key(self) -> str:
        return f"{self.core} {self.subject} {self.function}"


@dataclass(frozen=True, slots=True)
class Message:
    """A published measurement of GCM, of any key size and length; part of no fit."""

    core: str
    code: str  # what was measured, in words
    key_bits: int
    bytes: int  # or BULK
    cycles_per_byte: float
    source: str
    function: str = ""  # "subject function", if the code can be traced
    derived: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Gain:
    """By how many percent a function is faster than the code that it replaced, as published."""

    core: str
    function: str  # "subject function"
    key_bits: tuple[int, ...]
    bytes: tuple[int, ...]
    percent: tuple[int, ...]  # for the first of key_bits at each of bytes, then for the next
    source: str

    @property
    def rows(self) -> list[tuple[int, tuple[int, ...]]]:
        """For each key size the percentages at each length."""
        n = len(self.bytes)
        return [(bits, self.percent[i * n : (i + 1) * n]) for i, bits in enumerate(self.key_bits)]


@dataclass(frozen=True, slots=True)
class Fit:
    """The answer of a model for a point."""

    point: Point
    model: float  # cycles per byte
    left_out: float | None = None  # by a model that was fitted without the point

    @property
    def factor(self) -> float:
        return self.point.cycles_per_byte / self.model

    @property
    def error(self) -> float:
        """How far the model is off, of a fitted one as far as it never saw the point."""
        model = self.model if self.left_out is None else self.left_out
        return model / self.point.cycles_per_byte - 1


@dataclass(frozen=True, slots=True)
class Figure:
    """An estimate in cycles per byte."""

    model: float  # as the model says it, uncalibrated
    center: float
    margin: float
    basis: str  # which points, and how far the model missed them
    calibrated: bool = True

    @property
    def low(self) -> float:
        return self.center * (1 - self.margin)

    @property
    def high(self) -> float:
        return self.center * (1 + self.margin)


@dataclass(frozen=True, slots=True)
class Hidden:
    """No estimate is shown."""

    why: str
    model: float | None = None  # for ratios within one technique alone


@dataclass(frozen=True, slots=True)
class OperationEstimate:
    """The knowledge of one operation: exact counts, and an estimate for each core."""

    owner: str  # everycore, or a subject
    kernel: str
    mode: str
    key_bits: int
    bytes: int  # BULK, or of the message
    techniques: tuple[str, ...]
    instructions_per_byte: float
    classes: dict[str, float]  # instructions per byte by kind; of a steady state
    figures: dict[str, Figure | Hidden]  # by core
    published: dict[str, Point] = field(default_factory=dict)  # by core, of this very code


def figure(
    core: Core,
    model: float,
    techniques: Sequence[str],
    serial: bool,
    fits: Iterable[Fit],
    unsure: float = 0.0,
) -> Figure | Hidden:
    """From what the core's model says to what is shown; by how much other fits of it differ."""
    if core.model == "cortex-m":
        text = "documented latencies, no published point of code that can be traced"
        return Figure(model, model, core.margin, text, calibrated=False)
    own = [fit for fit in fits if fit.point.core == core.name]
    chosen: list[list[Fit]] = []
    for technique in techniques:
        same = [f for f in own if technique in f.point.techniques and f.point.serial == serial]
        if not same:
            kind = "in one chain" if serial else "of many blocks"
            return Hidden(f"no published point of {technique} {kind} on {core.title}", model)
        chosen.append(same)
    for fit in (f for same in chosen for f in same):
        if not 1 / FARTHEST <= fit.factor <= FARTHEST:
            missed = fit.model / fit.point.cycles_per_byte - 1
            text = f"the model misses {_called(fit)} by {missed:+.0%}"
            return Hidden(text, model)
    factors = [_mean([f.factor for f in same]) for same in chosen]
    center = model * _mean(factors)
    every = [f.factor for same in chosen for f in same]
    spread = math.sqrt(max(every) / min(every)) - 1
    # Half of what the model missed is taken to be wrong for the next kernel, too.
    margin = max(core.margins.get(technique, core.margin) for technique in techniques)
    floor = max(abs(1 - center / model) / 2, spread, margin, unsure)
    if all(f.point.derived for same in chosen for f in same):
        floor = max(floor, DERIVED_MARGIN)
    basis = "; ".join(
        dict.fromkeys(f"{_called(f)} {f.error:+.0%}" for same in chosen for f in same)
    )
    return Figure(model, center, floor, basis)


def _called(fit: Fit) -> str:
    return f"{fit.point.subject} {fit.point.function}"


def _mean(values: Sequence[float]) -> float:
    """Geometric."""
    return math.exp(sum(map(math.log, values)) / len(values))


def ratio(own: OperationEstimate, other: OperationEstimate, core: str) -> float | None:
    """Divide two estimates. For one technique divide the models' figures, for a common factor
    cancels."""
    a, b = own.figures.get(core), other.figures.get(core)
    if a is None or b is None:
        return None
    if set(own.techniques) == set(other.techniques):
        return a.model / b.model if a.model and b.model else None
    if isinstance(a, Figure) and isinstance(b, Figure):
        return a.center / b.center
    return None


# Techniques that need instructions for AES or for products of 64 bits.
EXTENSIONS = {"ce", "pmull.p64"}


def rivals(
    own: OperationEstimate, others: Sequence[OperationEstimate], core: str
) -> list[tuple[float, OperationEstimate]]:
    """Ratios to other people's code for the same work on the same CPUs, the best code first."""
    work = (own.mode, own.key_bits, own.bytes)
    found = [
        (value, other)
        for other in others
        if (other.mode, other.key_bits, other.bytes) == work
        and bool(EXTENSIONS & {*own.techniques}) == bool(EXTENSIONS & {*other.techniques})
        and (value := ratio(own, other, core)) is not None
    ]
    return sorted(found, key=lambda pair: -pair[0])


def rms(errors: Sequence[float]) -> float:
    return math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else 0.0


def two_digits(value: float) -> str:
    """Two significant digits, without an exponent."""
    if value <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(value))
    rounded = round(value, digits)
    digits = 1 - math.floor(math.log10(rounded))  # 9.96 became 10
    return f"{rounded:.{max(0, digits)}f}"


def spoken(low: float, high: float) -> str:
    """A range; one figure if both ends are the same in two digits."""
    ends = [two_digits(low), two_digits(high)]
    return "-".join(dict.fromkeys(ends))


# ---- What technique a kernel is -----------------------------------------------------------------

# By the words of its name, in this order; the names of techniques are those of the subjects.
_WORDS = (
    ("aes", "ttable", "table"),
    ("aes", "fixedtime", "table"),
    ("aes", "ref", "table"),
    ("aes", "tbl", "tbl"),
    ("aes", "vperm", "vperm"),
    ("aes", "bitslice", "bitslice"),
    ("aes", "fixslice", "bitslice"),
    ("aes", "ce", "ce"),
    ("ghash", "pmull", "pmull.p64"),
    ("ghash", "p8", "pmull.p8"),
    ("ghash", "table", "hash table"),
    ("ghash", "ctmul", "multiplication"),
    ("ghash", "ref", "multiplication"),
)
_SCALAR = ("table", "hash table")  # in vectors nowhere


def techniques(primitive: str, kernel: str) -> tuple[str, ...]:
    """Return the techniques of a kernel by its name; of GCM those of both halves."""
    if primitive == "gcm":
        halves = kernel.split("+")
        if len(halves) == 2:
            return (*techniques("aes", halves[0]), *techniques("ghash", halves[1]))
        return ("ce", "pmull.p64")
    name = kernel.split("_", 1)[-1]
    for of, word, technique in _WORDS:
        if of == primitive and name.startswith(word):
            portable = kernel.startswith("c_") and technique not in _SCALAR
            return (f"portable {technique}" if portable else technique,)
    return (f"{primitive} {name}",)
