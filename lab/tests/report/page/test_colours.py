# SPDX-License-Identifier: MIT
"""Steps of heat can be told apart and read, on light and on dark."""

from itertools import pairwise

import pytest

from everycore.report.page import colours


@pytest.mark.parametrize("palette", [colours.LIGHT, colours.DARK])
def test_every_step_can_be_read(palette: tuple[str, ...]) -> None:
    assert len(palette) == len(colours.RATIO_STEPS) + 1
    for ground in palette:
        assert colours.contrast(colours.ink(ground), ground) >= 4.5, ground


@pytest.mark.parametrize(
    ("palette", "ground"),
    [(colours.LIGHT, colours.GROUND_LIGHT), (colours.DARK, colours.GROUND_DARK)],
)
def test_lightness_alone_tells_steps_apart(palette: tuple[str, ...], ground: str) -> None:
    away = [colours.contrast(colour, ground) for colour in palette]
    assert all(two > pair * 1.04 for pair, two in pairwise(away)), away


def test_lines_stand_out_on_both_grounds() -> None:
    for light, dark in zip(colours.LINES_LIGHT, colours.LINES_DARK, strict=True):
        assert colours.contrast(light, colours.GROUND_LIGHT) >= 4.5
        assert colours.contrast(dark, colours.GROUND_DARK) >= 4.5


def test_a_bound_belongs_to_the_step_below_it() -> None:
    assert [colours.step(value) for value in (1.0, 1.03, 1.031, 5.0, 5.1)] == [0, 0, 1, 6, 7]


def test_contrast_is_that_of_the_standard() -> None:
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colours.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
