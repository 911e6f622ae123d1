# SPDX-License-Identifier: MIT
"""Guards in 32-bit Arm code, in both of its instruction sets."""

import re
from typing import ClassVar

from everycore.firmware.canary.program import Reference
from everycore.firmware.canary.walk import STACK, Instruction, Value, Walk, number, split_operands

_MEMORY = re.compile(r"^\[(?P<base>\w+)(?:, (?:#(?P<offset>-?\w+)|(?P<index>\w+)))?\](?P<up>!)?$")
_CONDITIONS = frozenset(
    {"eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "cs", "cc"}
)
_ALIASES = {"r9": "sb", "r10": "sl", "r11": "fp", "r12": "ip", "r13": "sp", "r14": "lr"}
_PROCESSOR_ID = re.compile(r"^p15, #0, (\w+), c13, c0, #(\d)$")
_THREAD_REGISTERS = {"2": "tpidrurw", "3": "tpidruro", "4": "tpidrprw"}
_NO_RESULT = ("str", "stm", "push", "cmn", "tst", "teq", "nop", "vst", "vpush", "it", "bkpt", "udf")
_NAMES = ("ldr", "str", "add", "sub", "mov", "eor", "cmp", "pop", "ldm", "movw", "movt")
_READ_THREAD = "__aeabi_read_tp"


class Arm(Walk):
    """The procedure call standard AAPCS."""

    frame_registers: ClassVar[frozenset[str]] = frozenset({"sp", "r7", "fp"})
    call_results: ClassVar[frozenset[str]] = frozenset({"r0", "r1"})
    word_bytes: ClassVar[int] = 4

    def stub_mode(self) -> str:
        return "a32"

    def step(self, instruction: Instruction, mode: str) -> None:
        name, is_conditional = _plain(instruction.mnemonic)
        if name in ("b", "bx", "bl", "blx", "cbz", "cbnz", "bxj", "tbb", "tbh"):
            self._jump(instruction, name, is_conditional)
            return
        operands = [_ALIASES.get(text, text) for text in split_operands(instruction.operands)]
        if name == "mrc":
            match = _PROCESSOR_ID.match(instruction.operands)
            register = _THREAD_REGISTERS.get(match[2]) if match else None
            if match:
                target = _ALIASES.get(match[1], match[1])
                self.assign(target, ("thread", register, 0) if register else None)
        elif name in ("pop", "ldm", "ldmdb", "ldmib"):
            self._pop(instruction, is_conditional)
        elif name == "ldr":
            self._load(instruction, operands, mode, is_conditional)
        elif name == "str" and len(operands) == 2:
            match = _MEMORY.match(operands[1])
            base = self.value(_ALIASES.get(match["base"], match["base"])) if match else None
            self.store(instruction, self.registers.get(operands[0]), base, operands[1])
        elif name in ("movw", "movt"):
            self._half(instruction, name, operands)
        elif name in ("mov", "add", "sub", "eor", "cmp", "addw", "subw", "adr"):
            self._compute(instruction, name, operands, mode)
        elif self.registers and not name.startswith(_NO_RESULT):
            self.registers.pop(operands[0], None)

    def _jump(self, instruction: Instruction, name: str, is_conditional: bool) -> None:
        if name in ("cbz", "cbnz"):
            self.flow(instruction, "branch", number(split_operands(instruction.operands)[-1]))
        elif name in ("tbb", "tbh", "bxj"):
            self.flow_to(instruction, "jump", None)
        elif instruction.operands.startswith("#"):
            target = number(instruction.operands)
            if name in ("bl", "blx"):
                self.flow(instruction, "call", target)
                last = self.trail.flows[-1]
                if last.name == _READ_THREAD:
                    self.registers["r0"] = ("thread", "tpidruro", 0)
            else:
                self.flow(instruction, "branch" if is_conditional else "jump", target)
        elif name == "bx" and instruction.operands == "lr":
            self.flow(instruction, "return", conditional=is_conditional)
        else:
            register = _ALIASES.get(instruction.operands, instruction.operands)
            value = self.registers.get(register)
            self.flow_to(instruction, "call" if name == "blx" else "jump", value)

    def _pop(self, instruction: Instruction, is_conditional: bool) -> None:
        names = re.findall(r"\w+", instruction.operands)
        if "pc" in names:
            self.flow(instruction, "return", conditional=is_conditional)
        for text in names:
            self.registers.pop(_ALIASES.get(text, text), None)

    def _load(
        self, instruction: Instruction, operands: list[str], mode: str, is_conditional: bool
    ) -> None:
        match = _MEMORY.match(operands[1])
        base = _ALIASES.get(match["base"], match["base"]) if match else ""
        if operands[0] == "pc":
            if base == "sp":
                self.flow(instruction, "return", conditional=is_conditional)
            else:
                self.flow_to(instruction, "jump", self._memory(instruction, operands, mode))
            return
        value = self._memory(instruction, operands, mode)
        if match is not None and match["up"]:
            self.registers.pop(base, None)
        self.assign(operands[0], value)

    def _memory(self, instruction: Instruction, operands: list[str], mode: str) -> Value | None:
        match = _MEMORY.match(operands[1])
        if match is None or (len(operands) > 2 and operands[0] != "pc"):
            return None
        base = _ALIASES.get(match["base"], match["base"])
        if base == "pc" and not match["index"]:
            return self._literal(
                self._here(instruction, mode, True) + number(match["offset"] or "0")
            )
        value = self.value(base)
        if match["index"]:
            index = self.value(_ALIASES.get(match["index"], match["index"]))
            return self.load(self._sum(value, index), 0)
        return self.load(value, number(match["offset"] or "0"), operands[1])

    @staticmethod
    def _here(instruction: Instruction, mode: str, is_aligned: bool = False) -> int:
        """The value of pc that an instruction reads."""
        here = instruction.address + (8 if mode == "a32" else 4)
        return here & ~3 if is_aligned else here

    def _literal(self, place: int) -> Value | None:
        """The value of a word among the code."""
        found = self.program.references.get(place)
        if found is not None:
            return _of_reference(found)
        code = self.program.code(place, 4)
        return ("address", int.from_bytes(code, "little")) if len(code) == 4 else None

    def _sum(self, first: Value | None, second: Value | None) -> Value | None:
        if STACK in (first, second):
            return STACK
        if first is None or second is None:
            return None
        for base, offset in ((first, second), (second, first)):
            if base == ("got-base",) and offset[0] == "got-offset":
                return ("got", offset[1])
        if first[0] == second[0] == "address":
            return ("address", (first[1] + second[1]) & 0xFFFF_FFFF)
        return None

    def _half(self, instruction: Instruction, name: str, operands: list[str]) -> None:
        found = self.reference(instruction)
        register = operands[0]
        if found is not None:
            self.assign(register, ("symbol", found.name, 0) if "ABS" in found.kind else None)
        elif name == "movw":
            self.assign(register, ("address", number(operands[1])))
        else:
            value = self.registers.get(register)
            if value is not None and value[0] == "address":
                value = ("address", number(operands[1]) << 16 | (value[1] & 0xFFFF))
            self.assign(register, value if value and value[0] == "address" else None)

    def _compute(self, instruction: Instruction, name: str, operands: list[str], mode: str) -> None:
        first = operands[0]
        if name == "cmp":
            self.compare(instruction, self.value(first), self.value(operands[1]))
            return
        if name == "mov":
            self._set(first, self.value(operands[1]))
            return
        sources = operands[1:] if len(operands) >= 3 else operands
        if name in ("eor", "sub") and not sources[1].startswith("#"):
            self.compare(instruction, self.value(sources[0]), self.value(sources[1]))
            self._set(first, None)
            return
        if "pc" in sources:
            self._set(first, self._from_here(instruction, sources, mode))
        elif sources[1].startswith("#"):
            amount = _constant(sources[1:])
            amount = -amount if name in ("sub", "subw") else amount
            self._set(first, self.add(self.value(sources[0]), amount))
        elif name == "add" and len(sources) == 2:
            self._set(first, self._sum(self.value(sources[0]), self.value(sources[1])))
        else:
            self._set(first, None)

    def _from_here(self, instruction: Instruction, sources: list[str], mode: str) -> Value | None:
        """A sum with pc."""
        here = self._here(instruction, mode)
        if sources[0] == "pc" and sources[1].startswith("#"):
            return ("address", (here + _constant(sources[1:])) & 0xFFFF_FFFF)
        other = next((text for text in sources if text != "pc"), "")
        value = self.value(other)
        if value is None:
            return None
        if value[0] == "pc-relative":
            return ("got", value[1]) if value[2] else ("symbol", value[1], 0)
        if value[0] == "address":
            return ("address", (here + value[1]) & 0xFFFF_FFFF)
        return value if value == ("got-base",) else None

    def _set(self, register: str, value: Value | None) -> None:
        if register != "sp":
            self.assign(register, value)

    def add(self, value: Value | None, number: int) -> Value | None:
        found = super().add(value, number)
        if found is not None and found[0] == "address":
            return ("address", found[1] & 0xFFFF_FFFF)
        return found


def _constant(operands: list[str]) -> int:
    """A constant of A32: 8 bits, which a second number rotates to the right."""
    value = number(operands[0])
    if len(operands) < 2 or not operands[1].startswith("#"):
        return value
    turn = number(operands[1]) % 32
    return (value >> turn | value << (32 - turn)) & 0xFFFF_FFFF


def _plain(mnemonic: str) -> tuple[str, bool]:
    """An instruction without condition, flag setting and width; whether it has a condition."""
    name = mnemonic.split(".", 1)[0]
    if name in ("cbz", "cbnz", "tbb", "tbh", "bl", "blx", "bx", "b", "mls", "mrc", "teq"):
        return name, False
    if name[-2:] in _CONDITIONS and len(name) > 2:
        stem = name[:-2]
        if stem in ("b", "bx", "bl", "blx", *_NAMES) or stem.removesuffix("s") in _NAMES:
            return stem.removesuffix("s") if stem not in _NAMES else stem, True
    if name.endswith("s") and name[:-1] in _NAMES:
        return name[:-1], False
    return name, False


def _of_reference(found: Reference) -> Value | None:
    """The value of a word that a relocation fills; names of AAELF32."""
    match found.kind:
        case "R_ARM_GOTPC" | "R_ARM_BASE_PREL":
            return ("got-base",)
        case "R_ARM_GOT32" | "R_ARM_GOT_BREL":
            return ("got-offset", found.name)
        case "R_ARM_GOT_PREL":
            return ("pc-relative", found.name, True)
        case "R_ARM_REL32":
            return ("pc-relative", found.name, False)
        case "R_ARM_ABS32":
            return ("symbol", found.name, 0)
    return None
