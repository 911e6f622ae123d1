# SPDX-License-Identifier: MIT
"""The search for the smallest set of flags that repairs a cell."""

import random
from collections.abc import Callable, Sequence

import pytest
from matrix.cells import cell, judged, measured, table
from matrix.fake_bench import FakeBench

from everycore.matrix import passes
from everycore.matrix.anomalies import find
from everycore.matrix.bisect import (
    BisectOutcome,
    Switch,
    ddmin,
    explain,
    looks_bad,
)
from everycore.model.cells import Anomaly, Cell, Code, Kind, Result, Verdict

BAD, GOOD = cell("clang-22", "-O2 -march=x86-64-v4"), cell("clang-22", "-O2")
FLAGS = [f"-fno-{name}" for name in ("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")]


def odd() -> Anomaly:
    (found,) = find(table(measured(BAD, 28.5), measured(GOOD, 12.5)))
    return found


def explained(bench: FakeBench, anomaly: Anomaly | None = None) -> BisectOutcome:
    return explain(bench, anomaly or odd())


def repaired_by(*sets: set[str]) -> Callable[[Cell], float]:
    """28.5 cycles, and 12.6 with any of the sets."""

    def cycles(where: Cell) -> float:
        is_good = where == GOOD or any(switch_set <= set(where.flags) for switch_set in sets)
        return 12.6 if is_good else 28.5

    return cycles


def test_one_flag_is_found() -> None:
    bench = FakeBench(repaired_by({"-fno-j"}), FLAGS)
    found = explained(bench).anomaly
    assert found.repair == ("-fno-j",)
    assert found.repaired
    assert found.repaired.cycles_per_byte == 12.6
    assert found.passes == ("SLPVectorizerPass on f",)
    assert found.command.startswith("everycore matrix --subject table --function ctr")
    assert "'--flags=-O2 -march=x86-64-v4 -fno-j'" in found.command


def test_code_that_is_as_it_was_is_not_run_again() -> None:
    bench = FakeBench(repaired_by({"-fno-j"}), FLAGS)
    explained(bench)
    assert len(bench.compiled) == len(FLAGS)
    ran = [ran_cell.flags[2:] for ran_cell in bench.ran]
    assert ran == [(), (), (), (), ("-fno-j",)]  # as the neighbour; then the repair beside both


def test_a_small_loss_is_repaired_within_five_per_cent_of_the_neighbour() -> None:
    (small,) = find(table(measured(BAD, 11.2), measured(GOOD, 10)))
    bench = FakeBench(lambda c: 10 if c == GOOD else 10.4 if "-fno-j" in c.flags else 11.2, FLAGS)
    assert explained(bench, small).anomaly.repair == ("-fno-j",)


def test_two_flags_are_found_where_each_helps_a_little() -> None:
    def cycles(where: Cell) -> float:
        each = [name in where.flags for name in ("-fno-b", "-fno-k")]
        return 12.6 if where == GOOD else 28.5 - 8 * sum(each)

    assert explained(FakeBench(cycles, FLAGS)).anomaly.repair == ("-fno-b", "-fno-k")


def test_two_flags_are_found_where_neither_helps_alone() -> None:
    found = explained(FakeBench(repaired_by({"-fno-b", "-fno-k"}), FLAGS)).anomaly
    assert set(found.repair) == {"-fno-b", "-fno-k"}


def test_the_best_of_several_repairs_is_taken() -> None:
    def cycles(where: Cell) -> float:
        if where == GOOD:
            return 12.6
        return 13.5 if "-fno-a" in where.flags else 12.0 if "-fno-c" in where.flags else 28.5

    assert explained(FakeBench(cycles, FLAGS)).anomaly.repair == ("-fno-c",)


def test_of_repairs_that_are_about_as_good_the_first_is_taken() -> None:
    def cycles(where: Cell) -> float:
        if where == GOOD:
            return 12.6
        return 12.7 if "-fno-a" in where.flags else 12.5 if "-fno-c" in where.flags else 28.5

    assert explained(FakeBench(cycles, FLAGS)).anomaly.repair == ("-fno-a",)


def test_a_repair_that_was_disturbed_the_first_time_is_taken_all_the_same() -> None:
    disturbed = iter([24.0])

    class Disturbed(FakeBench):
        def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
            results = super().measure(cells, kind, processes)
            return [
                measured(result.cell, next(disturbed, 12.6))
                if "-fno-a" in result.cell.flags
                else result
                for result in results
            ]

    bench = Disturbed(repaired_by({"-fno-a"}, {"-fno-k"}), FLAGS)
    assert explained(bench).anomaly.repair == ("-fno-a",)


def test_what_is_no_longer_slow_beside_its_repair_is_noise() -> None:
    class Settling(FakeBench):
        def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
            results = super().measure(cells, kind, processes)
            is_late = self.ran.count(BAD) > 1
            return [measured(result.cell, 12.7) if is_late else result for result in results]

    found = explained(Settling(repaired_by({"-fno-j"}), FLAGS))
    assert found.is_noise
    assert found.said == "the first time 2.26x, the second time 1.00x"
    assert [result.cycles_per_byte for result in found.again] == [12.7, 12.7]


def test_a_flag_that_makes_answers_wrong_repairs_nothing() -> None:
    def cycles(where: Cell) -> float | None:
        return None if "-fno-a" in where.flags else repaired_by({"-fno-j"})(where)

    assert explained(FakeBench(cycles, FLAGS)).anomaly.repair == ("-fno-j",)


def test_without_a_repair_it_is_said() -> None:
    found = explained(FakeBench(repaired_by(), FLAGS)).anomaly
    assert not found.repair
    assert found.why_not == "none of 11 switches of the compiler repairs it"
    assert found.tried


def test_what_is_gone_in_the_rerun_is_noise() -> None:
    found = explained(FakeBench(lambda _: 12.6, FLAGS))
    assert found.is_noise
    assert found.said == "the first time 2.28x, the second time 1.00x"


def test_the_values_of_the_rerun_count() -> None:
    found = explained(FakeBench(lambda c: 12.0 if c == GOOD else 24.0, FLAGS)).anomaly
    assert (found.value, found.neighbour_value, found.ratio) == (24.0, 12.0, 2.0)


def test_a_repair_that_is_known_is_tried_first() -> None:
    bench = FakeBench(repaired_by({"-fno-j"}), FLAGS)
    found = explain(bench, odd(), [("-fno-j",)]).anomaly
    assert (found.repair, found.tried) == (("-fno-j",), 1)


def test_a_frame_is_repaired_without_a_run() -> None:
    frames = lambda c: 72 if "-fno-j" in c.flags else 4040  # noqa: E731
    bench = FakeBench(lambda _: 10.0, FLAGS, frames)
    (anomaly,) = find(table(measured(BAD, 10, frame=4040)))
    found = explained(bench, anomaly).anomaly
    assert (found.kind, found.repair) == (Kind.FRAME, ("-fno-j",))
    assert "frame 72 -> 4040 bytes" in found.causes


def test_lost_constant_time_is_repaired() -> None:
    bench = FakeBench(lambda _: 10.0, FLAGS, is_constant=lambda c: "-fno-j" in c.flags or c == GOOD)
    (anomaly,) = find(table(judged(BAD, False), judged(GOOD, True)))
    found = explained(bench, anomaly).anomaly
    assert (found.kind, found.repair) == (Kind.LEAK, ("-fno-j",))
    assert found.command.startswith("everycore matrix leaks ")  # else no cell has a verdict


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        ((True,), (True,), "no method saw a leak"),
        ((None,), (True,), "no method could look: trace: no valgrind"),
        ((), (True,), "no method could look: there is none"),
        ((False,), (False,), "its neighbour leaked, too"),
        ((False,), (None,), "its neighbour was not looked at by what saw the leak"),
        ((False,), (), "its neighbour was not looked at by what saw the leak"),
    ],
)
def test_a_leak_that_is_none_the_second_time_is_noise(
    mine: tuple[bool | None, ...], theirs: tuple[bool | None, ...], said: str
) -> None:
    class Again(FakeBench):
        def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
            every = {BAD: mine, GOOD: theirs}
            return [
                result.replace(verdicts=tuple(Verdict(v, "trace", "no valgrind") for v in every[c]))
                for c, result in zip(cells, super().measure(cells, kind, processes), strict=True)
            ]

    (anomaly,) = find(table(judged(BAD, False), judged(GOOD, True)))
    found = explained(Again(lambda _: 10.0), anomaly)
    assert (found.is_noise, found.said) == (True, f"the second time {said}")


def test_what_the_method_that_saw_the_leak_could_not_look_at_is_no_repair() -> None:
    class Blind(FakeBench):
        def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
            return [
                result.replace(verdicts=seen(True if "-fno-j" in result.cell.flags else None))
                if "-fno-a" in result.cell.flags or "-fno-j" in result.cell.flags
                else result.replace(verdicts=seen(result.cell == GOOD))
                for result in super().measure(cells, kind, processes)
            ]

    def seen(by_taint: bool | None) -> tuple[Verdict, ...]:
        return Verdict(True, "trace"), Verdict(by_taint, "taint")

    leaky, good = (judged(c, True).replace(verdicts=seen(c == GOOD)) for c in (BAD, GOOD))
    (anomaly,) = find(table(leaky, good))
    assert explained(Blind(lambda _: 10.0, FLAGS), anomaly).anomaly.repair == ("-fno-j",)


def test_a_repair_of_the_key_set_up_is_found_though_the_call_is_as_it_was() -> None:
    class Alike(FakeBench):
        def code(self, cells: Sequence[Cell]) -> list[Result]:
            return [result.replace(digest="d") for result in super().code(cells)]

        def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
            return [
                result.replace(digest="d") for result in super().measure(cells, kind, processes)
            ]

    is_constant = lambda c: "-fno-j" in c.flags or c == GOOD  # noqa: E731
    (anomaly,) = find(table(judged(BAD, False), judged(GOOD, True)))
    found = explained(Alike(lambda _: 10.0, FLAGS, is_constant=is_constant), anomaly).anomaly
    assert found.repair == ("-fno-j",)


@pytest.mark.parametrize("seed", range(20))
def test_ddmin_leaves_only_what_is_needed(seed: int) -> None:
    chance = random.Random(seed)
    switches: list[Switch] = [(f"-f{i}",) for i in range(30)]
    needed = set(chance.sample(switches, chance.randint(1, 6)))
    assert set(ddmin(switches, lambda some: needed <= set(some))) == needed


def test_code_is_judged_by_the_count_that_separates_best() -> None:
    is_bad = looks_bad(Code(9, 900, 300, 64, 0), Code(9, 800, 10, 0, 0))
    assert is_bad(Code(9, 100, 0, 40, 0))
    assert not is_bad(Code(9, 5000, 5000, 0, 0))


SAID = """BISECT: running pass (1) SROAPass on f
BISECT: running pass (2) SLPVectorizerPass on f
BISECT: NOT running pass (3) InstCombinePass on f
"""


def test_passes_that_ran_are_read() -> None:
    assert passes.names(SAID) == ["SROAPass on f", "SLPVectorizerPass on f"]


def test_the_first_bad_pass_is_found_in_few_compilations() -> None:
    asked: list[int] = []

    def is_bad(last: int) -> bool:
        asked.append(last)
        return last >= 777

    assert passes.first_bad(2000, is_bad) == 777
    assert len(asked) <= 13
    assert passes.first_bad(2000, lambda _: True) is None
    assert passes.first_bad(2000, lambda _: False) is None
    assert passes.first_bad(0, lambda _: True) is None
