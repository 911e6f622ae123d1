# SPDX-License-Identifier: MIT
"""The program interpreter of ELF files: the loader that the system starts, with the program.

A program of another suite runs with the loader and the C library of that suite. Its name lies in
the file; a new name is written behind the end of the file, and the program header PT_INTERP made to
point there (System V ABI, "Program Interpreter"; the system reads it from the file, and the
loader does not need it).
"""

import struct
from pathlib import Path

from everycore.binary import elf
from everycore.binary.elf import Elf


def interpreter_of(path: Path) -> str:
    """The loader that a program names; empty for what is no program, or a static one."""
    found = _find(path)
    if found is None:
        return ""
    file, number = found
    segment = file.segments[number]
    return bytes(file.data[segment.offset : segment.offset + segment.size]).rstrip(b"\0").decode()


def set_interpreter(path: Path, loader: str) -> None:
    """Make a program start with another loader."""
    found = _find(path)
    if found is None:
        raise ValueError(f"{path} names no interpreter")
    head, number = found[0].header, found[1]
    place = head.segments_offset + number * head.segment_bytes
    text = loader.encode() + b"\0"
    with path.open("r+b") as file:
        offset = file.seek(0, 2)
        file.write(text)
        file.seek(place + 8)  # p_offset
        file.write(struct.pack("<Q", offset))
        file.seek(place + 32)  # p_filesz
        file.write(struct.pack("<Q", len(text)))


def _find(path: Path) -> tuple[Elf, int] | None:
    """Return the file and the number of the segment; None for what has none, or is damaged."""
    try:
        file = Elf.open(path)
        kinds = [segment.kind for segment in file.segments]
    except elf.DamagedError:
        return None
    if not (file.header.is_64_bit and file.header.is_little_endian):
        return None
    return (file, kinds.index(elf.INTERPRETER)) if elf.INTERPRETER in kinds else None
