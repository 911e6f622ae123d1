# SPDX-License-Identifier: MIT
"""The harness's JSON lines as values.

Unknown members and types are ignored: later harnesses may add some.
"""

import json
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from everycore.environment.decoding import decode
from everycore.environment.errors import EverycoreError

VERSION = 1
BROKEN_LINE = "run it again; a file of results: fetch or copy it anew"
MEMBERS = {"with": "partner"}  # names of members that are no names in Python

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Hello:
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


@dataclass(frozen=True, slots=True)
class Kernel:
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
    missing: tuple[str, ...] = ()
    missing_tuning: tuple[str, ...] = ()
    key_bytes: int = 0
    batch: int = 0
    traits: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A kernel that was not chosen, and why."""

    kernel: str
    why: str  # arch, feature, timing, use, rank
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The kernel that serves a use of a primitive."""

    arch: str
    features: tuple[str, ...]
    policy: str
    primitive: str
    use: str
    kernel: str
    skipped: tuple[Skipped, ...] = ()
    warning: str = ""  # a slow fallback was chosen: why, and what to do
    note: str = ""  # the policy allows a kernel that multiplies although ct-mul is missing


@dataclass(frozen=True, slots=True)
class Mode:
    """The kernels that serve a mode: one for each use that it has."""

    algorithm: str
    uses: tuple[str, ...]
    kernels: tuple[str, ...]
    warning: str = ""  # as in Resolved


@dataclass(frozen=True, slots=True)
class Check:
    primitive: str
    kernel: str
    property: str
    result: str  # pass, fail, skip
    cases: int = 0
    detail: str = ""


AAD_BYTES = 13  # of associated data in a message of CCM or GCM, unless others are asked for


@dataclass(frozen=True, slots=True)
class Bench:
    """Raw samples of one operation: core cycles and nanoseconds per call."""

    primitive: str
    kernel: str
    mode: str
    key_bits: int
    bytes: int
    messages: int
    style: str  # streamed, fenced
    counter: str
    cycles: tuple[float, ...]
    ns: tuple[float, ...] = ()
    calls_per_sample: int = 0
    dropped: int = 0
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

    @property
    def conditions(self) -> str:
        return conditions(self.keys, self.aad_bytes)


def conditions(keys: int, aad_bytes: int) -> str:
    """Return the words in a title for calls with many keys or other associated data; "" for usual
    ones."""
    many = f", {keys} keys" if keys > 1 else ""
    aad = f", {aad_bytes} bytes of associated data" if aad_bytes != AAD_BYTES else ""
    return many + aad


@dataclass(frozen=True, slots=True)
class Placement:
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
    partner: str = ""  # serves the mode's other use


@dataclass(frozen=True, slots=True)
class PeerLine:
    """The library that `harness peers` is linked with, as it describes itself."""

    name: str
    version: str
    modes: tuple[str, ...]
    hardware: str = ""  # the code paths that it says it uses; "": it does not tell
    asked: str = ""  # those that were asked of it
    absent: str = ""  # why it cannot be used here

    @property
    def kernel(self) -> str:
        """The name of its figures."""
        return f"{self.name}-{self.version}"


@dataclass(frozen=True, slots=True)
class Limit:
    """Raw samples of one instruction: what the CPU can do at best with it."""

    instruction: str
    width_bits: int
    latency_cycles: tuple[float, ...]  # empty: nothing can depend on its result
    per_cycle: tuple[float, ...]
    runs: bool
    why: str = ""
    width: int = 0
    crowded: bool = False
    process: int = 0
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """How often a loop holds an instruction."""

    instruction: str
    count: int


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Raw samples of a loop with the arithmetic that its modes cannot do without."""

    name: str
    modes: tuple[str, ...]
    key_bits: int  # 0: any
    width_bits: int
    dependent: bool  # each block needs the one before
    bytes: int  # of text, per call
    holds: tuple[InstructionCount, ...]
    cycles_per_byte: tuple[float, ...]
    runs: bool
    method: str = ""
    why: str = ""
    width: int = 0
    crowded: bool = False
    process: int = 0
    parts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CtOperation:
    """An operation that `ct` knows, with keys of one size."""

    primitive: str
    kernel: str
    timing: str
    operation: str  # empty: the kernel's primitive has none
    key_bits: int
    bytes: tuple[int, ...]  # 0: a key is set
    runs: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class CtRun:
    """An operation has been run once between the marks."""

    primitive: str
    kernel: str
    operation: str
    key_bits: int
    bytes: tuple[int, ...]
    errors: int = -1  # of memcheck; -1: it did not watch
    place: str = ""  # of the buffers in their pages, if it was asked for: start, end, near-end


@dataclass(frozen=True, slots=True)
class Crop:
    """The fastest part of timed calls, by class: the same secrets, fresh secrets."""

    kept: float
    samples: tuple[int, ...]
    mean: tuple[float, ...]  # ticks
    variance: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CtTiming:
    primitive: str
    kernel: str
    operation: str
    key_bits: int
    bytes: tuple[int, ...]
    counter: str
    crops: tuple[Crop, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Vector:
    id: str
    kernel: str
    result: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    passed: int
    failed: int
    skipped: int
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """{"type":"error"}: the harness found something wrong before it could measure."""

    kernel: str = ""
    mode: str = ""
    operation: str = ""
    detail: str = ""
    expected: str = ""  # hexadecimal, from the first wrong byte on
    got: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """A line of a type that this version does not know."""

    type: str


Line = (
    Hello
    | Kernel
    | Resolved
    | Mode
    | Check
    | Bench
    | Placement
    | PeerLine
    | Limit
    | Arithmetic
    | CtOperation
    | CtRun
    | CtTiming
    | Vector
    | Summary
    | Failure
    | Other
)


def is_failure(line: Line) -> bool:
    """Whether the line is why a harness ends with exit code 1."""
    match line:
        case Check() | Vector():
            return line.result == "fail"
        case Summary():
            return line.failed > 0
        case _:
            return isinstance(line, Failure)


@dataclass(frozen=True, slots=True)
class Record:
    """A line as it was written, and what it says."""

    text: str
    line: Line


def parse(text: str) -> Record:
    """One line of a harness."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise EverycoreError(
            f"the harness wrote a line that is not JSON: {text[:80]!r}", BROKEN_LINE
        ) from error
    if not isinstance(value, dict):
        raise EverycoreError(
            f"the harness wrote a line that is no object: {text[:80]!r}", BROKEN_LINE
        )
    return Record(text, from_object(value))


def numbered(record: Record, process: int, side: str = "") -> Record:
    """A figure with the number of the process that measured it; other lines as they are."""
    if not isinstance(record.line, Bench | Limit | Arithmetic):
        return record
    line: Line = replace(record.line, process=process)
    if isinstance(line, Bench):
        line = replace(line, side=side)
    added = {"process": process} | ({"side": side} if side else {})
    return Record(json.dumps(json.loads(record.text) | added, separators=(",", ":")), line)


def from_object(value: dict[str, Any]) -> Line:
    name = value.get("type")
    if name == "harness":
        return _hello(value)
    kinds: dict[object, type[Line]] = {
        "kernel": Kernel,
        "resolve": Resolved,
        "mode": Mode,
        "check": Check,
        "bench": Bench,
        "placement": Placement,
        "limit": Limit,
        "arithmetic": Arithmetic,
        "peer": PeerLine,
        "ct-operation": CtOperation,
        "ct": CtRun,
        "ct-timing": CtTiming,
        "vector": Vector,
        "summary": Summary,
        "error": Failure,
    }
    return _decode(kinds[name], value) if name in kinds else Other(str(name))


def _hello(value: dict[str, Any]) -> Hello:
    if value.get("version") != VERSION:
        raise EverycoreError(
            f"the harness speaks version {value.get('version')} of the protocol, not {VERSION}",
            "the C tree and the installed everycore do not belong together: reinstall it",
        )
    return _decode(Hello, value)


def _decode(kind: type[T], value: dict[str, Any]) -> T:
    """A dataclass from an object, every member checked against its annotation.

    null is an empty text: no kernel, no reason.
    """
    named = {MEMBERS.get(key, key): _without_null(member) for key, member in value.items()}
    try:
        found: T = decode(kind, named)
    except KeyError as error:
        raise EverycoreError(
            f"a harness line of type {kind.__name__} lacks '{error.args[0]}'",
            BROKEN_LINE,
        ) from None
    except TypeError as error:
        name, _, reason = str(error)[1:].partition("'")
        raise EverycoreError(
            f"a harness line of type {kind.__name__} has a strange '{name}':{reason}",
            BROKEN_LINE,
        ) from None
    return found


def _without_null(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list) and value and not isinstance(value[0], float | int):
        return [_without_null(item) for item in value]
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items()}
    return value
