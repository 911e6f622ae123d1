# SPDX-License-Identifier: MIT
"""Two listings of a hot loop, side by side. Pure."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_LINES = 400  # of a listing; what is longer is cut, and says so
SAME, OTHER, GONE, NEW = " ", "~", "-", "+"  # of a line before: as it is, changed, not there after


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the two, or of one of them."""

    mark: str
    before: str
    after: str


def side_by_side(before: Sequence[str], after: Sequence[str]) -> list[Row]:
    """Aligned by mnemonics: compilers hand out registers anew each time."""
    left, right = _cut(before), _cut(after)
    matcher = difflib.SequenceMatcher(
        None, [mnemonic(line) for line in left], [mnemonic(line) for line in right], autojunk=False
    )
    rows: list[Row] = []
    for _, a, a_end, b, b_end in matcher.get_opcodes():
        for i in range(max(a_end - a, b_end - b)):
            one = left[a + i] if a + i < a_end else None
            other = right[b + i] if b + i < b_end else None
            rows.append(Row(_mark(one, other), one or "", other or ""))
    return rows


def mnemonic(line: str) -> str:
    """Of a line of assembly, with or without an address before it."""
    words = re.sub(r"^\s*(?:0x)?[0-9a-fA-F]+:\s*", "", line).split()
    return words[0] if words else ""


def is_heavy(line: str) -> bool:
    """Whether the line is of those that make table look-ups dear: gathers, moves between files."""
    word = mnemonic(line)
    return bool(re.match(r"v?p?gather|v?pextr|v?pinsr", word)) or "gather" in word


def _mark(one: str | None, other: str | None) -> str:
    if one is None:
        return NEW
    if other is None:
        return GONE
    if one.split() == other.split():
        return SAME
    return OTHER


def _cut(lines: Sequence[str]) -> list[str]:
    found = [line.rstrip().expandtabs(8) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        found.append(f"... {len(lines) - MOST_LINES} more lines")
    return found
