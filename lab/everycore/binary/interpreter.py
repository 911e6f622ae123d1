# SPDX-License-Identifier: MIT
"""The program interpreter of ELF files: the loader that the system starts, with the program.

A program of another suite runs with the loader and the C library of that suite. Its name lies in
the file; a new name is written behind the end of the file, and the program header PT_INTERP made to
point there (System V ABI, "Program Interpreter"; the system reads it from the file, and the
loader does not need it).
"""

import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

IDENT = b"\x7fELF\x02\x01"  # 64 bits, little-endian
HEADER_BYTES = 64
PT_INTERP = 3


class _Place(NamedTuple):
    """Position and contents of the header."""

    header: int
    offset: int
    size: int


def interpreter_of(path: Path) -> str:
    """The loader that a program names; empty for what is no program, or a static one."""
    with path.open("rb") as file:
        place = _find(file)
        if place is None:
            return ""
        file.seek(place.offset)
        return file.read(place.size).rstrip(b"\0").decode()


def set_interpreter(path: Path, loader: str) -> None:
    """Make a program start with another loader."""
    with path.open("r+b") as file:
        place = _find(file)
        if place is None:
            raise ValueError(f"{path} names no interpreter")
        text = loader.encode() + b"\0"
        offset = file.seek(0, 2)
        file.write(text)
        file.seek(place.header + 8)  # p_offset
        file.write(struct.pack("<Q", offset))
        file.seek(place.header + 32)  # p_filesz
        file.write(struct.pack("<Q", len(text)))


def _find(file: BinaryIO) -> _Place | None:
    head = file.read(HEADER_BYTES)
    if len(head) < HEADER_BYTES or not head.startswith(IDENT):
        return None
    (table,) = struct.unpack_from("<Q", head, 32)  # e_phoff
    size, count = struct.unpack_from("<HH", head, 54)  # e_phentsize, e_phnum
    for place in (table + i * size for i in range(count)):
        file.seek(place)
        header = file.read(size)
        if len(header) == size >= 56 and struct.unpack_from("<I", header)[0] == PT_INTERP:
            (offset,) = struct.unpack_from("<Q", header, 8)
            (length,) = struct.unpack_from("<Q", header, 32)
            return _Place(place, offset, length)
    return None
