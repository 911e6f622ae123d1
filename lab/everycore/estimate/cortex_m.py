# SPDX-License-Identifier: MIT
"""Arm's Cortex-M4 by its documented timings.

Arm Cortex-M4 Processor Technical Reference Manual (DDI 0439, r0p1), tables 3-1 (cycles of each
instruction) and section 3.3.2 (pairs of loads and stores): one instruction at a time; loads and
stores take 2 cycles, or 1 behind another one, N registers 1 + N; a branch that is taken costs 1 +
P, P from 1 to 3, here 2; all else that integer code of this library uses takes 1. Without wait
states of memory.
"""

import re
from collections.abc import Sequence

from everycore.estimate.asm import ForeignError

REFILL = 2  # P
DIVIDE = 7  # 2 to 12

_CONDITION = r"(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)?"
_BRANCH = re.compile(rf"^(?:b{_CONDITION}|bl|blx|bx|bx{_CONDITION}|cbz|cbnz|tbb|tbh)$")
_MANY = re.compile(rf"^(?:ldm|stm|push|pop)(?:ia|db|fd|ea)?{_CONDITION}$")
_DOUBLE = re.compile(rf"^(?:ldrd|strd){_CONDITION}$")
_SINGLE = re.compile(rf"^(?:ldr|str)(?:b|h|sb|sh)?{_CONDITION}$")
_VECTOR = re.compile(r"^v[a-z]|\b[dq]\d+\b")


def cycles(texts: Sequence[str], taken: Sequence[bool]) -> float:
    """Return the cycles of executed Thumb instructions; taken[i]: it jumps to the next one."""
    total = 0
    after_memory = False
    for text, jumps in zip(texts, taken, strict=True):
        mnemonic, _, operands = text.partition(" ")
        name = mnemonic.split(".")[0].rstrip("!")
        if _VECTOR.search(name) or re.search(r"\b[dq]\d+\b", operands):
            raise ForeignError(f"a Cortex-M4 has no '{text}'", "name a kernel without vectors")
        memory = False
        if _MANY.match(name):
            total += 1 + _listed(operands)
        elif _DOUBLE.match(name):
            total += 3
        elif _SINGLE.match(name):
            memory = True
            total += 1 if after_memory else 2
        elif name.startswith(("udiv", "sdiv")):
            total += DIVIDE
        else:
            total += 1
        if jumps and (_BRANCH.match(name) or re.search(r"\bpc\b", operands)):
            total += REFILL
        after_memory = memory
    return float(total)


def _listed(operands: str) -> int:
    """Registers of a list in braces."""
    inside = operands[operands.find("{") + 1 : operands.find("}")]
    count = 0
    for part in inside.split(","):
        low, _, high = part.strip().partition("-")
        numbers = [int(n) for n in re.findall(r"\d+", f"{low} {high}")] if high else []
        count += numbers[1] - numbers[0] + 1 if len(numbers) == 2 else 1
    return count
