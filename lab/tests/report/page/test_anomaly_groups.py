# SPDX-License-Identifier: MIT
"""Cells of one cause are one group, and the worst comes first."""

import pytest
from report.page import matrices

from everycore.binary.listing import ALIKE, GONE, NEW, SAME
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result
from everycore.report.page import anomaly_groups, listings
from everycore.report.page.anomaly_groups import Group, Sort
from everycore.report.page.facts import Facts, Source, collect
from everycore.report.page.html import Page, render
from everycore.report.page.payload import payload


@pytest.fixture(scope="module")
def groups(facts: Facts) -> list[Group]:
    return anomaly_groups.groups(facts.facts)


def test_wrong_answers_come_first_then_leaks_then_failures(groups: list[Group]) -> None:
    sorts = [group.sort for group in groups]
    assert sorts[:4] == [Sort.WRONG, Sort.LEAK, Sort.CRASHED, Sort.TIME_LIMIT]
    assert sorts[-1] is Sort.NOT_COMPILED


def test_cells_that_one_flag_repairs_are_one_group_over_subjects(groups: list[Group]) -> None:
    (found,) = [group for group in groups if group.repair == ("-fno-slp-vectorize",)]
    assert found.where == "clang 22 to 24"
    assert len(found.cases) == 9
    assert len(found.subjects) == 3
    assert found.causes == ("64 vpgatherdd appear",)
    assert found.is_live


def test_what_newer_versions_do_not_have_is_not_live(groups: list[Group]) -> None:
    (found,) = [group for group in groups if group.where == "gcc 7"]
    assert not found.is_live
    assert found.worst.anomaly is not None
    assert found.worst.anomaly.ratio == max(anomaly_groups.severity(case) for case in found.cases)


def test_without_a_repair_the_group_says_what_appeared(groups: list[Group]) -> None:
    (found,) = [group for group in groups if group.where == "clang 9 to 12"]
    assert found.repair == ()
    assert found.causes == ("456 calls appear",)


def test_versions_beside_a_group_are_those_of_its_subjects_alone(facts: Facts) -> None:
    more = facts.facts[0].result.replace(cell=Cell("other", "f", "gcc-99", ("-O2",)))
    both = collect([*facts.sources, Source("more", matrices.head(), (more,))])
    assert any(fact.cell.toolchain == "gcc-99" for fact in both.facts)
    for group in anomaly_groups.groups(both.facts):
        assert ("gcc-99" in group.among) == ("other" in group.subjects)


def test_what_repairs_wrong_answers_is_beside_them() -> None:
    cell = Cell("mine", "sum", "gcc-12", ("-O2",))
    said = "16 bytes: the output is wrong (byte {} of 16: got {}, expected 00)"
    wrong = Result(cell, Outcome.WRONG, said.format(3, "1c"))
    other = wrong.replace(cell=cell.replace(flags=("-O3",)), reason=said.format(9, "ff"))
    known = Anomaly(
        cell, Kind.WRONG, 0.0, None, None, 1.0, repair=("-fwrapv",), passes=("P on sum",)
    )
    found = collect([Source("x", matrices.head(), (wrong, other, known))])
    (group,) = anomaly_groups.groups(found.facts)
    assert len(group.cases) == 2
    assert group.repair == ("-fwrapv",)
    assert group.causes == (wrong.reason, "wrong after P on sum")


def test_cells_with_a_sanitizer_are_named_and_the_repaired_cell_has_a_figure() -> None:
    plain = Cell("mine", "sum", "gcc-12", ("-O2",))
    checked = plain.replace(flags=("-O1", "-fsanitize=undefined"))
    wrong = [Result(cell, Outcome.WRONG, "the output is wrong") for cell in (checked, plain)]
    repaired = Result(
        plain.replace(flags=("-O2", "-fwrapv")), Outcome.MEASURED, runs=((31.2,) * 5,) * 5
    )
    known = Anomaly(plain, Kind.WRONG, 0.0, None, None, 1.0, repair=("-fwrapv",), repaired=repaired)
    found = collect([Source("x", matrices.head(), (*wrong, known))])
    (group,) = anomaly_groups.groups(found.facts)
    assert group.worst.fact.cell == plain
    assert group.cells == "2 cells, 1 of them with a sanitizer"
    said = render(Page(found), "")
    assert "2 cells, 1 of them with a sanitizer on mine" in said
    assert "repaired by <code>-fwrapv</code>, then 31.2 cycles/byte (gcc-12)" in said
    first, _ = payload(found, [group])["cases"]
    assert (first["repair"], first["after"]["v"]) == (["-fwrapv"], 31.2)


def test_groups_hold_every_cell_with_an_anomaly(facts: Facts, groups: list[Group]) -> None:
    inside = {(c.fact.panel, c.fact.cell) for group in groups for c in group.cases}
    assert inside == {(f.panel, f.cell) for f in facts.facts if f.has_anomaly()}


def test_listings_are_aligned_by_mnemonics_whatever_the_registers() -> None:
    rows = listings.side_by_side(
        ["mov %eax,%ebx", "vpgatherdd %ymm0", "ret"], ["mov %ecx,%edx", "ret", "nop"]
    )
    assert [row.mark for row in rows] == [ALIKE, GONE, SAME, NEW]
    assert rows[2].before == rows[2].after == "ret"


def test_a_long_listing_is_cut_and_says_so() -> None:
    rows = listings.side_by_side([f"add {i}" for i in range(1000)], ["ret"])
    assert rows[-1].before == "... 600 more lines"
