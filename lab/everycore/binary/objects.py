# SPDX-License-Identifier: MIT
"""Objects and linked programs: their functions, their data, and what refers to what.

Every section gets a place of its own in one space of numbers, so that a place is one number in
objects, too, where all sections begin at 0. In linked programs it is the address.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from everycore.binary import elf
from everycore.binary.elf import DamagedError, Elf, ElfSection, ElfSymbol
from everycore.environment.errors import EverycoreError

SPACE_BITS = 40  # of one section of an object
MACHINES = {
    (elf.X86_64, 64, True): "x86-64",
    (elf.I386, 32, True): "i386",
    (elf.AARCH64, 64, True): "a64",
    (elf.ARM, 32, True): "a32",
    (elf.RISCV, 64, True): "rv64",
    (elf.PPC64, 64, True): "ppc64le",
    (elf.S390, 64, False): "s390x",
}


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
        try:
            file = Elf(path.read_bytes(), path.name)
            head = file.header
            kind = (head.machine, head.bits, head.is_little_endian)
            if kind not in MACHINES:
                order = "little" if head.is_little_endian else "big"
                raise NoCodeError(
                    f"{path.name}: code for {elf.machine_name(head.machine)} of {head.bits} bits,"
                    f" {order}-endian, is not read",
                    f"known: {', '.join(MACHINES.values())}",
                )
            self.machine = MACHINES[kind]
            self.linked = head.kind != elf.OBJECT
            self._read(file)
        except DamagedError as error:  # LLVM's bitcode is no ELF file, of -flto
            raise NoCodeError(
                f"{path.name} is no ELF file that can be read: {error.why}"
            ) from error
        except OSError as error:
            raise EverycoreError(f"cannot read {path}: {error.strerror}") from error

    def _read(self, file: Elf) -> None:
        self.sections = {
            elf_section.number: self._section(file, elf_section)
            for elf_section in file.sections
            if elf_section.flags & elf.ALLOCATED and elf_section.kind != elf.EMPTY
        }
        if not any(s.executable and s.data for s in self.sections.values()):
            raise NoCodeError(f"{self.path.name} has no machine code", "without -flto it has")
        tables = [elf_section for elf_section in file.sections if elf_section.kind == elf.SYMBOLS]
        self._symbols: list[Symbol] = []
        self.marks: list[tuple[int, str]] = []  # (place, "a", "t", "d" or "x"), sorted
        if tables:
            self._symbols = [self._symbol(symbol) for symbol in file.symbols(tables[0])]
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
            for elf_section in file.sections:
                if elf_section.kind in (elf.REL, elf.RELA) and elf_section.info in self.sections:
                    self._relocate(file, elf_section)
        self.relocations.sort(key=lambda relocation: relocation.at)
        self._relocation_starts = [r.at for r in self.relocations]

    def _section(self, file: Elf, section: ElfSection) -> Section:
        flags = section.flags
        return Section(
            section.name,
            section.address if self.linked else section.number << SPACE_BITS,
            section.address,
            file.contents(section),
            bool(flags & elf.EXECUTABLE_CODE),
            section.entry_bytes if flags & elf.MERGED and not flags & elf.STRINGS else 0,
            bool(flags & elf.STRINGS),
        )

    def _symbol(self, symbol: ElfSymbol) -> Symbol:
        section = self.sections.get(symbol.section) if symbol.is_defined else None
        if section is None:
            return Symbol(symbol.name, 0, 0, False, True, defined=False)
        start = symbol.value + section.start - section.address
        name = symbol.name
        is_mark = name.startswith("$") and symbol.kind == elf.NO_TYPE
        if is_mark:  # ELF for the Arm Architecture 5.5.5
            self.marks.append((start, name[1:2]))
            name = ""
        function = symbol.kind in elf.FUNCTION_KINDS
        if function and self.machine == "a32":
            if start & 1:
                self.marks.append((start & ~1, "t"))
            start &= ~1
        if symbol.kind in (elf.SECTION, elf.FILE) or name.startswith(".L"):
            name = ""
        if symbol.kind == elf.NO_TYPE and section.executable:  # assembly may not say what it is
            function = not symbol.name.startswith(("$", ".L")) and bool(name)
        return Symbol(name, start, symbol.size, function, symbol.binding != elf.LOCAL)

    def _sized(self, symbols: Sequence[Symbol]) -> list[Symbol]:
        """One name for each place, by place; those without a size reach to the next."""
        best: dict[int, Symbol] = {}
        for symbol in sorted(symbols, key=lambda s: (s.start, not s.size, not s.public, s.name)):
            best.setdefault(symbol.start, symbol)
        ordered = [best[start] for start in sorted(best)]
        ends = [s.end for s in self.sections.values()]
        sized = []
        for i, symbol in enumerate(ordered):
            size = symbol.size
            if not size and symbol.function:
                stops = [e for e in ends if e > symbol.start]
                stops += [ordered[i + 1].start] if i + 1 < len(ordered) else []
                size = min(stops, default=symbol.start) - symbol.start
            sized.append(Symbol(symbol.name, symbol.start, size, symbol.function, symbol.public))
        return sized

    def _relocate(self, file: Elf, table: ElfSection) -> None:
        start = self.sections[table.info].start
        for relocation in file.relocations(table):
            if relocation.symbol >= len(self._symbols):
                raise DamagedError(self.path.name, f"a relocation names symbol {relocation.symbol}")
            symbol = self._symbols[relocation.symbol]
            name = "" if symbol.defined else symbol.name
            place = start + relocation.offset
            self.relocations.append(
                Relocation(place, relocation.kind, name, symbol.start, relocation.addend)
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
