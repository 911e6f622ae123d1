# SPDX-License-Identifier: MIT
"""Values of cells, and the same as lines of JSON.

A file of the matrix is lines: a head that says where and when, then cells and anomalies in the
order in which they were done. Of two lines of one cell the later one counts.
"""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import asdict

from everycore.environment.decoding import Opening, Record, complaint, decode_line, written
from everycore.environment.errors import EverycoreError
from everycore.model import stats
from everycore.model.domain import Machine, Revision
from everycore.model.stats import Figure

FORMAT = 1
ABOVE_LOWEST = 0.02  # how far a median that nothing disturbed may be above the lowest sample


class Cell(Record, frozen=True, order=True):
    """One function of a subject, from one toolchain with some flags, on one target."""

    subject: str  # "linux-6.1"; of our own kernels their name, "c_bitslice64"
    function: str  # "generic-cbc-enc"
    toolchain: str  # "gcc-12"
    flags: tuple[str, ...]  # ("-O2", "-fsanitize=undefined"): as the compiler gets them
    target: str = "host"
    key_bits: int = 256
    n_bytes: int = 4096

    @property
    def key(self) -> str:
        """A short name of its own, for files."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        place = "" if self.target == "host" else f" for {self.target}"
        return f"{self.toolchain} {' '.join(self.flags)} on {self.subject} {self.function}{place}"


class Outcome(StrEnum):
    """How a cell ended."""

    MEASURED = "measured"  # the answers are right, and it was timed
    COUNTED = "counted"  # the answers are right; instructions were counted, for it was emulated
    WRONG = "wrong"  # a miscompilation, or a subject that is wrong: never timed
    NOT_COMPILED = "not compiled"
    CRASHED = "crashed"
    TIME_LIMIT = "time limit"
    SKIPPED = "skipped"  # a flag that the compiler does not know, a target it has no compiler for

    @property
    def is_failure(self) -> bool:
        return self not in (Outcome.MEASURED, Outcome.COUNTED, Outcome.SKIPPED)


class Code(Record, frozen=True):
    """Exact counts of the function and of all that it calls, as compiled."""

    code_bytes: int
    instructions: int
    vector: int  # instructions with a vector register
    gathers: int
    calls: int
    frame_bytes: int | None = None  # the largest; None: the compiler does not say
    hot: str = ""  # the symbol of the function with the innermost work
    frame_source: str = ""  # "stack-usage": the compiler said it; "prologue": the code does
    sanitizer_calls: int = 0  # of a sanitizer's handlers: not among `calls`
    mnemonics: Mapping[str, int] | None = None  # how often each is in the code


class Verdict(Record, frozen=True):
    """Whether a cell is constant-time, by one method."""

    constant: bool | None  # None: the method could not look, and `detail` says why
    method: str  # "trace" or "taint"
    detail: str = ""  # the first place where two secrets part: "aes_encrypt+0x1c: address"


def scatter(samples: Sequence[float]) -> bool:
    """Is the median of a process well above its lowest sample?

    What else runs adds cycles, and not always as many: where it uses the core, or only its caches,
    samples scatter. Those of a program that has the core for itself lie close together.
    """
    return stats.median(samples) > min(samples) * (1 + ABOVE_LOWEST)


class Result(Record, frozen=True, tag="cell"):
    """All that is known of one cell."""

    cell: Cell
    outcome: Outcome
    reason: str = ""  # why it was not measured: the compiler's first error, the missing header
    compiler: str = ""  # "gcc 12.2.0"
    flag_set: str = ""  # the name of its flags, if they have one: "O2+ubsan"
    compile_seconds: float | None = None
    code: Code | None = None
    runs: tuple[tuple[float, ...], ...] = ()  # core cycles per byte: the samples of each process
    shared: tuple[int, ...] = ()  # those of `runs` beside which something else was on the core
    counter: str = ""
    executed: int | None = None  # instructions of one call: an exact count
    # By core: cycles per byte, a range; empty: no core is calibrated for it; None: nobody asked.
    estimates: Mapping[str, tuple[float, float]] | None = None
    digest: str = ""  # of the object's code: cells with the same one are the same program
    sanitizer_hits: int | None = None  # calls of a sanitizer's handlers in one call
    verdicts: tuple[Verdict, ...] = ()
    time_limit: float | None = None  # seconds, of a process that was ended for them
    computes: str = ""  # "cbc-enc": what other subjects may compute as well
    is_assembly: bool = False  # written by hand: a reference beside what compilers make
    contents: str = ""  # a digest of the subject's description and files, where it was known
    packages_missing: bool = False  # those that read its code: it has no counts for want of them
    # The set of inputs by which its answers were compared (subjects/sweep.py), and how many of
    # them there was time for; 0: by an earlier everycore, one value for each length.
    sweep: int = 0
    n_inputs: int = 0
    given: Mapping[str, str] | None = None  # the first input of the set that it answers wrongly

    @property
    def has_answers(self) -> bool:
        """Whether its answers were compared, and are right or wrong."""
        return self.outcome in (Outcome.MEASURED, Outcome.COUNTED, Outcome.WRONG)

    @property
    def figure(self) -> Figure | None:
        """Cycles per byte: the median of process medians, and its interval."""
        return _figure(self.runs)

    @property
    def is_uncertain(self) -> bool:
        """Its interval is wide or unknown, or something else was on the core in every process."""
        alone = len(self.runs) > len(self.shared)
        return bool(self.figure and (self.figure.is_uncertain or not alone))

    @property
    def cycles_per_byte(self) -> float | None:
        figure = self.figure
        return figure.median if figure else None

    @property
    def instructions_per_byte(self) -> float | None:
        return self.executed / self.cell.n_bytes if self.executed is not None else None

    @property
    def constant_time(self) -> bool | None:
        """False: a method found a leak; True: one looked, and none did; None: nobody looked."""
        constants = {verdict.constant for verdict in self.verdicts} - {None}
        return False not in constants if constants else None


class Kind(StrEnum):
    """Kinds of anomalies of a cell."""

    SLOW = "slow"  # than its best neighbour
    FRAME = "frame"  # over the limit
    LEAK = "leak"  # lost constant time
    WRONG = "wrong"  # gives wrong answers: it has no value and no neighbour


class Listing(Record, frozen=True):
    """The hot loop of a cell."""

    symbol: str
    lines: tuple[str, ...]  # of assembly
    share: float | None = None  # of all executed instructions
    executed: int | None = None  # these, of one call


class Reduced(Record, frozen=True):
    """A small source that shows an anomaly, or why there is none."""

    source: str = ""  # in C, with its own main; empty: there is none
    bad: str = ""  # the command whose program is wrong or slow
    good: str = ""  # the command whose program is right or fast
    bad_shows: str = ""  # "prints 1f03"
    good_shows: str = ""
    notes: tuple[str, ...] = ()  # what a reader has to know: it is long, or was not checked
    why_not: str = ""  # why there is no source, or why cvise did not come to its end
    is_final: bool = True  # False: another run may find a smaller one

    @property
    def n_lines(self) -> int:
        return sum(bool(line.strip()) for line in self.source.splitlines())


class Anomaly(Record, frozen=True, tag="anomaly"):
    """A cell that is worse than its neighbours say it need be, and what repairs it."""

    cell: Cell
    kind: Kind
    value: float  # cycles per byte, or bytes of frame
    neighbour: Cell | None  # the best one
    neighbour_value: float | None
    ratio: float  # value / neighbour_value
    differs_in: str = ""  # "toolchain", "flags" or "march"
    repair: tuple[str, ...] = ()  # the smallest set of flags whose switching repairs it
    repaired: Result | None = None  # the cell with these
    causes: tuple[str, ...] = ()  # what appeared in the code: "64 vpgatherdd"
    before: Listing | None = None  # of the anomaly
    after: Listing | None = None  # repaired
    tried: int = 0  # compilations of the bisection
    why_not: str = ""  # no repair was found, because
    command: str = ""  # that shows it again
    limit: float = 1.1  # the ratio from which on it is odd
    passes: tuple[str, ...] = ()  # after which the code is bad: "SLPVectorizerPass on aes_encrypt"
    reduced: Reduced | None = None  # None: nobody asked for a test case


class Head(Record, frozen=True, tag="matrix"):
    """Place and time of the measurement of cells."""

    date: str
    everycore: str
    revision: Revision
    machine: Machine
    counter: str
    options: Mapping[str, Any]
    format: int = written(FORMAT)


class FormatError(EverycoreError):
    """A file of the matrix that another version of everycore wrote in another way."""


Line = Head | Result | Anomaly
_LINES = msgspec.json.Decoder(Line)


def parse(text: str) -> Line:
    """Return one line of a file of the matrix as a value."""
    try:
        line: Line = decode_line(_LINES, text)
    except (KeyError, TypeError, ValueError) as error:
        _refuse_newer(text)
        shown = text if len(text) < 80 else f"{text[:77]}..."
        raise EverycoreError(f"not a line of the matrix ({complaint(error)}): {shown}") from error
    if isinstance(line, Head):
        _refuse_newer(text)
    return line


def _refuse_newer(text: str) -> None:
    """Raise an error if a first line is of another format."""
    with suppress(TypeError, ValueError):
        head = decode_line(Opening, text)
        if head.type == "matrix" and head.format != FORMAT:
            raise FormatError(
                f"it has format {head.format}, this everycore reads format {FORMAT}",
                "use the everycore that wrote it, or a newer one",
            )


def latest(lines: Sequence[Line]) -> dict[Cell, Result]:
    """The last word on each cell."""
    return {line.cell: line for line in lines if isinstance(line, Result)}


@lru_cache(maxsize=1 << 16)
def _figure(runs: tuple[tuple[float, ...], ...]) -> Figure | None:
    return stats.figure(runs)


def pooled(results: Mapping[Cell, Result]) -> dict[Cell, Result]:
    """The same results, where those of one program have the processes of all of them.

    What differs between cells of equal code is noise: together they have one figure.
    """
    programs: dict[tuple[object, ...], list[Result]] = {}
    for result in results.values():
        if result.digest and result.runs:
            programs.setdefault(_program(result), []).append(result)
    found = dict(results)
    for own in programs.values():
        runs = tuple(run for result in own for run in result.runs)
        begins = itertools.accumulate((len(result.runs) for result in own), initial=0)
        shared = tuple(
            begin + i for begin, result in zip(begins, own, strict=False) for i in result.shared
        )
        for result in own if len(own) > 1 else ():
            found[result.cell] = result.replace(runs=runs, shared=shared)
    return found


def is_one_program(result: Result, other: Result) -> bool:
    """Whether two cells have the same code, and do the same with it."""
    return bool(result.digest) and _program(result) == _program(other)


def _program(result: Result) -> tuple[object, ...]:
    cell = result.cell
    return result.digest, cell.subject, cell.function, cell.target, cell.key_bits, cell.n_bytes


def is_same(first: str, second: str) -> bool:
    """Whether two compilers, or two digests of a subject, are equal as far as they are known."""
    return not first or not second or first == second


def current_anomalies(lines: Sequence[Line]) -> dict[tuple[Cell, Kind], Anomaly]:
    """The last word on what is odd, where the newest results are of the same compiler and subject,
    and compared by the same inputs.

    Both names may have become another's since a cell, or its neighbour, was looked at. A neighbour
    that fails since says nothing.
    """
    known: dict[Cell, tuple[str, str]] = {}
    sweeps: dict[Cell, int] = {}
    found: dict[tuple[Cell, Kind], Anomaly] = {}
    for line in lines:
        if isinstance(line, Anomaly):
            found[line.cell, line.kind] = line
        elif isinstance(line, Result):
            old, new = known.get(line.cell, ("", "")), (line.compiler, line.contents)
            is_other = line.sweep > sweeps.setdefault(line.cell, line.sweep)
            is_other = is_other or not all(map(is_same, old, new))
            for key, anomaly in list(found.items()):
                fails = line.outcome.is_failure and line.cell == anomaly.neighbour
                if fails or (is_other and line.cell in (anomaly.cell, anomaly.neighbour)):
                    del found[key]
            known[line.cell] = (new[0] or old[0], new[1] or old[1])
            sweeps[line.cell] = max(sweeps[line.cell], line.sweep)
    return found
