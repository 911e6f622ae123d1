# SPDX-License-Identifier: MIT
"""Find the figures that differ between two programs, by a permutation test.

Each figure has one value for each process. The processes ran in rounds, in each of which both
programs A and B ran once, in an order that a coin decided. If the programs are equal, the labels A
and B could be exchanged in any rounds: the coins would have done so as well. The test exchanges
them in all ways, or in a random sample of these; with each it computes the statistic of every
figure, and keeps the largest and the smallest (max-T: Westfall and Young, Resampling-based multiple
testing, 1993). A figure has changed if hardly any of these labelings gives any figure a statistic
as large as its own. It is then left out, and the others are tested among themselves, until no more
are found (step-down): with all labels exchanged, a figure that is much faster now would be much
slower, and few rounds have few labelings, so that it would hide what is slower. So the level is the
chance of one false alarm among all figures together, however they depend on one another, and
whatever the machine did meanwhile.

The statistic compares means of the fastest processes: another program on the core makes a process
slower, by much and now and then, and the fastest 60 % are free of that. The very fastest of each
side are left out: another thread of the core can slow the chains of additions by which cycles are
counted and not the program, and then the program seems up to 40 % faster than it is.
"""

import math
import random
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from everycore.model import stats

Verdict = Literal["slower", "faster", "unchanged"]
LEVEL = 0.0025  # chance of a false alarm in one direction, of all figures together
FEWEST = 9  # rounds: the coins of fewer fall in less than 1 / LEVEL ways, and nothing is an alarm
LABELINGS = 2000
FASTEST = 0.6  # the share of a side's processes that the statistic takes,
TOO_FAST = 1 / 16  # but for these: their cycles may be miscounted
FLOOR = 0.003  # added to the scale of a figure: processes of one program hardly agree better

Labels = Sequence[bool]  # by process, two of a round side by side: whether it is of B


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two programs."""

    before: stats.Figure  # of A
    after: stats.Figure  # of B
    ratio: float  # after / before: above 1, B is slower
    low: float  # the interval of the ratio
    high: float
    level: float  # of the interval, at least
    p_slower: float  # chance of a statistic like this one, or larger, for any figure
    p_faster: float
    verdict: Verdict


def compare(
    figures: Sequence[Sequence[float]], labels: Labels, threshold: float, seed: int = 1
) -> list[Change]:
    """Each figure's change; `figures` has the values of each by process, all above zero.

    `threshold`: 0.01 is 1 %, and smaller changes of the medians have no verdict.
    """
    drawn = labelings(labels, seed)
    prepared = [_Prepared.of(values) for values in figures]
    chances = step_down(
        [figure.statistic(labels) for figure in prepared],
        [array("d", (figure.statistic(other) for other in drawn)) for figure in prepared],
    )
    found = []
    for values, (slower, faster) in zip(figures, chances, strict=True):
        before = [value for value, is_after in zip(values, labels, strict=True) if not is_after]
        after = [value for value, is_after in zip(values, labels, strict=True) if is_after]
        found_ratio = stats.ratio_of_medians(before, after)
        ratio = found_ratio.ratio
        verdict: Verdict = "unchanged"
        if slower <= LEVEL and ratio > 1 + threshold:
            verdict = "slower"
        elif faster <= LEVEL and ratio < 1 / (1 + threshold):
            verdict = "faster"
        first, second = (stats.figure([(v,) for v in side]) for side in (before, after))
        assert first
        assert second
        interval = found_ratio.low, found_ratio.high, found_ratio.level
        found.append(Change(first, second, ratio, *interval, slower, faster, verdict))
    return found


def labelings(labels: Labels, seed: int) -> list[Labels]:
    """The labels themselves, and those with A and B exchanged in some rounds.

    All there are, or a random sample.
    """
    rounds = len(labels) // 2
    if 2**rounds <= LABELINGS:
        return [_exchanged(labels, coins) for coins in product((False, True), repeat=rounds)]
    source = random.Random(seed)
    coins = ([source.random() < 0.5 for _ in range(rounds)] for _ in range(LABELINGS - 1))
    return [labels, *(_exchanged(labels, coin) for coin in coins)]


def _exchanged(labels: Labels, coins: Sequence[bool]) -> Labels:
    return [label != coins[i // 2] for i, label in enumerate(labels)]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The logarithms of a figure's values, and its processes from the fastest to the slowest."""

    logs: tuple[float, ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> "_Prepared":
        middle = math.log(stats.median(values))  # near zero, variances lose no digits
        logs = tuple(math.log(value) - middle for value in values)
        return cls(logs, tuple(sorted(range(len(logs)), key=logs.__getitem__)))

    def statistic(self, labels: Labels) -> float:
        """Difference of the means of the fastest processes, by the scale of both.

        It adds up the fastest of each side in one walk, but for the very first.
        """
        skip_a = skip_b = too_fast(len(labels) // 2)
        most = left_a = left_b = fastest(len(labels) // 2) - skip_a
        sum_a = sum_b = squares_a = squares_b = 0.0
        logs = self.logs
        for i in self.order:
            value = logs[i]
            if labels[i]:
                if skip_b:
                    skip_b -= 1
                elif left_b:
                    left_b -= 1
                    sum_b += value
                    squares_b += value * value
            elif skip_a:
                skip_a -= 1
            elif left_a:
                left_a -= 1
                sum_a += value
                squares_a += value * value
        mean_a, mean_b = sum_a / most, sum_b / most
        variance = (squares_a + squares_b) / most - mean_a * mean_a - mean_b * mean_b
        return (mean_b - mean_a) / math.sqrt(max(variance, 0.0) + FLOOR * FLOOR)


def fastest(processes: int) -> int:
    """How many of a side's processes are its fastest ones."""
    return max(1, round(FASTEST * processes))


def too_fast(processes: int) -> int:
    """How many of the fastest are left out.

    None of fewer than 16: exchanging the labels of the one left out would change nothing, and with
    nine rounds no two labelings may look alike.
    """
    return int(TOO_FAST * processes)


def step_down(own: Sequence[float], drawn: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """Return the chances of a statistic as large, and as small, as its own, for each figure.

    `own`: the statistics of the labels as they were; `drawn`: by figure those of all labelings.
    """
    chances = [(1.0, 1.0)] * len(own)
    left = list(range(len(own)))
    while left:
        largest, smallest = extremes([drawn[i] for i in left])
        negative = [-value for value in smallest]
        for i in left:
            chances[i] = share_at_least(own[i], largest), share_at_least(-own[i], negative)
        rest = [i for i in left if min(chances[i]) > LEVEL]
        if len(rest) == len(left):
            break
        left = rest
    return chances


def extremes(drawn: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """For each labeling the largest and the smallest statistic of all figures."""
    return [max(labeling) for labeling in zip(*drawn, strict=True)], [
        min(labeling) for labeling in zip(*drawn, strict=True)
    ]


def share_at_least(value: float, drawn: Sequence[float]) -> float:
    """The share of the drawn statistics that reach a value, which is one of them or below one."""
    return sum(statistic >= value - 1e-12 for statistic in drawn) / len(drawn)
