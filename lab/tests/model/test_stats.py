# SPDX-License-Identifier: MIT
import random
from dataclasses import replace

import pytest

from everycore.model import stats


def test_a_figure_is_the_median_of_process_medians() -> None:
    found = stats.figure([(1, 9, 9), (5, 5, 50), (), (2, 3, 4)])
    assert found
    assert (found.median, found.processes) == (5, 3)
    assert (found.low, found.high) == (3, 9)
    assert stats.figure([(), ()]) is None


def test_samples_of_one_process_do_not_make_a_figure_sure() -> None:
    """Many samples agree within each process, and the processes do not."""
    found = stats.figure([(value,) * 1000 for value in (100, 110, 120, 130, 140)])
    assert found
    assert found.is_uncertain
    assert found.low <= 110
    assert found.high >= 130


def test_uncertain_is_a_wide_interval_or_too_few_processes() -> None:
    for values, uncertain in (
        ((100, 100.1, 100.2), False),
        ((100, 100.1), True),
        ((100, 101, 100, 106, 107), True),
        ((100, 101, 100, 101, 100, 101, 100, 101, 250), False),  # one was disturbed
    ):
        found = stats.figure([(value,) for value in values])
        assert found
        assert found.is_uncertain is uncertain, values


def test_an_interval_says_between_which_processes_it_is_and_how_often_it_is_right() -> None:
    said = [stats.interval_words(count) for count in (1, 2, 3, 4, 5, 6, 8, 9, 16, 30)]
    assert said == [
        "one process",
        "min to max of 2 processes, 50 %",
        "min to max of 3 processes, 75 %",
        "min to max of 4 processes, 88 %",
        "min to max of 5 processes, 94 %",
        "min to max of 6 processes, 97 %",
        "min to max of 8 processes, 99 %",
        "2nd to 8th of 9 processes, 96 %",
        "4th to 13th of 16 processes, 98 %",
        "10th to 21st of 30 processes, 96 %",
    ]


def test_an_interval_has_95_percent_from_six_processes_on() -> None:
    for count in range(1, 100):
        rank = stats.interval_rank(count)
        if count >= 6:
            assert stats.interval_level(count, rank) >= stats.LEVEL > 0.94
            assert stats.interval_level(count, rank + 1) < stats.LEVEL
        else:
            assert rank == 1
            assert stats.interval_level(count) == 1 - 2 ** (1 - count)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 9, 12])
def test_an_interval_holds_the_true_median_as_often_as_it_says(count: int) -> None:
    """Whatever the noise: most processes are disturbed a little, some by much."""
    source = random.Random(count)
    level = stats.interval_level(count, stats.interval_rank(count))
    inside = 0
    for _ in range(1000):
        found = stats.figure([(source.lognormvariate(0, 0.5),) for _ in range(count)])
        assert found
        assert found.level == level
        inside += found.low <= 1 <= found.high
    assert inside / 1000 == pytest.approx(level, abs=4 * (level * (1 - level) / 1000) ** 0.5)


def test_the_interval_of_a_ratio_holds_it_as_often_as_it_says() -> None:
    """Both sides are disturbed alike, and the second takes 1.1 times as long."""
    for first, second in ((4, 4), (5, 6), (9, 9)):
        source = random.Random(first)
        inside = 0
        for _ in range(500):
            before, after = (
                [factor * source.lognormvariate(0, 0.1) for _ in range(count)]
                for factor, count in ((1, first), (1.1, second))
            )
            found = stats.ratio_of_medians(before, after)
            assert found.level >= stats.LEVEL
            assert found.low <= found.ratio <= found.high
            inside += found.low <= 1.1 <= found.high
        assert inside / 500 >= found.level - 0.03


def test_pairs_are_ordered_in_as_many_ways_as_there_are() -> None:
    """With two and three processes: of all ten orders, those with so many pairs."""
    assert stats._orders_by_pairs(2, 3) == [1, 1, 2, 2, 2, 1, 1]
    assert stats._rank_of_pairs(12, 12)[0] == 38  # critical value 37: tables of the U test
    assert stats._rank_of_pairs(3, 3) == pytest.approx((1, 0.9))


def test_a_ratio_has_an_interval() -> None:
    found = stats.ratio_of_medians([100, 101, 99, 100, 102], [110, 111, 109, 110, 112])
    assert found.ratio == pytest.approx(1.10)
    assert 1.06 < found.low < 1.10 < found.high < 1.14


def test_intervals_of_equal_programs_lie_apart_as_often_as_is_computed() -> None:
    assert stats.chance_apart(3, 3) == 1 / 20
    assert stats.chance_apart(5, 5) == 1 / 252
    assert stats.chance_apart(1, 1) == 1 / 2
    source = random.Random(2)
    for first, second in ((3, 3), (2, 5), (9, 9), (12, 4)):
        apart = 0
        for _ in range(2000):
            first_figure, second_figure = (
                stats.figure([(source.lognormvariate(0, 1),) for _ in range(count)])
                for count in (first, second)
            )
            assert first_figure
            assert second_figure
            apart += first_figure.low > second_figure.high
        chance = stats.chance_apart(first, second)
        assert apart / 2000 == pytest.approx(chance, abs=4 * (chance / 2000) ** 0.5)


def test_two_processes_are_never_above_two_others() -> None:
    few, more = (stats.figure([(value,) for value in values]) for values in ((2, 2), (1,) * 5))
    assert few
    assert more
    assert not stats.is_above(few, replace(more, processes=2))
    assert stats.is_above(few, more, alarm=0.05)
    assert not stats.is_above(few, more, alarm=0.01)
    assert not stats.is_above(few, more, factor=2)
