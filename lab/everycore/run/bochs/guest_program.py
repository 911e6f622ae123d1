# SPDX-License-Identifier: MIT
"""A program in the guest's memory, and the stack that it starts with."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.binary.elf import (
    EXECUTABLE,
    INTERPRETER,
    LOAD,
    SHARED,
    X86_64,
    Elf,
    machine_name,
)
from everycore.environment.errors import EverycoreError
from everycore.run.bochs.guest_memory import EXECUTE, PAGE, READ, WRITE, Memory, page_down, page_up
from everycore.run.first_stack import (
    AT_BASE,
    AT_CLKTCK,
    AT_EGID,
    AT_ENTRY,
    AT_EUID,
    AT_GID,
    AT_PAGESZ,
    AT_PHDR,
    AT_PHENT,
    AT_PHNUM,
    AT_SECURE,
    AT_UID,
    first_stack,
)

STACK_TOP = 0x7FFF_FFFF_F000
STACK_BYTES = 8 << 20
PROGRAM_AT, INTERPRETER_AT = 0x5555_5555_4000, 0x7E00_0000_0000  # where they may be anywhere


@dataclass(frozen=True, slots=True)
class Loaded:
    entry: int
    stack_pointer: int
    end: int  # behind the last byte of the program, where its heap begins


@dataclass(frozen=True, slots=True)
class _Image:
    """One ELF file in memory."""

    elf: Elf
    base: int  # is added to its addresses
    end: int  # behind its last byte

    @property
    def entry(self) -> int:
        return self.base + self.elf.header.entry


def load(
    memory: Memory, path: Path, arguments: Sequence[str], environment: Sequence[str]
) -> Loaded:
    """Load a program, and the interpreter that it names if it is linked with shared libraries."""
    program = _load_image(memory, path, PROGRAM_AT)
    first, base = program, 0
    for segment in program.elf.segments:
        if segment.kind == INTERPRETER:
            name = program.elf.data[segment.offset : segment.offset + segment.size].rstrip(b"\0")
            first = _load_image(memory, Path(os.fsdecode(name)), INTERPRETER_AT)
            base = first.base
    header = program.elf.header
    auxiliary = {
        AT_PHDR: _headers_in_memory(program),
        AT_PHENT: header.segment_bytes,
        AT_PHNUM: header.n_segments,
        AT_PAGESZ: PAGE,
        AT_BASE: base,
        AT_ENTRY: program.entry,
        AT_UID: os.getuid(),
        AT_EUID: os.geteuid(),
        AT_GID: os.getgid(),
        AT_EGID: os.getegid(),
        AT_CLKTCK: 100,
        AT_SECURE: 0,
    }
    memory.map(STACK_TOP - STACK_BYTES, STACK_TOP, READ | WRITE)
    stack, data = first_stack(STACK_TOP, [str(path), *arguments], environment, auxiliary, "<")
    memory.write(stack, data)
    return Loaded(first.entry, stack, page_up(program.end))


def _load_image(memory: Memory, path: Path, anywhere: int) -> _Image:
    try:
        elf = Elf.open(path)
    except OSError as error:
        raise EverycoreError(f"{path}: {error.strerror}") from error
    header = elf.header
    if header.machine != X86_64 or not header.is_64_bit:
        raise EverycoreError(
            f"{path} is for {machine_name(header.machine)}", "models of Bochs run x86-64"
        )
    if header.kind not in (EXECUTABLE, SHARED):
        raise EverycoreError(f"{path} is no program", "is it linked?")
    base = anywhere if header.kind == SHARED else 0
    end = 0
    for segment in elf.segments:
        if segment.kind != LOAD:
            continue
        address = base + segment.address
        start, stop = page_down(address), page_up(address + segment.memory_size)
        memory.map(start, stop, READ | WRITE)
        memory.write(address, elf.data[segment.offset : segment.offset + segment.size])
        memory.protect(start, stop, _protection(segment.flags))
        end = max(end, address + segment.memory_size)
    return _Image(elf, base, end)


def _protection(flags: int) -> int:
    """Protections, as mmap has them, of the flags of a segment."""
    return (READ if flags & 4 else 0) | (WRITE if flags & 2 else 0) | (EXECUTE if flags & 1 else 0)


def _headers_in_memory(image: _Image) -> int:
    at = image.elf.header.segments_offset
    for segment in image.elf.segments:
        if segment.kind == LOAD and segment.offset <= at < segment.offset + segment.size:
            return image.base + segment.address + at - segment.offset
    return 0
