# SPDX-License-Identifier: MIT
"""The memory that a machine starts with: supervisor, program, stack, and files for it to read."""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from everycore.binary.elf import EXECUTABLE, LOAD, S390, Elf, Segment, machine_name
from everycore.environment.errors import EverycoreError
from everycore.run.first_stack import (
    AT_BASE,
    AT_CLKTCK,
    AT_ENTRY,
    AT_HWCAP,
    AT_PAGESZ,
    AT_PHDR,
    AT_PHENT,
    AT_PHNUM,
    AT_SECURE,
    first_stack,
)

MIB = 1 << 20
PAGE = 4096
MEMORY_MIB = 256
MAPPINGS, STACK_TOP = 64 * MIB, 128 * MIB  # mappings end where the stack may reach
STACK_BYTES = 8 * MIB
ERR, OUT, FILES, FILES_END = 128 * MIB, 129 * MIB, 161 * MIB, 240 * MIB
HWCAP = 0xE  # z/Architecture, STFLE, message-security assist (Linux, arch/s390 asm/elf.h)
# A program for a z14 asks for facilities by an instruction that Hercules does not know, and z14.c
# answers. Codes are replaced in these functions alone, where all bytes are instructions.
DETECTION = ("evc_cpu_features", "store_facilities")
STFLE, ASK_SUPERVISOR = b"\xb2\xb0", b"\xb2\xfe"
INSTRUCTION_BYTES = (2, 4, 4, 6)  # by the upper two bits of its code
BOOT = 0x1000  # supervisor.c reads here how it is to run the program
MAX_FILES = 16
# KM, KMC, KMAC, KIMD and KMCTR with the registers of src/common/s390x.h.
CIPHERS = tuple(map(bytes.fromhex, ("b92e0024", "b92f0024", "b91e0004", "b93e0004", "b92d6024")))


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes that are loaded at an address."""

    address: int
    data: bytes


def lay_out(
    supervisor: Elf,
    path: Path,
    arguments: Sequence[str],
    given: bytes | None,
    seed_of_parts: int,
    is_z14: bool,
) -> list[Piece]:
    """Return the pieces of memory that are not zero. Files that arguments name can be read.

    `given`: the standard input; None if nobody has asked for it yet. `seed_of_parts`: of the
    lengths after which instructions end early; 0: of none. `is_z14`: z14.c serves the program.
    """
    program = _program(path)
    header = program.header
    pieces = [_segment(supervisor, one) for one in supervisor.segments if one.kind == LOAD]
    loaded = [one for one in program.segments if one.kind == LOAD]
    for one in loaded:
        piece = _segment(program, one)
        pieces.append(replace(piece, data=_with_traps(piece.data)) if seed_of_parts else piece)
    if is_z14:
        pieces += _questions(program)
    end = max(one.address + one.memory_size for one in loaded)
    heap = (end + PAGE - 1) & -PAGE
    at = header.segments_offset
    headers = [
        one.address + at - one.offset for one in loaded if one.offset <= at < one.offset + one.size
    ]
    auxiliary = {
        AT_PHDR: headers[0] if headers else 0,
        AT_PHENT: header.segment_bytes,
        AT_PHNUM: header.n_segments,
        AT_PAGESZ: PAGE,
        AT_BASE: 0,
        AT_ENTRY: header.entry,
        AT_HWCAP: HWCAP,
        AT_CLKTCK: 100,
        AT_SECURE: 0,
    }
    pointer, stack = first_stack(STACK_TOP, [str(path), *arguments], [], auxiliary, ">")
    pieces.append(Piece(pointer, stack))
    files, words = _files(given or b"", arguments)
    pieces += files
    boot = [
        header.entry, pointer, heap, MAPPINGS, STACK_TOP - STACK_BYTES, MEMORY_MIB * MIB,
        OUT, FILES - OUT, ERR, OUT - ERR, is_z14, seed_of_parts, given is not None,
        len(words) // 3, *words,
    ]  # fmt: skip
    pieces.append(Piece(BOOT, struct.pack(f">{len(boot)}Q", *boot)))
    if heap > MAPPINGS:
        raise EverycoreError(f"{path} is too large", f"it may end at {MAPPINGS // MIB} MiB")
    return pieces


def _questions(program: Elf) -> list[Piece]:
    """Return other codes for the instructions STFLE of the functions that detect features."""
    pieces = []
    for one in program.symbols_of(".symtab"):
        if one.name not in DETECTION or not one.is_defined:
            continue
        section = program.sections[one.section]
        code = program.contents(section)[one.value - section.address :][: one.size]
        at = 0
        while at < len(code):
            if code[at : at + 2] == STFLE:
                pieces.append(Piece(one.value + at, ASK_SUPERVISOR))
            at += INSTRUCTION_BYTES[code[at] >> 6]
    return pieces


def output(memory: bytes, at: int) -> bytes:
    """Return what the program wrote to a stream, of saved memory from ERR on."""
    used = int.from_bytes(memory[at - ERR : at - ERR + 8], "big")
    return memory[at - ERR + 8 : at - ERR + 8 + used]


def _program(path: Path) -> Elf:
    try:
        elf = Elf.open(path)
    except OSError as error:
        raise EverycoreError(f"{path}: {error.strerror}") from error
    header = elf.header
    if header.machine != S390 or not header.is_64_bit:
        raise EverycoreError(
            f"{path} is for {machine_name(header.machine)}", "Hercules runs IBM Z of 64 bits here"
        )
    if header.kind != EXECUTABLE:
        raise EverycoreError(f"{path} may be loaded anywhere", "link it with -static -no-pie")
    return elf


def _segment(elf: Elf, segment: Segment) -> Piece:
    return Piece(segment.address, bytes(elf.data[segment.offset : segment.offset + segment.size]))


def _with_traps(code: bytes) -> bytes:
    """Return code in which the CPU stops at each instruction that encrypts or hashes."""
    for instruction in CIPHERS:
        code = code.replace(instruction, b"\xb8" + instruction[1:])
    return code


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # a list of many words is no name: too long
        return False


def _files(given: bytes, arguments: Sequence[str]) -> tuple[list[Piece], list[int]]:
    """Return pieces, and for each file the addresses of its name and bytes, and their number."""
    pieces: list[Piece] = []
    words: list[int] = []
    at = FILES
    files = [(name, Path(name)) for name in dict.fromkeys(arguments) if _is_file(name)]
    for name, data in [("", given), *((name, path.read_bytes()) for name, path in files)]:
        title = os.fsencode(name) + b"\0"
        pieces.append(Piece(at, title + data))
        words += [at, at + len(title), len(data)]
        at += (len(title) + len(data) + PAGE - 1) & -PAGE
    if at > FILES_END or len(words) > 3 * MAX_FILES:
        raise EverycoreError("the files are too large, or too many")
    return pieces, words
