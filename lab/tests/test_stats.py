# SPDX-License-Identifier: MIT
import pytest

from everycore import stats
from everycore.stats import Summary


def test_quartiles_are_those_of_the_samples() -> None:
    summary = stats.summarise([5, 1, 4, 2, 3])
    assert summary == Summary(5, 2, 3, 4)
    assert summary.spread == pytest.approx(2 / 3)


def test_few_samples_are_no_trouble() -> None:
    assert stats.summarise([]) is None
    assert stats.summarise([7.0]) == Summary(1, 7, 7, 7)


def test_few_samples_change_nothing() -> None:
    many, one = Summary(9, 99, 100, 101), Summary(1, 200, 200, 200)
    assert stats.compare(many, one, 0.03).verdict == "same"
    assert stats.compare(one, many, 0.03).verdict == "same"


@pytest.mark.parametrize(
    ("after", "verdict"),
    [
        (Summary(9, 109, 110, 111), "slower"),
        (Summary(9, 89, 90, 91), "faster"),
        (Summary(9, 101, 102, 103), "same"),  # below the threshold
        (Summary(9, 100, 110, 120), "same"),  # quartiles overlap
    ],
)
def test_a_change_is_more_than_threshold_and_spread(after: Summary, verdict: str) -> None:
    change = stats.compare(Summary(9, 99, 100, 101), after, 0.03)
    assert change.verdict == verdict
    assert change.ratio == pytest.approx(after.median / 100)


def test_the_threshold_is_the_same_in_both_directions() -> None:
    one, other = Summary(9, 100, 100, 100), Summary(9, 102.9, 102.9, 102.9)
    assert stats.compare(one, other, 0.03).verdict == "same"
    assert stats.compare(other, one, 0.03).verdict == "same"
    assert stats.compare(one, other, 0.02).verdict == "slower"
    assert stats.compare(other, one, 0.02).verdict == "faster"
