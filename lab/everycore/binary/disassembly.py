# SPDX-License-Identifier: MIT
"""Machine code as instructions, and what each does as far as counts and loops need it.

x86 is decoded by iced-x86 where that is installed, for Capstone 5 has operands of AVX-512 wrong;
all else by Capstone. Capstone 5 knows no vectors of RISC-V, so there the encoding decides.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from everycore.environment import extras
from everycore.environment.errors import MissingPackagesError


class Flow(Enum):
    """The ways in which execution goes on after an instruction."""

    NEXT = "next"
    JUMP = "jump"
    BRANCH = "branch"  # or to the next
    CALL = "call"
    RETURN = "return"
    STOP = "stop"  # a trap


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction."""

    place: int
    size: int
    mnemonic: str
    operands: str
    flow: Flow
    target: int | None  # the place it goes to, as the bytes say
    vector: bool
    gather: bool

    @property
    def end(self) -> int:
        return self.place + self.size

    @property
    def text(self) -> str:
        return f"{self.mnemonic} {self.operands}".rstrip()


_X86 = ("x86-64", "i386")
_LAST_NUMBER = re.compile(r"(?:^|[ ,])#?(-?(?:0x[0-9a-f]+|\d+))$")
_VECTOR = {
    "x86": re.compile(r"%(?:[xyz]?mm\d)"),
    "a64": re.compile(r"\b(?:[vqdshbz]\d+)\b"),
    "a32": re.compile(r"\b(?:[qds]\d+)\b"),
    "rv64": re.compile(r"(?!)"),  # by its encoding
    "ppc64le": re.compile(r"\b(?:vs?\d+)\b"),
    "s390x": re.compile(r"%v\d+\b"),
}
_CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"


def decode(
    machine: str, code: bytes, start: int, offset: int = 0, mode: str = ""
) -> list[Instruction]:
    """The instructions of some bytes at a place; `offset`: where the bytes think they are.

    `mode`: "t" of Thumb code. Bytes that are no instruction are one each of the smallest size.
    """
    if machine in _X86 and (found := _decode_by_iced(machine, code, start, offset)) is not None:
        return found
    return list(_decode_by_capstone(machine, code, start, offset, mode))


def _decode_by_iced(machine: str, code: bytes, start: int, offset: int) -> list[Instruction] | None:
    try:
        from iced_x86 import Decoder, FlowControl, Formatter, FormatterSyntax, OpKind
    except ImportError:  # it is not built for every host
        return None
    flows = {
        FlowControl.NEXT: Flow.NEXT,
        FlowControl.UNCONDITIONAL_BRANCH: Flow.JUMP,
        FlowControl.INDIRECT_BRANCH: Flow.JUMP,
        FlowControl.CONDITIONAL_BRANCH: Flow.BRANCH,
        FlowControl.RETURN: Flow.RETURN,
        FlowControl.CALL: Flow.CALL,
        FlowControl.INDIRECT_CALL: Flow.CALL,
        FlowControl.EXCEPTION: Flow.STOP,
    }
    near = (OpKind.NEAR_BRANCH16, OpKind.NEAR_BRANCH32, OpKind.NEAR_BRANCH64)
    formatter = Formatter(FormatterSyntax.GAS)
    formatter.hex_prefix, formatter.hex_suffix = "0x", ""
    formatter.uppercase_hex = False
    formatter.space_after_operand_separator = True
    formatter.show_zero_displacements = True
    formatter.branch_leading_zeros = False
    formatter.rip_relative_addresses = True
    found: list[Instruction] = []
    for decoded in Decoder(64 if machine == "x86-64" else 32, code, ip=offset):
        flow = flows.get(decoded.flow_control, Flow.NEXT)
        mnemonic, _, operands = formatter.format(decoded).partition(" ")
        operands = operands.strip()
        direct = decoded.op_count > 0 and decoded.op0_kind in near
        at = decoded.ip - offset
        if decoded.is_invalid:
            mnemonic, operands, flow = ".byte", code[at : at + decoded.len].hex(" "), Flow.STOP
        found.append(
            Instruction(
                start + at, decoded.len, mnemonic, operands, flow,
                start + decoded.near_branch_target - offset if direct else None,
                bool(_VECTOR["x86"].search(operands)),
                mnemonic.startswith(("vpgather", "vgather")),
            )
        )  # fmt: skip
    return found


def _decode_by_capstone(
    machine: str, code: bytes, start: int, offset: int, mode: str
) -> Iterator[Instruction]:
    engine = capstone_engine(machine, mode)
    step = {"x86-64": 1, "i386": 1, "rv64": 2, "s390x": 2}.get(machine, 2 if mode == "t" else 4)
    at = 0
    while at < len(code):
        for address, size, mnemonic, operands in engine.disasm_lite(code[at:], offset + at):
            at = address - offset + size
            yield _instruction(
                machine, start - offset, address, code[at - size : at], mnemonic, operands
            )
        if at < len(code):
            size = step
            if machine == "rv64" and code[at] & 3 == 3:  # RISC-V unprivileged ISA 20191213, 1.5
                size = 4
            if machine == "s390x":  # z/Architecture Principles of Operation (2022), 5-3
                size = (2, 4, 4, 6)[code[at] >> 6]
            rest = code[at : at + size]
            yield _instruction(
                machine, start - offset, offset + at, rest, ".insn", f"0x{rest.hex()}"
            )
            at += size


@lru_cache(maxsize=16)
def capstone_engine(machine: str, mode: str, is_plain: bool = False) -> Any:
    """Return Capstone's decoder of a machine.

    It writes x86 as GNU's tools do, and knows version 8 of 32-bit Arm, in which older code has
    words that are no instructions. `is_plain`: neither.
    """
    try:
        import capstone as cs
    except ImportError as error:
        raise missing_packages() from error
    kinds = {
        "x86-64": (cs.CS_ARCH_X86, cs.CS_MODE_64),
        "i386": (cs.CS_ARCH_X86, cs.CS_MODE_32),
        "a64": (cs.CS_ARCH_ARM64, cs.CS_MODE_ARM),
        "a32": (cs.CS_ARCH_ARM, cs.CS_MODE_THUMB if mode == "t" else cs.CS_MODE_ARM),
        "rv64": (cs.CS_ARCH_RISCV, cs.CS_MODE_RISCV64 | cs.CS_MODE_RISCVC),
        "ppc64le": (cs.CS_ARCH_PPC, cs.CS_MODE_64 | cs.CS_MODE_LITTLE_ENDIAN),
        "s390x": (cs.CS_ARCH_SYSZ, cs.CS_MODE_BIG_ENDIAN),
    }
    arch, bits = kinds[machine]
    engine = cs.Cs(arch, bits | (cs.CS_MODE_V8 if machine == "a32" and not is_plain else 0))
    if machine in _X86 and not is_plain:
        engine.syntax = cs.CS_OPT_SYNTAX_ATT
    return engine


def _instruction(
    machine: str, shift: int, address: int, code: bytes, mnemonic: str, operands: str
) -> Instruction:
    family = "x86" if machine in _X86 else machine
    flow = _flow(family, mnemonic, operands)
    target = None
    if flow in (Flow.JUMP, Flow.BRANCH, Flow.CALL) and (found := _LAST_NUMBER.search(operands)):
        target = shift + int(found[1], 0)
        if machine == "rv64":  # Capstone writes the distance
            target += address
    vector = bool(_VECTOR[family].search(operands))
    gather = False
    match family:
        case "x86":
            gather = mnemonic.startswith(("vpgather", "vgather"))
        case "a64":  # SVE: an address with a vector in it
            gather = mnemonic.startswith(("ld1", "ldff1")) and bool(
                re.search(r"\[.*\bz\d+", operands)
            )
        case "rv64":
            vector, gather = _riscv_vector(code)
        case "s390x":
            vector, gather = code[0] in (0xE6, 0xE7), mnemonic in ("vgef", "vgeg")
    return Instruction(shift + address, len(code), mnemonic, operands, flow, target, vector, gather)


def _riscv_vector(code: bytes) -> tuple[bool, bool]:
    """(a vector instruction, an indexed load): RISC-V V extension 1.0 (2021), sections 7.1, 10."""
    word = int.from_bytes(code, "little")
    opcode, width, how = word & 0x7F, word >> 12 & 7, word >> 26 & 3
    memory = opcode in (0x07, 0x27) and width in (0, 5, 6, 7)
    return len(code) == 4 and (opcode == 0x57 or memory), memory and opcode == 0x07 and how & 1 == 1


def _flow(family: str, mnemonic: str, operands: str) -> Flow:
    text = f"{mnemonic} {operands}".rstrip()
    return next((flow for words, flow in _FLOWS[family] if words.fullmatch(text)), Flow.NEXT)


def _table(*rows: tuple[str, Flow]) -> tuple[tuple[re.Pattern[str], Flow], ...]:
    return tuple((re.compile(words), flow) for words, flow in rows)


# The first that fits, of an instruction as Capstone writes it.
_FLOWS = {
    "x86": _table(
        (r"(\w+ )?call.*", Flow.CALL),
        (r"(\w+ )?jmp.*", Flow.JUMP),
        (r"(\w+ )?(j|loop).*", Flow.BRANCH),
        (r"(\w+ )?ret.*", Flow.RETURN),
        (r"ud[12].*|hlt", Flow.STOP),
    ),
    "a64": _table(
        (r"bl.*", Flow.CALL),
        (r"(b|br|bra\w+) .*", Flow.JUMP),
        (r"bc?\..*|[ct]bn?z .*", Flow.BRANCH),
        (r"ret.*", Flow.RETURN),
        (r"(brk|udf) .*", Flow.STOP),
    ),
    "a32": _table(
        (rf"(b|bx)({_CONDITIONS})(\.w)? .*|cbn?z .*", Flow.BRANCH),
        (rf"blx?({_CONDITIONS})?(\.w)? .*", Flow.CALL),
        (r"bx lr|(pop|ldm(ia|db|ib|da)?)(\.w)? .*\bpc\}|mov pc, lr|ldr pc, \[sp\].*", Flow.RETURN),
        (r"(pop|ldm)\w* .*\bpc\}", Flow.BRANCH),  # a return on a condition
        (r"(b|b\.w|bx|tbb|tbh) .*|(ldr|ldr\.w|add|mov) pc,.*", Flow.JUMP),
        (r"udf.*", Flow.STOP),
    ),
    "rv64": _table(
        (r"jalr? zero,.*|(c\.)?j .*", Flow.JUMP),
        (r"(c\.)?jalr? .*", Flow.CALL),
        (r"ret|(c\.)?jr ra", Flow.RETURN),
        (r"(c\.)?jr .*", Flow.JUMP),
        (r"(c\.)?b(eq|ne|lt|ge|gt|le)(u|z)? .*", Flow.BRANCH),
        (r"(c\.)?(ebreak|unimp)", Flow.STOP),
    ),
    "ppc64le": _table(
        (r"bla? .*|(bctr|blr)l", Flow.CALL),
        (r"ba? .*|bctr", Flow.JUMP),
        (r"blr", Flow.RETURN),
        (r"b(c|t|f|eq|ne|lt|le|gt|ge|so|ns|un|nu|nl|ng|dnz|dz)(?!perm).*", Flow.BRANCH),
        (r"trap", Flow.STOP),
    ),
    "s390x": _table(
        (r"(brasl|bras|basr|jasl?) .*", Flow.CALL),
        (r"br %r14", Flow.RETURN),
        (r"(br|b|j|jg) .*", Flow.JUMP),
        (r"j\w* .*|br[cx]\w* .*|cl?g?[ri]j\w* .*", Flow.BRANCH),
        (r"b(e|n?h|n?l|n?he|n?le|n?o|n?z|n?p|n?m|ne)r .*", Flow.BRANCH),
    ),
}


def missing_packages() -> MissingPackagesError:
    return extras.missing_packages("reading machine code", "matrix")


def can_read_code() -> bool:
    """Whether the Python package that reads code of all machines is installed."""
    return extras.is_installed("capstone")
