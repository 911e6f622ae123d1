# SPDX-License-Identifier: MIT
"""Finds the callers of a sampled place: by .eh_frame, else by the chain of frame pointers.

Source: DWARF 5, 6.4 (frames) and 2.5 (expressions); psABIs of x86-64 and AArch64 (registers).
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any

from everycore.explain.image import Frame, Image
from everycore.explain.samples import Sample

Find = Callable[[int], tuple[Image, int] | None]  # an address in memory -> file and address in it

_X86_64 = ("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp")
_NAMES = {
    "x86-64": {
        **dict(enumerate(_X86_64)),
        **{number: f"r{number}" for number in range(8, 16)},
        16: "rip",
    },
    "a64": {**{number: f"x{number}" for number in range(31)}, 31: "sp"},
}
_POINTERS = {"x86-64": ("rip", "rsp", "rbp"), "a64": ("pc", "sp", "x29")}
_MOST_FRAMES = 24
_MASK = (1 << 64) - 1


class _EndError(Exception):
    """The chain of frames cannot be followed further."""


def callers(sample: Sample, find: Find, machine: str) -> list[int]:
    """Return places of call instructions, the nearest caller first."""
    if sample.bits != 64 or machine not in _NAMES or not sample.stack:
        return []
    walk = _Walk(sample, find, machine)
    found: list[int] = []
    try:
        for _ in range(_MOST_FRAMES):
            place = walk.step()
            if place < 4096:
                break
            found.append(place - 1)
    except _EndError:
        pass
    return found


class _Walk:
    """Registers of one frame after the other."""

    def __init__(self, sample: Sample, find: Find, machine: str) -> None:
        self._machine = machine
        _, self._stack_pointer, self._frame_pointer = _POINTERS[machine]
        self._registers: dict[str, int] = dict(sample.registers)
        self._base = sample.registers.get(self._stack_pointer, 0)
        self._stack = sample.stack
        self._find = find
        self._place = sample.place

    def _load(self, address: int) -> int:
        at = (address & _MASK) - self._base
        if not 0 <= at <= len(self._stack) - 8:
            raise _EndError
        return int(struct.unpack_from("<Q", self._stack, at)[0])

    def _register(self, name: str) -> int:
        if name not in self._registers:
            raise _EndError
        return self._registers[name]

    def step(self) -> int:
        """Go to the caller's frame, and return where its execution goes on."""
        found = self._find(self._place)
        frame = found[0].frame(found[1]) if found else None
        back = self._by_rules(frame, found[1]) if found and frame else self._by_frame_pointer()
        self._place = back - 1
        return back

    def _by_frame_pointer(self) -> int:
        base = self._register(self._frame_pointer)
        back = self._load(base + 8)
        self._registers = {
            **self._registers,
            self._stack_pointer: base + 16,
            self._frame_pointer: self._load(base),
        }
        return back

    def _by_rules(self, frame: Frame, place: int) -> int:
        row: Mapping[Any, Any] | None = None
        for candidate in frame.rows:
            if candidate["pc"] <= place:
                row = candidate
        if row is None:
            raise _EndError
        names = _NAMES[self._machine]
        rule = row["cfa"]
        if rule.expr is not None:
            cfa = self._evaluate(rule.expr)
        else:
            cfa = self._register(names.get(rule.reg, "")) + rule.offset
        before = dict(self._registers)
        registers = {**before, self._stack_pointer: cfa}
        for number, own in row.items():
            if not isinstance(number, int) or number not in names:
                continue
            name = names[number]
            if own.type == "OFFSET":
                registers[name] = self._load(cfa + own.arg)
            elif own.type == "VAL_OFFSET":
                registers[name] = cfa + own.arg
            elif own.type == "REGISTER":
                registers[name] = self._register(names.get(own.arg, ""))
            elif own.type in ("EXPRESSION", "VAL_EXPRESSION"):
                value = self._evaluate(own.arg, cfa)
                registers[name] = self._load(value) if own.type == "EXPRESSION" else value
        self._registers = registers
        return registers[names[frame.returns]] if frame.returns in names else 0

    def _evaluate(self, code: Any, first: int | None = None) -> int:
        """The value of a DWARF expression, of the operations that frames are described with."""
        from elftools.dwarf.dwarf_expr import DWARFExprParser
        from elftools.dwarf.structs import DWARFStructs

        structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
        stack: list[int] = [] if first is None else [first]
        names = _NAMES[self._machine]
        try:
            for operation in DWARFExprParser(structs).parse_expr(list(code)):
                name, arguments = operation.op_name, operation.args
                if name.startswith("DW_OP_breg"):
                    stack.append(self._register(names.get(operation.op - 0x70, "")) + arguments[0])
                elif name.startswith("DW_OP_lit"):
                    stack.append(operation.op - 0x30)
                elif name.startswith("DW_OP_const"):
                    stack.append(arguments[0])
                elif name == "DW_OP_deref":
                    stack.append(self._load(stack.pop()))
                elif name == "DW_OP_plus_uconst":
                    stack.append(stack.pop() + arguments[0])
                elif name in _BINARY:
                    right = stack.pop()
                    stack.append(_BINARY[name](stack.pop(), right))
                else:
                    raise _EndError
            return stack[-1]
        except IndexError:
            raise _EndError from None


_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "DW_OP_plus": lambda left, right: left + right,
    "DW_OP_minus": lambda left, right: left - right,
    "DW_OP_and": lambda left, right: left & right,
    "DW_OP_or": lambda left, right: left | right,
    "DW_OP_shl": lambda left, right: left << right,
    "DW_OP_shr": lambda left, right: left >> right,
    "DW_OP_mul": lambda left, right: left * right,
    "DW_OP_ge": lambda left, right: int(left >= right),
}
