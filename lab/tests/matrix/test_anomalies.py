# SPDX-License-Identifier: MIT
"""Anomalies, and those of one cause."""

from matrix.cells import cell, judged, measured, table

from everycore.matrix.anomalies import anomaly_groups, find, is_work_around, ranges
from everycore.model.cells import Kind, Outcome, Result, Verdict


def test_a_cell_ten_per_cent_slower_than_its_best_neighbour_is_odd() -> None:
    slow, good, better = (measured(cell(f"gcc-{v}"), c) for v, c in ((12, 20), (11, 16), (13, 10)))
    (found,) = find(table(slow, good, better))
    assert (found.cell, found.neighbour, found.ratio) == (slow.cell, better.cell, 2.0)


def test_nine_per_cent_are_not_odd() -> None:
    assert not find(table(measured(cell("gcc-12"), 10.9), measured(cell("gcc-11"), 10)))


def test_a_cell_whose_interval_reaches_its_neighbours_is_not_odd() -> None:
    wild = measured(cell("gcc-12"), 12, spread=0.2)
    assert not find(table(wild, measured(cell("gcc-11"), 10)))


def test_cells_that_were_not_timed_are_not_odd() -> None:
    wrong = Result(cell("gcc-12"), Outcome.WRONG)
    counted = measured(cell("gcc-13"), 99).replace(outcome=Outcome.COUNTED, executed=10**6)
    assert not find(table(wrong, counted, measured(cell("gcc-14"), 10)))


def test_of_neighbours_that_are_about_as_good_the_plainest_is_shown() -> None:
    slow = measured(cell(flags="-O2 -march=x86-64-v4"), 28)
    plain = measured(cell(flags="-O2"), 12.6)
    other = measured(cell(flags="-O2 -march=x86-64-v3"), 12.5)
    (found,) = find(table(slow, plain, other))
    assert found.neighbour == plain.cell
    assert found.differs_in == "march"


def test_one_of_which_no_less_was_asked_is_shown_before_a_faster_one() -> None:
    slow = measured(cell("gcc-7", "-O2 -fsanitize=undefined"), 200)
    newer = measured(cell("gcc-9", "-O2 -fsanitize=undefined"), 35)
    plain = measured(cell("gcc-7", "-O2"), 13)
    (found,) = (a for a in find(table(slow, newer, plain)) if a.cell == slow.cell)
    assert found.neighbour == newer.cell


def test_a_large_frame_is_odd_even_alone() -> None:
    large = measured(cell(), 10, frame=4040)
    (found,) = find(table(large))
    assert (found.kind, found.value, found.neighbour) == (Kind.FRAME, 4040, None)
    (found,) = find(table(large, measured(cell("gcc-11"), 10, frame=72)))
    assert (found.neighbour_value, round(found.ratio)) == (72, 56)
    assert not find(table(measured(cell(), 10, frame=1024)))


def test_a_cell_that_is_wrong_is_no_neighbour() -> None:
    right = measured(cell("gcc-12"), 20, frame=4040)
    wrong = measured(cell("gcc-11"), 10, frame=72).replace(outcome=Outcome.WRONG)
    leaky = judged(cell("gcc-12"), False)
    constant = judged(cell("gcc-11"), True).replace(outcome=Outcome.WRONG)
    (found,) = find(table(right, wrong))
    assert (found.kind, found.neighbour) == (Kind.FRAME, None)
    assert not find(table(leaky, constant))


def test_constant_time_is_lost_only_where_a_neighbour_has_it() -> None:
    leaky, good = judged(cell("gcc-12"), False), judged(cell("gcc-11"), True)
    unknown = judged(cell("gcc-13"), None)
    (found,) = find(table(leaky, good, unknown))
    assert (found.kind, found.cell, found.neighbour) == (Kind.LEAK, leaky.cell, good.cell)
    assert not find(table(leaky, judged(cell("gcc-11"), False), unknown))


def test_a_neighbour_has_constant_time_only_by_the_method_that_saw_the_leak() -> None:
    def seen(name: str, by_taint: bool | None) -> Result:
        both = Verdict(True, "trace"), Verdict(by_taint, "taint")
        return judged(cell(name), True).replace(verdicts=both)

    leaky, blind, good = seen("gcc-12", False), seen("gcc-11", None), seen("gcc-10", True)
    assert not find(table(leaky, blind))
    (found,) = find(table(leaky, blind, good))
    assert found.neighbour == good.cell


def test_one_cause_over_many_versions_is_one_story() -> None:
    v4 = "-O2 -march=x86-64-v4"
    slow = [measured(cell(f"clang-{v}", v4), 28.5) for v in (22, 23, 24)]
    results = table(*slow, *(measured(cell(f"clang-{v}", v4), 12.5) for v in (20, 21)))
    (group,) = anomaly_groups(find(results), results)
    assert group.compiler == "clang 22-24"
    assert group.is_live
    assert group.title == "clang 22-24 -O2 -march=x86-64-v4 on table ctr: 2.3x"


def test_what_a_newer_version_no_longer_does_weighs_less() -> None:
    def weight(slow: str, good: str) -> float:
        results = table(measured(cell(slow), 20), measured(cell(good), 10))
        (group,) = anomaly_groups(find(results), results)
        return group.weight

    assert weight("gcc-13", "gcc-12") > weight("gcc-12", "gcc-13")


def test_what_one_repair_repairs_is_one_story_over_sets_of_flags_and_gaps() -> None:
    cells = [
        measured(cell(f"clang-{v}", f"-O2 -march={m}"), 28)
        for v in (16, 18, 22, 23)
        for m in ("x86-64-v4", "native")
        if v != 18
    ]
    good = [measured(cell(f"clang-{v}", "-O2"), 12.5) for v in (16, 18, 22, 23)]
    good += [measured(cell("clang-18", "-O2 -march=x86-64-v4"), 12.5)]
    results = table(*cells, *good)
    found = [
        a.replace(repair=("-fno-slp-vectorize",), causes=("64 vpgatherdd appear",))
        for a in find(results)
    ]
    (group,) = anomaly_groups(found, results)
    assert group.compiler == "clang 16, 22-23"
    assert len(group.flags) == 2
    assert group.title.endswith("2.2x; -fno-slp-vectorize repairs it; 64 vpgatherdd appear")


def test_the_heaviest_story_is_the_first() -> None:
    results = table(
        measured(cell("gcc-12", "-O3"), 12),
        measured(cell("gcc-12", "-O2"), 10),
        measured(cell("gcc-12", "-O2 -march=native"), 90),
        judged(cell("gcc-12", "-Os", subject="other"), False),
        judged(cell("gcc-12", "-O2", subject="other"), True),
    )
    kinds = [(s.worst.kind, s.worst.cell.flags[-1]) for s in anomaly_groups(find(results), results)]
    assert kinds == [(Kind.LEAK, "-Os"), (Kind.SLOW, "-march=native"), (Kind.SLOW, "-O3")]


def test_ranges_of_versions() -> None:
    known = [(9,), (11,), (12,), (13,)]
    assert ranges(known, [(9,), (11,), (13,)]) == "9-11, 13"
    assert ranges(known, known) == "9-13"


def test_a_work_around_that_costs_is_told_from_the_compilers_own_doing() -> None:
    plain, other = measured(cell(flags="-O2"), 10), measured(cell(flags="-O2 -fno-tree-pre"), 12)
    (found,) = find(table(plain, other))
    assert is_work_around(found)
    assert not is_work_around(found.replace(differs_in="march"))
