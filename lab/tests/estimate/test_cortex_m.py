# SPDX-License-Identifier: MIT
"""Documented cycles of a Cortex-M4, counted by hand."""

import pytest

from everycore.environment.errors import EverycoreError
from everycore.estimate.cortex_m import cycles


def cost(text: str, taken: int = -1) -> float:
    lines = [line.strip() for line in text.split(";")]
    return cycles(lines, [i == taken for i in range(len(lines))])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eor.w r0, r1, r2, ror #8", 1),
        ("ldr r0, [r1]", 2),
        ("ldr r0, [r1]; ldr.w r2, [r1, #4]; str r2, [r3]", 4),  # 2 + 1 + 1
        ("ldr r0, [r1]; adds r0, #1; ldr r2, [r1]", 5),  # no pair any more
        ("ldm r0, {r1, r2, r3, r4}", 5),
        ("push.w {r4-r11, lr}", 10),  # a range, as GNU objdump writes it
        ("ldrd r0, r1, [r2]", 3),
        ("umull r0, r1, r2, r3", 1),
    ],
)
def test_cycles(text: str, expected: float) -> None:
    assert cost(text) == expected


def test_a_branch_costs_its_refill_if_it_is_taken() -> None:
    assert cost("bne target") == 1
    assert cost("bne target", taken=0) == 3
    assert cost("pop {r4, pc}", taken=0) == 5
    assert cost("bic r0, r1, r2", taken=0) == 1  # the end of a trace, no branch


def test_vectors_are_refused() -> None:
    with pytest.raises(EverycoreError, match=r"no 'vadd\.i32 q0, q1, q2'"):
        cost("vadd.i32 q0, q1, q2")
    with pytest.raises(EverycoreError, match="has no"):
        cost("vldr d0, [r1]")
