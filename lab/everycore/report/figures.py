# SPDX-License-Identifier: MIT
"""What a figure is, from the samples of one operation, and how it is written. Pure."""

from dataclasses import dataclass

from everycore import stats
from everycore.protocol import Bench
from everycore.stats import Summary

NOISY = "~"
UNCERTAIN = (
    f"{NOISY} an interval wider than {stats.WIDEST:.0%}, fewer than {stats.FEWEST_PROCESSES}"
    " processes, or a core that something else used in all of them"
)
NOISY_SPREAD = 0.10  # of the quartiles, as a share of the median
NOISY_LEGEND = (
    f"{NOISY} quartiles more than {NOISY_SPREAD:.0%} apart, under {stats.FEWEST} samples,"
    " or a core that something else used too"
)
TIMING_WORDS = {"ct": "constant time", "hardened": "hardened", "vartime": "variable time"}


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table shows of one operation."""

    cycles: Summary | None  # per message, or per call of many messages
    gigabytes_per_second: float | None
    bytes: int  # all messages of a call together
    is_noisy: bool = False

    @property
    def cycles_per_byte(self) -> float | None:
        return self.cycles.median / self.bytes if self.cycles and self.bytes else None


def cell(bench: Bench) -> Cell:
    total = bench.bytes * bench.messages
    ns = stats.summarise(bench.ns)
    cycles = stats.summarise(bench.cycles)
    return Cell(
        cycles,
        total / ns.median if ns and ns.median and total else None,
        total,
        cycles is not None and is_noisy(cycles, bench.crowded),
    )


def is_noisy(figure: Summary, crowded: bool) -> bool:
    """Another run may well tell another figure: `NOISY_LEGEND`."""
    return crowded or figure.is_few or figure.spread > NOISY_SPREAD


def cipher(primitive: str) -> str:
    """Whose key a mode has: that of GCM is a key of AES."""
    return "aes" if primitive == "gcm" else primitive


def number(value: float) -> str:
    """Three figures, which is more than a shared machine repeats."""
    if value < 1:
        return f"{value:.3f}"
    if value < 10:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
