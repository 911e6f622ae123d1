# SPDX-License-Identifier: MIT
"""Guards in AArch64 code."""

import re
from collections.abc import Sequence
from typing import ClassVar

from everycore.firmware.canary.walk import STACK, Instruction, Value, Walk, number, split_operands

_MEMORY = re.compile(r"^\[(?P<base>\w+)(?:, #(?P<offset>-?\w+))?\](?P<updated>!)?$")
_BRANCHES = frozenset({"cbz", "cbnz", "tbz", "tbnz"})
_STORES = ("st", "prf", "cas")
_ADDRESSES = frozenset({"add", "sub", "mov"})  # of places on the stack, the first values there are
_BRANCH = 0b000101  # the upper six bits of B: Arm ARM DDI 0487, C6.2.26
_COMPARES = frozenset({"subs", "sub", "cmp", "eor"})
_TWO_RESULTS = frozenset({"ldp", "ldpsw", "ldxp", "ldaxp", "ldnp"})
# Registers of the system that may hold a thread or a task.
_SYSTEM = re.compile(r"^(sp_el\d|tpidr\w*|contextidr\w*|s3_\w+)$")


class A64(Walk):
    """The procedure call standard AAPCS64."""

    frame_registers: ClassVar[frozenset[str]] = frozenset({"sp", "x29"})
    call_results: ClassVar[frozenset[str]] = frozenset({"x0", "x1"})

    def step(self, instruction: Instruction, mode: str) -> None:  # noqa: ARG002
        name = instruction.mnemonic
        if name[0] == "b" and self._is_jump(instruction, name):
            return
        if name in _BRANCHES:
            self.flow(instruction, "branch", number(split_operands(instruction.operands)[-1]))
        elif name in ("ret", "retaa", "retab", "eret"):
            self.flow(instruction, "return")
        elif name in ("adrp", "adr"):
            self._page(instruction)
        elif name == "mrs":
            first, second = split_operands(instruction.operands)
            is_known = _SYSTEM.match(second.lower()) is not None
            self.assign(first, ("thread", second.lower(), 0) if is_known else None)
        elif self.registers or name[0] == "l" or name in _ADDRESSES:
            self._other(instruction, name)

    def _is_jump(self, instruction: Instruction, name: str) -> bool:
        if name == "b" and (moved := self._moved(instruction, number(instruction.operands))):
            self.step(moved, "")
        elif name in ("b", "bl"):
            self.flow(instruction, "jump" if name == "b" else "call", number(instruction.operands))
        elif name.startswith("b."):
            self.flow(instruction, "branch", number(instruction.operands))
        elif name.startswith(("br", "blr")):
            register = split_operands(instruction.operands)[0]
            self.flow_to(
                instruction,
                "call" if name.startswith("blr") else "jump",
                self.registers.get(register),
            )
        else:
            return False
        return True

    def _moved(self, instruction: Instruction, target: int) -> Instruction | None:
        """The instruction that a linker moved elsewhere, and put a branch there in its place.

        GNU ld and lld do so for erratum 843419 of Cortex-A53: behind it, a branch leads back.
        """
        function = self.trail.function
        if any(part.address <= target < part.end for part in function.parts):
            return None
        code = self.program.code(target, 8)
        word = int.from_bytes(code[4:], "little")
        if len(code) < 8 or word >> 26 != _BRANCH:
            return None
        distance = (word & 0x1FF_FFFF) - (word & 0x200_0000)
        if target + 4 + 4 * distance != instruction.address + instruction.size:
            return None
        return next((Instruction(*fields) for fields in self._decode(code[:4], target, "")), None)

    def _page(self, instruction: Instruction) -> None:
        first, second = split_operands(instruction.operands)
        found = self.reference(instruction)
        if found is None:
            self.assign(first, ("address", number(second)))
        elif found.is_got:
            self.assign(first, ("got", found.name))
        else:
            self.assign(first, ("symbol", found.name, found.addend))

    def _other(self, instruction: Instruction, name: str) -> None:
        operands = split_operands(instruction.operands)
        if name in ("ldr", "ldur"):
            self._load(instruction, operands)
        elif name in ("str", "stur"):
            if operands[0][0] == "x" and len(operands) == 2:
                self._store(instruction, operands[:1], operands[1])
        elif name == "stp":
            if operands[0][0] == "x":
                self._store(instruction, operands[:2], operands[2])
        elif name in ("mov", "add", "sub", "subs", "cmp", "eor"):
            self._compute(instruction, name, operands)
        elif name in _TWO_RESULTS:
            self._two_results(operands)
        elif not name.startswith(_STORES) and name not in ("cmn", "tst", "ccmp", "msr"):
            self._set(operands[0], None)

    def _set(self, register: str, value: Value | None) -> None:
        if register[:1] == "w":
            register, value = f"x{register[1:]}", None
        self.assign(register, value)

    def _store(self, instruction: Instruction, registers: Sequence[str], text: str) -> None:
        """Registers are stored one behind the other."""
        match = _MEMORY.match(text)
        if match is None:
            return
        base, offset = match["base"], number(match["offset"] or "0")
        for index, register in enumerate(registers):
            place = f"{base}{offset + 8 * index:+d}"
            self.store(instruction, self.registers.get(register), self.value(base), place)

    def _load(self, instruction: Instruction, operands: Sequence[str]) -> None:
        first = operands[0]
        match = _MEMORY.match(operands[1]) if len(operands) == 2 else None
        if match is None or first[0] != "x":
            self._set(first, None)
            return
        base = self.value(match["base"])
        offset = number(match["offset"] or "0")
        found = self.reference(instruction)
        if found is not None and found.is_got:
            self._set(first, ("symbol", found.name, 0))
        else:
            if found is not None:  # the low 12 bits, which adrp's relocation has with the rest
                offset = 0
            self._set(first, self.load(base, offset, f"{match['base']}{offset:+d}"))

    def _two_results(self, operands: Sequence[str]) -> None:
        match = _MEMORY.match(operands[2]) if len(operands) == 3 else None
        if match is None or operands[0][0] != "x":
            for register in operands[:2]:
                self._set(register, None)
            return
        base, offset = match["base"], number(match["offset"] or "0")
        place = self.value(base)
        for at, register in zip((offset, offset + 8), operands[:2], strict=True):
            self._set(register, self.load(place, at, f"{base}{at:+d}"))

    def _compute(self, instruction: Instruction, name: str, operands: Sequence[str]) -> None:
        first = operands[0]
        if name == "mov":
            self._set(first, self._source(operands[1]))
            return
        values = [self._source(text) for text in operands[(0 if name == "cmp" else 1) :][:2]]
        if name in _COMPARES and len(values) == 2:
            self.compare(instruction, values[0], values[1])
        if name == "cmp":
            return
        amount = self._amount(operands[2:])
        if name == "add" and amount is not None:
            found = self.reference(instruction)
            if found is not None and values[0] is not None and values[0][0] == "symbol":
                self._set(first, values[0])  # as for loads: the low 12 bits
            else:
                self._set(first, self.add(values[0], amount))
        elif name == "sub" and amount is not None:
            self._set(first, self.add(values[0], -amount))
        elif name in ("eor", "sub") and STACK in values:
            # Microsoft's cookie is mixed with the stack pointer.
            kept = [v for v in values if v is not None and v[0] in ("guard", "slot")]
            self._set(first, kept[0] if kept else None)
        elif name == "add" and STACK in values:
            self._set(first, STACK)
        else:
            self._set(first, None)

    def _source(self, text: str) -> Value | None:
        return self.value(text) if text[:1] in ("x", "s") else None

    @staticmethod
    def _amount(operands: Sequence[str]) -> int | None:
        """The constant of an addition, with its shift."""
        if not operands or not operands[0].startswith("#"):
            return None
        amount = number(operands[0])
        return amount << number(operands[1].split()[-1]) if len(operands) > 1 else amount
