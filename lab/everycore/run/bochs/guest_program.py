# SPDX-License-Identifier: MIT
"""A program in the guest's memory, and the stack that it starts with."""

import os
import struct
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

STACK_TOP = 0x7FFF_FFFF_F000
STACK_BYTES = 8 << 20
PROGRAM_AT, INTERPRETER_AT = 0x5555_5555_4000, 0x7E00_0000_0000  # where they may be anywhere
# Keys of the auxiliary vector (Linux, include/uapi/linux/auxvec.h).
AT_NULL, AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_BASE, AT_ENTRY = 0, 3, 4, 5, 6, 7, 9
AT_UID, AT_EUID, AT_GID, AT_EGID, AT_CLKTCK, AT_SECURE, AT_RANDOM, AT_EXECFN = (
    11, 12, 13, 14, 17, 23, 25, 31,
)  # fmt: skip


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
        return self.base + int.from_bytes(self.elf.data[24:32], "little")


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
    stack = _stack(memory, [str(path), *arguments], environment, auxiliary)
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


def _stack(
    memory: Memory, arguments: Sequence[str], environment: Sequence[str], auxiliary: dict[int, int]
) -> int:
    """Write the first stack (System V ABI for x86-64, 3.4.1); the stack pointer."""
    memory.map(STACK_TOP - STACK_BYTES, STACK_TOP, READ | WRITE)
    top = STACK_TOP - 16

    def push(data: bytes) -> int:
        nonlocal top
        top -= len(data)
        memory.write(top, data)
        return top

    texts = [push(text.encode() + b"\0") for text in arguments]
    settings = [push(text.encode() + b"\0") for text in environment]
    auxiliary = {**auxiliary, AT_RANDOM: push(os.urandom(16)), AT_EXECFN: texts[0]}
    words = [len(texts), *texts, 0, *settings, 0]
    for key, value in auxiliary.items():
        words += [key, value]
    words += [AT_NULL, 0]
    top = (top - 8 * len(words)) & -16
    memory.write(top, struct.pack(f"<{len(words)}Q", *words))
    return top
