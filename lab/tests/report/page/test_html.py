# SPDX-License-Identifier: MIT
"""The page as text: what it says without a script, and what it cannot do."""

import json
import re

import pytest
from report.page.matrices import cell, head, lines, measured, own_and_stored

from everycore.model.cells import Outcome
from everycore.report.page import anomaly_groups, plots
from everycore.report.page.facts import Facts, Source, collect
from everycore.report.page.html import POLICY, Page, as_script, headline_of, ratio_text, render
from everycore.report.page.payload import payload

pytest.importorskip("altair", reason="make lab")
pytest.importorskip("jinja2", reason="make lab")


@pytest.fixture(scope="module")
def text(facts: Facts) -> str:
    return render(Page(facts, made="2026-01-02", version="0.1.0"), "/* no library */")


def test_the_headline_counts_what_is_wrong_and_its_causes(facts: Facts) -> None:
    assert headline_of(facts) == (
        "1 wrong answer, 1 cell that lost constant time, 162 slow cells, 3 failed cells:"
        " 11 causes in 1,145 cells"
    )


def test_own_cells_come_first_and_stored_ones_are_marked() -> None:
    facts = own_and_stored()
    assert [fact.is_own for fact in facts.facts] == [True, False, False]
    assert headline_of(facts) == (
        "1 wrong answer: one cause in 1 cell. Stored with everycore: 1 slow cell: one cause in 2"
        " cells"
    )
    found = anomaly_groups.groups(facts.facts)
    assert [group.is_own for group in found] == [True, False]
    plain = payload(facts, found)
    assert [panel["stored"] for panel in plain["panels"]] == ["", "all"]
    said = render(Page(facts), "")
    assert said.count("Stored with everycore: 1 cell on libressl") == 1
    assert "stored with everycore</option>" in said


def test_cells_of_one_cause_are_never_own_and_stored_in_one_group() -> None:
    wrong = [
        measured(cell("mine", "gcc-12", name), 12).replace(outcome=Outcome.WRONG, reason="x")
        for name in ("O1", "O2")
    ]
    sources = [Source("a", head(), (wrong[0],)), Source("b", head(), (wrong[1],), is_own=False)]
    facts = collect(sources)
    found = anomaly_groups.groups(facts.facts)
    assert [len(group.cases) for group in found] == [1, 1]
    assert payload(facts, found)["panels"][0]["stored"] == "1 of 2 cells"


@pytest.mark.parametrize("is_own", [True, False])
def test_cells_of_one_kind_are_not_marked(is_own: bool) -> None:
    good = measured(cell("linux-6.1", "gcc-12", "O2"), 12)
    facts = collect([Source("x", head(), (good,), is_own=is_own)])
    assert "Stored with everycore" not in headline_of(facts)
    assert "stored with everycore</option>" not in render(Page(facts), "")


def test_a_matrix_without_odd_cells_is_well() -> None:
    good = measured(cell("linux-6.1", "gcc-12", "O2"), 12)
    assert headline_of(collect([Source("x", head(), (good,))])) == (
        "All answers are right, and no cell is slower than its neighbours (1 cells)"
    )


def test_what_is_wrong_is_in_the_text_without_a_script(text: str) -> None:
    before = text.partition('<script type="application/json"')[0]
    for words in ("clang 22 to 24", "64 vpgatherdd appear", "-fno-slp-vectorize", "known answer 3"):
        assert words in before


def test_the_page_names_nothing_that_could_be_fetched(text: str) -> None:
    assert POLICY in text.replace("&#39;", "'")
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", text)
    assert "url(" not in text
    assert "@import" not in text


def test_no_text_of_a_result_becomes_markup() -> None:
    evil = '</script><script>alert("x")</script><img src=x>'
    bad = measured(cell("linux-6.1", "gcc-12", "O2"), 12).replace(
        outcome=Outcome.NOT_COMPILED, reason=evil
    )
    said = render(Page(collect([Source(evil, head(), (bad,))])), "")
    assert "<script>alert" not in said
    assert "<img" not in said


def test_the_data_cannot_end_its_element() -> None:
    plain = {"why": "</script>&<!--\u2028"}
    assert "<" not in as_script(plain)
    assert json.loads(as_script(plain)) == plain


def test_cells_of_the_payload_are_those_of_the_matrix(facts: Facts) -> None:
    plain = payload(facts, anomaly_groups.groups(facts.facts))
    assert len(plain["cells"]) == len(facts.facts)
    for fact, shown in zip(facts.facts, plain["cells"], strict=True):
        assert plain["toolchains"][shown["t"]]["name"] == fact.cell.toolchain
        assert plain["flags"][shown["f"]]["label"] == fact.label
        assert ("v" in shown) == (fact.value is not None)


def test_what_goes_to_a_bug_tracker_names_flags_and_cause(facts: Facts) -> None:
    reports = [
        text
        for text in payload(facts, anomaly_groups.groups(facts.facts))["reports"]
        if "vpgatherdd" in text
    ]
    assert reports
    assert "-fno-slp-vectorize repairs it" in reports[0]


def test_peaks_are_named_once_for_each_line_and_family(facts: Facts) -> None:
    own = next(o for p, o in facts.panels().items() if p.subject == "linux-6.1")
    named = {(own[i].cell.toolchain, text) for i, text in plots.peaks(own).items()}
    assert named == {
        ("gcc-7", "O1+ubsan, O2+ubsan +1"),
        ("gcc-12", "O2+nopre+nosra"),
        ("clang-9", "O1"),
        ("clang-22", "O2+v4, O2+native"),
        ("gcc-7", "O2+nohoist+ubsan"),
    }


def test_plots_hold_their_values(facts: Facts) -> None:
    for panel, own in facts.panels().items():
        heat = json.dumps(plots.heat(panel, own).to_dict())
        assert heat.count('"compiler": ') == len(own)
        series = json.dumps(plots.series_of(panel, own).to_dict())
        assert series.count('"value": ') >= sum(fact.value is not None for fact in own)


def test_a_panel_without_a_value_has_no_series() -> None:
    wrong = next(line for line in lines() if getattr(line, "outcome", "") == "wrong")
    found = collect([Source("x", head(), (wrong,))])
    for panel, own in found.panels().items():
        assert plots.series_of(panel, own) is None
    assert "WRONG" in json.dumps(plots.heat(*next(iter(found.panels().items()))).to_dict())
    assert "1 wrong answer: one cause in 1 cell" in render(Page(found), "/* no library */")


@pytest.mark.parametrize(("ratio", "said"), [(1.033, "1.03"), (2.31, "2.3"), (16.4, "16")])
def test_ratios_have_two_or_three_figures(ratio: float, said: str) -> None:
    assert ratio_text(ratio) == said + "\N{MULTIPLICATION SIGN}"
