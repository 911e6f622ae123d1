# SPDX-License-Identifier: MIT
"""Reads where the canary of an AArch64 function lies, beside its return address and allocations.

GCC kept the return address (x30) at the bottom of the frame, below the local variables and the
canary, and took variable-length arrays and alloca() from below that. An overflow of these reaches
the return address and not the canary: CVE-2023-4039. GCC with the repair, and clang, keep the
canary below the return address.

Sources: Arm, "GCC Stack Protector Vulnerability AArch64", 2023; GCC, "aarch64: Make stack smash
canary protect saved registers", 2023, which its releases 11.5, 12.4, 13.3 and 14.1 have.

The code is read once, in the order of addresses. Registers have values relative to the stack
pointer at the function's entry:

    ("stack", number)   that stack pointer plus a number
    ("below",)          an address below, by a length that is known only when the program runs
    ("number", number)  a constant, as of the size of a large frame
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from everycore.firmware.canary.walk import Instruction, number, split_operands

Value = tuple[Any, ...]
BELOW: Value = ("below",)
_MEMORY = re.compile(r"^\[(?P<base>\w+)(?:, #(?P<offset>-?\w+))?\](?P<updated>!)?$")
_ENDS = ("b", "br", "braa", "brab", "ret", "retaa", "retab", "eret")
_BRANCHES = ("cbz", "cbnz", "tbz", "tbnz")
_CHANGED_BY_CALL = frozenset({*(f"x{n}" for n in range(19)), "x30"})


@dataclass(slots=True)
class Layout:
    """Places in a frame, as offsets from the stack pointer at the entry; None: not known."""

    canary: int | None = None
    return_address: int | None = None
    allocation: int | None = None  # address of the instruction that allocates; None: none does

    @property
    def is_unprotected(self) -> bool:
        """Whether what is allocated lies below the return address, and the canary above that."""
        if self.allocation is None or self.canary is None or self.return_address is None:
            return False
        return self.canary > self.return_address

    @property
    def is_open(self) -> bool:
        """Whether something is allocated, and the places are not known."""
        return self.allocation is not None and None in (self.canary, self.return_address)


def read(code: Iterable[Instruction], stores: Collection[int]) -> Layout:
    """Return the layout of a function; `stores`: the instructions that store the canary."""
    reader = _Reader(stores)
    for instruction in code:
        reader.step(instruction)
    return reader.layout


@dataclass(slots=True)
class _Reader:
    """Follows the registers of one function."""

    stores: Collection[int]
    layout: Layout = field(default_factory=Layout)
    values: dict[str, Value] = field(default_factory=lambda: {"sp": ("stack", 0)})
    has_saved: bool = False  # the return address is on the stack
    is_lowered: bool = False  # by a constant, after the frame was made
    _pending: dict[int, dict[str, Value]] = field(default_factory=dict)
    _body: dict[str, Value] = field(default_factory=dict)  # the last state with a frame
    _is_reached: bool = True

    def step(self, instruction: Instruction) -> None:
        if not self._is_reached:
            self.values = dict(self._pending.get(instruction.address) or self._body or self.values)
            self._is_reached = True
        elif "sp" not in self.values and instruction.address in self._pending:
            self.values = dict(self._pending[instruction.address])
        name = instruction.mnemonic
        operands = split_operands(instruction.operands) if instruction.operands else []
        if name in _ENDS or name in _BRANCHES or name.startswith("b."):
            self._leave(name, operands)
        elif name in ("bl", "blr", "blraa", "blrab"):
            for register in _CHANGED_BY_CALL & self.values.keys():
                del self.values[register]
        elif name.startswith(("st", "ld")):
            self._access(instruction, name, operands)
        elif operands:
            self._compute(instruction, name, operands)
        if self.has_saved and "x29" in self.values:
            self._body = dict(self.values)

    def _leave(self, name: str, operands: Sequence[str]) -> None:
        if name in _BRANCHES or name == "b" or name.startswith("b."):
            text = operands[-1]
            if text.startswith("#"):
                self._pending.setdefault(number(text), dict(self.values))
        self._is_reached = name not in _ENDS

    # ---- Memory

    def _access(self, instruction: Instruction, name: str, operands: Sequence[str]) -> None:
        """Take a load or store into account: what is saved, and registers that change."""
        at = next((i for i, text in enumerate(operands) if text.startswith("[")), None)
        match = _MEMORY.match(operands[at]) if at is not None else None
        registers = list(operands[:at])
        if match is None or at is None:
            self._forget(name, registers)
            return
        base, offset = match["base"], number(match["offset"] or "0")
        value = self.values.get(base)
        behind = number(operands[at + 1]) if operands[at + 1 :] and "#" in operands[at + 1] else 0
        if name.startswith("st"):
            self._store(instruction, registers, value, offset)
        else:
            self._forget(name, registers)
        if match["updated"] or behind:
            self._move(base, value, offset if match["updated"] else behind)

    def _store(
        self, instruction: Instruction, registers: Sequence[str], base: Value | None, offset: int
    ) -> None:
        if base is None or base[0] != "stack":
            return
        place = base[1] + offset
        if instruction.address in self.stores and self.layout.canary is None:
            self.layout.canary = place
        if "x30" in registers and not self.has_saved:
            self.has_saved = True
            self.layout.return_address = place + 8 * registers.index("x30")

    def _forget(self, name: str, registers: Sequence[str]) -> None:
        if name.startswith("ld"):
            for register in registers:
                self.values.pop(_whole(register), None)

    def _move(self, base: str, value: Value | None, by: int) -> None:
        moved = self._plus(value, by)
        if moved is None:
            self.values.pop(base, None)
        else:
            self.values[base] = moved

    # ---- Arithmetic

    def _compute(self, instruction: Instruction, name: str, operands: Sequence[str]) -> None:
        to = operands[0]
        if name == "cmp":
            self._compare(operands)
            return
        if name in ("cmn", "tst", "ccmp", "msr", "nop", "hint"):
            return
        result = self._result(name, operands)
        if to == "sp":
            self._lower(instruction, result)
        elif result is None:
            self.values.pop(_whole(to), None)
        else:
            self.values[to] = result
            self._take_address(instruction, to, result)

    def _result(  # noqa: PLR0911  # one for each kind
        self, name: str, operands: Sequence[str]
    ) -> Value | None:
        match name, operands:
            case (("mov" | "movz"), [to, source]) if source.startswith("#"):
                return ("number", number(source)) if to[0] in "xw" else None
            case (("mov" | "movz"), [_, source]):
                return self.values.get(_whole(source))
            case "movk", [to, source, *shift]:
                known = self.values.get(_whole(to))
                by = number(shift[0].split()[-1]) if shift else 0
                if known is None or known[0] != "number":
                    return None
                return ("number", known[1] & ~(0xFFFF << by) | number(source) << by)
            case (("add" | "sub"), [_, first, second, *shift]):
                amount = self._amount(second, shift)
                base = self.values.get(first)
                if amount is not None:
                    return self._plus(base, amount if name == "add" else -amount)
                is_place = first == "sp" or (base is not None and base[0] in ("stack", "below"))
                return BELOW if name == "sub" and is_place else None
            case (("and" | "bic"), [_, first, *_]):  # an address that is rounded
                known = self.values.get(first)
                return BELOW if known == BELOW else None
        return None

    def _amount(self, text: str, shift: Sequence[str]) -> int | None:
        """The number that is added, which a register may hold."""
        if text.startswith("#"):
            return number(text) << (number(shift[0].split()[-1]) if shift else 0)
        known = self.values.get(_whole(text))
        return known[1] if known is not None and known[0] == "number" and not shift else None

    @staticmethod
    def _plus(value: Value | None, amount: int) -> Value | None:
        if value is None or value == BELOW:
            return value
        return (value[0], value[1] + amount)

    def _lower(self, instruction: Instruction, result: Value | None) -> None:
        """Give the stack pointer a value; a length that is not known is an allocation."""
        before = self.values.get("sp")
        if result == BELOW:
            self._allocates(instruction)
        is_constant = result is not None and result[0] == "stack"
        if is_constant and before is not None and before[0] == "stack" and "x29" in self.values:
            assert result is not None
            self.is_lowered = result[1] < before[1]
        if result is None:
            self.values.pop("sp", None)
        else:
            self.values["sp"] = result

    def _take_address(self, instruction: Instruction, to: str, value: Value) -> None:
        """A constant length was allocated if an address below the frame is used."""
        frame, top = self.values.get("x29"), self.values.get("sp")
        if to == "x29" or not self.is_lowered or not self.has_saved:
            return
        if value[0] == "stack" and frame is not None and frame[0] == "stack":
            is_below = value[1] < min(frame[1], self.layout.return_address or 0)
            if is_below and top is not None and top[0] == "stack" and value[1] >= top[1]:
                self._allocates(instruction)

    def _allocates(self, instruction: Instruction) -> None:
        if self.layout.allocation is None:
            self.layout.allocation = instruction.address

    def _compare(self, operands: Sequence[str]) -> None:
        """Behind a loop that touches the pages of a frame, the stack pointer has its end."""
        first, second = operands[0], self.values.get(_whole(operands[1]))
        if first == "sp" and second is not None and second[0] in ("stack", "below"):
            self.values["sp"] = second


def _whole(register: str) -> str:
    """The name of a register of 64 bits that holds one of 32."""
    return f"x{register[1:]}" if register[:1] == "w" and register[1:].isdigit() else register
