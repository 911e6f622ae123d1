# SPDX-License-Identifier: MIT
"""The hot loop of a function as text, and two of them side by side, for a report to compilers."""

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from everycore.binary.code import Examined, Function, Refers
from everycore.binary.disassembly import Flow, Instruction
from everycore.model.cells import Listing

MOST_LINES = 400  # of a listing
SHOWN_LINES = 60  # side by side
CONTEXT = 3  # equal lines around those that differ
WIDTH = 120
# Signs of a pair of lines: equal; one instruction with other operands; others; in one listing
# alone.
SAME, ALIKE, OTHER, GONE, NEW = " ", "~", "|", "<", ">"

_HOLE_X86 = re.compile(
    r"-?(?:0x[0-9a-f]+|\d+)(?=\(%[re]ip\))|(?<![\w$%-])-?(?:0x[0-9a-f]+|\d+)(?=\()"
)
_NUMBER = r"-?(?:0x[0-9a-f]+|\d+)"
_ABSOLUTE_X86 = re.compile(rf"(?P<dollar>\$){_NUMBER}|(?<![\w%$(-]){_NUMBER}(?=,|$)")
_TARGET = re.compile(r"#?-?(?:0x[0-9a-f]+|\d+)$")


def hot_loop(
    examined: Examined, counts: Mapping[int, int] | None = None, executed: int = 0
) -> Listing:
    """Return the hot loop of the hot function; all of it, if most work is in no loop.

    `counts`: how often each of its places was executed, under a tracer; `executed`: of how many.
    """
    function = examined.hot
    if function is None:
        return Listing("", ())
    numbers = _hot_numbers(function, counts)
    lines = list(_lines(function, numbers))
    if len(lines) > MOST_LINES:
        more = sum(not line.endswith(":") for line in lines[MOST_LINES:])
        lines = [*lines[:MOST_LINES], f"    ... {more} more instructions"]
    every = executed or sum(examined.executed.values())
    if not every:
        return Listing(function.name, tuple(lines))
    own = examined.executed.get(function.name, 0)
    if counts:
        own = sum(counts.get(function.code[i].place, 0) for i in numbers)
    return Listing(function.name, tuple(lines), own / every, every)


def _hot_numbers(function: Function, counts: Mapping[int, int] | None) -> list[int]:
    graph = function.graph
    inner = {block: frozenset[int]() for block in graph.starts}  # the smallest loop around each
    for loop in graph.loops:  # outer ones come first
        for block in loop.blocks:
            inner[block] = loop.blocks
    work: dict[frozenset[int], int] = {}
    for block in graph.starts:
        if counts:
            size = sum(
                counts.get(function.code[i].place, 0) for i in range(block, graph.ends[block])
            )
        else:
            size = (graph.ends[block] - block) * graph.times(block)
        work[inner[block]] = work.get(inner[block], 0) + size
    best = max(work, key=lambda blocks: work[blocks], default=frozenset[int]())
    return graph.numbers(best) if best else list(range(len(function.code)))


def _lines(function: Function, numbers: Sequence[int]) -> Iterator[str]:
    inside: set[int] = set()
    for i, instruction in enumerate(function.code):
        place = _place(function, i, instruction)
        if place is not None:
            inside.add(place)
    labels = {place: f".L{n}" for n, place in enumerate(sorted(inside), 1)}
    last = None
    for i in numbers:
        instruction = function.code[i]
        if last is not None and i != last + 1:
            yield "    ..."
        last = i
        if instruction.place in labels:
            yield f"{labels[instruction.place]}:"
        yield f"    {_text(function, i, instruction, labels)}"


def _place(function: Function, i: int, instruction: Instruction) -> int | None:
    """Return the target of a jump within the function."""
    if instruction.flow not in (Flow.JUMP, Flow.BRANCH):
        return None
    refers = function.refers.get(i, ())
    if not refers or refers[-1].file is not function.file:
        return None
    return refers[-1].place if refers[-1].place in function.numbers else None


def _text(function: Function, i: int, instruction: Instruction, labels: Mapping[int, str]) -> str:
    operands, refers = instruction.operands, list(function.refers.get(i, ()))
    place = _place(function, i, instruction)
    if place is not None:
        operands = _TARGET.sub(labels[place], operands)
    elif refers and instruction.target is not None:
        operands = _TARGET.sub(_name(refers[-1]), operands)
    elif refers and function.file.machine in ("x86-64", "i386"):
        for one_refers in refers:
            name = _name(one_refers)
            replaced = _HOLE_X86.sub(name, operands, count=1)
            if replaced == operands:
                replaced = _absolute(name, operands)
            operands = replaced
    elif refers and i in function.holes:
        operands += f" ; {', '.join(dict.fromkeys(_name(one_refers) for one_refers in refers))}"
    return f"{instruction.mnemonic:<10} {operands}".rstrip()


def _absolute(name: str, operands: str) -> str:
    """An absolute address, or an immediate, that the linker fills."""
    match = _ABSOLUTE_X86.search(operands)
    if not match:
        return operands
    return f"{operands[: match.start()]}{match['dollar'] or ''}{name}{operands[match.end() :]}"


def _name(refers: Refers) -> str:
    if refers.file is None:
        return _plus(refers.name, refers.place)
    file, place = refers.file, refers.place
    if symbol := file.function_at(place) or file.object_at(place):
        return _plus(symbol.name, place - symbol.start)
    section = file.section_at(place)
    return _plus(section.name, place - section.start) if section else f"{place:#x}"


def _plus(name: str, offset: int) -> str:
    return f"{name}{'+' if offset > 0 else '-'}{abs(offset):#x}" if offset else name


def side_by_side(
    before: Listing, after: Listing, *, width: int = WIDTH, most: int = SHOWN_LINES
) -> str:
    """Equal parts beside each other; | between lines that differ, < and > where one has none.

    Long equal runs are left out, and what is behind `most` lines.
    """
    column = (width - 3) // 2
    rows = aligned(before.lines, after.lines)
    shown = list(_near(rows))
    head = f"{_cut(_title(before), column):<{column}}   {_cut(_title(after), column)}".rstrip()
    text = [head, "-" * width]
    for row in shown[:most]:
        if row is None:
            text.append("...")
            continue
        left, right = _cut(row.before, column), _cut(row.after, column)
        text.append(f"{left:<{column}} {row.mark} {right}".rstrip())
    if len(shown) > most:
        text.append(f"... {len(shown) - most} more lines")
    return "\n".join(text)


def _title(listing: Listing) -> str:
    if listing.share is None:
        return listing.symbol
    executed = f"{listing.executed:,} " if listing.executed else ""
    return f"{listing.symbol}: {listing.share:.0%} of {executed}executed instructions"


@dataclass(frozen=True, slots=True)
class AlignedLines:
    """One line of two listings, or of one of them."""

    mark: str
    before: str
    after: str


def aligned(before: Sequence[str], after: Sequence[str]) -> list[AlignedLines]:
    """By what instructions do, for compilers hand out registers anew each time."""
    matcher = difflib.SequenceMatcher(
        None,
        [mnemonic(line) for line in before],
        [mnemonic(line) for line in after],
        autojunk=False,
    )
    rows: list[AlignedLines] = []
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        for a, b in zip_longest(before[i:i_end], after[j:j_end]):
            if a is None:
                rows.append(AlignedLines(NEW, "", b))
            elif b is None:
                rows.append(AlignedLines(GONE, a, ""))
            else:
                alike = ALIKE if tag == "equal" else OTHER
                rows.append(AlignedLines(SAME if a.split() == b.split() else alike, a, b))
    return rows


def mnemonic(line: str) -> str:
    """Return the mnemonic of a line of assembly; of a label that it is one."""
    text = line.strip()
    return ":" if text.endswith(":") else text.split(" ", 1)[0]


def _near(rows: Sequence[AlignedLines]) -> Iterator[AlignedLines | None]:
    """Rows that differ, with some around them; None: some were left out."""
    near: set[int] = set()
    for i, row in enumerate(rows):
        if row.mark not in (SAME, ALIKE):
            near.update(range(i - CONTEXT, i + CONTEXT + 1))
    kept = [i for i in range(len(rows)) if i in near] or list(range(len(rows)))
    last = -1
    for i in kept:
        if i > last + 1:
            yield None
        last = i
        yield rows[i]
    if last + 1 < len(rows):
        yield None


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
