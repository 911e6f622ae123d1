# SPDX-License-Identifier: MIT
"""The bound of a mode on one CPU: arithmetic from measured loops.

The harness measures loops with nothing but the arithmetic that a mode cannot do without, in every
width and by every method that the CPU has. No kernel of the mode is faster than the best of them;
loads, counters, reductions and the ends of messages come on top.
"""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from everycore.environment.decoding import Record
from everycore.measure.processes import merged, of_each
from everycore.model import stats
from everycore.model.protocol import Arithmetic, Limit

LONG_BYTES = 4096  # from here on a message is longer than what any core holds in flight


@dataclass(frozen=True, slots=True)
class Bound:
    """No kernel of this mode needs fewer cycles per byte on this CPU."""

    mode: str
    key_bits: int
    cycles_per_byte: float
    source: str  # "14 vaesenc and 3 vpclmulqdq (Karatsuba) per 64 bytes, measured loop"
    dependent: bool  # the bound is latency: a chain of blocks
    crowded: bool = False  # something else used the core too, and the bound is lower than that

    def holds(self, size_bytes: int, style: str = "streamed") -> bool:
        """Short messages that are streamed overlap, so that latency does not bound them."""
        return not self.dependent or style == "fenced" or size_bytes >= LONG_BYTES


def bound(mode: str, key_bits: int, lines: Iterable[Record]) -> Bound | None:
    """The best loop of the mode among a harness's lines; None where none was measured."""
    best: Bound | None = None
    for line in merged(lines):
        if not isinstance(line, Arithmetic) or mode not in line.modes:
            continue
        cost = stats.figure(of_each(line.cycles_per_byte, line.parts))
        if cost is None or line.key_bits not in (0, key_bits):
            continue
        if best is None or cost.median < best.cycles_per_byte:
            best = Bound(mode, key_bits, cost.median, source(line), line.dependent, line.crowded)
    return best


def bounds(lines: Iterable[Record]) -> list[Bound]:
    """Return the bounds of every mode and key size that was measured."""
    loops = [line for line in merged(lines) if isinstance(line, Arithmetic)]
    wanted = dict.fromkeys((mode, loop.key_bits) for loop in loops for mode in loop.modes)
    found = [bound(mode, key_bits, loops) for mode, key_bits in wanted]
    return [limit for limit in found if limit]


def disturbance(lines: Iterable[Record]) -> float:
    """How far latencies are from whole cycles, which they are on a core that nobody shares.

    A busy neighbour slows the chain of additions, by which cycles are counted, by a few per cent:
    then all figures are too small by as much.
    """
    medians = [
        stats.figure(of_each(line.latency_cycles, line.parts))
        for line in lines
        if isinstance(line, Limit)
    ]
    known = [figure.median for figure in medians if figure]
    strays = [abs(cycles - max(1, round(cycles))) / cycles for cycles in known]
    return statistics.median(strays) if strays else 0.0


def source(line: Arithmetic) -> str:
    """Describe the work of a loop for each vector of text."""
    vectors = line.bytes * 8 // line.width_bits
    dependent = "dependent " if line.dependent else ""
    held = [
        f"{counted.count / vectors:g} {dependent}{counted.instruction}" for counted in line.holds
    ]
    method = f" ({line.method})" if line.method else ""
    return f"{' and '.join(held)}{method} per {line.width_bits // 8} bytes, measured loop"
