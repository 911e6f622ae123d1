# SPDX-License-Identifier: MIT
"""The loops of a function, and how far its stack grows: from its instructions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from everycore.binary.disassembly import Flow, Instruction

TURNS = 10  # of a loop, where nobody counted: Ball and Larus, "Branch Prediction for Free" (1993)
DEEPEST = 6
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Loop:
    """A natural loop: all blocks from which its header is reached again."""

    header: int
    blocks: frozenset[int]


class Graph:
    """Blocks, by the number of their first instruction, and where each goes.

    `targets` has, by number, the number of the instruction to which one jumps within the function.
    """

    def __init__(self, code: Sequence[Instruction], targets: Mapping[int, int]) -> None:
        self.code = code
        leaders = {0, *targets.values()}
        for i, instruction in enumerate(code):
            gap = i + 1 < len(code) and code[i + 1].place != instruction.end
            if instruction.flow not in (Flow.NEXT, Flow.CALL) or gap:
                leaders.add(i + 1)
        self.starts = sorted(leader for leader in leaders if leader < len(code))
        self.ends = dict(zip(self.starts, [*self.starts[1:], len(code)], strict=True))
        self.follows: dict[int, list[int]] = {}
        anywhere: list[int] = []  # blocks that end in a jump to places that are not known
        for start in self.starts:
            last = self.ends[start] - 1
            instruction = code[last]
            after = [targets[last]] if last in targets else []
            falls = instruction.flow in (Flow.NEXT, Flow.CALL, Flow.BRANCH) and last + 1 < len(code)
            if falls and code[last + 1].place == instruction.end:
                after.append(last + 1)
            if instruction.flow == Flow.JUMP and instruction.target is None and not after:
                anywhere.append(start)
            self.follows[start] = after
        entered = {0, *(to for after in self.follows.values() for to in after)}
        for start in self.starts if anywhere else ():  # tables of jumps
            if start not in entered and not self._is_padding(start):
                for source in anywhere:
                    self.follows[source].append(start)

    def _is_padding(self, start: int) -> bool:
        block = self.code[start : self.ends[start]]
        return all(
            instruction.mnemonic.startswith(("nop", "xchg", "data16", "c.nop"))
            for instruction in block
        )

    @cached_property
    def _order(self) -> list[int]:
        return reverse_postorder([0] if self.starts else [], self.follows)

    @cached_property
    def loops(self) -> list[Loop]:
        """Outer ones before those within."""
        before: dict[int, list[int]] = {block: [] for block in self._order}
        for block in self._order:
            for to in self.follows[block]:
                before[to].append(block)
        number = {block: i for i, block in enumerate(self._order)}
        dominator = self._dominators(before, number)
        bodies: dict[int, set[int]] = {}
        for block in self._order:
            for to in self.follows[block]:
                if number[to] <= number[block] and _dominates(dominator, to, block):
                    bodies.setdefault(to, {to}).update(_reaching(before, to, block))
        loops = [Loop(header, frozenset(body)) for header, body in bodies.items()]
        return sorted(loops, key=lambda loop: (-len(loop.blocks), loop.header))

    def _dominators(
        self, before: Mapping[int, Sequence[int]], number: Mapping[int, int]
    ) -> dict[int, int]:
        """Cooper, Harvey, Kennedy: "A Simple, Fast Dominance Algorithm" (2001)."""
        dominator = {0: 0}
        changed = True
        while changed:
            changed = False
            for block in self._order[1:]:
                known = [b for b in before[block] if b in dominator]
                new = known[0]
                for other in known[1:]:
                    new = _common(dominator, number, new, other)
                if dominator.get(block) != new:
                    dominator[block] = new
                    changed = True
        return dominator

    @cached_property
    def depth(self) -> dict[int, int]:
        """Number of loops around each block."""
        depth = dict.fromkeys(self.starts, 0)
        for loop in self.loops:
            for block in loop.blocks:
                depth[block] += 1
        return depth

    def times(self, start: int) -> int:
        """How often a block may be executed in one call: a guess."""
        return int(TURNS ** min(self.depth[start], DEEPEST))

    def numbers(self, blocks: frozenset[int]) -> list[int]:
        """Return the numbers of the instructions of some blocks, in their order."""
        return [i for block in sorted(blocks) for i in range(block, self.ends[block])]

    def deepest(self, grows: Callable[[Instruction], int]) -> int:
        """The most bytes of stack on any path; `grows`: by how many at an instruction."""
        most, entered = 0, {0: 0}
        for block in self._order:
            depth = entered.get(block, 0)
            for i in range(block, self.ends[block]):
                depth = max(0, depth + grows(self.code[i]))
                most = max(most, depth)
            for to in self.follows[block]:
                entered.setdefault(to, depth)
        return most


def reverse_postorder(roots: Iterable[N], follows: Mapping[N, Iterable[N]]) -> list[N]:
    """Return the nodes of a graph that are reached from roots, each before those that follow it."""
    seen: set[N] = set()
    order: list[N] = []
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(follows[root]))]
        while stack:
            node, rest = stack[-1]
            for to in rest:
                if to not in seen:
                    seen.add(to)
                    stack.append((to, iter(follows[to])))
                    break
            else:
                order.append(node)
                stack.pop()
    return order[::-1]


def _common(dominator: Mapping[int, int], number: Mapping[int, int], a: int, b: int) -> int:
    """The nearest block that dominates both."""
    while a != b:
        if number[a] < number[b]:
            b = dominator[b]
        else:
            a = dominator[a]
    return a


def _dominates(dominator: Mapping[int, int], above: int, block: int) -> bool:
    while block != above and dominator[block] != block:
        block = dominator[block]
    return block == above


def _reaching(before: Mapping[int, Sequence[int]], header: int, block: int) -> set[int]:
    found, todo = {block}, [block]
    while todo:
        node = todo.pop()
        if node == header:
            continue
        new = [b for b in before[node] if b not in found]
        found.update(new)
        todo += new
    return found
