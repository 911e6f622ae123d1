# SPDX-License-Identifier: MIT
"""Reads an ELF file for names and bounds of functions, also where it was stripped.

A function's bounds come from a symbol with a size, from .eh_frame, or from Go's table of functions.
The nearest smaller exported symbol is never a name: hand-written code has none, and would get that
of a stranger.

Sources: LSB 5.0, 10.6 (.eh_frame); Go, internal/abi and debug/gosym (the header of pclntab).
"""

import bisect
import io
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any

from everycore.binary import elf
from everycore.binary.elf import DamagedError, Elf, Segment
from everycore.environment import extras
from everycore.environment.errors import EverycoreError

_MACHINES = {elf.I386: "i386", elf.X86_64: "x86-64", elf.AARCH64: "a64"}
_GO_MAGICS = (0xFFFFFFF1, 0xFFFFFFF0)  # Go 1.20 and later, Go 1.18
_LARGEST_GAP = 1 << 20  # no function is longer than this
_RELATIVE = {"x86-64": 8, "a64": 1027}  # types of relocations that add the place of loading
_METHODS_BYTES = range(16, 1025)  # of a table of pointers to functions
_START = attrgetter("start")


@dataclass(frozen=True, slots=True)
class Function:
    """A function's bounds, as addresses of the file."""

    start: int
    size: int  # 0: unknown
    name: str = ""  # empty: it has none here
    origin: str = ""  # "symbol", ".eh_frame", "pointer", "pclntab"; empty: nothing names bounds

    @property
    def end(self) -> int:
        return self.start + self.size


@dataclass(frozen=True, slots=True)
class Frame:
    """A function's entry of .eh_frame."""

    start: int
    size: int
    rows: tuple[Any, ...]  # of pyelftools: addresses, the frame's rule, those of registers
    returns: int  # the number of the register with the return address


@dataclass
class Image:
    """A program or a library."""

    path: str
    file: Elf
    machine: str
    segments: tuple[Segment, ...]  # those that are loaded
    build_id: str = ""
    _frames: dict[int, Frame | None] = field(default_factory=dict)

    def offset_of(self, address: int) -> int | None:
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        return None

    def address_of(self, offset: int) -> int | None:
        for segment in self.segments:
            if segment.offset <= offset < segment.offset + segment.size:
                return offset - segment.offset + segment.address
        return None

    def read(self, address: int, length: int) -> bytes:
        """Return bytes of the file by their address; fewer or none behind its end."""
        for segment in self.segments:
            if segment.address <= address < segment.address + segment.size:
                begin = address - segment.address + segment.offset
                return bytes(
                    self.file.data[begin : min(begin + length, segment.offset + segment.size)]
                )
        return b""

    @property
    def end(self) -> int:
        return max((segment.address + segment.memory_size for segment in self.segments), default=0)

    @cached_property
    def symbols(self) -> list[Function]:
        """Functions that a symbol names, sorted by address."""
        found: dict[tuple[int, int], Function] = {}
        for table in (".symtab", ".dynsym"):
            with suppress(DamagedError):  # bounds may be known from elsewhere
                for symbol in self.file.symbols_of(table, elf.FUNCTION_KINDS):
                    if symbol.section and symbol.value:
                        place = (symbol.value, symbol.size)
                        found.setdefault(place, Function(*place, symbol.name, "symbol"))
        return sorted(found.values(), key=lambda function: (function.start, function.size))

    @cached_property
    def _pointed(self) -> dict[int, str]:
        """Functions that one named variable points to, as tables of methods do: start -> its name.

        The table of an interface is exported, even where its functions are not.
        """
        objects: list[tuple[int, int, str]] = []
        with suppress(DamagedError):
            for table in (".symtab", ".dynsym"):
                objects += [
                    (symbol.value, symbol.size, symbol.name)
                    for symbol in self.file.symbols_of(table, (elf.VARIABLE,))
                    if symbol.is_defined and symbol.size in _METHODS_BYTES
                ]
        filled = self._filled if objects else {}
        names: dict[int, set[str]] = {}
        for address, size, name in set(objects):
            for place in range(address, address + size - 7, 8):
                value = filled.get(place) or int.from_bytes(self.read(place, 8), "little")
                if value:
                    names.setdefault(value, set()).add(name)
        return {value: next(iter(own)) for value, own in names.items() if len(own) == 1}

    @property
    def _filled(self) -> dict[int, int]:
        """Words that are filled when the file is loaded: address -> address in the file."""
        table = self.file.section(".rela.dyn")
        if table is None:
            return {}
        try:
            kind = _RELATIVE.get(self.machine)
            every = self.file.relocations(table)
            return {
                relocation.offset: relocation.addend
                for relocation in every
                if relocation.kind == kind and relocation.addend
            }
        except DamagedError:
            return {}

    @property
    def is_stripped(self) -> bool:
        return self.file.section(".symtab") is None

    @cached_property
    def go_functions(self) -> list[Function]:
        """Functions of Go's own table, which survives stripping."""
        place = next((s for s in self.file.sections if s.name.endswith(".gopclntab")), None)
        if place is None:
            return []
        text = self.file.section(".text")
        try:
            return _go_functions(self.file.contents(place), text.address if text else 0)
        except (DamagedError, struct.error, ValueError, IndexError):  # or a version not known here
            return []

    @cached_property
    def _frame_table(self) -> list[tuple[int, int]]:
        """Start and description of each function in .eh_frame_hdr."""
        try:
            return self.file.unwind_table
        except DamagedError:
            return []

    def frame(self, address: int) -> Frame | None:
        """Return the entry of .eh_frame that holds an address."""
        index = bisect.bisect_right(self._frame_table, address, key=itemgetter(0)) - 1
        if index < 0:
            return None
        if index not in self._frames:
            start, place = self._frame_table[index]
            try:
                self._frames[index] = self._parse_frame(start, place)
            except Exception:  # pyelftools raises many kinds for what it does not know
                self._frames[index] = None
        found = self._frames[index]
        return found if found and found.start <= address < found.start + found.size else None

    def _parse_frame(self, start: int, place: int) -> Frame | None:
        """Let pyelftools read one description and what it refers to, cut out of the section."""
        from elftools.dwarf.callframe import FDE, CallFrameInfo
        from elftools.dwarf.structs import DWARFStructs

        at = self.offset_of(place)
        if at is None:
            return None
        data = self.file.data
        length, back = struct.unpack_from("<II", data, at)
        common = at + 4 - back
        (common_length,) = struct.unpack_from("<I", data, common)
        head = bytes(data[common : common + 4 + common_length])
        own = bytearray(data[at : at + 4 + length])
        struct.pack_into("<I", own, 4, len(head) + 4)
        stream = io.BytesIO(head + bytes(own) + bytes(4))
        wide = 4 if self.machine == "i386" else 8
        structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=wide)
        entries = CallFrameInfo(stream, len(head) + len(own) + 4, 0, structs, True).get_entries()
        entry = next(candidate for candidate in entries if isinstance(candidate, FDE))
        shift = start - entry.header["initial_location"]
        rows = tuple({**row, "pc": row["pc"] + shift} for row in entry.get_decoded().table)
        assert entry.cie is not None
        return Frame(
            start,
            entry.header["address_range"],
            rows,
            entry.cie.header["return_address_register"],
        )

    def function(self, address: int) -> Function:
        """Return the function that holds an address, with its name where something tells it."""
        if found := self._by_symbol(address):
            return found
        index = bisect.bisect_right(self.go_functions, address, key=_START) - 1
        if index >= 0 and (found := self.go_functions[index]) and address < found.end:
            return found
        if frame := self.frame(address):
            if name := self._pointed.get(frame.start):
                return Function(frame.start, frame.size, name, "pointer")
            return Function(frame.start, frame.size, "", ".eh_frame")
        if not self.is_stripped:
            index = bisect.bisect_right(self.symbols, address, key=_START) - 1
            if index >= 0 and not self.symbols[index].size:
                near = self.symbols[index]
                ends = [symbol.start for symbol in self.symbols[index + 1 : index + 9]]
                end = next((boundary for boundary in ends if boundary > address), near.start)
                if address < end < near.start + _LARGEST_GAP:
                    return Function(near.start, end - near.start, near.name, "symbol")
        return Function(address, 0)

    def _by_symbol(self, address: int) -> Function | None:
        index = bisect.bisect_right(self.symbols, address, key=_START)
        for symbol in reversed(self.symbols[max(0, index - 24) : index]):
            if symbol.size and symbol.start <= address < symbol.end:
                return symbol
        return None


def _go_functions(table: bytes, text: int) -> list[Function]:
    magic, wide = struct.unpack_from("<I", table)[0], table[7]
    if magic not in _GO_MAGICS or wide != 8:
        return []
    count, _, start, names, _, _, _, functions = struct.unpack_from("<8Q", table, 8)
    start = start or text
    found: list[tuple[int, str]] = []
    for number in range(count):
        entry, place = struct.unpack_from("<II", table, functions + 8 * number)
        (name,) = struct.unpack_from("<i", table, functions + place + 4)
        end = table.index(b"\0", names + name)
        found.append((start + entry, table[names + name : end].decode(errors="replace")))
    (last,) = struct.unpack_from("<I", table, functions + 8 * count)
    ends = [*(begin for begin, _ in found[1:]), start + last]
    return [
        Function(begin, end - begin, name, "pclntab")
        for (begin, name), end in zip(found, ends, strict=True)
    ]


def load(path: Path) -> Image:
    """Read a file; EverycoreError if it is no ELF file of a known machine."""
    if find_spec("elftools") is None:  # it reads frames
        raise extras.missing_packages("explaining a program", "matrix")
    try:
        file = Elf.open(path)
    except OSError as error:
        raise EverycoreError(f"cannot read {path}: {error.strerror}") from error
    return image_of(file, str(path))


def image_of(file: Elf, path: str) -> Image:
    """Return what is needed of an ELF file; EverycoreError if its machine is not known."""
    machine = _MACHINES.get(file.header.machine, "")
    if not machine or not file.header.is_little_endian:
        made_for = elf.machine_name(file.header.machine)
        raise EverycoreError(f"{path} is for {made_for}, which is not read here")
    segments = tuple(segment for segment in file.segments if segment.kind == elf.LOAD)
    image = Image(path, file, machine, segments)
    if note := file.section(".note.gnu.build-id"):
        image.build_id = file.contents(note)[16:].hex()
    return image
