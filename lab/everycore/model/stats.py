# SPDX-License-Identifier: MIT
"""Form a figure from processes and their samples.

A program is run several times, and each process takes several samples. Samples of one process lie
close together even where processes differ: where a process was loaded, and what else ran beside it,
is the same for all of them. So a process counts once, with the median of its samples; the figure is
the median of these, and its interval is bootstrapped over processes.
"""

import random
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

FEWEST = 3  # processes: an interval over fewer says nothing
CONFIDENCE = 0.95  # of an interval
WIDEST = 0.05  # of an interval, as a share of the figure: what is wider is uncertain
RESAMPLES = 2000

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


def figure(processes: Iterable[Sequence[float]]) -> Figure | None:
    """Return the figure of the samples of each process; None without samples."""
    medians = sorted(median(samples) for samples in processes if samples)
    if not medians:
        return None
    low, high = _interval(medians, seed=1)
    return Figure(median(medians), low, high, len(medians))


def ratio_of_medians(before: Sequence[float], after: Sequence[float]) -> tuple[float, float, float]:
    """Lower end, ratio after / before of the medians, upper end; one value for each process."""
    pairs = zip(_resampled(sorted(before), 1), _resampled(sorted(after), 2), strict=True)
    low, high = _middle(sorted(b / a for a, b in pairs))
    return low, median(after) / median(before), high


def _middle(ordered: Sequence[float]) -> tuple[float, float]:
    """The ends of the middle part that has the confidence."""
    cut = int(len(ordered) * (1 - CONFIDENCE) / 2)
    return ordered[cut], ordered[-1 - cut]


def _interval(ordered: Sequence[float], seed: int) -> tuple[float, float]:
    """The ends of the middle part of medians of samples with replacement.

    Few values have few different pairs in the middle, and the pairs are sorted, not the samples.
    """
    cut = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    counted = _counted_middles(len(ordered), seed)
    pairs = sorted(((ordered[i] + ordered[j]) / 2, times) for (i, j), times in counted)
    return _value_at(pairs, cut), _value_at(pairs[::-1], cut)


def _value_at(pairs: Iterable[tuple[float, int]], number: int) -> float:
    """The value behind so many others, where each pair is a value and how often it is there."""
    for value, times in pairs:
        number -= times
        if number < 0:
            return value
    raise IndexError(number)


def _resampled(ordered: Sequence[float], seed: int) -> list[float]:
    """Medians of samples with replacement."""
    return [(ordered[i] + ordered[j]) / 2 for i, j in _middles(len(ordered), seed)]


@lru_cache(maxsize=256)
def _counted_middles(count: int, seed: int) -> tuple[tuple[tuple[int, int], int], ...]:
    """The same pairs, each once, with how often they are there."""
    return tuple(Counter(_middles(count, seed)).items())


@lru_cache(maxsize=256)
def _middles(count: int, seed: int) -> tuple[tuple[int, int], ...]:
    """Return which values of `count` ordered ones are in the middle of each sample with
    replacement.

    They depend on the number of values alone, so that all figures share them.
    """
    source = random.Random(f"{count} {seed}")
    found = []
    for _ in range(RESAMPLES):
        ranks = sorted(source.choices(range(count), k=count))
        found.append((ranks[(count - 1) // 2], ranks[count // 2]))
    return tuple(found)
