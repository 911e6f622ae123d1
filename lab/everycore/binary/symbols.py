# SPDX-License-Identifier: MIT
"""Addresses of a running program as symbols and source lines, and back."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from everycore.binary import elf
from everycore.binary.elf import Elf
from everycore.environment import extras
from everycore.environment.errors import EverycoreError, MissingPackagesError, unknown_name

PAGE_BYTES = 4096
REACH_BYTES = 1 << 29  # x86 has distances of 31 bits


@dataclass(frozen=True, slots=True)
class Mapping:
    """A file in memory."""

    path: Path
    start: int
    end: int


class Image:
    """The map of a process: its program and the libraries."""

    def __init__(self, program: Path, mappings: Iterable[Mapping]) -> None:
        self._mappings = list(mappings)
        self._program = file_symbols(program)
        self._files = {m.path: file_symbols(m.path) for m in self._mappings}

    @property
    def path(self) -> Path:
        return self._program.path

    @property
    def fixed(self) -> bool:
        """Whether the program is always loaded at the place that it was linked for."""
        return self._program.fixed

    def address(self, symbol: str) -> int:
        """Return the address of a function of the program itself, as loaded."""
        functions = self._program.functions
        found = next((start for start, _, name in functions if name == symbol), None)
        if found is None:
            names = [name for _, _, name in functions]
            if not names:
                raise EverycoreError(f"{self._program.path} has no symbols", "do not strip it")
            raise unknown_name("function", symbol, names)
        return found + self._bias(self._program)

    def section(self, name: str) -> range:
        """The addresses of a section of the program itself, as loaded; none if there is none."""
        found = self._program.section(name)
        bias = self._bias(self._program)
        return range(found.start + bias, found.stop + bias)

    def place_for(self, size: int) -> int:
        """An address from which instructions reach the program's data, and its heap does not."""
        lowest = min(m.start for m in self._mappings if m.path == self.path)
        below = lowest - REACH_BYTES - size
        return below if below > 0 else lowest + REACH_BYTES

    def place(self, address: int) -> str:
        """symbol+offset, with file:line where debug information says."""
        for mapping in self._mappings:
            if mapping.start <= address < mapping.end:
                file = self._files[mapping.path]
                return file.place(address - self._bias(file))
        if not self._mappings:  # as linked
            return self._program.place(address)
        return f"{address:#x}"

    def _bias(self, file: "FileSymbols") -> int:
        starts = [m.start for m in self._mappings if m.path == file.path]
        return min(starts) - file.first_page if starts else 0


class FileSymbols:
    """The functions and lines of one file; both are read when first asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def _file(self) -> Elf:
        try:
            return Elf.open(self.path)
        except OSError as error:
            raise EverycoreError(
                f"cannot read the symbols of {self.path}: {error.strerror}"
            ) from error

    @cached_property
    def first_page(self) -> int:
        """Return the address of the first loaded byte, as linked: 0 unless the program has a fixed
        place."""
        loads = [segment.address for segment in self._file.segments if segment.kind == elf.LOAD]
        return min(loads) & -PAGE_BYTES if loads else 0

    @property
    def fixed(self) -> bool:
        return self._file.header.kind == elf.EXECUTABLE

    def section(self, name: str) -> range:
        """Its addresses, as linked."""
        found = self._file.section(name)
        return range(found.address, found.address + found.size) if found else range(0)

    @cached_property
    def loaded(self) -> list[tuple[str, int, bytes]]:
        """(name, address, contents) of the sections that are in memory when it runs, as linked."""
        return [
            (section.name, section.address, self._file.contents(section))
            for section in self._file.sections
            if section.flags & elf.ALLOCATED
        ]

    @property
    def machine(self) -> tuple[int, int, bool]:
        """(its number, bits of an address, little-endian)."""
        head = self._file.header
        return head.machine, head.bits, head.is_little_endian

    def code(self, address: int, length: int) -> bytes:
        """Return the bytes at an address as linked, to the end of its section at most."""
        for _, start, data in self.loaded:
            if start <= address < start + len(data):
                return data[address - start : address - start + length]
        return b""

    def is_thumb(self, address: int) -> bool:
        """Whether the function there is of Thumb code."""
        at = bisect_right(self.functions, (address, 1 << 64, "")) - 1
        return at >= 0 and self.functions[at][0] in self._thumb

    @cached_property
    def _thumb(self) -> set[int]:
        """Return the starts of Thumb functions: ELF for Arm (2023) 5.5.3."""
        if self.machine[0] != elf.ARM:
            return set()
        values = [symbol.value for symbol in self._file.symbols_of(".symtab")]
        return {value & ~1 for value in values if value & 1}

    @cached_property
    def functions(self) -> list[tuple[int, int, str]]:
        """(start, bytes, name), by address."""
        entry = _entry_points(self._file)
        return sorted(
            {
                (entry(symbol.value), symbol.size, symbol.name)
                for name in (".dynsym", ".symtab")
                for symbol in self._file.symbols_of(name, elf.FUNCTION_KINDS)
                if symbol.section
            }
        )

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """(first address, file:line) of the line tables, by address; an empty text ends a run."""
        with self._file.debug_information() as dwarf:
            return sorted(_lines(dwarf), key=lambda entry: entry[0]) if dwarf else []

    def place(self, address: int) -> str:
        """As linked."""
        return self._symbol(address) + self._line(address)

    def _symbol(self, address: int) -> str:
        functions = self.functions
        at = bisect_right(functions, (address, 1 << 64, "")) - 1
        if at < 0 or address >= functions[at][0] + max(functions[at][1], 1):
            return f"{self.path.name}+{address:#x}"
        start, _, name = functions[at]
        return f"{name}+{address - start:#x}"

    def _line(self, address: int) -> str:
        at = bisect_right(self.lines, address, key=lambda entry: entry[0]) - 1
        return f" ({self.lines[at][1]})" if at >= 0 and self.lines[at][1] else ""


def file_symbols(path: Path) -> FileSymbols:
    """The same object while the file does not change."""
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError:  # reading it says what is wrong
        changed_ns = 0
    return _file_symbols(path, changed_ns)


@lru_cache(maxsize=32)
def _file_symbols(path: Path, changed_ns: int) -> FileSymbols:
    del changed_ns
    return FileSymbols(path)


def _entry_points(file: Elf) -> Callable[[int], int]:
    """From the value of a function's symbol to its first instruction."""
    descriptors = file.section(".opd")  # 64-bit PowerPC ELF ABI 1.9 (2004) section 3.2.4
    if descriptors:
        start, table = descriptors.address, file.contents(descriptors)

        def entry(value: int) -> int:
            at = value - start
            return int.from_bytes(table[at : at + 8], "big") if 0 <= at < len(table) else value

        return entry
    thumb = file.header.machine == elf.ARM  # bit 0 tells Thumb code: ELF for Arm (2023) 5.5.3
    return lambda value: value & ~1 if thumb else value


def missing_packages() -> MissingPackagesError:
    return extras.missing_packages("tracing", "matrix")


def read_maps(text: str) -> list[Mapping]:
    """Return the files of /proc/PID/maps."""
    found: list[Mapping] = []
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and words[5].startswith("/"):
            start, end = (int(word, 16) for word in words[0].split("-"))
            found.append(Mapping(Path(words[5]), start, end))
    return found


def _lines(dwarf: Any) -> Iterator[tuple[int, str]]:
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is None:
            continue
        names = program.header["file_entry"]
        first = 0 if program.header["version"] >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if state.end_sequence:
                yield state.address, ""
            elif 0 <= state.file - first < len(names):
                name = names[state.file - first].name
                yield state.address, f"{name.decode(errors='replace')}:{state.line}"
