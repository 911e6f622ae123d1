# SPDX-License-Identifier: MIT
"""Medians, spreads and comparisons of raw samples. Pure."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["faster", "slower", "same"]
FEWEST = 5  # samples: quartiles of fewer say nothing about the spread


@dataclass(frozen=True, slots=True)
class Summary:
    """The middle of some samples and the quartiles around it."""

    count: int
    low: float  # first quartile
    median: float
    high: float  # third quartile

    @property
    def spread(self) -> float:
        """Distance of the quartiles as a share of the median."""
        return (self.high - self.low) / self.median if self.median else 0.0

    @property
    def is_few(self) -> bool:
        """Too few samples to know their spread."""
        return self.count < FEWEST


def summarise(samples: Sequence[float]) -> Summary | None:
    """None without samples."""
    if not samples:
        return None
    if len(samples) == 1:
        return Summary(1, samples[0], samples[0], samples[0])
    low, median, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Summary(len(samples), low, median, high)


@dataclass(frozen=True, slots=True)
class Change:
    """Two measurements of the same thing."""

    before: Summary
    after: Summary
    ratio: float  # after / before, of the medians; above 1 is slower
    verdict: Verdict


def compare(before: Summary, after: Summary, threshold: float) -> Change:
    """Changed means.

    Medians further apart than `threshold` (0.03 is 3 %), and quartiles that do not overlap. A few
    samples lie close together by chance, so they change nothing.
    """
    ratio = after.median / before.median if before.median else 1.0
    verdict: Verdict = "same"
    if before.is_few or after.is_few:
        pass
    elif ratio > 1 + threshold and after.low > before.high:
        verdict = "slower"
    elif ratio < 1 / (1 + threshold) and after.high < before.low:
        verdict = "faster"
    return Change(before, after, ratio, verdict)
