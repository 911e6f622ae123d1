# SPDX-License-Identifier: MIT
"""The permutation test on simulated figures, and on stored processes of one program."""

import json
import math
import random
import statistics
from collections.abc import Sequence

import pytest
from world import data_text

from everycore.measure import permutation
from everycore.measure.permutation import Labels

THRESHOLD = 0.01
# Cycles of 40 processes of one program, one after the other on a busy machine.
STORED = [json.loads(line)["cycles"] for line in data_text("same_program.jsonl").splitlines()]


def in_turn(rounds: int, source: random.Random) -> list[bool]:
    """Labels of a run: both programs once a round, in random order."""
    first = [source.random() < 0.5 for _ in range(rounds)]
    return [label for is_after in first for label in (is_after, not is_after)]


def simulated(source: random.Random, figures: int, processes: int) -> list[list[float]]:
    """Processes of one program: 0.3 % of noise, and one in ten is up to half slower in all."""
    late = [source.random() * 0.5 if source.random() < 0.1 else 0.0 for _ in range(processes)]
    return [
        [1000 * math.exp(source.gauss(0, 0.003) + value * source.random()) for value in late]
        for _ in range(figures)
    ]


def slowed(values: Sequence[float], labels: Labels, factor: float) -> list[float]:
    return [v * factor if label else v for v, label in zip(values, labels, strict=True)]


def verdicts(figures: Sequence[Sequence[float]], labels: Labels, seed: int = 1) -> list[str]:
    return [change.verdict for change in permutation.compare(figures, labels, THRESHOLD, seed)]


def test_one_program_gives_an_alarm_in_one_run_of_a_hundred_at_most() -> None:
    """The level is 0.5 % in both directions: more than 3 alarms in 100 runs are unlikely."""
    source = random.Random(2)
    alarms = 0
    for _ in range(100):
        alarms += set(verdicts(simulated(source, 5, 20), in_turn(10, source))) != {"unchanged"}
    assert alarms <= 3


def test_stored_processes_of_one_program_give_at_most_10_alarms_in_1000_relabelings() -> None:
    """Without the threshold, which would forgive some."""
    source = random.Random(3)
    prepared = [permutation._Prepared.of(values[:24]) for values in STORED]
    drawn = permutation.labelings(in_turn(12, source), 1)
    relabelings = [in_turn(12, source) for _ in range(1000)]
    largest, smallest = permutation.extremes([[p.statistic(x) for x in drawn] for p in prepared])
    highest, lowest = permutation.extremes(
        [[p.statistic(x) for x in relabelings] for p in prepared]
    )
    negative = [-value for value in smallest]
    alarms = sum(
        permutation.share_at_least(pair, largest) <= permutation.LEVEL
        or permutation.share_at_least(-other, negative) <= permutation.LEVEL
        for pair, other in zip(highest, lowest, strict=True)
    )
    assert alarms <= 10


def test_a_slowdown_of_3_percent_in_one_figure_is_found_in_9_of_10_runs() -> None:
    source = random.Random(4)
    found = 0
    for seed in range(10):
        labels = in_turn(12, source)
        begin = source.randrange(len(STORED[0]) - 24 + 1)
        figures = [values[begin : begin + 24] for values in STORED[:30]]
        planted = source.randrange(len(figures))
        figures[planted] = slowed(figures[planted], labels, 1.03)
        said = verdicts(figures, labels, seed)
        found += said[planted] == "slower"
        assert "faster" not in said
    assert found >= 9


def test_directions_are_told_apart_and_others_are_left_alone() -> None:
    source = random.Random(5)
    labels = in_turn(12, source)
    figures = simulated(source, 6, 24)
    figures[1] = slowed(figures[1], labels, 1.04)
    figures[4] = slowed(figures[4], labels, 0.95)
    said = permutation.compare(figures, labels, THRESHOLD)
    words = ["unchanged", "slower", "unchanged", "unchanged", "faster", "unchanged"]
    assert [change.verdict for change in said] == words
    for change in said:
        assert change.low <= change.ratio <= change.high
    assert said[1].low > 1.02
    assert said[1].ratio == pytest.approx(1.04, abs=0.01)


def test_a_change_for_the_better_hides_none_for_the_worse() -> None:
    """With all labels exchanged, the one that is faster now would be the slowest."""
    labels = [False, True] * permutation.FEWEST
    steady = [1000.0] * len(labels)
    figures = [slowed(steady, labels, 0.5), slowed(steady, labels, 1.5)]
    assert verdicts(figures, labels) == ["faster", "slower"]


def test_a_sure_change_below_the_threshold_has_no_verdict() -> None:
    source = random.Random(6)
    labels = in_turn(12, source)
    figures = [[1000 * math.exp(source.gauss(0, 0.0005)) for _ in labels]]
    figures = [slowed(figures[0], labels, 1.02)]
    (comparison,) = permutation.compare(figures, labels, 0.03)
    assert comparison.p_slower <= permutation.LEVEL
    assert comparison.verdict == "unchanged"
    assert verdicts(figures, labels) == ["slower"]


def test_nine_rounds_suffice_and_eight_never_do() -> None:
    for rounds, expected in ((9, "slower"), (8, "unchanged")):
        labels = [False, True] * rounds
        assert verdicts([slowed([1000.0] * len(labels), labels, 2)], labels) == [expected]
    assert permutation.FEWEST == 9


def test_a_few_slow_processes_of_b_are_no_slowdown() -> None:
    labels = [False, True] * 12
    values = [1000.0] * 24
    values[1] = values[5] = values[9] = 3000
    assert verdicts([values], labels) == ["unchanged"]


def test_one_process_that_seems_too_fast_hides_no_slowdown() -> None:
    """Its cycles were miscounted: another thread of the core slowed what counts them."""
    source = random.Random(9)
    for side in (0, 1):
        labels = [False, True] * 16
        values = [3400 * math.exp(source.gauss(0, 0.003)) for _ in labels]
        values[10 + side] = 2000
        assert verdicts([values], labels) == ["unchanged"]
        assert verdicts([slowed(values, labels, 1.03)], labels) == ["slower"]


def test_the_statistic_leaves_some_processes_of_any_number() -> None:
    assert [permutation.too_fast(n) for n in (9, 15, 16, 31, 32)] == [0, 0, 1, 1, 2]
    for processes in range(1, 100):
        assert permutation.too_fast(processes) < permutation.fastest(processes)


def test_labels_are_exchanged_within_rounds_in_every_way_or_at_random() -> None:
    source = random.Random(8)
    for rounds, count in ((3, 8), (10, 1024), (12, permutation.LABELINGS)):
        labels = in_turn(rounds, source)
        drawn = permutation.labelings(labels, 1)
        assert len(drawn) == count
        assert labels in drawn
        assert all(
            labels_drawn[i] != labels_drawn[i + 1]
            for labels_drawn in drawn
            for i in range(0, len(labels), 2)
        )
        if count == 2**rounds:
            assert len(set(map(tuple, drawn))) == count


def test_the_statistic_is_that_of_its_definition() -> None:
    source = random.Random(7)
    (values,) = simulated(source, 1, 32)
    labels = in_turn(16, source)
    sides = []
    for wanted in (False, True):
        own = sorted(
            math.log(v) for v, label in zip(values, labels, strict=True) if label == wanted
        )
        sides.append(own[1:10])  # the fastest ten of 16, without the very first
    scale = math.sqrt(sum(map(statistics.pvariance, sides)) + permutation.FLOOR**2)
    expected = (statistics.fmean(sides[1]) - statistics.fmean(sides[0])) / scale
    assert permutation._Prepared.of(values).statistic(labels) == pytest.approx(expected)
