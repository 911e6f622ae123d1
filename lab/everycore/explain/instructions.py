# SPDX-License-Identifier: MIT
"""Machine code as the facts that recognition asks for: operations, widths, rotations, references.

x86 is read by iced-x86, AArch64 by Capstone, each from an address that is known to begin an
instruction.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from everycore.environment import extras

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Op:
    """One instruction. `name` is its mnemonic; of AArch64's vectors with a `v` behind a dot."""

    place: int
    size: int
    name: str
    width: int = 0  # bits of the widest vector register among its operands
    bits: int = 0  # of the first general register
    numbers: tuple[int, ...] = ()  # immediates, and displacements of `lea`
    target: int | None = None  # the data that it refers to by its own place
    base: str = ""  # registers of a memory operand, in 64 bits
    index: str = ""
    scale: int = 1
    displacement: int = 0
    left: int = 0  # it rotates so many bits to the left
    shift: int = 0  # it shifts the lanes of a vector: > 0 to the left, < 0 to the right
    lane: int = 0  # bits of such a lane
    clears: bool = False  # it only sets a register to zero

    @property
    def end(self) -> int:
        return self.place + self.size


def decode(machine: str, code: bytes, start: int) -> list[Op]:
    """Return the instructions of some code."""
    if machine == "a64":
        return list(_decode_a64(code, start))
    return list(_decode_x86(64 if machine == "x86-64" else 32, code, start))


# ---- x86 -----------------------------------------------------------------------------------------

_ROTATIONS = {"rol": 1, "ror": -1, "rorx": -1}
_VECTOR_SHIFTS = {"psll": 1, "psrl": -1}
_VECTOR_ROTATIONS = {"prol": 1, "pror": -1}
# Shuffles that swap neighbours rotate lanes of twice their size by half of it.
_SWAPPED = 0xB1
_SWAPS = {"pshuflw": 32, "pshufhw": 32, "pshufd": 64}
_LANES = {"w": 16, "d": 32, "q": 64}
_CLEARING = ("xor", "pxor", "vpxor", "xorps", "vxorps", "fldz", "fstp")


@lru_cache(maxsize=1)
def _x86() -> Any:
    try:
        import iced_x86
    except ImportError as error:
        raise extras.missing_packages("reading x86 code", "matrix") from error
    return iced_x86


@lru_cache(maxsize=1)
def _x86_names() -> tuple[dict[int, str], dict[int, tuple[str, int, bool]]]:
    """Names of mnemonics; and of registers their whole register, bits, and whether a vector."""
    iced = _x86()
    names = {
        value: name.lower()
        for name, value in vars(iced.Mnemonic).items()
        if isinstance(value, int) and not name.startswith("_")
    }
    registers: dict[int, tuple[str, int, bool]] = {}
    for name, value in vars(iced.Register).items():
        if not isinstance(value, int) or name.startswith("_") or name == "NONE":
            continue
        info = iced.RegisterInfo(value)
        whole = next(
            (
                other.lower()
                for other, number in vars(iced.Register).items()
                if isinstance(number, int) and number == info.full_register
            ),
            name.lower(),
        )
        is_vector = name[:3] in ("XMM", "YMM", "ZMM")
        registers[value] = (whole, info.size * 8, is_vector)
    return names, registers


def _decode_x86(bits: int, code: bytes, start: int) -> Iterator[Op]:
    iced = _x86()
    names, registers = _x86_names()
    kinds = iced.OpKind
    numbers_of = {
        kinds.IMMEDIATE8, kinds.IMMEDIATE16, kinds.IMMEDIATE32, kinds.IMMEDIATE64,
        kinds.IMMEDIATE8TO16, kinds.IMMEDIATE8TO32, kinds.IMMEDIATE8TO64,
        kinds.IMMEDIATE32TO64,
    }  # fmt: skip
    for decoded in iced.Decoder(bits, code, ip=start):
        # Zeros are no code either.
        if decoded.is_invalid or not any(code[decoded.ip - start : decoded.next_ip - start]):
            yield Op(decoded.ip, decoded.len, "(bad)")
            continue
        name = names[decoded.mnemonic]
        width = own_bits = 0
        seen: list[int] = []
        numbers: list[int] = []
        has_memory = False
        for place in range(decoded.op_count):
            kind = decoded.op_kind(place)
            if kind == kinds.REGISTER:
                seen.append(decoded.op_register(place))
                _, size, is_vector = registers.get(seen[-1], ("", 0, False))
                width = max(width, size if is_vector else 0)
                own_bits = own_bits or (0 if is_vector else size)
            elif kind in numbers_of:
                numbers.append(decoded.immediate(place) & _MASK)
            elif kind == kinds.MEMORY:
                has_memory = True
        target, base, index, displacement = None, "", "", 0
        if has_memory:
            displacement = decoded.memory_displacement & _MASK
            if decoded.is_ip_rel_memory_operand:
                target, displacement = displacement, 0
            else:
                base = registers.get(decoded.memory_base, ("", 0, False))[0]
                index = registers.get(decoded.memory_index, ("", 0, False))[0]
                if bits == 32 or not base:
                    target = displacement if displacement > 4096 else None
                if name == "lea" and base != "rsp":  # places on the stack are no constants
                    numbers.append(displacement)
        if name in ("add", "sub") and seen and registers[seen[0]][0] == "rsp":
            numbers = []
        left, shift, lane = _x86_shift(name, numbers, own_bits)
        clears = name in _CLEARING and (name[0] == "f" or len(set(seen)) == 1 < len(seen))
        yield Op(
            place=decoded.ip, size=decoded.len, name=name, width=width, bits=own_bits,
            numbers=tuple(numbers), target=target, base=base, index=index,
            scale=decoded.memory_index_scale if has_memory else 1, displacement=displacement,
            left=left, shift=shift, lane=lane, clears=clears,
        )  # fmt: skip


def _x86_shift(name: str, numbers: Sequence[int], bits: int) -> tuple[int, int, int]:
    """Return left rotation, shift of lanes, and bits of a lane."""
    if not numbers:
        return 0, 0, 0
    if name in _ROTATIONS and bits:
        return _ROTATIONS[name] * numbers[0] % bits, 0, 0
    plain = name[1:] if name.startswith("v") else name
    lane = _LANES.get(plain[4:], 0)
    if numbers[-1] == _SWAPPED and plain in _SWAPS:
        return _SWAPS[plain] // 2, 0, _SWAPS[plain]
    if plain[:4] in _VECTOR_SHIFTS and lane:
        return 0, _VECTOR_SHIFTS[plain[:4]] * numbers[0], lane
    if plain[:4] in _VECTOR_ROTATIONS and lane:
        return _VECTOR_ROTATIONS[plain[:4]] * numbers[0] % lane, 0, lane
    return 0, 0, 0


# ---- AArch64 -------------------------------------------------------------------------------------

_NUMBER = re.compile(r"#(-?(?:0x[0-9a-f]+|\d+))")
_ROTATED = re.compile(r"ror #(0x[0-9a-f]+|\d+)")
_MEMORY = re.compile(r"\[(\w+)(?:, (?:#(-?(?:0x[0-9a-f]+|\d+))|(\w+)(?:, \w+ #(\d+))?))?")
_LANE = re.compile(r"\bv\d+\.\d*([bhsdq])")
_LANE_BITS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}


@lru_cache(maxsize=1)
def _a64() -> Any:
    try:
        import capstone
    except ImportError as error:
        raise extras.missing_packages("reading AArch64 code", "matrix") from error
    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.skipdata = True
    return engine


def _decode_a64(code: bytes, start: int) -> Iterator[Op]:
    parts: dict[str, int] = {}  # constants that several moves make, pages of adrp
    for place, size, name, text in _a64().disasm_lite(code, start):
        words = text.split(", ")
        first = words[0] if words else ""
        numbers = [int(number, 0) & _MASK for number in _NUMBER.findall(text)]
        target = None
        whole = "x" + first[1:] if first[:1] in "wx" else first
        if name in ("mov", "movz", "movk", "movn") and numbers and first[:1] in "wx":
            shift = numbers[1] if len(numbers) > 1 else 0
            old = parts.get(whole, 0) & ~(0xFFFF << shift) if name == "movk" else 0
            parts[whole] = old | numbers[0] << shift
            numbers = [parts[whole]]
        elif name in ("adrp", "adr") and numbers:
            parts[whole] = numbers[0]
            target = numbers[0] if name == "adr" else None
            numbers = []
        elif name == "add" and len(words) == 3 and words[1] in parts and numbers:
            target = parts[words[1]] + numbers[0]
        memory = _MEMORY.search(text)
        base = index = ""
        displacement, scale = 0, 1
        if memory:
            base, offset, index = memory[1], memory[2], memory[3] or ""
            displacement = int(offset or "0", 0)
            scale = 1 << int(memory[4] or 0)
            if base in parts and not index:
                target = parts[base] + displacement
        left, shifted, lane = _a64_shift(name, text, numbers, first)
        yield Op(
            place=place, size=size, name=name, width=128 if re.search(r"\b[vq]\d", text) else 0,
            bits={"x": 64, "w": 32}.get(first[:1], 0), numbers=tuple(numbers), target=target,
            base=base, index="x" + index[1:] if index else "", scale=scale,
            displacement=displacement, left=left, shift=shifted, lane=lane,
            clears=name == "movi" and numbers[:1] == [0],
        )  # fmt: skip


def _a64_shift(name: str, text: str, numbers: Sequence[int], first: str) -> tuple[int, int, int]:
    bits = 64 if first.startswith("x") else 32
    if name in ("ror", "extr") and numbers:
        same = name == "ror" or len(set(text.split(", ")[1:3])) == 1
        return (-numbers[-1] % bits if same else 0), 0, 0
    if rotated := _ROTATED.search(text):
        return -int(rotated[1], 0) % bits, 0, 0
    lane = _LANE_BITS.get(match[1], 0) if (match := _LANE.search(text)) else 0
    if name == "xar" and numbers:
        return -numbers[-1] % 64, 0, 64
    if name in ("shl", "sli") and numbers:
        return 0, numbers[-1], lane
    if name in ("ushr", "usra", "sri") and numbers:
        return 0, -numbers[-1], lane
    return 0, 0, 0
