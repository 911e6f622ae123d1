# SPDX-License-Identifier: MIT
"""Guards in x86-64 code."""

import re
from typing import ClassVar

from everycore.firmware.canary.program import Reference
from everycore.firmware.canary.walk import (
    STACK,
    Instruction,
    Source,
    Value,
    Walk,
    number,
    split_operands,
)

# A place in memory without an index register, as capstone writes it.
_MEMORY = re.compile(
    r"^(?:(?P<width>\w+) ptr )?(?:(?P<segment>fs|gs):)?"
    r"\[(?:(?P<base>[a-z]\w*)(?: (?P<sign>[+-]) (?P<offset>\d\w*))?|(?P<absolute>-?\w+))\]$"
)
_WORDS = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp")
_PARTS = {
    **{name: f"r{name[1:]}" for name in ("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp")},
    **{name: f"r{name}" for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")},
    **{f"{c}{half}": f"r{c}x" for c in "abcd" for half in "lh"},
    **{f"{name}l": f"r{name}" for name in ("si", "di", "bp", "sp")},
    **{f"r{i}{part}": f"r{i}" for i in range(8, 16) for part in "dwb"},
}
_FULL = frozenset({*_WORDS, *(f"r{i}" for i in range(8, 16))})
_READ_ONLY = frozenset({"cmp", "test", "push", "nop", "bt", "endbr64", "ud2", "leave", "hlt"})
_RETURNS = frozenset({"ret", "retq", "iretq", "sysretq"})
_ALL_BITS = 1 << 64


class X86(Walk):
    """System V and Microsoft conventions."""

    frame_registers: ClassVar[frozenset[str]] = frozenset({"rsp", "rbp"})
    call_results: ClassVar[frozenset[str]] = frozenset({"rax", "rdx"})

    def step(self, instruction: Instruction, mode: str) -> None:  # noqa: ARG002
        name = (
            instruction.mnemonic.removeprefix("notrack ").removeprefix("bnd ").removeprefix("rep ")
        )
        if name[0] == "j":
            self._jump(instruction, name)
        elif name == "call":
            self._transfer(instruction, "call")
        elif name in _RETURNS:
            self.flow(instruction, "return")
        elif name in ("mov", "movabs"):
            self._move(instruction)
        elif name in ("sub", "cmp", "xor"):
            self._combine(instruction, name)
        elif name == "lea":
            first, second = split_operands(instruction.operands)
            self._set(first, self._address(instruction, second))
        elif name == "add":
            first, second = split_operands(instruction.operands)
            self._set(first, self._plus(first, second))
        elif self.registers and name not in _READ_ONLY:
            self._kill(instruction.operands)
        if self.spills and (name in ("push", "pop") or instruction.operands.startswith("rsp,")):
            # Places relative to the stack pointer have other names from here on.
            self.spills = {k: v for k, v in self.spills.items() if not k.startswith("rsp")}

    def target_of(self, found: Reference) -> int | None:
        place = super().target_of(found)
        return None if place is None else place + 4  # fields count from their end

    def _kill(self, operands: str) -> None:
        first = operands.split(",", 1)[0]
        self.registers.pop(_PARTS.get(first, first), None)

    def _set(self, register: str, value: Value | None) -> None:
        if register in _FULL:
            self.assign(register, value)
        else:
            self.registers.pop(_PARTS.get(register, register), None)

    def _plus(self, first: str, second: str) -> Value | None:
        value = self.registers.get(first)
        if value is None or not second.lstrip("-")[:1].isdigit():
            return None
        return self.add(value, number(second))

    def _jump(self, instruction: Instruction, name: str) -> None:
        if name == "jmp":
            self._transfer(instruction, "jump")
        else:
            self.flow(instruction, "branch", number(instruction.operands))

    def _transfer(self, instruction: Instruction, kind: str) -> None:
        if instruction.operands[:1].isdigit():
            self.flow(instruction, kind, number(instruction.operands))
        else:
            self.flow_to(instruction, kind, self._operand(instruction, instruction.operands))

    def _move(self, instruction: Instruction) -> None:
        first, second = split_operands(instruction.operands)
        if first in _FULL or first in _PARTS:
            self._set(first, self._operand(instruction, second))
        elif second in _FULL and "[" in first:
            self.store(instruction, self.registers.get(second), self._base(first), _place(first))

    def _combine(self, instruction: Instruction, name: str) -> None:
        first, second = split_operands(instruction.operands)
        mine, other = self._operand(instruction, first), self._operand(instruction, second)
        if mine is not None and other is not None:
            self.compare(instruction, mine, other)
        if name == "cmp" or first not in _FULL:
            if name != "cmp":
                self._kill(first)
            return
        is_mixed = name == "xor" and other == STACK and mine is not None
        # Microsoft's cookie is mixed with the stack pointer: it stays a guard, or a slot.
        if name == "sub" and mine is not None and second[:1].isdigit():
            self._set(first, self.add(mine, -number(second)))
        elif not (is_mixed and mine is not None and mine[0] in ("guard", "slot")):
            self._set(first, None)

    def _operand(self, instruction: Instruction, text: str) -> Value | None:  # noqa: PLR0911
        """The value of a register, of a word in memory, or of a constant that is a symbol's."""
        if text in _FULL:
            return self.value(text)
        match = _MEMORY.match(text)
        if match is None:
            if text[:1].isdigit():
                found = self.reference(instruction)
                return (
                    ("symbol", found.name, found.addend)
                    if found
                    else (
                        ("address", number(text))
                        if number(text) in self.program.variables
                        else None
                    )
                )
            return None
        if match["width"] != "qword":
            return None
        if match["segment"]:
            return self._segment(instruction, match)
        if match["base"] == "rip" or match["absolute"]:
            return self.load(self._static(instruction, match), 0)
        base = self.value(match["base"])
        return self.load(base, self._offset(match), _place(text))

    @staticmethod
    def _offset(match: re.Match[str]) -> int:
        offset = number(match["offset"] or "0")
        return -offset if match["sign"] == "-" else offset

    def _static(self, instruction: Instruction, match: re.Match[str]) -> Value | None:
        """The place of an operand that is relative to the instruction, or absolute."""
        found = self.reference(instruction)
        if found is not None:
            if found.is_got:
                return ("got", found.name)
            # PC-relative fields count from the end of the field, at the end of the instruction.
            addend = found.addend + (4 if "PC" in found.kind or "REL" in found.kind else 0)
            return ("symbol", found.name, addend)
        if match["absolute"]:
            return ("address", number(match["absolute"]) % _ALL_BITS)
        return (
            "address",
            (instruction.address + instruction.size + self._offset(match)) % _ALL_BITS,
        )

    def _segment(self, instruction: Instruction, match: re.Match[str]) -> Value | None:  # noqa: PLR0911
        segment = match["segment"]
        if match["base"] == "rip":
            place = self._static(instruction, match)
            if place is None:
                return None
            if place[0] == "symbol":
                return ("guard", Source(segment, place[2], place[1]))
            name = self.program.variables.get(place[1], "")
            return ("guard", Source(segment, 0 if name else place[1], name))
        if match["base"]:
            return None
        offset = number(match["absolute"] or "0") % _ALL_BITS
        found = self.reference(instruction)
        if found is not None:
            return ("guard", Source(segment, found.addend, found.name))
        if offset == 0:
            return ("thread", segment, 0)
        if offset >= _ALL_BITS // 2:
            offset -= _ALL_BITS
        return ("guard", Source(segment, offset))

    def _address(self, instruction: Instruction, text: str) -> Value | None:
        """The address that lea computes."""
        match = _MEMORY.match(text)
        if match is None or match["segment"]:
            return None
        if match["base"] == "rip" or match["absolute"]:
            return self._static(instruction, match)
        return self.add(self.value(match["base"]), self._offset(match))

    def _base(self, text: str) -> Value | None:
        """The base of a place in memory, with or without an index."""
        match = _MEMORY.match(text)
        if match is not None and match["base"] and not match["segment"]:
            return self.value(match["base"])
        if match is None and ("[rsp" in text or "[rbp" in text):
            return STACK
        return None


def _place(text: str) -> str:
    """An operand in memory without its width."""
    return text.partition("[")[2]
