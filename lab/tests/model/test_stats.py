# SPDX-License-Identifier: MIT
import random

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


def test_the_interval_has_the_median_of_the_population_in_19_of_20_cases() -> None:
    source = random.Random(1)
    inside = 0
    for _ in range(400):
        found = stats.figure([(source.gauss(100, 1),) for _ in range(12)])
        assert found
        inside += found.low <= 100 <= found.high
    assert 0.90 <= inside / 400 <= 0.99


def test_a_ratio_has_an_interval() -> None:
    low, ratio, high = stats.ratio_of_medians([100, 101, 99, 100, 102], [110, 111, 109, 110, 112])
    assert ratio == pytest.approx(1.10)
    assert 1.06 < low < 1.10 < high < 1.14
