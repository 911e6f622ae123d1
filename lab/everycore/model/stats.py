# SPDX-License-Identifier: MIT
"""Form a figure from processes and their samples.

A program is run several times, and each process takes several samples. Samples of one process lie
close together even where processes differ: where a process was loaded, and what else ran beside it,
is the same for all of them. So a process counts once, with the median of its samples. The figure is
the median of these.

The interval of a figure lies between two of its processes. Each process is as likely above the true
median as below it, whatever the noise looks like, so the chance that the interval holds the true
median depends on the number of processes alone (the sign test; Conover, Practical nonparametric
statistics, 1999, section 3.2). All processes together hold it in 1 - 2^(1-n) of all cases. Where
that is more than 95 %, as many of the lowest and of the highest are left out as 95 % allow.
"""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb

FEWEST = 3  # processes: an interval over fewer says nothing
LEVEL = 0.95  # of an interval, if there are enough processes: six
FEWEST_OF_RATIO = 4  # processes of each side, with which an interval of a ratio has that level
WIDEST = 0.05  # of an interval, as a share of the figure: what is wider is uncertain
ALARM = 0.05  # the most that the chance of a false alarm may be of one comparison

median = statistics.median


@dataclass(frozen=True, slots=True)
class Figure:
    """The median of process medians, and its interval."""

    median: float
    low: float
    high: float
    processes: int

    @property
    def width(self) -> float:
        """The width of the interval, as a share of the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @property
    def is_uncertain(self) -> bool:
        """Another run may well tell another figure: what `~` means in every table."""
        return self.processes < FEWEST or self.width > WIDEST

    @property
    def level(self) -> float:
        """The chance that an interval like this one holds the true median."""
        return interval_level(self.processes, interval_rank(self.processes))

    @property
    def interval(self) -> str:
        """Words for the interval: "min to max of 5 processes, 94 %"."""
        return interval_words(self.processes)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The ratio of two medians, and its interval."""

    ratio: float
    low: float
    high: float
    level: float  # of the interval, at least


def figure(processes: Iterable[Sequence[float]]) -> Figure | None:
    """Return the figure of the samples of each process; None without samples."""
    medians = sorted(median(samples) for samples in processes if samples)
    if not medians:
        return None
    low, high = _between(medians, interval_rank(len(medians)))
    return Figure(median(medians), low, high, len(medians))


def ratio_of_medians(before: Sequence[float], after: Sequence[float]) -> Ratio:
    """The ratio after / before, where each side has one value for each process.

    The interval lies between two of the ratios of all pairs of a process of each side. If one
    program takes a fixed multiple of the time of the other, the chance that so few ratios are above
    it depends on the numbers of processes alone (Hodges, Lehmann 1963; Mann, Whitney 1947).
    """
    ratio = median(after) / median(before)
    rank, level = _rank_of_pairs(len(before), len(after))
    low, high = _between(sorted(b / a for a in before for b in after), rank)
    return Ratio(ratio, min(low, ratio), max(high, ratio), level)


def is_above(mine: Figure, other: Figure, factor: float = 1.0, alarm: float = ALARM) -> bool:
    """Whether one figure is more than `factor` times the other: their intervals lie so far apart.

    If it is not, this says so with a chance of at most `alarm`: two figures of too few processes
    for that are never told apart.
    """
    is_known = chance_apart(mine.processes, other.processes) <= alarm
    return is_known and mine.low > factor * other.high


def _between(ordered: Sequence[float], rank: int) -> tuple[float, float]:
    return ordered[rank - 1], ordered[-rank]


@lru_cache(maxsize=256)
def interval_rank(count: int) -> int:
    """Return the number of the lowest of `count` ordered values that is in the interval, from 1."""
    rank = 1
    while 2 * (rank + 1) <= count and interval_level(count, rank + 1) >= LEVEL:
        rank += 1
    return rank


def interval_level(count: int, rank: int = 1) -> float:
    """Return the chance that the true median is between the values of a rank from both ends.

    `rank` 1: it is between the lowest and the highest.
    """
    return 1 - 2 * sum(comb(count, below) for below in range(rank)) / (1 << count)


@lru_cache(maxsize=64)
def _rank_of_pairs(first: int, second: int) -> tuple[int, float]:
    """Return the rank of the ends of an interval among the ratios of all pairs, and its level.

    It is the highest with the level, or 1 where none has it.
    """
    orders = _orders_by_pairs(first, second)
    total = comb(first + second, first)
    outside, rank = orders[0], 1
    while rank < len(orders) // 2 and 2 * (outside + orders[rank]) <= (1 - LEVEL) * total:
        outside += orders[rank]
        rank += 1
    return rank, 1 - 2 * outside / total


def _orders_by_pairs(first: int, second: int) -> list[int]:
    """Return in how many orders of two sides so many pairs have the one of the first side above.

    They are the coefficients of the Gaussian binomial: the product of (1 - x^(second + i)) by that
    of (1 - x^i), for i from 1 to `first`.
    """
    most = first * second
    found = [1] + [0] * most
    for i in range(1, first + 1):
        for power in range(most, second + i - 1, -1):
            found[power] -= found[power - second - i]
        for power in range(i, most + 1):
            found[power] += found[power - i]
    return found


def interval_words(processes: int) -> str:
    """Say what the interval of so many processes is, and how often one holds the true median."""
    if processes < 2:
        return "one process"
    rank = interval_rank(processes)
    level = f"{processes} processes, {100 * interval_level(processes, rank):.0f} %"
    if rank == 1:
        return f"min to max of {level}"
    return f"{_ordinal(rank)} to {_ordinal(processes + 1 - rank)} of {level}"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 // 10 != 1 else 0, "th")
    return f"{number}{ending}"


@lru_cache(maxsize=1024)
def chance_apart(first: int, second: int) -> float:
    """Return the chance that intervals of equal programs lie apart, one named side above the other.

    The numbers of processes alone decide it: all orders in which they may lie are equally likely.
    """
    rank, most = interval_rank(first), interval_rank(second)
    orders = 0
    for above in range(most):  # values of the second side above the lowest end of the first
        below = second - above
        # The end itself has a place: rank - 1 of its own side are below it.
        orders += comb(rank - 1 + below, below) * comb(first - rank + above, above)
    return orders / comb(first + second, first)
