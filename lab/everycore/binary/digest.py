# SPDX-License-Identifier: MIT
"""A digest of code and of the data that it refers to, in which names and places do not matter.

Two cells with the same one are the same program, whatever was compiled beside it and from where.
"""

import hashlib
import re
from collections import deque
from collections.abc import Sequence

from everycore.binary.code import Function, LinkedObjects, Refers
from everycore.binary.disassembly import Instruction
from everycore.binary.objects import Object, Relocation

_LAST_NUMBER = re.compile(r"#?-?(?:0x[0-9a-f]+|\d+)$")


def digest(functions: Sequence[Function]) -> str:
    """Hash functions of one program, in their order: equal code and data have the same digest."""
    return _Digest(functions[0].linked_objects).of(functions) if functions else ""


class _Digest:
    """Numbers the targets of references in the order of their first mention."""

    def __init__(self, linked: LinkedObjects) -> None:
        self._linked = linked
        self._numbers: dict[tuple[int, int], int] = {}
        self._todo: deque[tuple[Object, int, int]] = deque()
        self._hash = hashlib.sha256()

    def of(self, functions: Sequence[Function]) -> str:
        for i, function in enumerate(functions):
            self._numbers[id(function.file), function.symbol.start] = i
        for function in functions:
            self._function(function)
        while self._todo:
            self._data(*self._todo.popleft())
        for file in self._linked.objects:
            if file.linked:  # nothing tells which data its code refers to
                for section in file.sections.values():
                    if section.name in (".rodata", ".data"):
                        self._add(section.name, section.data)
        return self._hash.hexdigest()[:32]

    def _add(self, *words: object) -> None:
        self._hash.update(repr(words).encode())

    def _function(self, function: Function) -> None:
        file = function.file
        self._add("function", file.machine, len(function.code))
        plain = bytearray()  # instructions without anything to be filled in
        for i, instruction in enumerate(function.code):
            holes = function.holes.get(i, ())
            outside = (
                instruction.target is not None
                and not holes
                and not function.inside(instruction.target)
            )
            if not holes and not outside:
                plain += file.bytes_of(instruction.place, instruction.end)
                continue
            self._add(bytes(plain), *self._words(file, instruction, holes, outside))
            plain.clear()
            for refers in function.refers.get(i, ()):
                if refers.file is file and refers.place in function.numbers:
                    self._add("own", function.numbers[refers.place])
                else:
                    self._add(*self._name(refers))
        self._add(bytes(plain))
        if file.machine == "a32":
            self._pools(function)

    def _words(
        self, file: Object, instruction: Instruction, holes: Sequence[Relocation], outside: bool
    ) -> list[object]:
        """An instruction without what the linker, or the order of functions, decides."""
        kinds: list[object] = [hole.kind for hole in holes]
        if outside or file.machine == "a32":
            return [instruction.mnemonic, _LAST_NUMBER.sub("", instruction.operands), *kinds]
        code = bytearray(file.bytes_of(instruction.place, instruction.end))
        if file.machine == "i386":
            for hole in holes:
                at = hole.at - instruction.place
                code[at : at + 4] = bytes(min(4, len(code) - at))
        return [bytes(code), *kinds]

    def _pools(self, function: Function) -> None:
        """The data among the code; what the linker fills is known by what it refers to."""
        for start, end in function.pools:
            data = bytearray(function.file.bytes_of(start, end))
            for place, refers in function.pool_refers.items():
                if start <= place < end:
                    data[place - start : place - start + 4] = bytes(4)
                    self._add(place - start, *self._name(refers))
            self._add("pool", bytes(data))

    def _name(self, refers: Refers) -> tuple[object, ...]:
        file = refers.file
        if file is None:
            return ("elsewhere", refers.name, refers.place)
        if function := self._linked.function(file, refers.place):
            start = function.symbol.start
            number = self._numbers.get((id(file), start))
            if number is not None:
                return ("function", number, refers.place - start)
        start, end, section = self._linked.extent(file, refers.place)
        if section is None:
            return ("nowhere",)
        if section.strings:  # file names are among them
            return ("string",)
        key = (id(file), start)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._todo.append((file, start, end))
        return ("data", self._numbers[key], refers.place - start)

    def _data(self, file: Object, start: int, end: int) -> None:
        self._add("data", end - start, *self._filled(file, start, end))

    def _filled(self, file: Object, start: int, end: int) -> list[object]:
        """Some data, and what its holes refer to instead of their contents."""
        data = bytearray(file.bytes_of(start, end))
        names: list[object] = []
        for hole in file.relocations_in(start, end):
            at = hole.at - start
            size = 4 if file.machine in ("i386", "a32") else 8
            if refers := self._linked.resolved(file, hole):
                data[at : at + size] = bytes(len(data[at : at + size]))
                names += [at, hole.kind, *self._name(refers)]
        return [bytes(data), *names]
