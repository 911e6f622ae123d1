# SPDX-License-Identifier: MIT
"""From executed calls to rows."""

from pathlib import Path

import pytest
from world import FakeRunner, Lab

from everycore.estimate.core_estimates import BULK, Core, Figure, Fit, Hidden, Point
from everycore.estimate.evaluate import LONG, SHORT, Evaluator, Subject, steady
from everycore.estimate.fitting import START, Refit
from everycore.estimate.models import Executed, Models

CORE = Core("here", "Here", "in-order", "", margin=0.1, parameters=dict(START))
POINT = Point("here", "x", "f", "ctr", ("ce",), 1.0, "somewhere")
SUBJECT = Subject("everycore", "a64_ce", "ctr", 128, ("ce",))
# 5 instructions once, 8 in a turn of 32 bytes: a chain of 4 AESE, 4 additions beside it.
HEAD = ["nop"] * 5
TURN = ["aese v0.16b, v1.16b", "add x0, x1, x2"] * 4
CODE = {4 * i: text for i, text in enumerate([*HEAD, *TURN, "eor3 v0.16b, v1.16b, v2.16b, v3.16b"])}


def call(n_bytes: int) -> Executed:
    turn = range(4 * len(HEAD), 4 * (len(HEAD) + len(TURN)), 4)
    return Executed((*range(0, 4 * len(HEAD), 4), *list(turn) * (n_bytes // 32)), CODE)


def evaluator(tmp_path: Path, core: Core, *fits: Fit, refits: tuple[Refit, ...] = ()) -> Evaluator:
    models = Models(Lab(FakeRunner(), tmp_path, {}).context(), None)
    return Evaluator([core], fits, [f.point for f in fits], models, {"here": refits})


def test_the_bulk_is_exact_and_its_turn_is_found() -> None:
    found = steady(call)
    assert found.per_byte == 8 / 32
    assert (found.bytes, len(found.pcs)) == (32, 8)
    assert (LONG - SHORT) % (16 * 15) == 0


def test_a_row_has_counts_kinds_and_an_estimate(tmp_path: Path) -> None:
    row = evaluator(tmp_path, CORE, Fit(POINT, 1.0)).row(SUBJECT, call, BULK)
    assert row.instructions_per_byte == 0.25
    assert row.classes["vector"] == row.classes["scalar"] == 0.125
    found = row.figures["here"]
    assert isinstance(found, Figure)
    assert found.model == pytest.approx(4 * START["aes"] / 32)
    assert found.margin == 0.1


def test_a_whole_message_counts_what_happens_once(tmp_path: Path) -> None:
    row = evaluator(tmp_path, CORE, Fit(POINT, 1.0)).row(SUBJECT, call, 64)
    assert row.instructions_per_byte == (5 + 16) / 64


def test_refits_widen_the_range_only_by_what_calibration_does_not_mend(tmp_path: Path) -> None:
    fit = Fit(POINT, 1.0)
    slower = {**START, "aes": 2 * START["aes"]}
    mended = Refit(slower, {POINT.key: 2.0})  # says the same of both
    row = evaluator(tmp_path, CORE, fit, refits=(mended,)).row(SUBJECT, call, BULK)
    found = row.figures["here"]
    assert isinstance(found, Figure)
    assert found.margin == pytest.approx(0.1)
    row = evaluator(tmp_path, CORE, fit, refits=(Refit(slower, {}),)).row(SUBJECT, call, BULK)
    found = row.figures["here"]
    assert isinstance(found, Figure)
    assert found.margin == pytest.approx(1.0)


def test_a_hidden_core_and_a_foreign_instruction_have_their_reasons(tmp_path: Path) -> None:
    hidden = Core("here", "Here", "hidden", "nobody has measured it")
    row = evaluator(tmp_path, hidden).row(SUBJECT, call, BULK)
    assert row.figures["here"] == Hidden("nobody has measured it")

    def newer(n_bytes: int) -> Executed:
        return Executed((4 * (len(CODE) - 1),) * n_bytes, CODE)

    lacking = Core("here", "Here", "in-order", "", margin=0.1, parameters=dict(START),
                   lacks=("eor3",))  # fmt: skip
    row = evaluator(tmp_path, lacking, Fit(POINT, 1.0)).row(SUBJECT, newer, BULK)
    assert row.figures["here"] == Hidden("Here has no EOR3")
