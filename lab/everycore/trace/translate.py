# SPDX-License-Identifier: MIT
"""Copies of blocks that write down what they do, for stepper.c to run in their stead.

A copy leaves everything as it finds it but its own memory: flags are not touched (only MOV and LEA
are added), nothing is written below the stack's pointer (there may be a red zone), and return
addresses are those of the original.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from iced_x86 import Encoder, Instruction

NOWHERE = 0xFFFFFFFF
# Words of the memory at `cache`: a register of the program, the ring's pointer, the value that a
# jump goes to, rcx.
_SAVED, _POINTER, _TARGET, _SAVED_RCX = 0, 8, 16, 24
_STUB = b"\xf4" + b"\x90" * 4  # HLT; with the rest, a jump to another copy fits
COPY = struct.Struct("<IIIIIBB8s2x")  # the end of struct block
_MAX_RECORDED = 8
_RCX, _RSP, _R12 = 1, 4, 12  # the last two need another form of address
_NO_COPY = COPY.pack(0, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 0, 0, b"")


@dataclass(frozen=True, slots=True)
class Room:
    """Room for a copy."""

    cache: int
    address: int  # 0: nowhere
    number: int  # of the block, in the ring


@dataclass(frozen=True, slots=True)
class Ending:
    """The last part of a copy, at its stop."""

    registers: Sequence[int] | None  # to be recorded; None: the stop is not copied
    words: Sequence[int]  # of the same, in struct user_regs_struct
    scratch_words: Sequence[int]  # by number of the register
    jumps: bool = False  # always
    condition: int | None = None
    returns_to: int | None = None  # a call's
    load: Instruction | None = None  # moves the value to rcx that the stop jumps to


def copy_block(instructions: Sequence[Instruction], room: Room, ending: Ending) -> bytes:
    """The end of struct block, and the code; without code where none can be made."""
    if not room.address:
        return _NO_COPY
    try:
        return _Copy(room).of(instructions, ending)
    except ValueError:  # data too far away for 32 bits of distance
        return _NO_COPY


class _Copy:
    def __init__(self, room: Room) -> None:
        self._room = room
        self._code = bytearray()

    def of(self, instructions: Sequence[Instruction], ending: Ending) -> bytes:
        for instruction in instructions[:-1]:
            self._plain(instruction)
        if ending.registers is None:
            out = len(self._code)
            self._code += _STUB
            return self._packed(out=out)
        scratch = self._record(ending.registers)
        used = ending.scratch_words[scratch]
        if ending.load is not None:
            self._word(0x89, _RCX, _SAVED_RCX)
            self._plain(ending.load)
            self._word(0x89, _RCX, _TARGET)
            elsewhere = len(self._code)
            self._code += _STUB
            return self._packed(elsewhere=elsewhere, scratch=used, words=ending.words)
        taken = behind = NOWHERE
        if ending.returns_to is not None:
            self._push(ending.returns_to)
        elif ending.condition is not None:
            # over the stub of the jump not taken
            self._code += struct.pack("<BBi", 0x0F, 0x80 + ending.condition, len(_STUB))
        elif not ending.jumps:
            self._plain(instructions[-1])
        if not ending.jumps:
            behind = len(self._code)
            self._code += _STUB
        if ending.jumps or ending.condition is not None:
            taken = len(self._code)
            self._code += _STUB
        return self._packed(taken, behind, scratch=used, words=ending.words)

    def _packed(
        self,
        taken: int = NOWHERE,
        behind: int = NOWHERE,
        out: int = NOWHERE,
        elsewhere: int = NOWHERE,
        scratch: int = 0,
        words: Sequence[int] = (),
    ) -> bytes:
        places = (taken, behind, out, elsewhere)
        head = COPY.pack(len(self._code), *places, scratch, len(words), bytes(words))
        return head + bytes(self._code)

    def _plain(self, instruction: Instruction) -> None:
        encoder = Encoder(64)
        encoder.encode(instruction, self._room.address + len(self._code))
        self._code += encoder.take_buffer()

    def _record(self, registers: Sequence[int]) -> int:
        """The block's number and these registers; returns which other one is used for it.

        The highest word is written first: where it does not fit, it faults before anything is done.
        """
        assert len(registers) <= _MAX_RECORDED
        scratch = next(r for r in range(1, 16) if r not in (_RSP, _R12, *registers))
        self._word(0x89, scratch, _SAVED)
        self._word(0x8B, scratch, _POINTER)
        for i, register in reversed(list(enumerate(registers, 1))):
            self._based(0x89, register, scratch, 8 * i)
        self._based(0xC7, 0, scratch, 0)
        self._code += struct.pack("<i", self._room.number)
        self._based(0x8D, scratch, scratch, 8 * (len(registers) + 1))
        self._word(0x89, scratch, _POINTER)
        self._word(0x8B, scratch, _SAVED)
        return scratch

    def _word(self, opcode: int, register: int, place: int) -> None:
        """MOV of a register to or from a word of the cache."""
        behind = self._room.address + len(self._code) + 7
        self._code += bytes([0x48 | (register >> 3) << 2, opcode, (register & 7) << 3 | 5])
        self._code += struct.pack("<i", self._room.cache + place - behind)

    def _based(self, opcode: int, register: int, base: int, displacement: int) -> None:
        """An instruction with an operand at base + displacement."""
        rex = 0x48 | (register >> 3) << 2 | base >> 3
        self._code += bytes([rex, opcode, 0x40 | (register & 7) << 3 | base & 7, displacement])

    def _push(self, value: int) -> None:
        """PUSH has no operand of 64 bits: LEA -8(%rsp), %rsp and two MOV of 32."""
        low, high = struct.pack("<Q", value)[:4], struct.pack("<Q", value)[4:]
        self._code += b"\x48\x8d\x64\x24\xf8\xc7\x04\x24" + low + b"\xc7\x44\x24\x04" + high
