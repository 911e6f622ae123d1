# SPDX-License-Identifier: MIT
"""All anomalies of some results, looked at again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from matrix.cells import cell, judged, measured, table
from matrix.fake_bench import FakeBench

from everycore.matrix.bisect import AT_ONCE, BisectOutcome
from everycore.matrix.regressions import Explained, explain_all
from everycore.model.cells import Anomaly, Cell, Code, Kind, Line, Outcome, Result

V4 = "-O2 -march=x86-64-v4"
FLAGS = [f"-fno-{name}" for name in "abcdefghijk"]
SLOW = ("clang-22", "clang-23", "clang-24")


def cycles(where: Cell) -> float:
    is_slow = where.toolchain in SLOW and V4 in " ".join(where.flags)
    return 28.5 if is_slow and "-fno-j" not in where.flags else 12.6


def matrix() -> dict[Cell, Result]:
    names = ("clang-21", *SLOW)
    cells = [cell(name, flags) for name in names for flags in ("-O2", V4)]
    return table(*(measured(measured_cell, cycles(measured_cell)) for measured_cell in cells))


def explained(
    bench: FakeBench, *stored: Anomaly, seconds: int = 99
) -> tuple[Explained, list[Line]]:
    written: list[Line] = []
    left = iter(range(seconds))
    has_time = lambda: next(left, None) is not None  # noqa: E731
    return explain_all(bench, matrix(), stored, written.append, has_time=has_time), written


def test_one_search_serves_all_versions() -> None:
    bench = FakeBench(cycles, FLAGS)
    found, written = explained(bench)
    assert [anomaly.repair for anomaly in found.anomalies.values()] == [("-fno-j",)] * 3
    assert [anomaly.tried for anomaly in found.anomalies.values()] == [len(FLAGS), 1, 1]
    (group,) = found.anomaly_groups()
    assert group.compiler == "clang 22-24"
    assert sum(isinstance(line, Anomaly) for line in written) == 3


def test_what_another_host_explained_stands_and_serves_the_others() -> None:
    bench, asked, written = FakeBench(cycles, FLAGS), list[Anomaly](), list[Line]()
    (first, *_) = explained(FakeBench(cycles, FLAGS))[0].anomalies.values()

    def elsewhere(odd: Sequence[Anomaly]) -> Sequence[BisectOutcome]:
        asked.extend(odd)
        return [BisectOutcome(first, ())]

    found = explain_all(bench, matrix(), (), written.append, elsewhere=elsewhere)
    assert [(anomaly.cell, anomaly.kind) for anomaly in asked] == [(first.cell, first.kind)]
    assert [anomaly.repair for anomaly in found.anomalies.values()] == [("-fno-j",)] * 3
    assert [anomaly.tried for anomaly in found.anomalies.values()] == [len(FLAGS), 1, 1]
    assert first in written
    asked.clear()
    explain_all(
        bench, matrix(), list(found.anomalies.values()), list[Line]().append, elsewhere=elsewhere
    )
    assert not asked


def test_what_an_earlier_run_explained_stands() -> None:
    first, _ = explained(FakeBench(cycles, FLAGS))
    bench = FakeBench(cycles, FLAGS)
    found, written = explained(bench, *first.anomalies.values())
    assert found.anomalies == first.anomalies
    assert not bench.compiled
    assert not written


def test_noise_is_said_and_its_new_samples_are_written() -> None:
    found, written = explained(FakeBench(lambda _: 12.6, FLAGS))
    assert not found.anomalies
    assert len(found.noise) == 3
    assert "the first time 2.26x, the second time 1.00x" in found.noise[0]
    assert {line.cycles_per_byte for line in written if isinstance(line, Result)} == {12.6}


def failing(bench: FakeBench, where: Cell, **how: Any) -> FakeBench:
    """In which a cell no longer ends as it did."""
    measure = bench.measure

    def once_more(cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
        results = measure(cells, kind, processes)
        return [result.replace(**how) if result.cell == where else result for result in results]

    bench.measure = once_more  # type: ignore[method-assign]
    return bench


@pytest.mark.parametrize("outcome", [Outcome.WRONG, Outcome.CRASHED])
@pytest.mark.parametrize("flags", [V4, "-O2"])
def test_a_cell_or_a_neighbour_that_fails_when_it_is_run_again_is_no_noise(
    outcome: Outcome, flags: str
) -> None:
    where = cell("clang-22", flags)
    both = [cell("clang-22", option) for option in ("-O2", V4)]
    results = table(*(measured(measured_cell, cycles(measured_cell)) for measured_cell in both))
    bench = failing(FakeBench(cycles, FLAGS), where, outcome=outcome, reason="at 16", runs=())
    written: list[Line] = []
    found = explain_all(bench, results, (), written.append)
    assert not found.noise
    assert not found.anomalies
    assert [result.reason for result in found.failed.values()] == ["at 16"]
    assert found.results[where].outcome is outcome
    assert found.results[where].figure is None
    assert found.results[where] in written


def test_what_repairs_nothing_of_the_worst_is_not_tried_with_the_others() -> None:
    bench = FakeBench(
        lambda measured_cell: 28.5 if V4 in " ".join(measured_cell.flags) else 12.6, FLAGS
    )
    found, _ = explained(bench)
    assert len(found.anomalies) == 3
    assert [bool(anomaly.tried) for anomaly in found.anomalies.values()] == [True, False, False]


@pytest.mark.parametrize("seconds", [1, 2])  # one for a search, and one for each of its steps
def test_a_search_that_runs_out_of_time_is_left_for_another_run(seconds: int) -> None:
    bench = FakeBench(cycles, FLAGS)
    found, written = explained(bench, seconds=seconds)
    assert len(bench.compiled) == (seconds - 1) * AT_ONCE
    assert (found.anomalies, found.left, found.noise) == ({}, 3, [])
    assert not any(isinstance(line, Anomaly) for line in written)
    again, _ = explained(FakeBench(cycles, FLAGS))
    assert [anomaly.repair for anomaly in again.anomalies.values()] == [("-fno-j",)] * 3


@dataclass
class Stoppable(FakeBench):
    """A bench whose compiler can be stopped after each of eight passes."""

    asked: int = 0

    def passes(self, cell: Cell, is_bad: Callable[[Code], bool]) -> tuple[str, ...]:
        for result in self.code([cell] * 8):
            assert result.code
            self.asked += 1
            is_bad(result.code)
        return super().passes(cell, is_bad)


@pytest.mark.parametrize(("seconds", "asked", "left"), [(3, 1, 3), (6, 4, 3), (11, 8, 2)])
def test_a_pass_that_there_is_no_time_to_name_leaves_the_search_for_another_run(
    seconds: int, asked: int, left: int
) -> None:
    bench = Stoppable(cycles, FLAGS)
    found, written = explained(bench, seconds=seconds)
    assert (bench.asked, found.left) == (asked, left)
    named = [line.passes for line in written if isinstance(line, Anomaly)]
    assert named == [("SLPVectorizerPass on f",)] * (3 - left)


def test_without_time_the_lightest_are_left() -> None:
    found, _ = explained(FakeBench(cycles, FLAGS), seconds=3)
    assert (len(found.anomalies), found.left) == (1, 2)


def test_a_leak_that_vanished_is_written_so_that_it_is_not_looked_for_again() -> None:
    bad, good = (judged(cell(name), name != "gcc-12") for name in ("gcc-12", "gcc-11"))
    written: list[Line] = []
    found = explain_all(FakeBench(lambda _: 10.0), table(bad, good), (), written.append)
    assert "no method saw a leak" in found.noise[0]
    assert found.results[bad.cell].constant_time is True
    assert found.results[bad.cell] in written
