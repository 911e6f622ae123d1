# SPDX-License-Identifier: MIT
"""Follows guards and their addresses through the registers of one function.

The code is read once, in the order of addresses. A register has a value only where all branches
seen so far agree on it. Values are tuples, of which the first member is the kind:

    ("address", number)         a place in the program
    ("symbol", name, number)    the same in an object, whose places are not yet known
    ("got", name)               the place of a word that the linker fills with a symbol's address
    ("got-base",), ("got-offset", name), ("pc-relative", name, is_got)   parts of such, on Arm
    ("thread", register, number)    a thread or system register plus a number
    ("guard", source)           the value of a guard, or what may be one
    ("stack",)                  a place on the stack
    ("slot",)                   a word that was read from the stack
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from everycore.firmware.canary.program import CHECK_NAMES, FAIL_NAMES, Function, Program, Reference

Value = tuple[Any, ...]
STACK: Value = ("stack",)
SLOT: Value = ("slot",)
MOST_PASSES = 4  # over a function
STUB_BYTES = 24  # of an entry of a procedure linkage table, at most


@dataclass(frozen=True, slots=True)
class Source:
    """The place of a guard: a variable of the program, or a word at a register."""

    register: str = ""  # empty: a variable
    offset: int = 0
    name: str = ""  # of the variable

    @property
    def is_global(self) -> bool:
        return not self.register

    @property
    def label(self) -> str:
        if self.is_global:
            return f"the variable {self.name}"
        if self.name:
            return f"{self.register}:{self.name}"
        return f"{self.register}{self.offset:+d}"


@dataclass(frozen=True, slots=True)
class Event:
    """A canary is stored ("set") or compared ("check")."""

    kind: str
    address: int
    source: Source
    is_address: bool = False  # the guard's address, not its value
    place: str = ""  # on the stack, as the instruction writes it


@dataclass(frozen=True, slots=True)
class Flow:
    """An instruction after which the next one is not sure to follow.

    kind: "jump", "branch" (conditional), "call", "return", "unknown" (a computed jump).
    """

    address: int
    size: int
    kind: str
    target: int | None = None
    name: str = ""
    is_conditional: bool = False

    @property
    def is_failure(self) -> bool:
        return self.name in FAIL_NAMES


@dataclass(slots=True)
class Trail:
    """All that was seen in a function."""

    function: Function
    events: list[Event] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    n_instructions: int = 0
    reloaded: set[str] = field(default_factory=set)  # places on the stack of spilled addresses

    @property
    def calls_failure(self) -> bool:
        return any(flow.is_failure for flow in self.flows)


@dataclass(slots=True)
class Instruction:
    """One instruction as the decoder writes it."""

    address: int
    size: int
    mnemonic: str
    operands: str


Decoder = Callable[[bytes, int, str], Iterable[tuple[int, int, str, str]]]


class Walk:
    """Reads functions of one program; a subclass knows the instructions of one machine."""

    frame_registers: ClassVar[frozenset[str]]  # hold places on the stack
    # Other registers keep their values: what a call may change is not read after it, unless the
    # compiler knows that this call leaves it (GCC, -fipa-ra).
    call_results: ClassVar[frozenset[str]]
    word_bytes: ClassVar[int] = 8

    def __init__(self, program: Program, decode: Decoder) -> None:
        self.program = program
        self._decode = decode
        self._stubs: dict[int, str] = {}
        self._is_stub = False  # reads an entry of a linkage table
        self._reference_places = sorted(program.references)
        self.registers: dict[str, Value] = {}
        self.spills: dict[str, Value] = {}  # addresses that are on the stack
        self._states: dict[int, dict[str, Value]] = {}  # before the targets of jumps back
        self._table_state: dict[str, Value] = {}  # before computed jumps
        self._pending: dict[int, dict[str, Value]] = {}
        self._is_reached = True
        self._is_guess = False  # no known block leads here
        self.trail = Trail(Function("", 0, ()))

    # ---- The walk

    def code(self, function: Function) -> list[tuple[Instruction, str]]:
        """The instructions of a function, with their modes."""
        return [
            (Instruction(*fields), part.mode)
            for part in function.parts
            for fields in self._decode(part.data, part.address, part.mode)
        ]

    def function(self, function: Function) -> Trail:
        """Read one function."""
        code = self.code(function)
        self._states = {}
        self._table_state = {}
        trail = self._pass(function, code, is_patient=False)
        kinds = {event.kind for event in trail.events}
        if len(kinds) == 2 or (not kinds and not trail.calls_failure):
            return trail
        # Blocks to which only jumps back lead, and targets of tables, become known by and by.
        self._states = {}
        n_states = -1
        for _ in range(MOST_PASSES):
            if len(self._states) == n_states:
                break
            n_states = len(self._states)
            trail = self._pass(function, code, is_patient=True)
        return trail

    def _pass(
        self, function: Function, code: Sequence[tuple[Instruction, str]], *, is_patient: bool
    ) -> Trail:
        """Read the code once; is_patient: blocks that no known one leads to affect no others."""
        self.trail = trail = Trail(function, n_instructions=len(code))
        self.registers = {}
        self.spills = {}
        self._pending = {}
        self._is_reached = True
        self._is_guess = False
        for instruction, mode in code:
            if instruction.address in self._pending:
                self._merge(instruction.address)
            elif not self._is_reached or self._is_guess:
                known = self._states.get(instruction.address)
                if not self._is_reached:
                    self.registers = dict(known or self._table_state)
                    self._is_guess = is_patient and not known and not self._table_state
                elif known is not None:
                    self.registers, self._is_guess = dict(known), False
                self._is_reached = True
            self.step(instruction, mode)
        return trail

    def step(self, instruction: Instruction, mode: str) -> None:
        """Take one instruction into account."""
        raise NotImplementedError

    def _merge(self, address: int) -> None:
        other = self._pending.pop(address)
        if self._is_reached and not self._is_guess:
            self.registers = _common(self.registers, other)
        else:
            self.registers, self._is_reached, self._is_guess = other, True, False

    # ---- Control flow

    def flow(
        self,
        instruction: Instruction,
        kind: str,
        target: int | None = None,
        *,
        conditional: bool = False,
    ) -> None:
        """Record a jump, branch, call or return; `conditional`: it may not be taken."""
        name = ""
        if kind in ("jump", "branch", "call"):
            found = self.reference(instruction)
            if found is not None:
                name, target = found.name, self.target_of(found)
            elif target is not None:
                name = self.name_of(target)
        self._add_flow(instruction, kind, target, name, conditional)

    def flow_to(self, instruction: Instruction, kind: str, value: Value | None) -> None:
        """Record a call or a jump to a place that a register or a word holds."""
        name, target = "", None
        if value is not None and value[0] == "symbol":
            name = value[1]
        elif value is not None and value[0] == "address":
            target = value[1]
            name = self.name_of(target)
        known = bool(name or target is not None)
        self._add_flow(
            instruction, kind if known or kind == "call" else "unknown", target, name, False
        )

    def target_of(self, found: Reference) -> int | None:
        """The place to which the relocation of a jump or call refers."""
        return None if found.place is None else found.place + found.addend

    def _add_flow(
        self, instruction: Instruction, kind: str, target: int | None, name: str, conditional: bool
    ) -> None:
        flow = Flow(
            instruction.address,
            instruction.size,
            kind,
            target,
            name,
            conditional or kind == "branch",
        )
        self.trail.flows.append(flow)
        if kind == "call":
            if name in CHECK_NAMES:
                self.trail.events.append(
                    Event("check", instruction.address, Source(name="__security_cookie"))
                )
            for register in self.call_results:
                self.registers.pop(register, None)
            return
        if self._is_guess:
            pass
        elif kind == "unknown":
            self._table_state = _common(self._table_state or None, self.registers)
        elif target is not None and kind != "return":
            if target > instruction.address:
                known = self._pending.get(target)
                self._pending[target] = _common(known, self.registers)
            else:
                self._states.setdefault(target, dict(self.registers))
        if not flow.is_conditional:
            self._is_reached = False

    def name_of(self, target: int) -> str:
        """The name of a function at an address, also through an entry of a linkage table."""
        found = self.program.names.get(target)
        if found is not None or self._is_stub:
            return found or ""
        function = self.trail.function
        if function.parts and function.start <= target < function.parts[0].end:
            return ""
        if target not in self._stubs:
            self._stubs[target] = ""
            if target not in self.program.starts:
                self._stubs[target] = self._stub_name(target)
        return self._stubs[target]

    def _stub_name(self, target: int) -> str:
        """The symbol to which an entry of a procedure linkage table jumps; empty: none."""
        code = self.program.code(target, STUB_BYTES)
        if not code:
            return ""
        walk = type(self)(self.program, self._decode)
        walk._is_stub = True
        for address, size, mnemonic, operands in self._decode(code, target, self.stub_mode()):
            walk.step(Instruction(address, size, mnemonic, operands), self.stub_mode())
            if walk.trail.flows:
                return walk.trail.flows[0].name
        return ""

    def stub_mode(self) -> str:
        return ""

    # ---- Values

    def reference(self, instruction: Instruction) -> Reference | None:
        """The relocation within an instruction of an object."""
        places = self._reference_places
        if not places:
            return None
        index = bisect_right(places, instruction.address + instruction.size - 1) - 1
        if index >= 0 and places[index] >= instruction.address:
            return self.program.references[places[index]]
        return None

    def value(self, register: str) -> Value | None:
        found = self.registers.get(register)
        if found is None and register in self.frame_registers:
            return STACK
        return found

    def assign(self, register: str, value: Value | None) -> None:
        if value is None:
            self.registers.pop(register, None)
        else:
            self.registers[register] = value

    def add(self, value: Value | None, number: int) -> Value | None:
        """A value plus a number."""
        if value is None:
            return None
        match value[0]:
            case "stack":
                return STACK
            case "address":
                return ("address", value[1] + number)
            case "thread" | "symbol":
                return (value[0], value[1], value[2] + number)
        return None

    def load(  # noqa: PLR0911  # one for each kind
        self, base: Value | None, number: int, place: str = ""
    ) -> Value | None:
        """The value of a word in memory; `place`: how the instruction writes its address."""
        if base is None:
            return None
        match base[0]:
            case "stack":
                if place in self.spills:
                    self.trail.reloaded.add(place)
                    return self.spills[place]
                return SLOT
            case "got":
                return ("symbol", base[1], 0) if number == 0 else None
            case "thread":
                return ("guard", Source(base[1], base[2] + number))
            case "symbol":
                is_guard = base[1] in self.program.guard_names and base[2] + number == 0
                return ("guard", Source(name=base[1])) if is_guard else None
            case "address":
                return self._load_from(base[1] + number)
        return None

    def _load_from(self, address: int) -> Value | None:
        guard = self.program.variables.get(address)
        if guard is not None:
            return ("guard", Source(name=guard))
        slot = self.program.slots.get(address)
        if isinstance(slot, str):
            return ("symbol", slot, 0)
        if slot is not None:
            return ("address", slot)
        word = self.program.constant_word(address)
        return None if word is None else ("address", word)

    # ---- Canaries

    def store(
        self, instruction: Instruction, value: Value | None, base: Value | None, place: str = ""
    ) -> None:
        """A register is stored in memory."""
        if base != STACK:
            return
        self.spills.pop(place, None)
        if value is None:
            return
        events = self.trail.events
        if value[0] == "guard":
            events.append(Event("set", instruction.address, value[1], place=place))
        elif value != SLOT and place:
            self.spills[place] = value
            if source := self.address_source(value):
                events.append(
                    Event("set", instruction.address, source, is_address=True, place=place)
                )

    def compare(self, instruction: Instruction, first: Value | None, second: Value | None) -> None:
        """Two values are compared, or subtracted to be compared."""
        for guard, other in ((first, second), (second, first)):
            if guard is None or other is None:
                continue
            if guard[0] == "guard" and other == SLOT:
                self.trail.events.append(Event("check", instruction.address, guard[1]))
            elif (source := self.address_source(guard)) and other in (SLOT, guard):
                event = Event("check", instruction.address, source, is_address=True)
                self.trail.events.append(event)
                return

    def address_source(self, value: Value) -> Source | None:
        """The guard whose address a value is."""
        if value[0] == "symbol" and value[2] == 0 and value[1] in self.program.guard_names:
            return Source(name=value[1])
        if value[0] == "address" and (name := self.program.variables.get(value[1])):
            return Source(name=name)
        if value[0] == "thread":
            return Source(value[1], value[2])
        return None


def _common(known: dict[str, Value] | None, other: dict[str, Value]) -> dict[str, Value]:
    """Return the values that two states agree on; of one state, a copy."""
    if known is None:
        return dict(other)
    return {name: value for name, value in known.items() if other.get(name) == value}


def number(text: str) -> int:
    """Read a number as the decoder writes it: 8, 0x28, -0x8, #0x10."""
    return int(text.strip().lstrip("#"), 0)


_SPLIT = re.compile(r",\s*(?![^\[{]*[\]}])")


def split_operands(text: str) -> Sequence[str]:
    """The operands of an instruction; commas within brackets do not separate."""
    return _SPLIT.split(text)
