# SPDX-License-Identifier: MIT
"""A binary whose functions are looked at, whatever its format."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

# Variables that hold the guard of a whole program: GCC and clang; Microsoft's ABI; OpenBSD.
GUARD_NAMES = frozenset({"__stack_chk_guard", "__security_cookie", "__guard_local"})
# Functions that are called when a canary has changed.
FAIL_NAMES = frozenset(
    {"__stack_chk_fail", "__stack_chk_fail_local", "__stack_smash_handler", "__report_gsfailure"}
)
# Microsoft's ABI compares in a function of its own, which the epilogue calls.
CHECK_NAMES = frozenset({"__security_check_cookie"})


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of code that follow each other. mode: of Arm, "a32" or "t32"; else empty."""

    address: int
    data: bytes
    mode: str = ""

    @property
    def end(self) -> int:
        return self.address + len(self.data)


@dataclass(frozen=True, slots=True)
class Function:
    """One function: its parts in the order of their addresses."""

    name: str
    start: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A relocation of an object: the symbol that an instruction or a word refers to."""

    name: str
    kind: str  # of the relocation, as its ABI names it
    addend: int = 0
    place: int | None = None  # of the symbol, if this object has it

    @property
    def is_got(self) -> bool:
        return "GOT" in self.kind


@dataclass(frozen=True, slots=True)
class ThreadVariable:
    """A thread-local variable; its offset from the thread register."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes at an address. is_constant: the program does not change them after its start."""

    address: int
    data: bytes
    is_constant: bool

    @property
    def end(self) -> int:
        return self.address + len(self.data)


@dataclass(frozen=True)
class Program:
    """A binary. Addresses are those of its linker; sections of an object have made-up ones."""

    name: str
    kind: str  # "ELF executable", "ELF object", ...
    machine: str
    functions: Sequence[Function]
    names: Mapping[int, str]  # of functions, by address
    variables: Mapping[int, str]  # guards, by address
    slots: Mapping[int, str | int] = field(default_factory=dict)  # words that a loader fills
    references: Mapping[int, Reference] = field(default_factory=dict)  # of an object
    regions: Sequence[Region] = ()
    thread: Sequence[ThreadVariable] | None = None  # None: the layout is not fixed by the file
    guard_names: frozenset[str] = GUARD_NAMES
    notes: tuple[str, ...] = ()
    has_names: bool = True
    knows_imports: bool = True  # the names of functions of other files that it calls are known
    code_bytes: int = 0  # also those that belong to no function
    word_bytes: int = 8

    @cached_property
    def _starts(self) -> list[int]:
        return [region.address for region in self.regions]

    @cached_property
    def starts(self) -> frozenset[int]:
        """The addresses of functions."""
        return frozenset(function.start for function in self.functions)

    def region(self, address: int) -> Region | None:
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self.regions[index].end:
            return None
        return self.regions[index]

    def constant_word(self, address: int) -> int | None:
        """Return a word that stays as it is in the file; None if there is none."""
        found = self.region(address)
        if found is None or not found.is_constant:
            return None
        at = address - found.address
        word = found.data[at : at + self.word_bytes]
        return int.from_bytes(word, "little") if len(word) == self.word_bytes else None

    def code(self, address: int, length: int) -> bytes:
        """At most `length` bytes at an address."""
        found = self.region(address)
        if found is None:
            return b""
        return found.data[address - found.address :][:length]
