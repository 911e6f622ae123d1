# SPDX-License-Identifier: MIT
"""All anomalies of some results, looked at again."""

from matrix.cells import cell, measured, table
from matrix.fake_bench import FakeBench

from everycore.matrix.records import Anomaly, Cell, Line, Result
from everycore.matrix.regressions import Explained, explain_all

V4 = "-O2 -march=x86-64-v4"
FLAGS = [f"-fno-{name}" for name in "abcdefghijk"]
SLOW = ("clang-22", "clang-23", "clang-24")


def cycles(where: Cell) -> float:
    is_slow = where.toolchain in SLOW and V4 in " ".join(where.flags)
    return 28.5 if is_slow and "-fno-j" not in where.flags else 12.6


def matrix() -> dict[Cell, Result]:
    names = ("clang-21", *SLOW)
    cells = [cell(name, flags) for name in names for flags in ("-O2", V4)]
    return table(*(measured(one, cycles(one)) for one in cells))


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
    assert [one.repair for one in found.anomalies.values()] == [("-fno-j",)] * 3
    assert [one.tried for one in found.anomalies.values()] == [len(FLAGS), 1, 1]
    (story,) = found.stories()
    assert story.compiler == "clang 22-24"
    assert sum(isinstance(line, Anomaly) for line in written) == 3


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


def test_what_repairs_nothing_of_the_worst_is_not_tried_with_the_others() -> None:
    bench = FakeBench(lambda one: 28.5 if V4 in " ".join(one.flags) else 12.6, FLAGS)
    found, _ = explained(bench)
    assert len(found.anomalies) == 3
    assert [bool(one.tried) for one in found.anomalies.values()] == [True, False, False]


def test_without_time_the_lightest_are_left() -> None:
    found, _ = explained(FakeBench(cycles, FLAGS), seconds=1)
    assert (len(found.anomalies), found.left) == (1, 2)
