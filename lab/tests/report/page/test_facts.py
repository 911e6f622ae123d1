# SPDX-License-Identifier: MIT
"""Facts that the page makes of the matrix's lines."""

from report.page.matrices import V4, cell, head, measured

from everycore.model.cells import Anomaly, Cell, Kind, Line, Outcome, Result, Verdict
from everycore.report.page import order
from everycore.report.page.facts import (
    CYCLES,
    INSTRUCTIONS,
    Facts,
    Source,
    best,
    collect,
    glance,
    key_words,
)
from everycore.report.page.payload import payload


def source(*lines: Line, date: str = "2026-01-02", cpu: str = "Example CPU") -> Source:
    return Source(f"{date}.jsonl", head(cpu, date), lines)


def slow(result: Result) -> Anomaly:
    return Anomaly(result.cell, Kind.SLOW, 20, cell("linux-6.1", "gcc-12", "O2"), 10, 2.0)


O2 = cell("linux-6.1", "gcc-12", "O2")


def test_the_last_word_on_a_cell_counts() -> None:
    found = collect([source(measured(O2, 20), measured(O2, 10))])
    (fact,) = found.facts
    assert fact.value is not None
    assert 10 <= fact.value < 11


def test_a_newer_file_counts_in_whatever_order_they_are_named() -> None:
    old, new = source(measured(O2, 20)), source(measured(O2, 10), date="2026-02-01")
    assert collect([new, old]).facts[0].value == collect([old, new]).facts[0].value
    assert (collect([new, old]).facts[0].value or 99) < 11


def test_what_was_odd_is_forgotten_when_the_cell_is_measured_anew() -> None:
    old = source(measured(O2, 20), slow(measured(O2, 20)))
    assert collect([old]).facts[0].anomalies
    assert not collect([old, source(measured(O2, 10), date="2026-02-01")]).facts[0].anomalies


def test_what_is_odd_is_seen_before_anybody_looked_into_it() -> None:
    v4 = cell("linux-6.1", "gcc-12", "O2+v4")
    found = collect([source(measured(O2, 10), measured(v4, 20))])
    odd = {fact.cell: fact.anomalies for fact in found.facts}
    assert odd[O2] == ()
    assert [(anomaly.kind, anomaly.neighbour) for anomaly in odd[v4]] == [(Kind.SLOW, O2)]
    assert "matrix regressions" in odd[v4][0].why_not
    explained = slow(measured(v4, 20)).replace(repair=("-fno-x",))
    found = collect([source(measured(O2, 10), measured(v4, 20), explained)])
    assert {anomaly.repair for fact in found.facts for anomaly in fact.anomalies} == {("-fno-x",)}


def test_a_second_pass_in_the_same_file_leaves_what_is_odd() -> None:
    first = measured(O2, 20)
    judged = first.replace(verdicts=(Verdict(True, "trace"),))
    assert collect([source(first, slow(first), judged)]).facts[0].anomalies


def test_what_was_odd_of_another_version_of_the_compiler_is_forgotten_in_the_same_file() -> None:
    first = measured(O2, 20)
    newer = first.replace(compiler="gcc 12.9.0")
    assert not collect([source(first, slow(first), newer)]).facts[0].anomalies
    assert collect([source(first, slow(first), newer, slow(newer))]).facts[0].anomalies


def test_cells_of_two_machines_are_in_two_panels() -> None:
    found = collect([source(measured(O2, 20)), source(measured(O2, 10), cpu="Other CPU")])
    assert len(found.panels()) == 2


def test_counts_of_an_emulated_cell_are_in_a_panel_of_their_own(facts: Facts) -> None:
    units = {panel.target: own[0].unit for panel, own in facts.panels().items()}
    assert units == {"host": CYCLES, "qemu-aarch64": INSTRUCTIONS}


def test_a_count_is_no_value_among_cycles() -> None:
    counted = Result(O2.replace(flags=("-O1",)), Outcome.COUNTED, executed=409600)
    found = collect([source(measured(O2, 10), counted)])
    assert {f.cell.flags: f.value is None for f in found.facts}[("-O1",)]


def test_a_wrong_answer_has_no_value() -> None:
    wrong = measured(O2, 10).replace(outcome=Outcome.WRONG)
    assert collect([source(wrong)]).facts[0].value is None


def test_a_method_that_could_not_look_is_no_verdict() -> None:
    blind = measured(O2, 10).replace(verdicts=(Verdict(None, "taint", "no valgrind"),))
    assert collect([source(blind)]).facts[0].leaks is None


def test_one_leak_outweighs_a_method_that_sees_none() -> None:
    both = (Verdict(True, "taint"), Verdict(False, "trace"))
    assert collect([source(measured(O2, 10).replace(verdicts=both))]).facts[0].leaks


def test_the_best_are_of_the_panel_of_each_row_and_of_each_column() -> None:
    values = {("gcc-12", "O1"): 14, ("gcc-12", "O2"): 12, ("clang-16", "O1"): 11}
    lines = [measured(cell("linux-6.1", t, f), v, f) for (t, f), v in values.items()]
    least = best(collect([source(*lines)]).facts, lambda fact: round(fact.value or 0))
    assert least.of_all == 11
    assert least.of_toolchain == {"gcc-12": 12, "clang-16": 11}
    assert least.of_flags == {"O1": 11, "O2": 12}


def test_sets_of_one_name_are_one_column_however_they_are_spelled() -> None:
    ours = measured(cell("linux-6.1", "clang-16", "O2+noslp"), 10, "O2+noslp")
    other = Cell("linux-6.1", "generic-cbc-enc", "gcc-12", ("-O2", "-fno-tree-slp-vectorize"))
    found = collect([source(ours, measured(other, 11, "O2+noslp"))])
    assert list(found.flag_sets()) == ["O2+noslp"]
    assert len(found.flag_sets()["O2+noslp"]) == 2


def test_a_glance_leaves_sanitizers_out_of_worst_to_best(facts: Facts) -> None:
    panel, own = next((p, o) for p, o in facts.panels().items() if p.subject == "linux-6.1")
    said = glance(panel, own)
    assert said.spread is not None
    assert said.sanitized is not None
    assert 4 < said.spread < 5
    assert 15 < said.sanitized < 18


def test_levels_come_before_marches_and_sanitizers_last(facts: Facts) -> None:
    groups = [order.group(spelled[0]) for spelled in facts.flag_sets().values()]
    assert groups == sorted(groups, key=order.GROUPS.index)
    assert list(facts.flag_sets())[:4] == ["O1", "O2", "O3", "Os"]
    assert order.group(("-O2", V4, "-fsanitize=undefined")) == order.SANITIZER


def test_versions_are_ordered_by_number(facts: Facts) -> None:
    names = list(facts.toolchains())
    assert names[:3] == ["gcc-7", "gcc-9", "gcc-10"]
    assert names.index("clang-9") < names.index("clang-11")


def test_ranges_do_not_span_a_version_that_is_well() -> None:
    every = ["clang-15", "clang-16", "clang-17", "clang-18", "clang-22", "clang-23"]
    chosen = ["clang-15", "clang-16", "clang-17", "clang-22", "clang-23"]
    assert order.spans(chosen, every) == "clang 15 to 17, 22, 23"


def test_hand_written_assembly_stands_beside_the_panels_that_compute_the_same() -> None:
    def asm(function: str, cycles: float) -> Result:
        where = cell("openssl-x86", "gcc-12", "O2", function)
        return measured(where, cycles).replace(computes="cbc-enc", is_assembly=True)

    ours = measured(O2, 12).replace(computes="cbc-enc")
    other = measured(cell("linux-6.12", "gcc-12", "O2"), 12).replace(computes="ctr")
    found = collect([source(ours, other, asm("vpaes", 5), asm("aesni", 1))])
    beside = {panel["subject"]: panel["assembly"] for panel in payload(found, [])["panels"]}
    titles = {subject: [title for title, _ in rows] for subject, rows in beside.items()}
    assert titles == {
        "linux-6.1": ["openssl-x86 aesni", "openssl-x86 vpaes"],
        "linux-6.12": [],
        "openssl-x86": [],
    }


def test_two_hosts_of_one_model_have_panels_of_their_own() -> None:
    def source(name: str, installation: str) -> Source:
        known = head().replace(machine=head().machine.replace(installation=installation))
        return Source(name, known, (measured(cell("linux-6.1", "gcc-12", "O2"), 12.0),))

    first, second, old = source("a", "1111"), source("b", "2222"), source("c", "")
    assert {fact.panel.machine for fact in collect([first, old]).facts} == {first.machine}
    names = {fact.panel.machine for fact in collect([first, second]).facts}
    assert names == {f"{first.machine} (host 1111)", f"{first.machine} (host 2222)"}


def test_a_panel_tells_the_key_of_a_known_mode_alone() -> None:
    known = collect([source(measured(O2, 12).replace(computes="cbc-enc"))])
    assert key_words(known.facts) == "256-bit key, "
    assert key_words(collect([source(measured(O2, 12))]).facts) == ""
