# SPDX-License-Identifier: MIT
"""The harness's JSON lines as values.

A harness and the lab of one version belong together: a member or a type that the lab does not know
is an error.
"""

from contextlib import suppress

import msgspec

from everycore.environment.decoding import Opening, Record, complaint, decode_line, written
from everycore.environment.errors import EverycoreError

VERSION = 1
BROKEN_LINE = "run it again; a file of results: fetch or copy it anew"
_PARTNER = {"partner": "with"}  # which is no name in Python

Samples = tuple[int | float, ...]  # written as they were read: 12 does not become 12.0


class Hello(Record, frozen=True, tag="harness"):
    """The first line of every command: what the harness is and where it runs."""

    version: int
    command: str
    arch: str
    features: tuple[str, ...]
    compiler: str
    word_bits: int
    big_endian: bool
    counter: str
    library: str


TIMING_WORDS = {"ct": "constant time", "hardened": "hardened", "vartime": "variable time"}


class Kernel(Record, frozen=True, tag="kernel"):
    primitive: str
    name: str
    rank: int
    arch: str
    isa: str
    needs: tuple[str, ...]
    timing: str
    use: str
    built: bool
    runs: bool
    missing: tuple[str, ...] = written(())
    missing_tuning: tuple[str, ...] = written(())
    key_bytes: int = 0
    batch: int = 0
    traits: tuple[str, ...] = written(())
    slots: tuple[str, ...] = written(())


class Skipped(Record, frozen=True):
    """A kernel that was not chosen, and why."""

    kernel: str
    why: str  # arch, feature, timing, use, rank
    detail: str | None = None


class Resolved(Record, frozen=True, tag="resolve"):
    """The kernel that serves a use of a primitive."""

    arch: str
    features: tuple[str, ...]
    policy: str
    primitive: str
    use: str
    kernel: str | None  # None: no kernel serves it
    skipped: tuple[Skipped, ...] = written(())
    warning: str = ""  # a slow fallback was chosen: why, and what to do
    note: str = ""  # the policy allows a kernel that multiplies although ct-mul is missing


class Mode(Record, frozen=True, tag="mode"):
    """The kernels that serve a mode: one for each use that it has."""

    algorithm: str
    uses: tuple[str, ...]
    kernels: tuple[str | None, ...]  # None: no kernel serves the use
    warning: str = ""  # as in Resolved


class Check(Record, frozen=True, tag="check"):
    primitive: str
    kernel: str
    property: str
    result: str  # pass, fail, skip
    cases: int = written(0)
    detail: str = ""
    seed: int = 0  # of a failure


AAD_BYTES = 13  # of associated data in a message of CCM or GCM, unless others are asked for


class Bench(Record, frozen=True, tag="bench", rename=_PARTNER):
    """Raw samples of one operation: core cycles and nanoseconds per call."""

    primitive: str
    kernel: str
    mode: str
    key_bits: int
    bytes: int
    messages: int
    style: str  # streamed, fenced
    counter: str
    cycles: Samples
    ns: Samples = written(())
    calls_per_sample: int = written(0)
    dropped: int = written(0)
    fence_cycles: float = 0.0
    partner: str = ""  # serves the mode's other use
    why: str = ""
    peer: str = ""  # the library, if it is another one
    hardware: str = ""  # the code paths that were asked of it
    process: int = 0  # its number in a run of several; the lab adds it, as the next
    side: str = ""  # "A" or "B", of a run that compares two programs
    width: int = 0  # thousandths of additions that the core did in a cycle; 0: not known
    crowded: bool = False  # something else used the core too
    parts: tuple[int, ...] = ()  # of several processes' lines as one: how many samples each has
    aad_bytes: int = AAD_BYTES
    keys: int = 1  # calls take one of so many, in random order
    runs: bool = written(True)

    @property
    def conditions(self) -> str:
        return conditions(self.keys, self.aad_bytes)


def conditions(keys: int, aad_bytes: int) -> str:
    """Return the words in a title for calls with many keys or other associated data; "" for usual
    ones."""
    many = f", {keys} keys" if keys > 1 else ""
    aad = f", {aad_bytes} bytes of associated data" if aad_bytes != AAD_BYTES else ""
    return many + aad


class Placement(Record, frozen=True, tag="placement", rename=_PARTNER):
    """Median cycles of a call at the edges of pages, each beside one inside pages.

    0: every sample was disturbed.
    """

    primitive: str
    kernel: str
    mode: str
    key_bits: int
    bytes: int
    messages: int
    style: str
    counter: str
    start: float
    inside_start: float
    end: float
    inside_end: float
    in_place: bool = False
    aad_bytes: int = AAD_BYTES
    keys: int = 1
    partner: str = ""  # serves the mode's other use


class Burst(Record, frozen=True, tag="burst"):
    """Messages of GCM that come alone, between work without vectors; a value for each sample."""

    kernel: str  # "none": the same without a message
    bytes: int
    pause_us: int  # of the work between two messages
    ns: Samples  # of a message
    mhz: Samples  # the clock of the work


class PeerLine(Record, frozen=True, tag="peer"):
    """The library that `harness peers` is linked with, as it describes itself."""

    name: str
    version: str
    modes: tuple[str, ...]
    hardware: str | None = written(None)  # the code paths that it uses; None: it does not tell
    asked: str | None = written(None)  # those that were asked of it
    absent: str = ""  # why it cannot be used here
    headers: str = ""  # the version that its headers have; "": they do not tell

    @property
    def kernel(self) -> str:
        """The name of its figures."""
        return f"{self.name}-{self.version}"


class Limit(Record, frozen=True, tag="limit"):
    """Raw samples of one instruction: what the CPU can do at best with it."""

    instruction: str
    width_bits: int
    latency_cycles: Samples  # empty: nothing can depend on its result
    per_cycle: Samples
    runs: bool
    chain: str | None = written(None)  # the form whose results depend on each other
    streams: str = ""  # the form whose results do not
    count: int = 0  # instructions of a call
    why: str = ""
    width: int = 0
    crowded: bool = False
    process: int = 0
    parts: tuple[int, ...] = ()


class InstructionCount(Record, frozen=True):
    """How often a loop holds an instruction."""

    instruction: str
    count: int


class Arithmetic(Record, frozen=True, tag="arithmetic"):
    """Raw samples of a loop with the arithmetic that its modes cannot do without."""

    name: str
    modes: tuple[str, ...]
    key_bits: int  # 0: any
    width_bits: int
    dependent: bool  # each block needs the one before
    bytes: int  # of text, per call
    holds: tuple[InstructionCount, ...]
    cycles_per_byte: Samples
    runs: bool
    method: str | None = written(None)
    why: str = ""
    width: int = 0
    crowded: bool = False
    process: int = 0
    parts: tuple[int, ...] = ()


class CtOperation(Record, frozen=True, tag="ct-operation"):
    """An operation that `ct` knows, with keys of one size."""

    primitive: str
    kernel: str
    timing: str
    operation: str | None  # None: the kernel's primitive has none
    key_bits: int
    bytes: tuple[int, ...]  # 0: a key is set
    runs: bool
    why: str = ""
    place: str = ""


class CtRun(Record, frozen=True, tag="ct"):
    """An operation has been run once between the marks."""

    primitive: str
    kernel: str
    operation: str
    key_bits: int
    bytes: tuple[int, ...]
    timing: str = ""
    errors: int = -1  # of memcheck; -1: it did not watch
    place: str = ""  # of the buffers in their pages, if it was asked for: start, end, near-end


class Crop(Record, frozen=True):
    """The fastest part of timed calls, by class: the same secrets, fresh secrets."""

    kept: float
    samples: tuple[int, ...]
    mean: tuple[float, ...]  # ticks
    variance: tuple[float, ...]


class CtTiming(Record, frozen=True, tag="ct-timing"):
    primitive: str
    kernel: str
    operation: str
    key_bits: int
    bytes: tuple[int, ...]
    counter: str
    crops: tuple[Crop, ...] = ()
    why: str = ""
    timing: str = ""
    place: str = ""


class Vector(Record, frozen=True, tag="vector"):
    id: str
    kernel: str
    result: str
    detail: str = written("")


class Summary(Record, frozen=True, tag="summary"):
    passed: int
    failed: int
    skipped: int
    seed: int = 0


class Failure(Record, frozen=True, tag="error", rename=_PARTNER):
    """The harness found something wrong before it could measure."""

    kernel: str = ""
    mode: str = ""
    operation: str | None = ""
    detail: str = ""
    expected: str = ""  # hexadecimal, from the first wrong byte on
    got: str = ""
    primitive: str = ""
    timing: str = ""
    peer: str = ""
    hardware: str = ""
    partner: str = ""
    key_bits: int = 0
    bytes: int | tuple[int, ...] = 0
    messages: int = 0
    aad_bytes: int = AAD_BYTES
    keys: int = 1
    style: str = ""
    counter: str = ""
    in_place: bool = False
    place: str = ""
    seed: int = 0


class Search(Record, frozen=True, tag="search"):
    """How far a search for primes is."""

    tests: int
    expected: float


class Number(Record, frozen=True, tag="number"):
    """A number of a new key or group."""

    name: str
    value: str  # hexadecimal


Line = (
    Hello
    | Kernel
    | Resolved
    | Mode
    | Check
    | Bench
    | Placement
    | Burst
    | PeerLine
    | Limit
    | Arithmetic
    | CtOperation
    | CtRun
    | CtTiming
    | Vector
    | Summary
    | Failure
    | Search
    | Number
)
_LINES = msgspec.json.Decoder(Line)


def is_failure(line: Record) -> bool:
    """Whether the line is why a harness ends with exit code 1."""
    match line:
        case Check() | Vector():
            return line.result == "fail"
        case Summary():
            return line.failed > 0
        case _:
            return isinstance(line, Failure)


def parse(text: str) -> Line:
    """Return one line of a harness as a value."""
    try:
        line: Line = decode_line(_LINES, text)
    except (KeyError, TypeError, ValueError) as error:
        _refuse_other_version(text)
        raise EverycoreError(
            f"the harness wrote a line that cannot be read ({complaint(error)}): {text[:80]}",
            BROKEN_LINE,
        ) from error
    if isinstance(line, Hello):
        _refuse_other_version(text)
    return line


def _refuse_other_version(text: str) -> None:
    with suppress(TypeError, ValueError):
        greeting = decode_line(Opening, text)
        if greeting.type == "harness" and greeting.version != VERSION:
            raise EverycoreError(
                f"the harness speaks version {greeting.version} of the protocol, not {VERSION}",
                "the C tree and the installed everycore do not belong together: reinstall it",
            )


def numbered(line: Record, process: int) -> Record:
    """Return a figure with the number of the process that measured it; other lines as they are."""
    if isinstance(line, Bench | Limit | Arithmetic):
        return line.replace(process=process)
    return line
