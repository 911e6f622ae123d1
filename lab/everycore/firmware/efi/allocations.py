# SPDX-License-Identifier: MIT
"""Who owns which bytes of memory: allocations with gaps between, poison, use after free."""

from bisect import bisect_right, insort
from dataclasses import dataclass
from enum import StrEnum

from everycore.firmware.efi.cpu import Cpu

PAGE = 4096
GAP_BYTES = 64  # behind each allocation of the pool
FRESH, FREED = 0xAF, 0xDF  # poison of new and of freed memory


class Kind(StrEnum):
    """The service that gave memory."""

    POOL = "pool"  # AllocatePool
    PAGES = "pages"  # AllocatePages
    COMMON = "common buffer"  # PciIo.AllocateBuffer


@dataclass(slots=True)
class Block:
    """An allocation. owner: "driver", or who else asked. phase: of the life cycle, then."""

    address: int
    length: int
    kind: Kind
    owner: str
    phase: str
    site: int | None  # in the image
    is_free: bool = False

    @property
    def end(self) -> int:
        return self.address + self.length


class Arena:
    """A range of memory from which blocks are given out, upwards; freed ones are reused last."""

    def __init__(self, cpu: Cpu, begin: int, length: int) -> None:
        self.cpu = cpu
        self.begin, self.end = begin, begin + length
        self._next = begin
        self._bases: list[int] = []
        self._blocks: dict[int, Block] = {}
        self._last: Block | None = None
        cpu.map(begin, length)

    def take(
        self, length: int, kind: Kind, owner: str, phase: str, site: int | None
    ) -> Block | None:
        """Allocate, or return None if nothing is left."""
        in_pages = kind != Kind.POOL
        unit = PAGE if in_pages else 16
        size = max(unit, (length + unit - 1) & -unit)
        step = size + (PAGE if in_pages else GAP_BYTES)
        if self._next + step <= self.end:
            address = self._next
            self._next += step
            insort(self._bases, address)
        else:
            reusable = (b for b in self._blocks.values() if b.is_free and size <= b.length)
            old = next(reusable, None)
            if old is None:
                return None
            address = old.address
            self._blocks.pop(address)
        block = Block(address, size if in_pages else length, kind, owner, phase, site)
        self._blocks[address] = block
        self.cpu.write(address, bytes([FRESH]) * size)
        return block

    def give_back(self, block: Block) -> None:
        block.is_free = True
        self.cpu.write(block.address, bytes([FREED]) * block.length)

    def at(self, address: int) -> Block | None:
        """The block, in use or freed, that has a byte."""
        if self._last and self._last.address <= address < self._last.end:
            return self._last
        index = bisect_right(self._bases, address) - 1
        block = self._blocks.get(self._bases[index]) if index >= 0 else None
        if block and address < block.end:
            self._last = block
            return block
        return None

    def begins(self, address: int) -> Block | None:
        """The block that begins at an address."""
        return self._blocks.get(address)

    def in_use(self) -> list[Block]:
        return [block for block in self._blocks.values() if not block.is_free]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of memory that belongs to somebody all the time: the image, the stack, tables."""

    name: str
    begin: int
    end: int


class Memory:
    """All memory of a platform that anybody owns."""

    def __init__(self, cpu: Cpu, begin: int) -> None:
        self.arenas = {
            Kind.POOL: Arena(cpu, begin, 16 << 20),
            Kind.PAGES: Arena(cpu, begin + (16 << 20), 32 << 20),
            Kind.COMMON: Arena(cpu, begin + (48 << 20), 16 << 20),
        }
        self.begin, self.end = begin, begin + (64 << 20)
        self.spans: list[Span] = []

    def allocate(
        self, length: int, kind: Kind, owner: str, phase: str = "", site: int | None = None
    ) -> Block | None:
        return self.arenas[kind].take(length, kind, owner, phase, site)

    def free(self, block: Block) -> None:
        self.arenas[block.kind].give_back(block)

    def block(self, address: int) -> Block | None:
        """The block, in use or freed, that has a byte."""
        for arena in self.arenas.values():
            if arena.begin <= address < arena.end:
                return arena.at(address)
        return None

    def span(self, address: int) -> Span | None:
        return next((s for s in self.spans if s.begin <= address < s.end), None)

    def owned_end(self, address: int) -> int | None:
        """The end of the allocation or span that has a byte; None: nobody owns it."""
        block = self.block(address)
        if block:
            return None if block.is_free else block.end
        span = self.span(address)
        return span.end if span else None

    def is_ours(self, address: int) -> bool:
        """Whether an address is one of this machine's RAM that has an owner, for the CPU."""
        return self.owned_end(address) is not None

    def in_use(self) -> list[Block]:
        return [block for arena in self.arenas.values() for block in arena.in_use()]
