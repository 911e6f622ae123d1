# SPDX-License-Identifier: MIT
"""A decoder of x86-64 and A64 for the static rules, where no package with one is installed.

It knows lengths, flow, memory operands, and the instructions that rules are about; all others are
named "op". Operands have the syntax of matrix.disassembly, so that the rules read both.

Sources: Intel SDM volume 2 (2023), chapter 2 and appendix A (opcode maps); Arm DDI 0487 (2024),
C4.1 (encodings by groups).
"""

from dataclasses import dataclass

from everycore.binary.disassembly import Flow, Instruction

PREFIXES = frozenset(b"\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3")
STRINGS = ("insb", "insl", "outsb", "outsl")
REGISTERS = ("ax", "cx", "dx", "bx", "sp", "bp", "si", "di", *(str(n) for n in range(8, 16)))
# Opcodes of the first map, 64-bit mode.
_INVALID = frozenset(
    (0x06, 0x07, 0x0E, 0x16, 0x17, 0x1E, 0x1F, 0x27, 0x2F, 0x37, 0x3F, 0x60, 0x61, 0x82, 0x9A)
) | {0xCE, 0xD4, 0xD5, 0xD6, 0xEA}
_MODRM = (
    frozenset(op for op in range(0x40) if op & 7 < 4)
    | {0x63, 0x69, 0x6B, 0xC0, 0xC1, 0xC6, 0xC7, 0xF6, 0xF7, 0xFE, 0xFF}
    | frozenset((*range(0x80, 0x90), *range(0xD0, 0xD4), *range(0xD8, 0xE0)))
) - _INVALID
_BYTE = frozenset(
    (*(op for op in range(0x40) if op & 7 == 4), 0x6A, 0x6B, 0x80, 0x83, 0xA8, 0xC0, 0xC1, 0xC6)
) | {0xCD, *range(0xB0, 0xB8), *range(0xE4, 0xE8)}
_WORD = frozenset((*(op for op in range(0x40) if op & 7 == 5), 0x68, 0x69, 0x81, 0xA9, 0xC7))
_NAMES = {
    **{0x6C: "insb", 0x6D: "insl", 0x6E: "outsb", 0x6F: "outsl", 0x8D: "lea", 0x90: "nop"},
    **{0xC2: "ret", 0xC3: "ret", 0xC8: "enter", 0xCA: "lret", 0xCB: "lret", 0xCC: "int3"},
    **{0xCD: "int", 0xCF: "iretd", 0xD7: "xlat", 0xE0: "loopne", 0xE1: "loope", 0xE2: "loop"},
    **{0xE3: "jrcxz", 0xF1: "int1", 0xF5: "cmc"},
    **dict.fromkeys((0xE4, 0xE5, 0xEC, 0xED), "in"),
    **dict.fromkeys((0xE6, 0xE7, 0xEE, 0xEF), "out"),
}
# The second map: opcodes behind 0F.
_NO_MODRM = frozenset(
    (5, 6, 7, 8, 9, 0x0B, 0x0E, *range(0x30, 0x38), 0x77, *range(0x80, 0x90), *range(0xC8, 0xD0))
) | {0xA0, 0xA1, 0xA2, 0xA8, 0xA9, 0xAA}
_BYTE_2 = frozenset((0x0F, 0x70, 0x71, 0x72, 0x73, 0xA4, 0xAC, 0xBA, 0xC2, 0xC4, 0xC5, 0xC6))
_INVALID_2 = frozenset((4, 0x0A, 0x0C, 0x24, 0x25, 0x26, 0x27, 0x36, 0x39, *range(0x3B, 0x40)))


class EndOfCodeError(Exception):
    """The bytes end within an instruction."""


@dataclass(slots=True)
class _Reader:
    code: bytes
    at: int

    def number(self, length: int, signed: bool = False) -> int:
        part = self.code[self.at : self.at + length]
        if len(part) < length:
            raise EndOfCodeError
        self.at += length
        return int.from_bytes(part, "little", signed=signed)


@dataclass(slots=True)
class _Found:
    """The facts of an instruction of x86-64 that are known so far."""

    name: str = "op"
    operands: str = ""
    flow: Flow = Flow.NEXT
    target: int | None = None


def decode(machine: str, code: bytes, start: int) -> list[Instruction]:
    """The instructions of some bytes at a place; machine: x86-64 or a64."""
    return _all_a64(code, start) if machine == "a64" else _all_x86(code, start)


def _all_x86(code: bytes, start: int) -> list[Instruction]:
    found, at = [], 0
    while at < len(code):
        try:
            one = _x86(_Reader(code, at), at, start)
        except EndOfCodeError:
            one = None
        if one is None:
            one = Instruction(start + at, 1, "(bad)", "", Flow.NEXT, None, False, False)
        found.append(one)
        at += one.size
    return found


def _x86(reader: _Reader, begin: int, start: int) -> Instruction | None:
    prefixes: set[int] = set()
    byte = reader.number(1)
    while byte in PREFIXES:
        prefixes.add(byte)
        byte = reader.number(1)
    rex = 0
    if byte & 0xF0 == 0x40:
        rex, byte = byte, reader.number(1)
    found = _Found()
    if byte in (0xC4, 0xC5, 0x62):
        is_valid = _vector(reader, byte, prefixes, found)
    elif byte == 0x0F:
        is_valid = _second_map(reader, prefixes, rex, found)
    else:
        is_valid = _first_map(reader, byte, prefixes, rex, found)
    if not is_valid or reader.at - begin > 15:
        return None
    end = start + reader.at
    if found.target is not None:
        found.target += end
    name, size = found.name, reader.at - begin
    repeated = name in STRINGS and prefixes & {0xF2, 0xF3}
    if 0xF0 in prefixes or repeated:  # the prefix is the mnemonic, as decoders print it
        name, found.operands = "rep" if repeated else "lock", f"{name} {found.operands}"
    place = start + begin
    return Instruction(place, size, name, found.operands, found.flow, found.target, False, False)


def _first_map(reader: _Reader, op: int, prefixes: set[int], rex: int, found: _Found) -> bool:
    if op in _INVALID or op in PREFIXES or op & 0xF0 == 0x40:
        return False
    found.name = _NAMES.get(op, "op")
    register = _modrm(reader, prefixes, rex, found)[0] if op in _MODRM else 0
    word = 2 if 0x66 in prefixes and not rex & 8 else 4
    if op in _BYTE:
        reader.number(1)
    if op in _WORD:
        reader.number(word)
    if 0xB8 <= op <= 0xBF:
        reader.number(8 if rex & 8 else word)
    elif 0xA0 <= op <= 0xA3:
        found.operands = f"{reader.number(4 if 0x67 in prefixes else 8):#x}"
    elif op in (0xF6, 0xF7) and register < 2:
        reader.number(1 if op == 0xF6 else word)
    elif op in (0xC2, 0xCA):
        reader.number(2)
    elif op == 0xC8:
        reader.number(3)
    _flow(reader, op, register, found)
    return not (op == 0xFF and register == 7) and not (op == 0xFE and register > 1)


def _flow(reader: _Reader, op: int, register: int, found: _Found) -> None:
    """Read where an instruction of the first map leads to."""
    if 0x70 <= op <= 0x7F or 0xE0 <= op <= 0xE3:
        found.flow, found.target = Flow.BRANCH, reader.number(1, True)
    elif op in (0xE8, 0xE9):
        found.flow = Flow.CALL if op == 0xE8 else Flow.JUMP
        found.target = reader.number(4, True)
    elif op == 0xEB:
        found.flow, found.target = Flow.JUMP, reader.number(1, True)
    elif op == 0xFF and register in (2, 3, 4, 5):
        found.flow = Flow.CALL if register < 4 else Flow.JUMP
    elif op in (0xC2, 0xC3, 0xCA, 0xCB, 0xCF):
        found.flow = Flow.RETURN


def _second_map(reader: _Reader, prefixes: set[int], rex: int, found: _Found) -> bool:
    op = reader.number(1)
    if op in (0x38, 0x3A):
        reader.number(1)
        _modrm(reader, prefixes, rex, found)
        if op == 0x3A:
            reader.number(1)
        return True
    if op in _INVALID_2:
        return False
    register = rm = 0
    is_register = False
    if op not in _NO_MODRM:
        register, rm, is_register = _modrm(reader, prefixes, rex, found)
    if op in _BYTE_2:
        reader.number(1)
    if 0x80 <= op <= 0x8F:
        found.flow, found.target = Flow.BRANCH, reader.number(4, True)
    elif op == 0x0B:
        found.name, found.flow = "ud2", Flow.STOP
    elif op in (0xB9, 0xFF):
        found.name, found.flow = "ud", Flow.STOP
    elif op in (0x31, 0xA2):
        found.name = "rdtsc" if op == 0x31 else "cpuid"
    elif op == 0x01 and is_register and (register, rm) == (7, 1):
        found.name = "rdtscp"
    elif op == 0xC7 and is_register and register >= 6 and 0xF3 not in prefixes:
        found.name = "rdrand" if register == 6 else "rdseed"
    elif 0x18 <= op <= 0x1F or op == 0x0D:
        found.name = "nop"
    return True


def _vector(reader: _Reader, byte: int, prefixes: set[int], found: _Found) -> bool:
    """VEX and EVEX: their second byte has the map, and bits of registers, inverted."""
    first = reader.number(1)
    rex = 0x40 | (~first >> 5 & 7)
    if byte == 0xC5:
        table, rex = 1, 0x40 | (~first >> 5 & 4)
    elif byte == 0xC4:
        table = first & 0x1F
        reader.number(1)
    else:
        table = first & 7
        reader.number(2)
    op = reader.number(1)
    if table not in (1, 2, 3) and not (byte == 0x62 and table in (5, 6)):
        return False
    if table == 1 and op == 0x77 and byte != 0x62:
        return True
    _modrm(reader, prefixes, rex, found)
    if table == 3 or (table == 1 and op in _BYTE_2):
        reader.number(1)
    return True


def _modrm(reader: _Reader, prefixes: set[int], rex: int, found: _Found) -> tuple[int, int, bool]:
    """Read ModRM, SIB and displacement; return reg, rm, and whether rm is a register."""
    byte = reader.number(1)
    mode, register, rm = byte >> 6, byte >> 3 & 7, byte & 7
    if mode == 3:
        return register, rm, True
    parts: list[str] = []
    length = (0, 1, 4)[mode]
    is_absolute = False
    if rm == 4:
        sib = reader.number(1)
        index, base = sib >> 3 & 7 | (rex & 2) << 2, sib & 7
        if base == 5 and mode == 0:
            length, is_absolute = 4, index == 4
        else:
            parts.append(_register(base | (rex & 1) << 3, prefixes))
        if index != 4:
            parts = [*(parts or [""]), _register(index, prefixes)]
    elif rm == 5 and mode == 0:
        found.operands = f"{reader.number(4, True):#x}(%rip)"
        return register, rm, False
    else:
        parts.append(_register(rm | (rex & 1) << 3, prefixes))
    offset = reader.number(length, True) if length else 0
    number = f"{offset:#x}" if length else ""
    found.operands = number if is_absolute else f"{number}({','.join(parts)})"
    return register, rm, False


def _register(number: int, prefixes: set[int]) -> str:
    is_short = 0x67 in prefixes
    if number >= 8:
        return f"%r{REGISTERS[number]}{'d' if is_short else ''}"
    return f"%{'e' if is_short else 'r'}{REGISTERS[number]}"


# ---- A64


def _all_a64(code: bytes, start: int) -> list[Instruction]:
    words = range(0, len(code) - len(code) % 4, 4)
    return [_a64(int.from_bytes(code[at : at + 4], "little"), start + at) for at in words]


def _signed(word: int, low: int, bits: int) -> int:
    value = word >> low & ((1 << bits) - 1)
    return value - (1 << bits) if value >> (bits - 1) else value


def _a64(word: int, place: int) -> Instruction:
    name, operands, flow, target = "op", "", Flow.NEXT, None
    if word >> 16 == 0:
        name, flow = "udf", Flow.STOP
    elif word & 0x7C00_0000 == 0x1400_0000:
        name, target = "b", place + 4 * _signed(word, 0, 26)
        flow = Flow.CALL if word >> 31 else Flow.JUMP
    elif word & 0xFF00_0000 == 0x5400_0000 or word & 0x7E00_0000 == 0x3400_0000:
        name, flow, target = "b.cond", Flow.BRANCH, place + 4 * _signed(word, 5, 19)
    elif word & 0x7E00_0000 == 0x3600_0000:
        name, flow, target = "tbz", Flow.BRANCH, place + 4 * _signed(word, 5, 14)
    elif word & 0xFE00_0000 == 0xD600_0000:
        flow = {0: Flow.JUMP, 1: Flow.CALL, 2: Flow.RETURN}.get(word >> 21 & 7, Flow.STOP)
    elif word & 0xFFE0_001F == 0xD420_0000:
        name, flow = "brk", Flow.STOP
    elif word & 0x9F00_0000 == 0x1000_0000:
        offset = _signed(word, 5, 19) << 2 | word >> 29 & 3
        name, operands = "adr", f"x{word & 31}, #{place + offset:#x}"
    elif word & 0xFFFF_FFC0 == 0xD53B_2400:
        name, operands = "mrs", f"x{word & 31}, s3_3_c2_c4_{word >> 5 & 1}"
    return Instruction(place, 4, name, operands, flow, target, False, False)
