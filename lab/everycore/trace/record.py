# SPDX-License-Identifier: MIT
"""Traces of a run: one Trace per region, and the place where two of them differ."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntFlag
from itertools import zip_longest

from everycore.binary.symbols import Image
from everycore.environment.errors import EverycoreError

HEADER = struct.Struct("<II")  # messages, struct event and struct totals: events.h
EVENT = struct.Struct("<QQQII")
TOTALS = struct.Struct("<QQQQQQQQQ")
LIMIT = 100_000_000  # instructions of one region; more is an endless loop
NO_MASK = (1 << 64) - 1


class UntraceableError(EverycoreError):
    """This machine, or what it permits, cannot trace: no fault of the program."""


class Mode(IntFlag):
    BLOCK = 0
    READ = 1
    WRITE = 2


@dataclass(frozen=True, slots=True)
class Access:
    """An access to memory; of a masked one the whole operand, and the mask beside it."""

    pc: int
    address: int
    size: int  # bytes; 0: the instruction does not say
    mode: Mode
    mask: int = NO_MASK


@dataclass(frozen=True, slots=True)
class FarOperands:
    """Operands under a mask of which a byte lies on a page that the program may not read."""

    count: int
    pc: int  # of the first of them
    address: int
    size: int  # bytes, masked off or not


@dataclass(frozen=True, slots=True)
class Program:
    """Data that all regions of a run share."""

    image: Image
    blocks: Mapping[int, tuple[int, ...]]  # start -> its instructions; absent: one instruction


@dataclass(frozen=True, slots=True)
class Trace:
    """One region: all that was executed from its begin to its end."""

    program: Program = field(repr=False)
    instructions: int
    pcs_digest: str
    accesses: int
    data_digest: str
    data: bool = True  # False: data addresses were not seen, and nothing may be said of them
    masked: int = 0  # accesses under a mask of a vector instruction; natively traced programs only
    far: FarOperands | None = None
    events: bytes = field(default=b"", repr=False)

    def same(self, other: "Trace") -> bool:
        """The same instructions in the same order, at the same data addresses where seen."""
        return self._facts() == other._facts()

    def _facts(self) -> tuple[object, ...]:
        data = (self.accesses, self.data_digest) if self.data else ()
        return (self.instructions, self.pcs_digest, self.data, *data)

    def pcs(self) -> Iterator[int]:
        """The executed addresses in order; only of a trace that was kept."""
        for pc, _, _, _, mode in self._events():
            if mode == Mode.BLOCK:
                yield from self.program.blocks.get(pc, (pc,))

    def data_accesses(self) -> Iterator[Access]:
        """The accesses in order; only of a trace that was kept."""
        for pc, address, mask, size, mode in self._events():
            if mode != Mode.BLOCK:
                yield Access(pc, address, size, Mode(mode), mask)

    def _events(self) -> Iterator[tuple[int, int, int, int, int]]:
        if not self.events and self.instructions:
            raise EverycoreError("this trace was digested, not kept", "trace again with keep=True")
        return EVENT.iter_unpack(self.events)


def make_trace(program: Program, totals: bytes, events: bytes, data: bool = True) -> Trace:
    """Make a trace of struct totals and as many struct event as were kept."""
    instructions, accesses, pcs_digest, data_digest, masked, *far = TOTALS.unpack(totals)
    return Trace(
        program,
        instructions,
        f"{pcs_digest:016x}",
        accesses,
        f"{data_digest:016x}",
        data,
        masked,
        FarOperands(*far) if far[0] else None,
        events,
    )


@dataclass(frozen=True, slots=True)
class Run:
    """A traced program after its end."""

    traces: tuple[Trace, ...]  # in the order in which the regions ran
    stdout: str
    code: int  # of its exit; negative: the signal that ended it


@dataclass(frozen=True, slots=True)
class Difference:
    """The place where two traces differ."""

    kind: str  # branch, or address
    pc: int  # of the instruction that differs
    place: str  # the same as symbol+offset, with file:line where debug information says
    detail: str  # what it did in either

    def __str__(self) -> str:
        return f"{self.kind} at {self.place}: {self.detail}"


def first_difference(a: Trace, b: Trace) -> Difference | None:
    """The first instruction that goes elsewhere, or whose data is elsewhere; of traces kept."""
    place = a.program.image.place
    last = 0  # the instruction that decided what is executed next
    for left, right in zip_longest(a._events(), b._events()):
        if left == right:
            if left[-1] == Mode.BLOCK:
                last = left[1]
            continue
        if any(e is not None and e[-1] != Mode.BLOCK for e in (left, right)):
            pc = next(e[0] for e in (left, right) if e is not None and e[-1] != Mode.BLOCK)
            return Difference("address", pc, place(pc), f"{_access(left)} or {_access(right)}")
        goes = [place(e[0]) if e is not None else "the end" for e in (left, right)]
        return Difference("branch", last, place(last), f"goes to {goes[0]} or {goes[1]}")
    return None


def _access(event: tuple[int, int, int, int, int] | None) -> str:
    if event is None or event[-1] == Mode.BLOCK:
        return "nothing"
    _, address, mask, size, mode = event
    what = {Mode.READ: "reads", Mode.WRITE: "writes"}.get(Mode(mode), "updates")
    masked = f" by the mask {mask:#x}" if mask != NO_MASK else ""
    return f"{what} {size} bytes at {address:#x}{masked}"
