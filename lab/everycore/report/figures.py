# SPDX-License-Identifier: MIT
"""Form a figure from the samples of one operation, and write it."""

from collections.abc import Sequence
from dataclasses import dataclass

from everycore.measure.processes import of_each
from everycore.model import stats
from everycore.model.protocol import Bench
from everycore.model.stats import Figure

NOISY = "~"
UNCERTAIN = (
    f"{NOISY} an interval wider than {stats.WIDEST:.0%}, fewer than {stats.FEWEST}"
    " processes, or a core that something else used in all of them"
)


@dataclass(frozen=True, slots=True)
class OperationFigure:
    """A table's entry for one operation."""

    cycles: Figure | None  # per message, or per call of many messages
    gigabytes_per_second: float | None
    bytes: int  # all messages of a call together
    is_noisy: bool = False

    @property
    def cycles_per_byte(self) -> float | None:
        return self.cycles.median / self.bytes if self.cycles and self.bytes else None


def operation_figure(bench: Bench) -> OperationFigure:
    total = bench.bytes * bench.messages
    ns = figure_of(bench.ns, bench.parts)
    cycles = figure_of(bench.cycles, bench.parts)
    return OperationFigure(
        cycles,
        total / ns.median if ns and ns.median and total else None,
        total,
        cycles is not None and (cycles.is_uncertain or bench.crowded),
    )


def figure_of(samples: Sequence[float], parts: Sequence[int]) -> Figure | None:
    """The median of process medians; None without samples."""
    return stats.figure(of_each(samples, parts))


def number(value: float) -> str:
    """Three figures, which is more than a shared machine repeats."""
    if value < 1:
        return f"{value:.3f}"
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
