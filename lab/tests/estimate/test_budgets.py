# SPDX-License-Identifier: MIT
"""Counts against budgets."""

from pathlib import Path

import pytest

from everycore.environment.errors import EverycoreError
from everycore.estimate.budgets import (
    WITHOUT,
    Budgets,
    assembly,
    is_comparable,
    joined,
    judge,
    load,
    not_comparable,
    points_of,
    save,
    stale,
    summary,
)
from everycore.model.domain import RegistryLine

NAME = "aes a64_x ctr 512"
OURS = Budgets("gcc 12.2.0", ("-O2",), {NAME: 10000})


@pytest.mark.parametrize(
    ("count", "result"), [(9000, "pass"), (10100, "pass"), (10101, "fail"), (20000, "fail")]
)
def test_more_than_one_percent_above_fails(count: int, result: str) -> None:
    (found,) = judge(OURS, {NAME: count})
    assert found.result == result
    assert f"{count} instructions, budget 10000" in found.detail
    assert ("tools/budgets --write" in found.detail) == (result == "fail")


def test_another_compiler_is_a_skip_but_not_for_assembly() -> None:
    line = RegistryLine("aes", "a64_x", "A64_NEON", "CT", "ANY")
    assert is_comparable(OURS, line, "gcc 12.2.0", ())
    assert not_comparable(OURS, "gcc 12.2.0", [line], ()) == []
    assert not is_comparable(OURS, line, "gcc 14.2.0", ())
    found = not_comparable(OURS, "gcc 14.2.0", [line], ())
    assert [judgement.point for judgement in found] == points_of(line)
    assert {judgement.result for judgement in found} == {"skip"}
    assert found[0].detail == "budgets are those of gcc 12.2.0, not gcc 14.2.0"
    assert not_comparable(OURS, "gcc 14.2.0", [line], {"aes a64_x"}) == []


def test_assembly_is_what_has_a_file_of_it(tmp_path: Path) -> None:
    lines = [RegistryLine("aes", name, "A64_NEON", "CT", "ANY") for name in ("a64_x", "a64_y")]
    (tmp_path / "src/aes").mkdir(parents=True)
    (tmp_path / "src/aes/a64_x_asm.S").write_text("")
    assert assembly(tmp_path, lines) == {"aes a64_x"}


def test_a_kernel_without_a_budget_is_named_with_the_remedy() -> None:
    (found,) = judge(OURS, {"aes a64_new ctr 512": 5})
    assert found.result == WITHOUT
    assert found.detail == "a64_new has no budget: tools/budgets --write --kernel a64_new"


def test_budgets_of_kernels_that_are_gone_fail() -> None:
    line = RegistryLine("aes", "a64_x", "A64_NEON", "CT", "ANY")
    assert NAME in points_of(line)
    assert stale(OURS, [line]) == []
    (found,) = stale(OURS, [])
    assert (found.point, found.result) == (NAME, "fail")


def test_a_summary_is_as_our_test_programs_end() -> None:
    found = judge(OURS, {NAME: 1, "aes a64_new ctr 512": 5})
    assert summary(found).endswith("skipped")
    assert summary(found).startswith("1 passed, ")


def test_budgets_survive_being_written(tmp_path: Path) -> None:
    (tmp_path / "tools/costs").mkdir(parents=True)
    with pytest.raises(EverycoreError, match=r"cannot read tools/costs/budgets\.json"):
        load(tmp_path)
    save(tmp_path, OURS)
    assert load(tmp_path) == OURS
    (tmp_path / "tools/costs/budgets.json").write_text('{"counts": []}')
    with pytest.raises(EverycoreError, match=r"budgets\.json"):
        load(tmp_path)


def test_budgets_in_one_file_are_of_one_compiler() -> None:
    lines = [RegistryLine("aes", name, "A64_NEON", "CT", "ANY") for name in ("a64_x", "a64_y")]
    new = {"aes a64_y ctr 512": 7}
    same = joined(OURS, Budgets("gcc 12.2.0", ("-O2",), new), lines)
    assert same.counts == {NAME: 10000, **new}
    assert joined(OURS, Budgets("gcc 12.2.0", ("-O2",), new), lines[1:]).counts == new
    other = Budgets("gcc 14.2.0", ("-O2",), new)
    with pytest.raises(EverycoreError, match=r"those of gcc 12\.2\.0, not gcc 14\.2\.0"):
        joined(OURS, other, lines)
    assert joined(OURS, other, lines, {"aes a64_y"}).compiler == "gcc 12.2.0"
