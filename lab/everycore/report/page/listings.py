# SPDX-License-Identifier: MIT
"""Two listings of a hot loop, side by side."""

from collections.abc import Sequence

from everycore.binary.listing import AlignedLines, aligned

MOST_LINES = 400  # of a listing; what is longer is cut, and says so


def side_by_side(before: Sequence[str], after: Sequence[str]) -> list[AlignedLines]:
    return aligned(_cut(before), _cut(after))


def _cut(lines: Sequence[str]) -> list[str]:
    found = [line.rstrip().expandtabs(8) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        found.append(f"... {len(lines) - MOST_LINES} more lines")
    return found
