# SPDX-License-Identifier: MIT
"""Text of A64 instructions, as disassemblers write it, and what a model of a core wants to know.

Registers are the architecture's: v3 stands for q3, d3 and so on, x3 for w3 as well. What
reads as zero is no register. Words: Arm Architecture Reference Manual, DDI 0487.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from everycore.environment.errors import EverycoreError


class ForeignError(EverycoreError):
    """An instruction that a core does not have."""


class Kind(Enum):
    ALU = "scalar"
    VECTOR = "vector"
    LOAD = "load"
    STORE = "store"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One executed instruction, taken apart."""

    text: str
    kind: Kind
    group: str  # of those that take the same time: GROUPS, or the kind
    writes: tuple[str, ...]
    updates: tuple[str, ...]  # the address register, where it is written back
    reads: tuple[str, ...]
    vectors: bool = False  # loads and stores: of vector registers
    registers: int = 0  # loads and stores: how many; table lookups: of the table
    wide: bool = False  # loads and stores: of 16 bytes or of lists
    half: bool = False  # vectors: 8 bytes of result
    shifted: bool = False  # scalars: through the shifter
    crosses_out: bool = False  # from a vector register to a general one
    crosses_in: bool = False  # the other way
    move: bool = False  # from register to register, and nothing else

    @property
    def mnemonic(self) -> str:
        return self.text.split(" ", 1)[0]

    def is_pair_of(self, aes: "Instruction") -> bool:
        """AESMC after AESE (or the inverses) on one register: what some cores make one of."""
        pairs = {"aesmc": "aese", "aesimc": "aesd"}
        return (
            pairs.get(self.mnemonic) == aes.mnemonic
            and self.writes == aes.writes
            and self.reads == aes.writes
        )


_READS_ITS_TARGET = {
    "tbx", "sli", "sri", "bsl", "bit", "bif", "aese", "aesd", "ins", "movk", "bfi", "bfxil",
    "mla", "mls", "fmla", "uaba", "saba", "usra", "ssra",
}  # fmt: skip
_LOGIC = {
    "eor", "and", "orr", "bic", "orn", "bsl", "bit", "bif", "mvn", "not", "mov", "movi",
    "eor3", "bcax", "mvni",
}  # fmt: skip
_SHIFT = {
    "shl", "ushr", "sshr", "sli", "sri", "sshll", "ushll", "ushl", "ssra", "usra", "xtn",
    "shll", "shrn",
}  # fmt: skip
_PERMUTE = {
    "ext", "rev32", "rev64", "rev16", "zip1", "zip2", "uzp1", "uzp2", "trn1", "trn2",
    "dup", "ins",
}  # fmt: skip
GROUPS = ("logic", "arith", "shift", "permute", "table", "pmull8", "pmull64", "aes")
_BRANCHES = {"b", "bl", "br", "blr", "bx", "ret", "cbz", "cbnz", "tbz", "tbnz"}
_COMPARES = {"cmp", "cmn", "tst", "ccmp", "ccmn"}
_SETS_FLAGS = {"adds", "subs", "ands", "bics", "adcs", "sbcs", "negs"}
_READS_FLAGS = {"adc", "adcs", "sbc", "sbcs", "ccmp", "ccmn"}
_SHIFTER = {"ubfx", "sbfx", "bfi", "bfxil", "ubfiz", "sbfiz", "lsr", "lsl", "asr", "ror", "extr"}
_MOVES = {"mov", "fmov", "umov", "smov", "ins"}

_RANGE = re.compile(r"v(\d+)(?:\.\w+)?\s*-\s*v(\d+)")
_REGISTER = re.compile(r"\b(?:([vqdshb])(\d+)|([xw])(\d+)|([wx]?sp))\b")
_VECTOR = re.compile(r"\b[vqdshb]\d+\b")
_SHIFT_OPERAND = re.compile(r"\b(lsl|lsr|asr|ror)\s+#")


@lru_cache(maxsize=65536)
def decode(text: str) -> Instruction:
    """An instruction from its text."""
    mnemonic, _, operands = text.partition(" ")
    base = mnemonic.split(".")[0]
    if base in _BRANCHES or mnemonic.startswith("b."):
        flags = ("nzcv",) if mnemonic.startswith("b.") else ()
        return Instruction(text, Kind.BRANCH, "branch", (), (), (*registers(operands), *flags))
    if "[" in operands and base.startswith(("ld", "st", "prfm")):
        return _memory(text, base, operands)
    if base in _COMPARES:
        flags = ("nzcv",) if base in _READS_FLAGS else ()
        return Instruction(text, Kind.ALU, "scalar", ("nzcv",), (), (*registers(operands), *flags))
    if base == "ldr":  # a literal
        written = registers(operands.split(",")[0])
        wide = operands.startswith("q")
        vectors = bool(_VECTOR.match(operands))
        return Instruction(
            text, Kind.LOAD, "load", written, (), (), vectors=vectors, registers=1, wide=wide
        )
    return _operation(text, base, operands)


def _operation(text: str, base: str, operands: str) -> Instruction:
    first, _, rest = operands.partition(",")
    target, sources = registers(first), registers(rest)
    lane = re.match(r"v\d+\.\w+\[", operands)
    if base in _READS_ITS_TARGET or (base == "mov" and lane):
        sources = (*sources, *target)
    written = target[:1]
    if base in _SETS_FLAGS:
        written = (*written, "nzcv")
    if base.startswith("cs") or base in _READS_FLAGS or base == "cinc":
        sources = (*sources, "nzcv")
    vector = bool(_VECTOR.search(operands))
    to_general = bool(target) and target[0].startswith("x")
    moves = base in _MOVES and bool(sources) and "#" not in rest
    if not vector:
        shifted = base in _SHIFTER or bool(_SHIFT_OPERAND.search(rest))
        return Instruction(
            text, Kind.ALU, "scalar", written, (), sources, shifted=shifted, move=moves
        )
    return Instruction(
        text, Kind.VECTOR, _group(base, operands), written, (), sources,
        registers=len(registers(_table(operands))) if base in ("tbl", "tbx") else 0,
        half=bool(re.match(r"d\d|v\d+\.(8b|4h|2s|1d)\b", first)),
        crosses_out=to_general,
        crosses_in=any(r.startswith("x") for r in sources),
        move=moves,
    )  # fmt: skip


def _group(base: str, operands: str) -> str:
    if base in ("tbl", "tbx"):
        return "table"
    if base.startswith("pmull"):
        return "pmull64" if "1q" in operands else "pmull8"
    if base.startswith("aes"):
        return "aes"
    if base in _LOGIC:
        return "logic"
    if base in _SHIFT:
        return "shift"
    return "permute" if base in _PERMUTE else "arith"


def _memory(text: str, base: str, operands: str) -> Instruction:
    before, address, after = _around_address(operands)
    data, used = registers(before), registers(address)
    writes_back = after.strip().startswith(("!", ","))
    updates = used[:1] if writes_back else ()
    used = (*used, *registers(after))
    if base.startswith("prfm"):
        return Instruction(text, Kind.LOAD, "load", (), (), used, registers=1)
    load = base.startswith("ld")
    lane = load and re.search(r"\}\s*\[", operands)  # into one lane: the others stay
    reads = used if load and not lane else (*data, *used)
    return Instruction(
        text,
        Kind.LOAD if load else Kind.STORE,
        "load" if load else "store",
        data if load else (),
        updates,
        reads,
        vectors=bool(_VECTOR.search(before)),
        registers=len(data),
        wide="q" in before or "v" in before,
    )


def _around_address(operands: str) -> tuple[str, str, str]:
    """Split operands before, in and behind the last brackets; a lane's index has brackets, too."""
    begin, end = operands.rindex("["), operands.rindex("]")
    return operands[:begin], operands[begin + 1 : end], operands[end + 1 :]


def _table(operands: str) -> str:
    return operands[operands.index("{") : operands.index("}")]


def registers(text: str) -> tuple[str, ...]:
    """Return the registers that a text names, in its order; of a range all."""
    found: list[str] = []
    for match in re.finditer(f"{_RANGE.pattern}|{_REGISTER.pattern}", text):
        low, high, vector, number, general, index, stack = match.groups()
        if low:
            span = (int(high) - int(low)) % 32 + 1
            found += [f"v{(int(low) + i) % 32}" for i in range(span)]
        elif vector:
            found.append(f"v{number}")
        elif general:
            found.append(f"x{index}")
        elif stack:
            found.append("sp")
    return tuple(found)


def classes(instructions: Iterable[Instruction]) -> dict[str, int]:
    """Count instructions by kind; moves are counted as well, whatever their kind."""
    count = dict.fromkeys((*(k.value for k in Kind), "move"), 0)
    for instruction in instructions:
        count[instruction.kind.value] += 1
        count["move"] += instruction.move
    return count
