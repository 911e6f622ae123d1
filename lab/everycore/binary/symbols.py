# SPDX-License-Identifier: MIT
"""Addresses of a running program as symbols and source lines, and back."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

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
        self._program = elf_file(program)
        self._files = {m.path: elf_file(m.path) for m in self._mappings}

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

    def _bias(self, file: "ElfFile") -> int:
        starts = [m.start for m in self._mappings if m.path == file.path]
        return min(starts) - file.first_page if starts else 0


class ElfFile:
    """The functions and lines of one file; both are read when first asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def first_page(self) -> int:
        """Return the address of the first loaded byte, as linked: 0 unless the program has a fixed
        place."""
        with _opened(self.path) as elf:
            loads = [s["p_vaddr"] for s in elf.iter_segments() if s["p_type"] == "PT_LOAD"]
        return int(min(loads)) & -PAGE_BYTES if loads else 0

    @cached_property
    def fixed(self) -> bool:
        with _opened(self.path) as elf:
            return bool(elf.header["e_type"] == "ET_EXEC")

    def section(self, name: str) -> range:
        """Its addresses, as linked."""
        with _opened(self.path) as elf:
            found = elf.get_section_by_name(name)
            start = int(found["sh_addr"]) if found else 0
            return range(start, start + (int(found["sh_size"]) if found else 0))

    @cached_property
    def loaded(self) -> list[tuple[str, int, bytes]]:
        """(name, address, contents) of the sections that are in memory when it runs, as linked."""
        with _opened(self.path) as elf:
            return [
                (s.name, s["sh_addr"], b"" if s["sh_type"] == "SHT_NOBITS" else s.data())
                for s in elf.iter_sections()
                if s["sh_flags"] & 2  # SHF_ALLOC
            ]

    @cached_property
    def machine(self) -> tuple[str, int, bool]:
        """(its name as in "EM_AARCH64", bits of an address, little-endian)."""
        with _opened(self.path) as elf:
            return elf.header["e_machine"], elf.elfclass, elf.little_endian

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
        if self.machine[0] != "EM_ARM":
            return set()
        with _opened(self.path) as elf:
            table = elf.get_section_by_name(".symtab")
            values = [s["st_value"] for s in table.iter_symbols()] if table else []
        return {value & ~1 for value in values if value & 1}

    @cached_property
    def functions(self) -> list[tuple[int, int, str]]:
        """(start, bytes, name), by address."""
        with _opened(self.path) as elf:
            tables = [elf.get_section_by_name(name) for name in (".dynsym", ".symtab")]
            symbols = [s for table in tables if table for s in table.iter_symbols()]
            entry = _entry_points(elf)
        return sorted(
            {
                (entry(s["st_value"]), s["st_size"], s.name)
                for s in symbols
                if s["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")
                and s["st_shndx"] != "SHN_UNDEF"
            }
        )

    @cached_property
    def lines(self) -> list[tuple[int, str]]:
        """(first address, file:line) of the line tables, by address; an empty text ends a run."""
        with _opened(self.path) as elf:
            if not elf.has_dwarf_info():
                return []
            return sorted(_lines(elf.get_dwarf_info()), key=lambda entry: entry[0])

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


def elf_file(path: Path) -> ElfFile:
    """The same object while the file does not change."""
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError:  # reading it says what is wrong
        changed_ns = 0
    return _elf_file(path, changed_ns)


@lru_cache(maxsize=32)
def _elf_file(path: Path, changed_ns: int) -> ElfFile:
    del changed_ns
    return ElfFile(path)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        from elftools.common.exceptions import ELFError
        from elftools.elf.elffile import ELFFile
    except ImportError as error:
        raise missing_packages() from error
    try:
        with path.open("rb") as file:
            yield ELFFile(file)
    except (OSError, ELFError) as error:
        raise EverycoreError(f"cannot read the symbols of {path}: {error}") from error


def _entry_points(elf: Any) -> Callable[[int], int]:
    """From the value of a function's symbol to its first instruction."""
    descriptors = elf.get_section_by_name(".opd")  # 64-bit PowerPC ELF ABI 1.9 (2004) section 3.2.4
    if descriptors:
        start, table = descriptors["sh_addr"], descriptors.data()

        def entry(value: int) -> int:
            at = value - start
            return int.from_bytes(table[at : at + 8], "big") if 0 <= at < len(table) else value

        return entry
    thumb = elf.header["e_machine"] == "EM_ARM"  # bit 0 tells Thumb code: ELF for Arm (2023) 5.5.3
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
