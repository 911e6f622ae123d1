# SPDX-License-Identifier: MIT
"""Objects and linked programs: their functions, their data, and what refers to what.

Every section gets a place of its own in one space of numbers, so that a place is one number in
objects, too, where all sections begin at 0. In linked programs it is the address.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from everycore.environment import extras
from everycore.environment.errors import EverycoreError

SPACE_BITS = 40  # of one section of an object
MACHINES = {
    ("EM_X86_64", 64, True): "x86-64",
    ("EM_386", 32, True): "i386",
    ("EM_AARCH64", 64, True): "a64",
    ("EM_ARM", 32, True): "a32",
    ("EM_RISCV", 64, True): "rv64",
    ("EM_PPC64", 64, True): "ppc64le",
    ("EM_S390", 64, False): "s390x",
}
_EXECUTABLE, _ALLOCATED, _MERGED, _STRINGS = 4, 2, 16, 32  # sh_flags: System V gABI (2013)


class NoCodeError(EverycoreError):
    """A file in which there is no code that can be read; no fault of the compiler."""


@dataclass(frozen=True, slots=True)
class Section:
    """A loaded section of a file."""

    name: str
    start: int  # its place
    address: int  # where it thinks it is: 0 in objects
    data: bytes
    executable: bool
    merged_bytes: int  # of an element of mergeable constants; 0: it is none of those
    strings: bool

    @property
    def end(self) -> int:
        return self.start + len(self.data)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function, or a named object of data."""

    name: str
    start: int
    size: int
    function: bool
    public: bool
    defined: bool = True

    @property
    def end(self) -> int:
        return self.start + self.size


class Relocation(NamedTuple):
    """A hole that the linker fills."""

    at: int
    kind: int  # by its number in the machine's ELF supplement
    name: str  # of what it refers to, if that is not in this file
    place: int  # else where the symbol is
    addend: int | None  # None: it is in the hole


class Object:
    """One file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with _opened(path) as elf:
            header = elf.header
            kind = (header["e_machine"], elf.elfclass, elf.little_endian)
            if kind not in MACHINES:
                order = "little" if elf.little_endian else "big"
                raise NoCodeError(
                    f"{path.name}: code for {kind[0]} of {elf.elfclass} bits, {order}-endian,"
                    " is not read",
                    f"known: {', '.join(MACHINES.values())}",
                )
            self.machine = MACHINES[kind]
            self.linked = header["e_type"] != "ET_REL"
            self._read(elf)

    def _read(self, elf: Any) -> None:
        found = list(elf.iter_sections())
        self.sections = {
            index: self._section(index, one)
            for index, one in enumerate(found)
            if one["sh_flags"] & _ALLOCATED and one["sh_type"] != "SHT_NULL"
        }
        if not any(s.executable and s.data for s in self.sections.values()):
            raise NoCodeError(f"{self.path.name} has no machine code", "without -flto it has")
        tables = [one for one in found if one["sh_type"] == "SHT_SYMTAB"]
        self._symbols: list[Symbol] = []
        self.marks: list[tuple[int, str]] = []  # (place, "a", "t", "d" or "x"), sorted
        if tables:
            self._symbols = [self._symbol(one) for one in tables[0].iter_symbols()]
        self.marks.sort()
        named = {s for s in self._symbols if s.defined and s.name}
        self.aliases = {s.name: s.start for s in named}
        self.functions = self._sized([s for s in named if s.function])
        self.objects = self._sized([s for s in named if not s.function])
        self._function_starts = [s.start for s in self.functions]
        self._object_starts = [s.start for s in self.objects]
        self._by_start = sorted(self.sections.values(), key=lambda section: section.start)
        self._section_starts = [s.start for s in self._by_start]
        self.relocations: list[Relocation] = []
        if not self.linked:
            for one in found:
                if one["sh_type"] in ("SHT_REL", "SHT_RELA") and one["sh_info"] in self.sections:
                    self._relocate(one)
        self.relocations.sort(key=lambda relocation: relocation.at)
        self._relocation_starts = [r.at for r in self.relocations]

    def _section(self, index: int, section: Any) -> Section:
        flags = section["sh_flags"]
        return Section(
            section.name,
            section["sh_addr"] if self.linked else index << SPACE_BITS,
            section["sh_addr"],
            b"" if section["sh_type"] == "SHT_NOBITS" else section.data(),
            bool(flags & _EXECUTABLE),
            section["sh_entsize"] if flags & _MERGED and not flags & _STRINGS else 0,
            bool(flags & _STRINGS),
        )

    def _symbol(self, symbol: Any) -> Symbol:
        index, info = symbol["st_shndx"], symbol["st_info"]
        kind, value = info["type"], symbol["st_value"]
        section = self.sections.get(index) if isinstance(index, int) else None
        if section is None:
            return Symbol(symbol.name, 0, 0, False, True, defined=False)
        start = value + section.start - section.address
        name = symbol.name
        if name.startswith("$") and kind == "STT_NOTYPE":  # ELF for the Arm Architecture 5.5.5
            self.marks.append((start, name[1:2]))
            name = ""
        function = kind in ("STT_FUNC", "STT_GNU_IFUNC")
        if function and self.machine == "a32":
            if start & 1:
                self.marks.append((start & ~1, "t"))
            start &= ~1
        if kind in ("STT_SECTION", "STT_FILE") or name.startswith(".L"):
            name = ""
        if kind == "STT_NOTYPE" and section.executable:  # assembly may not say what it is
            function = not symbol.name.startswith(("$", ".L")) and bool(name)
        return Symbol(name, start, symbol["st_size"], function, info["bind"] != "STB_LOCAL")

    def _sized(self, symbols: Sequence[Symbol]) -> list[Symbol]:
        """One name for each place, by place; those without a size reach to the next."""
        best: dict[int, Symbol] = {}
        for one in sorted(symbols, key=lambda s: (s.start, not s.size, not s.public, s.name)):
            best.setdefault(one.start, one)
        ordered = [best[start] for start in sorted(best)]
        ends = [s.end for s in self.sections.values()]
        sized = []
        for i, one in enumerate(ordered):
            size = one.size
            if not size and one.function:
                stops = [e for e in ends if e > one.start]
                stops += [ordered[i + 1].start] if i + 1 < len(ordered) else []
                size = min(stops, default=one.start) - one.start
            sized.append(Symbol(one.name, one.start, size, one.function, one.public))
        return sized

    def _relocate(self, table: Any) -> None:
        """Thousands of them, which pyelftools would read a hundred times as slowly."""
        start, symbols, rela = self.sections[table["sh_info"]].start, self._symbols, table.is_RELA()
        order = ">" if self.machine == "s390x" else "<"
        wide = self.machine not in ("i386", "a32")  # Elf64_Rela, Elf32_Rel: System V gABI (2013)
        entry = struct.Struct(order + ("QQ" if wide else "II") + ("q" if wide else "i") * rela)
        for at, info, *addend in entry.iter_unpack(table.data()):
            number, kind = (info >> 32, info & 0xFFFFFFFF) if wide else (info >> 8, info & 0xFF)
            symbol = symbols[number]
            name = "" if symbol.defined else symbol.name
            self.relocations.append(
                Relocation(start + at, kind, name, symbol.start, addend[0] if rela else None)
            )

    def function_at(self, place: int) -> Symbol | None:
        """The function that a place is in."""
        return _around(self.functions, self._function_starts, place)

    def object_at(self, place: int) -> Symbol | None:
        """The named data that a place is in."""
        return _around(self.objects, self._object_starts, place)

    def section_at(self, place: int) -> Section | None:
        at = bisect_right(self._section_starts, place) - 1
        section = self._by_start[at] if at >= 0 else None
        return section if section and place <= section.end else None

    def relocations_in(self, start: int, end: int) -> Sequence[Relocation]:
        first = bisect_right(self._relocation_starts, start - 1)
        return self.relocations[first : bisect_right(self._relocation_starts, end - 1)]

    def bytes_of(self, start: int, end: int) -> bytes:
        section = self.section_at(start)
        return section.data[start - section.start : end - section.start] if section else b""


def _around(symbols: Sequence[Symbol], starts: Sequence[int], place: int) -> Symbol | None:
    at = bisect_right(starts, place) - 1
    return symbols[at] if at >= 0 and place < symbols[at].end else None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise extras.missing_packages("reading objects", "matrix") from error
    try:
        with path.open("rb") as file:
            yield ELFFile(file)
    except ELFError as error:  # LLVM's bitcode is none, of -flto
        raise NoCodeError(f"{path.name} is no ELF file: {error}") from error
    except OSError as error:
        raise EverycoreError(f"cannot read {path}: {error.strerror}") from error
