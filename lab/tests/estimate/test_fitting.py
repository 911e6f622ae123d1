# SPDX-License-Identifier: MIT
"""The fit finds what made its points, and a left-out point is not seen."""

import pytest

from everycore.estimate import inorder
from everycore.estimate.asm import decode
from everycore.estimate.fitting import START, Sample, fit
from everycore.estimate.inorder import InOrder

TRUE = InOrder(**{**START, "logic": 3, "load": 4, "aes": 1})
CHAINS = {
    "logic": "eor v0.16b, v0.16b, v1.16b",
    "load": "ldr x1, [x1]",
    "aes": "aese v0.16b, v1.16b",
}


def sample(name: str, text: str, published: float | None = None) -> Sample:
    turn = tuple(decode(line) for line in [text] * 8)
    cost = inorder.cycles(TRUE, turn, 4, 2) / 16
    return Sample(name, turn, 16, published or cost)


def test_the_parameters_that_made_the_points_are_found() -> None:
    found = fit([sample(name, text) for name, text in CHAINS.items()])
    assert {name: found.parameters[name] for name in CHAINS} == {"logic": 3, "load": 4, "aes": 1}
    assert found.parameters["pmull64"] == START["pmull64"]  # of which no point knows


def test_a_point_left_out_is_foretold_without_it() -> None:
    samples = [sample(name, text) for name, text in CHAINS.items()]
    found = fit(samples)
    # Alone with its parameter: without it the parameter stays where the fit begins.
    for point in samples:
        neutral = inorder.cycles(InOrder(**START), point.turn, 4, 2) / 16
        assert found.left_out[point.key] == pytest.approx(neutral, rel=0.05)
        assert found.models[point.key] == pytest.approx(point.published, rel=0.05)


def test_a_sample_knows_which_parameters_matter_to_it() -> None:
    assert sample("x", "ldr q0, [x1]").used == {"vector_load", "vector_load_busy"}
    assert sample("x", "tbl v0.16b, { v1.16b }, v2.16b").used == {"table"}
    four = "tbl v0.16b, { v1.16b, v2.16b, v3.16b, v4.16b }, v5.16b"
    assert sample("x", four).used == {"table4", "table4_busy"}
    assert sample("x", "add x0, x0, x1").used == frozenset()
