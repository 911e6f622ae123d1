# SPDX-License-Identifier: MIT
"""The one reader of ELF files: header, sections, segments, symbols, relocations, unwind table.

Any number in a file may be wrong. What lies outside of the file, or has a size that it cannot have,
raises DamagedError; no other error leaves this module. Debug information alone is left to
pyelftools, an optional package, which would take thirty times as long for symbols.

Sources: System V ABI, generic part (2013), chapters 4 and 5 (all tables); LSB Core 5.0, 10.6.2
(.eh_frame_hdr).
"""

import io
import mmap
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

from everycore.environment.errors import EverycoreError

MAGIC = b"\x7fELF"
HEADER_BYTES = 64  # of 64-bit files; those of 32 bits have 52
# e_type and e_machine
OBJECT, EXECUTABLE, SHARED = 1, 2, 3
I386, PPC64, S390, ARM, X86_64, AARCH64, RISCV = 3, 21, 22, 40, 62, 183, 243
# p_type
LOAD, INTERPRETER, THREAD_LOCAL = 1, 3, 7
# sh_type and sh_flags
EMPTY, SYMBOLS, RELA, NO_BITS, REL, DYNAMIC_SYMBOLS = 0, 2, 4, 8, 9, 11
WRITABLE, ALLOCATED, EXECUTABLE_CODE, MERGED, STRINGS = 1, 2, 4, 16, 32
# Types of symbols. The last one is of functions that are resolved when the program starts.
NO_TYPE, VARIABLE, FUNCTION, SECTION, FILE = 0, 1, 2, 3, 4
THREAD_VARIABLE, INDIRECT_FUNCTION = 6, 10
FUNCTION_KINDS = (FUNCTION, INDIRECT_FUNCTION)
LOCAL = 0  # a binding
FIRST_RESERVED_SECTION = 0xFF00  # of numbers in symbols: absolute, common
FLAGS_1 = 0x6FFFFFFB  # d_tag: DT_FLAGS_1
_FULL = 0xFFFF  # e_phnum, e_shstrndx: the first section has the number
_UNWIND_ENCODINGS = b"\x01\x1b\x03\x3b"  # version, pcrel sdata4, udata4, datarel sdata4

_NAMES = {
    3: "32-bit x86",
    4: "68000",
    8: "MIPS",
    15: "PA-RISC",
    20: "32-bit Power",
    21: "64-bit Power",
    22: "IBM Z",
    40: "32-bit Arm",
    62: "x86-64",
    183: "64-bit Arm",
    243: "RISC-V",
    258: "LoongArch",
}


def machine_name(number: int) -> str:
    """Return a machine in words, for messages."""
    return _NAMES.get(number, f"machine {number}")


class DamagedError(EverycoreError):
    """A file that is no ELF file, or a damaged one."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(
            f"{name}: the ELF file is damaged: {why}", "take the file from its source again"
        )
        self.why = why


@dataclass(frozen=True, slots=True)
class Header:
    """The first bytes of a file."""

    bits: int  # of an address
    is_little_endian: bool
    kind: int  # OBJECT, EXECUTABLE, SHARED
    machine: int
    entry: int
    segments_offset: int
    segment_bytes: int  # of one entry of the table
    n_segments: int
    sections_offset: int
    section_bytes: int
    n_sections: int
    names_index: int  # of the section with the names of sections

    @property
    def order(self) -> str:
        """Return the sign that struct has for the order of bytes."""
        return "<" if self.is_little_endian else ">"

    @property
    def is_64_bit(self) -> bool:
        return self.bits == 64


class ElfSection(NamedTuple):
    """A line of the section table."""

    number: int
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_bytes: int


class Segment(NamedTuple):
    """A line of the program header table."""

    kind: int
    flags: int
    offset: int
    address: int
    size: int
    memory_size: int
    alignment: int


class ElfSymbol(NamedTuple):
    """A line of a symbol table."""

    name: str
    value: int
    size: int
    kind: int
    binding: int
    section: int

    @property
    def is_defined(self) -> bool:
        """Whether it is in a section of this file; absolute values and common data are not."""
        return 0 < self.section < FIRST_RESERVED_SECTION


class ElfRelocation(NamedTuple):
    """A line of a table of relocations."""

    offset: int
    kind: int  # by its number in the machine's supplement
    symbol: int  # its number in the linked table
    addend: int | None  # None: it is in the place that is filled


def read_header(data: Any) -> Header | None:
    """Read the first 64 bytes of a file; None if they do not begin as an ELF file does."""
    if len(data) < 52 or bytes(data[:4]) != MAGIC or data[4] not in (1, 2) or data[5] not in (1, 2):
        return None
    wide = data[4] == 2
    if wide and len(data) < HEADER_BYTES:
        return None
    form = ("<" if data[5] == 1 else ">") + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH")
    kind, machine, _, entry, segments, sections, _, _, *counts = struct.unpack_from(form, data, 16)
    segment_bytes, n_segments, section_bytes, n_sections, names = counts
    return Header(
        64 if wide else 32, data[5] == 1, kind, machine, entry, segments, segment_bytes,
        n_segments, sections, section_bytes, n_sections, names,
    )  # fmt: skip


def machine_of_file(path: Path) -> int:
    """Return the number of the machine that a file is for; 0 if it is no ELF file."""
    with path.open("rb") as file:
        head = file.read(20)
    if len(head) < 20 or head[:4] != MAGIC:
        return 0
    return int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")


class Elf:
    """One ELF file. Tables are read when they are first asked for."""

    def __init__(self, data: Any, name: str) -> None:
        """`data`: bytes, or a map of the file; `name`: for messages."""
        self.data = data
        self.name = name
        header = read_header(data[:HEADER_BYTES])
        if header is None:
            raise DamagedError(name, "it does not begin with the header of one")
        self.header = header

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map a file. OSError if that cannot be done."""
        with path.open("rb") as stream:
            try:
                data: Any = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file
                data = b""
        return cls(data, str(path))

    # ---- Tables

    @cached_property
    def sections(self) -> list[ElfSection]:
        head = self.header
        if not head.sections_offset:
            return []
        form, size = ("IIQQQQIIQQ", 64) if head.is_64_bit else ("10I", 40)
        first = self._entries(head.sections_offset, 1, size, head.section_bytes, form, "sections")
        count = head.n_sections or first[0][5]
        names_index = first[0][6] if head.names_index == _FULL else head.names_index
        table = self._entries(
            head.sections_offset, count, size, head.section_bytes, form, "sections"
        )
        names = b""
        if names_index < len(table):
            offset, size = table[names_index][4:6]
            names = self._bytes(offset, size, "the names of sections")
        return [
            ElfSection(number, _text(names, name), *values)
            for number, (name, *values) in enumerate(table)
        ]

    @cached_property
    def segments(self) -> list[Segment]:
        head = self.header
        count = head.n_segments
        if count == _FULL and self.sections:
            count = self.sections[0].info
        form, size = ("IIQQQQQQ", 56) if head.is_64_bit else ("8I", 32)
        table = self._entries(
            head.segments_offset, count, size, head.segment_bytes, form, "segments"
        )
        if head.is_64_bit:
            return [
                Segment(kind, flags, offset, address, size, memory, alignment)
                for kind, flags, offset, address, _, size, memory, alignment in table
            ]
        return [
            Segment(kind, flags, offset, address, size, memory, alignment)
            for kind, offset, address, _, size, memory, flags, alignment in table
        ]

    def section(self, name: str) -> ElfSection | None:
        """Return the section of a name."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> dict[str, ElfSection]:
        return {section.name: section for section in self.sections}

    def contents(self, section: ElfSection) -> bytes:
        """Return the bytes of a section in the file; none of one without bits."""
        if section.kind in (NO_BITS, EMPTY):
            return b""
        return self._bytes(section.offset, section.size, f"section {section.name!r}")

    def symbols(self, table: ElfSection, kinds: Collection[int] = ()) -> list[ElfSymbol]:
        """Return the symbols of a table, by their numbers; `kinds`: of these types alone."""
        wide = self.header.is_64_bit
        form, size = ("IBBHQQ", 24) if wide else ("IIIBBH", 16)
        names = self._linked(table)
        found = []
        for entry in self._iterated(table, form, size):
            if wide:
                name, info, _, section, value, length = entry
            else:
                name, value, length, info, _, section = entry
            if not kinds or info & 15 in kinds:
                found.append(
                    ElfSymbol(_text(names, name), value, length, info & 15, info >> 4, section)
                )
        return found

    def symbols_of(self, name: str, kinds: Collection[int] = ()) -> list[ElfSymbol]:
        """Return the symbols of the table in a section of this name; none if there is no such."""
        table = self.section(name)
        if table is None or table.kind not in (SYMBOLS, DYNAMIC_SYMBOLS):
            return []
        return self.symbols(table, kinds)

    def relocations(self, table: ElfSection) -> Iterator[ElfRelocation]:
        """Yield the lines of a section of type REL or RELA."""
        wide, rela = self.header.is_64_bit, table.kind == RELA
        form = ("QQ" if wide else "II") + ("q" if wide else "i") * rela
        shift, mask = (32, 0xFFFFFFFF) if wide else (8, 0xFF)
        for offset, info, *addend in self._iterated(table, form, struct.calcsize("<" + form)):
            yield ElfRelocation(offset, info & mask, info >> shift, addend[0] if rela else None)

    def dynamic(self, tag: int) -> list[int]:
        """Return the values of a tag in the dynamic section."""
        table = self.section(".dynamic")
        if table is None:
            return []
        form = "QQ" if self.header.is_64_bit else "II"
        entries = self._iterated(table, form, struct.calcsize("<" + form))
        return [value for number, value in entries if number == tag]

    @cached_property
    def unwind_table(self) -> list[tuple[int, int]]:
        """(start, address of its description) of each function in .eh_frame_hdr, sorted.

        Empty if the table is not encoded as linkers do it.
        """
        section = self.section(".eh_frame_hdr")
        data = self.contents(section) if section else b""
        if section is None or len(data) < 12 or data[:4] != _UNWIND_ENCODINGS:
            return []
        count = min(struct.unpack_from(self.header.order + "I", data, 8)[0], (len(data) - 12) // 8)
        pairs = struct.iter_unpack(self.header.order + "ii", data[12 : 12 + 8 * count])
        return [(section.address + start, section.address + entry) for start, entry in pairs]

    @property
    def has_debug_information(self) -> bool:
        return any(self.section(name) for name in (".debug_info", ".zdebug_info"))

    @contextmanager
    def debug_information(self) -> Iterator[Any]:
        """Yields what pyelftools reads of the debug information; None if the file has none."""
        try:
            from elftools.common.exceptions import DWARFError, ELFError
            from elftools.elf.elffile import ELFFile
        except ImportError as error:
            from everycore.environment import extras  # `resolve` starts without it

            raise extras.missing_packages("reading debug information", "matrix") from error
        try:
            file = ELFFile(io.BytesIO(self.data[:]))
            yield file.get_dwarf_info() if self.has_debug_information else None
        except (ELFError, DWARFError, ValueError, KeyError, IndexError, TypeError, AttributeError,
                AssertionError, OverflowError, RecursionError, struct.error) as error:  # fmt: skip
            # pyelftools trusts offsets and indices of a file in many places.
            why = f"its debug information cannot be read ({type(error).__name__}: {error})"
            raise DamagedError(self.name, why) from error

    # ---- Bytes

    def _bytes(self, offset: int, size: int, what: str) -> bytes:
        if offset + size > len(self.data):
            where = f"{offset:#x} to {offset + size:#x}"
            raise DamagedError(self.name, f"{what} is at {where}, the end at {len(self.data):#x}")
        return bytes(self.data[offset : offset + size])

    def _entries(
        self, offset: int, count: int, size: int, stride: int, form: str, what: str
    ) -> list[tuple[int, ...]]:
        if not count:
            return []
        if stride != size:
            why = f"entries of the table of {what} have {stride} bytes; {size} are right"
            raise DamagedError(self.name, why)
        data = self._bytes(offset, count * size, f"the table of {what}")
        return list(struct.iter_unpack(self.header.order + form, data))

    def _iterated(self, table: ElfSection, form: str, size: int) -> Iterator[tuple[int, ...]]:
        data = self.contents(table)
        return struct.iter_unpack(self.header.order + form, data[: len(data) // size * size])

    def _linked(self, table: ElfSection) -> bytes:
        if table.link >= len(self.sections):
            raise DamagedError(self.name, f"section {table.name!r} refers to one that is not there")
        return self.contents(self.sections[table.link])


def _text(table: bytes, offset: int) -> str:
    end = table.find(b"\0", offset)
    return table[offset : end if end >= 0 else None].decode(errors="replace")
