# SPDX-License-Identifier: MIT
"""Guards in RISC-V code of 64 bits."""

import re
from collections.abc import Sequence
from typing import ClassVar

from everycore.firmware.canary.walk import STACK, Instruction, Value, Walk, number, split_operands

_MEMORY = re.compile(r"^(?P<offset>-?\w+)\((?P<base>\w+)\)$")
_BRANCHES = frozenset(
    {"beq", "bne", "blt", "bge", "bltu", "bgeu", "beqz", "bnez", "blez", "bgez", "bltz", "bgtz"}
)
_NO_RESULT = frozenset({"sb", "sh", "sw", "sd", "fsd", "fsw", "ecall", "ebreak", "fence", "nop"})
_SIGN = 1 << 31


class Rv64(Walk):
    """The psABI of RISC-V; tp is the thread pointer."""

    frame_registers: ClassVar[frozenset[str]] = frozenset({"sp", "s0"})
    call_results: ClassVar[frozenset[str]] = frozenset({"a0", "a1"})

    def step(self, instruction: Instruction, mode: str) -> None:  # noqa: ARG002
        name = instruction.mnemonic.removeprefix("c.")
        if name in _BRANCHES:
            operands = split_operands(instruction.operands)
            if name in ("beq", "bne"):
                self.compare(instruction, self.value(operands[0]), self.value(operands[1]))
            self.flow(instruction, "branch", instruction.address + number(operands[-1]))
        elif name in ("j", "jal", "jr", "jalr", "ret"):
            self._jump(instruction, name)
        elif name == "auipc":
            self._upper(instruction)
        elif name == "lui":
            first, second = split_operands(instruction.operands)
            found = self.reference(instruction)
            is_thread = found is not None and "TPREL" in found.kind
            self.assign(first, ("address", number(second) << 12) if not is_thread else None)
        else:
            self._other(instruction, name)

    def _jump(self, instruction: Instruction, name: str) -> None:
        operands = split_operands(instruction.operands) if instruction.operands else []
        if name == "ret":
            self.flow(instruction, "return")
        elif name == "j" or (name == "jal" and operands[0] == "zero"):
            self.flow(instruction, "jump", instruction.address + number(operands[-1]))
        elif name == "jal":
            self.flow(instruction, "call", instruction.address + number(operands[-1]))
        else:
            register, offset = operands[-1], 0
            if match := _MEMORY.match(register):
                register, offset = match["base"], number(match["offset"])
            elif len(operands) == 3:
                register, offset = operands[1], number(operands[2])
            is_call = name == "jalr" and (len(operands) == 1 or operands[0] != "zero")
            if not is_call and register == "ra":
                self.flow(instruction, "return")
                return
            value = self.add(self.registers.get(register), offset)
            self.flow_to(instruction, "call" if is_call else "jump", value)

    def _upper(self, instruction: Instruction) -> None:
        first, second = split_operands(instruction.operands)
        found = self.reference(instruction)
        if found is not None:
            kind = ("got", found.name) if "GOT" in found.kind else ("symbol", found.name, 0)
            self.assign(first, kind)
            return
        upper = number(second) << 12
        upper = (upper & (2 * _SIGN - 1)) - (2 * _SIGN if upper & _SIGN else 0)
        self.assign(first, ("address", instruction.address + upper))

    def value(self, register: str) -> Value | None:
        if register == "tp":
            return ("thread", "tp", 0)
        return super().value(register)

    def _other(self, instruction: Instruction, name: str) -> None:
        operands = split_operands(instruction.operands) if instruction.operands else [""]
        first = operands[0]
        if name in ("ld", "ldsp"):
            self.assign(first, self._load(instruction, operands[1]))
        elif name in ("sd", "sdsp"):
            if match := _MEMORY.match(operands[1]):
                base = self.value(match["base"])
                self.store(instruction, self.registers.get(first), base, operands[1])
        elif name in ("mv", "addi", "addi4spn", "addi16sp", "add", "xor", "sub"):
            self._compute(instruction, name, operands)
        elif self.registers and name not in _NO_RESULT:
            self.registers.pop(first, None)

    def _load(self, instruction: Instruction, text: str) -> Value | None:
        match = _MEMORY.match(text)
        if match is None:
            return None
        found = self.reference(instruction)
        offset = 0 if found is not None and "LO12" in found.kind else number(match["offset"])
        return self.load(self.value(match["base"]), offset, text)

    def _compute(self, instruction: Instruction, name: str, operands: Sequence[str]) -> None:
        first = operands[0]
        if first == "sp":
            return
        if name == "mv":
            self.assign(first, self.value(operands[1]))
            return
        source = operands[1] if len(operands) == 3 else first
        value, last = self.value(source), operands[-1]
        if name in ("xor", "sub"):
            self.compare(instruction, value, self.value(last))
            self.assign(first, None)
        elif last.lstrip("-")[:1].isdigit():
            found = self.reference(instruction)
            low = found is not None and "LO12" in found.kind
            self.assign(first, value if low else self.add(value, number(last)))
        else:
            # lui, then add tp: the place of a thread-local variable.
            other = self.value(last)
            if value == ("thread", "tp", 0):
                value, other = other, value
            is_thread = other == ("thread", "tp", 0) and value is not None
            if is_thread and value is not None and value[0] == "address":
                self.assign(first, ("thread", "tp", value[1]))
            else:
                is_stack = name == "add" and STACK in (value, other)
                self.assign(first, STACK if is_stack else None)
