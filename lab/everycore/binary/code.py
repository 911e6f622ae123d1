# SPDX-License-Identifier: MIT
"""Read exact counts of a function, and of all that it calls, out of the compiler's objects."""

import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from everycore.binary.disassembly import (
    Flow,
    Instruction,
    can_read_code,
    decode,
    missing_packages,
)
from everycore.binary.frames import growth, plain_name, read_usage
from everycore.binary.loops import DEEPEST, Graph, reverse_postorder
from everycore.binary.objects import NoCodeError, Object, Relocation, Section, Symbol
from everycore.environment.errors import unknown_name
from everycore.model.cells import Code

GLUE = "subject_glue"  # the section of what is ours: catalog/subjects/subject.h
SANITIZER = re.compile(r"__(?:ub|a|m|t|hwa)san_|__sanitizer_|__cfi_")
_COLD = re.compile(r"\.cold(\.\d+)?$")  # the seldom executed part of a function, at another place
_MAX_WORK = 10 ** (2 * DEEPEST)


@dataclass(frozen=True, slots=True)
class Refers:
    """The target of a reference in an instruction or a word of data."""

    file: Object | None  # None: nothing that was given
    place: int
    name: str = ""  # of what is elsewhere


class Function:
    """One function with its seldom executed parts."""

    def __init__(self, linked: "LinkedObjects", file: Object, symbol: Symbol) -> None:
        self.file = file
        self.symbol = symbol
        self.linked_objects = linked
        self.parts = [symbol]
        if not _COLD.search(symbol.name):
            cold = linked.cold[file].get(symbol.name, ())
            self.parts += [part for part in cold if part.start != symbol.start]
        section = file.section_at(symbol.start)
        self.glue = bool(section) and section is not None and section.name == GLUE

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def plain_name(self) -> str:
        return plain_name(self.name)

    @property
    def code_bytes(self) -> int:
        return sum(part.size for part in self.parts)

    @cached_property
    def code(self) -> list[Instruction]:
        return [instruction for part in self.parts for instruction in _decode(self.file, part)]

    @cached_property
    def numbers(self) -> dict[int, int]:
        """Map the places of instructions to their numbers."""
        return {instruction.place: i for i, instruction in enumerate(self.code)}

    @cached_property
    def holes(self) -> dict[int, list[Relocation]]:
        """The references that the linker fills in, by the number of the instruction."""
        found: dict[int, list[Relocation]] = {}
        places = [instruction.place for instruction in self.code]
        for part in self.parts:
            for hole in self.file.relocations_in(part.start, part.end):
                at = bisect_right(places, hole.at) - 1
                if at >= 0 and hole.at < self.code[at].end:
                    found.setdefault(at, []).append(hole)
        return found

    @cached_property
    def pools(self) -> list[tuple[int, int]]:
        """(start, end) of the data among the code."""
        found = []
        for part in self.parts:
            at = part.start
            for instruction in [o for o in self.code if part.start <= o.place < part.end]:
                if instruction.place > at:
                    found.append((at, instruction.place))
                at = instruction.end
            if at < part.end:
                found.append((at, part.end))
        return found

    @cached_property
    def refers(self) -> dict[int, list[Refers]]:
        """By the number of an instruction; of jumps and calls the last one is where they go."""
        found: dict[int, list[Refers]] = {}
        pairs: Refers | None = None
        riscv = self.file.machine == "rv64"
        for i, instruction in enumerate(self.code):
            holes = self.holes.get(i, ())
            if not holes and not pairs and instruction.target is None:
                continue
            known = [self.linked_objects.resolved(self.file, hole, instruction) for hole in holes]
            refers = [refers for refers in known if refers]
            if pairs and instruction.flow in (Flow.CALL, Flow.JUMP):  # auipc, jalr
                refers.append(pairs)
            pairs = None
            if riscv and refers and any(hole.kind in _RISCV_CALLS for hole in holes):
                pairs = refers[0] if instruction.flow == Flow.NEXT else None
            if not refers and instruction.target is not None:
                refers = [Refers(self.file, instruction.target)]
            if refers:
                found[i] = refers
        return found

    @cached_property
    def pool_refers(self) -> dict[int, Refers]:
        """The references of data among the code, by their offsets: literal pools of Arm."""
        found: dict[int, Refers] = {}
        for start, end in self.pools if self.file.machine == "a32" else ():
            for hole in self.file.relocations_in(start, end):
                refers = self.linked_objects.resolved(self.file, hole)
                if refers and hole.kind == _ARM_DISTANCE:
                    from_here = self._pc_added(hole.at) - hole.at
                    refers = Refers(refers.file, refers.place + from_here, refers.name)
                if refers:
                    found[hole.at] = refers
        return found

    def _pc_added(self, place: int) -> int:
        """The program counter that is added to a distance after it was loaded from a place."""
        register = ""
        for instruction in self.code:
            # Arm DDI 0406C (2014), A2.3
            ahead = 4 if _mode(self.file, instruction.place) == "t" else 8
            pc = instruction.place + ahead
            if match := _ARM_LITERAL.fullmatch(instruction.operands):
                if (pc & ~3) + int(match[2], 0) == place and instruction.mnemonic.startswith("ldr"):
                    register = match[1]
            elif register and re.search(
                rf"\bpc\b.*\b{register}\b|^{register}, pc$", instruction.operands
            ):
                return pc
        return place

    def _goes(self, i: int) -> Refers | None:
        instruction = self.code[i]
        if instruction.flow in (Flow.NEXT, Flow.RETURN, Flow.STOP) or i not in self.refers:
            return None
        return self.refers[i][-1]

    def inside(self, place: int) -> bool:
        return any(part.start <= place < part.end for part in self.parts)

    @cached_property
    def graph(self) -> Graph:
        targets: dict[int, int] = {}
        for i, instruction in enumerate(self.code):
            goes = self._goes(i) if instruction.flow != Flow.CALL else None
            if goes and goes.file is self.file and goes.place in self.numbers:
                targets[i] = self.numbers[goes.place]
        return Graph(self.code, targets)

    @cached_property
    def calls(self) -> list[tuple[int, Refers | None]]:
        """(number of the instruction, what it calls): calls, and jumps to other functions."""
        found: list[tuple[int, Refers | None]] = []
        for i, instruction in enumerate(self.code):
            goes = self._goes(i)
            if instruction.flow == Flow.CALL or (
                goes and (goes.file is not self.file or not self.inside(goes.place))
            ):
                found.append((i, goes))
        return found

    @cached_property
    def mnemonics(self) -> Counter[str]:
        return Counter(instruction.mnemonic for instruction in self.code)

    @cached_property
    def frame_bytes(self) -> int:
        """Return the frame's size, read from the code alone."""
        return self.graph.deepest(growth(self.file.machine))

    @cached_property
    def own_work(self) -> int:
        """Instructions of one call, with a guess at the turns of each loop."""
        graph = self.graph
        return sum((graph.ends[s] - s) * graph.times(s) for s in graph.starts)

    def sanitizer_calls(self) -> int:
        return sum(1 for _, goes in self.calls if goes and SANITIZER.match(goes.name))


_ARM_DISTANCE = 3  # R_ARM_REL32: ELF for the Arm Architecture (2023), 5.6.1
_ARM_LITERAL = re.compile(r"(\w+), \[pc, #(-?(?:0x[0-9a-f]+|\d+))\]")
_RISCV_CALLS = (18, 19)  # R_RISCV_CALL, R_RISCV_CALL_PLT: RISC-V ELF psABI 1.0 (2022), 8.4


def _decode(file: Object, symbol: Symbol) -> list[Instruction]:
    """Without the data that may lie among code for Arm and RISC-V."""
    section = file.section_at(symbol.start)
    if section is None:
        return []
    shift = section.start - section.address
    mode, at = _mode(file, symbol.start), symbol.start
    first = bisect_right(file.marks, (symbol.start, "z"))
    cuts = [mark for mark in file.marks[first:] if mark[0] < symbol.end] if file.marks else []
    found: list[Instruction] = []
    for place, next_mode in [*cuts, (symbol.end, "")]:
        if mode != "d" and place > at:
            code = file.bytes_of(at, place)
            found += decode(file.machine, code, at, at - shift, mode)
        at, mode = place, next_mode
    while found and file.machine == "ppc64le" and found[-1].mnemonic == ".insn":
        found.pop()  # a traceback table: 64-bit ELF V2 ABI for Power 1.4 (2017), 3.3
    return found


def _mode(file: Object, place: int) -> str:
    at = bisect_right(file.marks, (place, "z")) - 1
    return file.marks[at][1] if at >= 0 else ""


class LinkedObjects:
    """All objects of a cell, or the program that they became."""

    def __init__(self, objects: Sequence[Object]) -> None:
        self.objects = objects
        self.cold: dict[Object, dict[str, list[Symbol]]] = {}
        self._public: dict[str, tuple[Object, int]] = {}  # what other objects may mean
        self._known: dict[str, tuple[Object, int]] = {}
        self._functions: dict[tuple[int, int], Function] = {}
        self._bounds: dict[Object, list[int]] = {}
        for file in objects:
            by_name: dict[str, list[Symbol]] = {}
            for symbol in file.functions:
                if _COLD.search(symbol.name):
                    by_name.setdefault(_COLD.sub("", symbol.name), []).append(symbol)
            self.cold[file] = by_name
            for symbol in (*file.functions, *file.objects):
                if symbol.public:
                    self._public.setdefault(symbol.name, (file, symbol.start))
            for name, place in file.aliases.items():
                self._known.setdefault(name, (file, place))
        self.bound(())

    def function(self, file: Object, place: int) -> Function | None:
        symbol = file.function_at(place)
        if symbol is None:
            return None
        if _COLD.search(symbol.name):
            wanted = _COLD.sub("", symbol.name)
            symbol = next((s for s in file.functions if s.name == wanted), symbol)
        key = (id(file), symbol.start)
        if key not in self._functions:
            self._functions[key] = Function(self, file, symbol)
        return self._functions[key]

    def all_functions(self) -> list[Function]:
        found = {}
        for file in self.objects:
            for symbol in file.functions:
                function = self.function(file, symbol.start)
                if function and function.code_bytes:
                    found[id(function)] = function
        return list(found.values())

    def named(self, entry: str) -> list[Refers]:
        """Find a name: of a function, of what the compiler made of it, or of data."""
        if found := self._public.get(entry) or self._known.get(entry):
            return [Refers(*found)]
        return [
            Refers(file, symbol.start)
            for file in self.objects
            for symbol in file.functions
            if plain_name(symbol.name) == entry
        ]

    def resolved(
        self, file: Object, hole: Relocation, instruction: Instruction | None = None
    ) -> Refers | None:
        """Return where the value points that the linker would write."""
        if not hole.name and not hole.place:
            return None  # no symbol: a mark for the linker
        addend = self._addend(file, hole, instruction)
        if not hole.name:
            return Refers(file, hole.place + addend)
        if hole.name in self._public:
            other, place = self._public[hole.name]
            return Refers(other, place + addend)
        return Refers(None, addend, hole.name)

    def _addend(self, file: Object, hole: Relocation, instruction: Instruction | None) -> int:
        machine = file.machine
        if hole.addend is None:  # i386 and Arm: where the bytes point, before they are filled
            if instruction is None or (machine == "i386" and hole.kind not in _I386_DISTANCES):
                data = file.bytes_of(hole.at, hole.at + 4)
                return int.from_bytes(data, "little", signed=True)
            if instruction.target is not None:
                return instruction.target - hole.at
            number = re.search(r"#(-?(?:0x[0-9a-f]+|\d+))$", instruction.operands)
            return int(number[1], 0) if number else 0
        if instruction is not None and machine == "x86-64" and hole.kind in _X86_DISTANCES:
            return hole.addend + instruction.end - hole.at
        if instruction is not None and machine == "s390x" and hole.kind in _S390_DISTANCES:
            return hole.addend - (hole.at - instruction.place)
        return hole.addend

    def extent(self, file: Object, place: int) -> tuple[int, int, Section | None]:
        """The data that a place is in: named, or up to the next place that anything refers to."""
        section = file.section_at(place)
        if symbol := file.object_at(place):
            return symbol.start, symbol.end, section
        if section is None:
            return place, place, None
        if section.merged_bytes:
            return place, min(place + section.merged_bytes, section.end), section
        bounds = self._bounds[file]
        at = bisect_right(bounds, place)
        end = bounds[at] if at < len(bounds) else section.end
        return place, min(end, section.end), section

    def bound(self, functions: Iterable[Function]) -> None:
        """Nameless data ends where a name, other data, or one of these functions refers to.

        Of other functions it is not known, for what their instructions refer to was not decoded: so
        data may be taken for longer than it is, and never for shorter.
        """
        new: dict[Object, set[int]] = {file: set() for file in self.objects}
        for function in functions:
            for several in (*function.refers.values(), function.pool_refers.values()):
                for refers in several:
                    if refers.file is not None:
                        new[refers.file].add(refers.place)
        for file, places in new.items():
            known = self._bounds[file] if file in self._bounds else self._named(file)
            if places or file not in self._bounds:
                self._bounds[file] = sorted(places.union(known))

    def _named(self, file: Object) -> set[int]:
        """Return the bounds of named data, and the targets of other data's references."""
        bounds = {s.start for s in file.objects} | {s.end for s in file.objects}
        bounds |= {s.end for s in file.sections.values()}
        for section in file.sections.values():
            if not section.executable:
                for hole in file.relocations_in(section.start, section.end):
                    if hole.place and (refers := self.resolved(file, hole)):
                        bounds.add(refers.place)
        return bounds


# R_X86_64_PC32, PLT32, GOTPCREL, TLSGD, TLSLD, GOTTPOFF, GOTPC32, GOTPCRELX, REX_GOTPCRELX:
# System V ABI, AMD64 supplement 1.0 (2018), table 4.9
_X86_DISTANCES = (2, 4, 9, 19, 20, 22, 26, 41, 42)
_I386_DISTANCES = (2, 4)  # R_386_PC32, R_386_PLT32
# R_390_PC12DBL to R_390_PLT32DBL, GOTPCDBL, GOTENT: s390x ABI supplement 1.6 (2021), table 3.1
_S390_DISTANCES = (16, 17, 18, 19, 20, 21, 26, 62, 63, 64, 65)


@dataclass(frozen=True)
class Examined:
    """The functions that are reached from an entry, those first that are called first."""

    functions: tuple[Function, ...]
    glue: tuple[Function, ...]  # ours: followed, not counted
    usage: Mapping[Path, Mapping[str, int]] = field(repr=False)
    executed: Mapping[str, int] = field(default_factory=dict, repr=False)
    refers: tuple[tuple[Function, Function], ...] = field(default=(), repr=False)

    @cached_property
    def code(self) -> Code:
        every = [instruction for function in self.functions for instruction in function.code]
        frame_bytes, said = max(map(self.frame, self.functions))
        hot = self.hot
        checks = sum(function.sanitizer_calls() for function in self.functions)
        return Code(
            code_bytes=sum(function.code_bytes for function in self.functions),
            instructions=len(every),
            vector=sum(instruction.vector for instruction in every),
            gathers=sum(instruction.gather for instruction in every),
            calls=sum(len(function.calls) for function in self.functions) - checks,
            frame_bytes=frame_bytes,
            hot=hot.name if hot else "",
            frame_source="stack-usage" if said else "prologue",
            sanitizer_calls=checks,
            mnemonics=dict(self.mnemonics.most_common()),
        )

    @cached_property
    def mnemonics(self) -> Counter[str]:
        return sum((function.mnemonics for function in self.functions), Counter())

    def frame(self, function: Function) -> tuple[int, bool]:
        """Return the frame of one function, and whether the compiler stated it."""
        said = self.usage.get(function.file.path, {}).get(function.plain_name)
        return (function.frame_bytes, False) if said is None else (said, True)

    @cached_property
    def hot(self) -> Function | None:
        """The function with most of the work: as executed if that was counted, else by a guess."""
        work = self.work
        return max(self.functions, key=lambda function: work[function], default=None)

    @cached_property
    def work(self) -> dict[Function, int]:
        counted = {f: self.executed.get(f.name, 0) for f in self.functions}
        if any(counted.values()):
            return counted
        times = self._times()
        return {f: f.own_work * times[f] for f in self.functions}

    def _times(self) -> dict[Function, int]:
        """How often each function may be called, callers before the called; recursion is once."""
        every = [*self.glue, *self.functions]
        known = {(id(f.file), f.symbol.start): f for f in every}
        after: dict[Function, list[tuple[Function, int]]] = {f: [] for f in every}
        for f in every:
            for i, goes in f.calls:
                if goes and goes.file:
                    symbol = goes.file.function_at(goes.place)
                    called = known.get((id(goes.file), symbol.start)) if symbol else None
                    if called and called is not f:
                        start = f.graph.starts[bisect_right(f.graph.starts, i) - 1]
                        after[f].append((called, f.graph.times(start)))
        called_at_all = {to for pairs in after.values() for to, _ in pairs}
        times = {f: 0 if f in called_at_all else 1 for f in every}
        for f in reverse_postorder(every, {f: [to for to, _ in p] for f, p in after.items()}):
            times[f] = max(times[f], 1)
            for to, turns in after[f]:
                times[to] = min(times[to] + times[f] * turns, _MAX_WORK)
        return times


@dataclass(frozen=True, slots=True)
class OwnFunctions:
    """Tells functions of the subject in a linked program from the rest, which is not to be
    counted."""

    names: frozenset[str]  # as its source has them
    others: frozenset[tuple[str, int]] = frozenset()  # (name, size) of what may be called alike

    def has(self, function: Function) -> bool:
        symbol = function.symbol
        return function.glue or (
            function.plain_name in self.names and (symbol.name, symbol.size) not in self.others
        )


def examine(
    paths: Sequence[Path],
    entries: Sequence[str] = (),
    *,
    executed: Mapping[str, int] | None = None,
    own: OwnFunctions | None = None,
) -> Examined:
    """Examine the code that the compiler made of `entries` and of all that they call, or point to.

    `paths`: objects, or one linked program. Functions of the section subject_glue are followed and
    not counted. An entry that the compiler put into its callers may be absent, if others are there.
    Without entries: all functions. `executed`: instructions by function, of a trace; functions that
    it names are counted in addition, for calls through pointers of linked programs. `own`: of such
    a program what is followed; None: all.
    """
    if not can_read_code():
        raise missing_packages()
    linked = LinkedObjects([Object(path) for path in paths])
    if entries:
        roots = [refers for entry in entries for refers in linked.named(entry)]
        if not roots:
            valid = {s.name for file in linked.objects for s in (*file.functions, *file.objects)}
            raise unknown_name("function in the objects", entries[0], sorted(valid) or ["none"])
        roots += [refers for name in executed or () for refers in linked.named(name)]
        if own:  # of functions that are called alike a name finds one
            named = [f for f in linked.all_functions() if f.plain_name in entries and own.has(f)]
            roots = [*(Refers(f.file, f.symbol.start) for f in named), *roots]
        reached = _reached(linked, roots, own)
    else:
        reached = linked.all_functions()
        linked.bound(reached)
    counted = [function for function in reached if not function.glue]
    if not counted:  # a whole program, optimised into one function
        counted, reached = reached, []
    if not counted:
        names = ", ".join(path.name for path in paths)
        raise NoCodeError(f"no functions in {names}")
    usage = {path: read_usage(path.with_suffix(".su"), linked.objects[0].machine) for path in paths}
    glue = [function for function in reached if function.glue]
    return Examined(tuple(counted), tuple(glue), usage, dict(executed or {}))


def _reached(
    linked: LinkedObjects, roots: Iterable[Refers], own: OwnFunctions | None = None
) -> list[Function]:
    """In the order of the first call; what tables point to comes behind."""
    found: dict[int, Function] = {}
    seen: set[tuple[int, int]] = set()
    todo, data = deque(roots), deque[Refers]()
    while todo:
        known = len(found)
        while todo:
            refers = todo.popleft()
            if refers.file is None:
                continue
            function = linked.function(refers.file, refers.place)
            if function is None:
                data.append(refers)
            elif id(function) not in found and (own is None or own.has(function)):
                found[id(function)] = function
                for several in (*function.refers.values(), function.pool_refers.values()):
                    todo.extend(several)
        linked.bound(list(found.values())[known:])
        while data:
            refers = data.popleft()
            assert refers.file is not None
            start, end, section = linked.extent(refers.file, refers.place)
            if section and not section.strings and (id(refers.file), start) not in seen:
                seen.add((id(refers.file), start))
                todo.extend(_in_data(linked, refers.file, start, end))
    return list(found.values())


def _in_data(linked: LinkedObjects, file: Object, start: int, end: int) -> list[Refers]:
    if file.linked:
        word = 4 if file.machine in ("i386", "a32") else 8
        data = file.bytes_of(start, end)
        places = [
            int.from_bytes(data[i : i + word], "big" if file.machine == "s390x" else "little")
            & (~1 if file.machine == "a32" else ~0)
            for i in range(0, len(data) - word + 1, word)
        ]
        return [Refers(file, p) for p in places if (f := file.function_at(p)) and f.start == p]
    known = [linked.resolved(file, hole) for hole in file.relocations_in(start, end)]
    return [refers for refers in known if refers]
