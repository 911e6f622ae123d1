# SPDX-License-Identifier: MIT
"""The in-order model on traces that can be counted by hand."""

from dataclasses import asdict

import pytest

from everycore.environment.errors import EverycoreError
from everycore.estimate.asm import decode
from everycore.estimate.inorder import InOrder, cycles, schedule

CORE = InOrder(
    logic=3, arith=2, shift=1, permute=2, aes=2, pmull8=4, pmull64=2, table=2, table4=6,
    table4_busy=4, load=3, vector_load=4, vector_load_busy=1, to_general=5, to_vector=5,
)  # fmt: skip


def cost(text: str, turns: int = 20, core: InOrder = CORE) -> float:
    """Cycles of one turn in the steady state."""
    trace = [decode(line.strip()) for line in text.split(";")]
    return cycles(core, trace, turns, warm=4)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add x0, x1, x2; add x3, x4, x5", 1),  # both in one cycle
        ("add x0, x0, x1; add x0, x0, x2", 2),  # a chain
        ("add x0, x1, x2; add x3, x4, x5; add x6, x7, x8", 1.5),
        ("eor x0, x0, x1, lsl #3", 2),  # through the shifter
        ("ldr x1, [x2]; add x3, x1, x4", 3),  # load to use; the next load goes beside the use
        ("ldr x1, [x2]; ldr x3, [x2]", 2),  # one a cycle
        ("ldr x1, [x1]", 3),  # load, use, load
        ("eor v0.16b, v0.16b, v1.16b", 3),  # a chain of vectors
        ("eor v0.16b, v1.16b, v2.16b; eor v3.16b, v1.16b, v2.16b", 2),  # one of 128 bits a cycle
        ("eor v0.8b, v1.8b, v2.8b; eor v3.8b, v1.8b, v2.8b", 1),  # two of 64
        ("eor v0.16b, v1.16b, v2.16b; add x0, x1, x2", 1),  # with an integer beside it
        ("tbl v0.16b, { v1.16b, v2.16b, v3.16b, v4.16b }, v5.16b", 4),  # busy
        ("ldp q0, q1, [x0]", 2),  # 16 bytes a cycle
        ("mov w0, v0.s[0]; mov v0.s[0], w0", 10),  # there and back
        ("b target; b target", 1),
    ],
)
def test_cycles_of_a_turn(text: str, expected: float) -> None:
    assert cost(text) == pytest.approx(expected, abs=0.06)


def test_a_schedule_tells_when_each_instruction_begins() -> None:
    texts = ("ldr x1, [x2]", "add x3, x4, x5", "add x6, x1, x7", "add x8, x9, x10")
    assert schedule(CORE, [decode(text) for text in texts]) == [0, 0, 3, 3]


def test_order_matters() -> None:
    chain = "aese v0.16b, v9.16b; aesmc v0.16b, v0.16b"
    other = chain.replace("v0", "v1")
    mixed = "aese v0.16b, v9.16b; aese v1.16b, v9.16b; aesmc v0.16b, v0.16b; aesmc v1.16b, v1.16b"
    assert cost(mixed) < cost(f"{chain}; {other}")


def test_a_parameter_that_is_absent_unknown_or_no_number_is_named() -> None:
    table = asdict(CORE)
    with pytest.raises(EverycoreError, match="wrong parameters: logic"):
        InOrder.read({k: v for k, v in table.items() if k != "logic"}, "here")
    with pytest.raises(EverycoreError, match="wrong parameters: speed"):
        InOrder.read({**table, "speed": 1}, "here")
    with pytest.raises(EverycoreError, match="'aes' is no number of cycles: 'two'"):
        InOrder.read({**table, "aes": "two"}, "here")
