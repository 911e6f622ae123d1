# SPDX-License-Identifier: MIT

from everycore.measure.quiet import marked, own_width, widths
from everycore.model.protocol import Arithmetic, Bench, Limit, Line, Summary

BENCH = Bench("aes", "k", "ctr", 256, 64, 1, "streamed", "tsc", (100.0,) * 5, width=3960)
LIMIT = Limit("aesenc", 128, (4.0,) * 5, (2.0,) * 5, runs=True, width=3950)
LOOP = Arithmetic("a", ("ctr",), 256, 128, False, 64, (), (0.5,) * 5, runs=True, width=3955)
QUIET: list[Line] = [BENCH, LIMIT, LOOP, BENCH]


def test_what_a_core_of_its_own_does_is_known_from_three_looks() -> None:
    assert own_width([3900, 3950]) == 0
    assert own_width([3900, 0, 3950]) == 0
    assert own_width([3900, 3950, 2000, 3960]) == 3900


def test_looks_while_the_clock_changed_are_not_what_a_core_does() -> None:
    assert own_width([*[3960] * 97, 4400, 4400, 4400]) == 3960


def test_a_core_that_is_mostly_shared_is_known_by_its_quiet_moments() -> None:
    assert own_width([*[2500] * 90, *[3960] * 10]) == 3960


def test_all_lines_of_measurements_have_a_width() -> None:
    assert widths([*QUIET, Summary(1, 0, 0), BENCH.replace(width=0)]) == [3960, 3950, 3955, 3960]


def test_what_was_measured_before_anyone_knew_the_core_is_marked_afterwards() -> None:
    early: list[Line] = [BENCH.replace(width=2500), LIMIT.replace(width=2500)]
    early += [LOOP.replace(width=2500)]
    measured = [
        line for line in marked([*early, *QUIET]) if isinstance(line, Bench | Limit | Arithmetic)
    ]
    assert [line.crowded for line in measured] == [True] * 3 + [False] * 4


def test_what_the_harness_said_stays_and_where_nothing_is_known_nothing_is_marked() -> None:
    crowded = BENCH.replace(crowded=True)
    assert marked([crowded, *QUIET])[0] == crowded
    unknown: list[Line] = [BENCH.replace(width=0)] * 5
    assert marked(unknown) == unknown
