# SPDX-License-Identifier: MIT
"""Derive the speed of an idle core from measurements on it.

The harness looks beside each sample how many independent additions the core does in a cycle: a
line's `width`, in thousandths. A thread of another program, or of another virtual machine, on the
same core takes its share of them.
"""

from collections.abc import Iterable, Sequence

from everycore.environment.decoding import Record
from everycore.model.protocol import Arithmetic, Bench, Limit

TOLERATED = 0.95  # of the width of a core of one's own: harness/quiet.c


def own_width(widths: Iterable[int]) -> int:
    """Return the largest width without the two largest and a twentieth of all; 0: too few are
    known.

    One that was read while the clock changed is too large.
    """
    known = sorted(width for width in widths if width > 0)
    return known[-3 - len(known) // 20] if len(known) >= 3 else 0


def widths(lines: Iterable[Record]) -> list[int]:
    """Return the widths of lines that have one."""
    found = (line.width for line in lines if isinstance(line, Bench | Limit | Arithmetic))
    return [width for width in found if width > 0]


def marked(lines: Sequence[Record]) -> list[Record]:
    """With those crowded, too, that were measured before anyone knew what the core does."""
    least = TOLERATED * own_width(widths(lines))
    return [_marked(line, least) for line in lines]


def _marked(line: Record, least: float) -> Record:
    if isinstance(line, Bench | Limit | Arithmetic) and 0 < line.width < least:
        return line.replace(crowded=True)
    return line
