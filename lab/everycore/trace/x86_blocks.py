# SPDX-License-Identifier: MIT
"""x86-64 instructions as the stepper wants them: blocks, and where a block's last one has its data.

Decoded by iced-x86. Capstone 5.0 was tried first: it mis-scales the compressed displacement of a
broadcast VGF2P8AFFINEQB, takes masked vector stores for loads, and knows nothing of the implicit
operands of MASKMOVDQU and XLAT.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from iced_x86 import (
    Code,
    Decoder,
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    MemoryOperand,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
    UsedMemory,
)

from everycore.environment.errors import EverycoreError
from everycore.trace.record import Mode
from everycore.trace.translate import COPY, Ending, Room, copy_block

# struct user_regs_struct: the place of each register, in words of 8 bytes
if TYPE_CHECKING:
    from iced_x86 import Register_

_WORDS = (
    "R15 R14 R13 R12 RBP RBX R11 R10 R9 R8 RAX RCX RDX RSI RDI ORIG_RAX RIP CS EFLAGS RSP SS FS GS"
)
_WORD = {getattr(Register, name, None): i for i, name in enumerate(_WORDS.split())}
_NO_REGISTER = 255
_OPMASK = 255
_MAX_ACCESSES = 4
_BLOCK = struct.Struct("<QQQIBBBB")  # struct block of stepper.c, struct access of accesses.h
_ACCESS = struct.Struct("<qHBBBBBBBBBBBBBx")
_FALL, _JUMP, _CONDITIONAL, _RETURN, _STEP, _JUMP_TO_VALUE, _CALL_OF_VALUE = range(7)
_ONCE, _COUNTED, _SEARCHING = range(3)
_READS = {OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
_WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
_OF_VALUES = {_RETURN, _JUMP_TO_VALUE, _CALL_OF_VALUE}
_FALLS = {FlowControl.NEXT, FlowControl.INTERRUPT, FlowControl.EXCEPTION}
_NO_ACCESS = {Mnemonic.LEA, Mnemonic.NOP, Mnemonic.RESERVEDNOP}
_BIT_STRINGS = {Mnemonic.BT, Mnemonic.BTS, Mnemonic.BTR, Mnemonic.BTC}
_SEARCHES = {
    Mnemonic.CMPSB,
    Mnemonic.CMPSW,
    Mnemonic.CMPSD,
    Mnemonic.CMPSQ,
    Mnemonic.SCASB,
    Mnemonic.SCASW,
    Mnemonic.SCASD,
    Mnemonic.SCASQ,
}
_SIGN_MASKED = {  # masked by the sign bits of a vector: bytes of an element
    Mnemonic.VMASKMOVPS: 4,
    Mnemonic.VMASKMOVPD: 8,
    Mnemonic.VPMASKMOVD: 4,
    Mnemonic.VPMASKMOVQ: 8,
    Mnemonic.MASKMOVDQU: 1,
    Mnemonic.VMASKMOVDQU: 1,
}
_BROADCASTS = {
    getattr(Mnemonic, name)
    for name in dir(Mnemonic)
    if name.startswith(("VBROADCAST", "VPBROADCAST"))
}
_INFO = InstructionInfoFactory()


@dataclass(frozen=True, slots=True)
class Block:
    """Instructions of which only the last touches memory or goes elsewhere than to the next."""

    pcs: tuple[int, ...]
    end: int  # the address behind
    whole: bool  # its last instruction is not the last only because no more code was given
    packed: bytes  # struct block of stepper.c, and the code of its copy
    copy_bytes: int


@lru_cache(maxsize=1 << 15)  # runs that are compared ask the same
def decode_block(pc: int, code: bytes, end: int, room: Room) -> Block:
    """The block that begins at pc; it does not reach over `end`."""
    block: list[Instruction] = []
    whole = False
    for instruction in Decoder(64, code, ip=pc):
        if instruction.code == Code.INVALID:
            break
        block.append(instruction)
        stops = _flow(instruction)[0] != _FALL or bool(_memory(instruction))
        if whole := stops or instruction.next_ip == end:
            break
    if not block:
        raise EverycoreError(f"cannot decode the instruction {code[:15].hex(' ')} at {pc:#x}")
    pcs = tuple(instruction.ip for instruction in block)
    copy = copy_block(block, room, _ending(block[-1]))
    packed = _pack(pcs, block[-1]) + copy
    return Block(pcs, block[-1].next_ip, whole, packed, len(copy) - COPY.size)


def _pack(pcs: tuple[int, ...], stop: Instruction) -> bytes:
    flow, target, condition = _flow(stop)
    accesses = [_access(stop, memory) for memory in _memory(stop)]
    if len(accesses) > _MAX_ACCESSES:
        raise EverycoreError(f"too many operands in memory: {stop} at {stop.ip:#x}")
    head = (pcs[0], stop.ip, target, len(pcs), stop.len, flow, condition, len(accesses))
    room = _ACCESS.size * (_MAX_ACCESSES - len(accesses))
    return _BLOCK.pack(*head) + b"".join(accesses) + bytes(room)


def _ending(stop: Instruction) -> Ending:
    """How a copy of the stop is made. Not of what needs more than general registers."""
    flow, _, condition = _flow(stop)
    needs_more = stop.op_mask != Register.NONE or stop.is_vsib or stop.mnemonic in _SIGN_MASKED
    if flow == _STEP or needs_more or _repeat(stop) != _ONCE:
        return Ending(None, (), ())
    used = {
        RegisterExt.full_register(register)
        for memory in _memory(stop)
        for register in _address_registers(stop, memory)
        if register != Register.NONE
    }
    registers = sorted(used)
    calls = stop.flow_control == FlowControl.CALL and flow == _JUMP
    return Ending(
        [RegisterExt.number(register) for register in registers],
        [_WORD[register] for register in registers],
        [_WORD[register] for register in range(Register.RAX, Register.R15 + 1)],
        flow == _JUMP,
        condition if flow == _CONDITIONAL else None,
        stop.next_ip if calls else None,
        _load_of_target(stop) if flow in _OF_VALUES else None,
    )


def _load_of_target(stop: Instruction) -> Instruction:
    """An instruction that moves to rcx the value that a stop jumps to."""
    if stop.mnemonic == Mnemonic.RET:
        return Instruction.create_reg_mem(
            Code.MOV_R64_RM64, Register.RCX, MemoryOperand(Register.RSP)
        )
    if stop.op0_kind == OpKind.REGISTER:
        return Instruction.create_reg_reg(Code.MOV_R64_RM64, Register.RCX, stop.op0_register)
    shift = stop.memory_displacement
    operand = MemoryOperand(
        stop.memory_base,
        stop.memory_index,
        stop.memory_index_scale,
        shift - (1 << 64) if shift >> 63 else shift,
        stop.memory_displ_size,
        False,
        stop.segment_prefix,
    )
    return Instruction.create_reg_mem(Code.MOV_R64_RM64, Register.RCX, operand)


def _address_registers(
    instruction: Instruction, memory: UsedMemory | None
) -> tuple["Register_", "Register_"]:
    if memory:
        return memory.base, memory.index
    base = instruction.memory_base
    if base == Register.RIP:  # the displacement is absolute
        base = Register.NONE
    return base, instruction.memory_index


def _flow(instruction: Instruction) -> tuple[int, int, int]:
    """The kind of flow, its target, and the number of its condition as in the opcode."""
    control = instruction.flow_control
    if control in _FALLS or instruction.mnemonic == Mnemonic.SYSCALL:
        return _FALL, 0, 0
    if (
        control == FlowControl.RETURN
        and instruction.mnemonic == Mnemonic.RET
        and not instruction.op_count
    ):
        return _RETURN, 0, 0
    if instruction.op_count and instruction.op_kind(0) == OpKind.NEAR_BRANCH64:
        target = instruction.near_branch_target
        if control in (FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CALL):
            return _JUMP, target, 0
        if instruction.condition_code:  # LOOP and JRCXZ have none
            return _CONDITIONAL, target, instruction.condition_code - 1
    if instruction.code in (Code.JMP_RM64, Code.CALL_RM64):
        return _JUMP_TO_VALUE if instruction.code == Code.JMP_RM64 else _CALL_OF_VALUE, 0, 0
    return _STEP, 0, 0


def _memory(instruction: Instruction) -> list[UsedMemory | None]:
    """Its operands in memory; None: an address that is only hinted at (prefetch)."""
    used: list[UsedMemory | None] = list(_INFO.info(instruction).used_memory())
    if used or instruction.mnemonic in _NO_ACCESS:
        return used
    kinds = [instruction.op_kind(i) for i in range(instruction.op_count)]
    return [None] if OpKind.MEMORY in kinds else []


def _access(instruction: Instruction, memory: UsedMemory | None) -> bytes:
    """struct access."""
    if instruction.mnemonic in _BIT_STRINGS and instruction.op1_kind == OpKind.REGISTER:
        raise EverycoreError(
            f"bits of a string in memory are not followed: {instruction} at {instruction.ip:#x}"
        )
    if memory is None:
        return _hinted_access(instruction)
    # The data of a repeated instruction is counted later, in elements of its operand's size.
    size = MemorySizeExt.size(memory.memory_size) or MemorySizeExt.size(instruction.memory_size)
    mode = (Mode.READ if memory.access in _READS else 0) | (
        Mode.WRITE if memory.access in _WRITES else 0
    )
    shift = memory.displacement
    lanes = _lanes(instruction, memory.index, memory.vsib_size, size)
    in_vector = (RegisterExt.number(memory.index), 64)
    return _ACCESS.pack(
        shift - (1 << 64) if shift >> 63 else shift,
        size,
        mode,
        *_register(memory.base),
        *(in_vector if lanes else _register(memory.index)),
        memory.scale,
        _segment(memory.segment),
        _repeat(instruction),
        memory.vsib_size,
        lanes,
        *_mask(instruction, size),
        lanes or _mask_bits(instruction),
    )


def _hinted_access(instruction: Instruction) -> bytes:
    """A prefetch: no access, but what it moves into the cache is as visible as one."""
    shift = instruction.memory_displacement
    base, index = _address_registers(instruction, None)
    return _ACCESS.pack(
        shift - (1 << 64) if shift >> 63 else shift,
        0,
        Mode.READ,
        *_register(base),
        *_register(index),
        instruction.memory_index_scale,
        _segment(instruction.memory_segment),
        _ONCE, 0, 0, 0, 0, 0,
    )  # fmt: skip


def _register(register: "Register_") -> tuple[int, int]:
    """Its word in struct user_regs_struct, and how many bits of it count."""
    if register == Register.NONE:
        return _NO_REGISTER, 64
    return _WORD[RegisterExt.full_register(register)], 8 * RegisterExt.size(register)


def _segment(register: "Register_") -> int:
    """The word with its base; all but FS and GS begin at 0."""
    return _WORD[register] if register in (Register.FS, Register.GS) else _NO_REGISTER


def _repeat(instruction: Instruction) -> int:
    if not instruction.is_string_instruction:
        return _ONCE
    if not (instruction.has_rep_prefix or instruction.has_repne_prefix):
        return _ONCE
    return _SEARCHING if instruction.mnemonic in _SEARCHES else _COUNTED


def _lanes(instruction: Instruction, index: "Register_", index_bytes: int, size: int) -> int:
    """Return the most elements of `size` bytes that a gather or scatter has; 0: it is neither."""
    if index_bytes == 0:
        return 0
    stores = instruction.op0_kind == OpKind.MEMORY
    data = instruction.op1_register if stores else instruction.op0_register
    return min(RegisterExt.size(index) // index_bytes, RegisterExt.size(data) // size)


def _mask(instruction: Instruction, element_bytes: int) -> tuple[int, int]:
    """(OPMASK, k register), (bytes of an element, vector register), or (0, 0)."""
    if instruction.op_mask != Register.NONE:
        return _OPMASK, RegisterExt.number(instruction.op_mask)
    if instruction.mnemonic in _SIGN_MASKED:
        explicit = instruction.mnemonic in (Mnemonic.MASKMOVDQU, Mnemonic.VMASKMOVDQU)
        register = instruction.op2_register if explicit else instruction.op1_register
        return _SIGN_MASKED[instruction.mnemonic], RegisterExt.number(register)
    if instruction.is_vsib:  # AVX2: the mask is the third operand
        return element_bytes, RegisterExt.number(instruction.op2_register)
    return 0, 0


def _mask_bits(instruction: Instruction) -> int:
    """How many bits of a k register decide; what is in the others does not matter."""
    size = instruction.memory_size
    if instruction.is_broadcast or instruction.mnemonic in _BROADCASTS:
        return RegisterExt.size(instruction.op0_register) // MemorySizeExt.element_size(size)
    return MemorySizeExt.element_count(size)
