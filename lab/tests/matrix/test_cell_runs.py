# SPDX-License-Identifier: MIT
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from matrix.cells import resolved

from everycore.matrix.cell_runs import FEWEST, PROCESSES, Run
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import Clock
from everycore.model.cells import Cell, Outcome, Result


def planned(number: int, why_not: str = "") -> ResolvedCell:
    return resolved(Cell("s", "f", f"gcc-{number}", ("-O2",)), "O2", why_not)


@dataclass
class FakeBench:
    """Takes one second for all; `medians` are those of a cell's processes, in their order."""

    medians: dict[str, list[float]] = field(default_factory=dict)
    ends: dict[str, Outcome] = field(default_factory=dict)  # before anything is timed
    fails: dict[str, Outcome] = field(default_factory=dict)  # when it is timed
    events: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0
    compiling: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def prepare(self, resolved: ResolvedCell) -> CheckedCell | Result:
        name = resolved.cell.toolchain
        with self.lock:
            self.compiling += 1
            self.events.append(("compile", name))
            self.seconds += 1
        result = resolved.skipped("").replace(outcome=self.ends.get(name, Outcome.MEASURED))
        with self.lock:
            self.compiling -= 1
        if result.outcome not in (Outcome.MEASURED, Outcome.COUNTED):
            return result
        nothing: Any = None
        return CheckedCell(nothing, result)

    def timed(self, ready: CheckedCell, result: Result) -> Result:
        del ready
        assert not self.compiling
        name = result.cell.toolchain
        self.events.append(("time", name))
        self.seconds += 1
        if name in self.fails:
            return result.replace(outcome=self.fails[name], runs=())
        own = self.medians.get(name, [10.0])
        median = own[min(len(result.runs), len(own) - 1)]
        return result.replace(runs=(*result.runs, (median,) * 5))

    def now(self) -> float:
        return self.seconds


def run(bench: FakeBench, end: float = float("inf")) -> Run:
    return Run(bench, Clock(bench.now, end), cores=1)


def test_every_cell_is_timed_in_as_many_processes_with_other_cells_between() -> None:
    bench = FakeBench()
    cells = [planned(n) for n in range(60)]
    results = list(run(bench).cells(cells))
    assert {len(result.runs) for result in results} == {PROCESSES}
    assert len(results) == len({result.cell for result in results}) == 60
    timed = [name for what, name in bench.events if what == "time"]
    for name in set(timed):
        places = [i for i, timed_name in enumerate(timed) if timed_name == name]
        assert all(later - earlier > 5 for earlier, later in pairwise(places))


def test_the_number_of_processes_does_not_depend_on_what_they_say() -> None:
    bench = FakeBench(medians={"gcc-1": [13.0, 12.0, 12.5, 11.0, 12.2], "gcc-2": [20.0] * 5})
    bench.medians["gcc-3"] = [100.0 - n for n in range(20)]
    runs = {
        result.cell.toolchain: result for result in run(bench).cells([planned(n) for n in range(5)])
    }
    assert {len(result.runs) for result in runs.values()} == {PROCESSES}
    assert runs["gcc-1"].cycles_per_byte == 12.2, "the median, and not the lowest"


def test_what_fails_ends_at_once_and_the_run_goes_on() -> None:
    bench = FakeBench(
        ends={"gcc-0": Outcome.WRONG, "gcc-1": Outcome.NOT_COMPILED},
        fails={"gcc-2": Outcome.TIME_LIMIT},
    )
    cells = [planned(n) for n in range(4)] + [planned(9, "no such CPU")]
    outcomes = {result.cell.toolchain: result.outcome for result in run(bench).cells(cells)}
    assert outcomes == {
        "gcc-0": Outcome.WRONG,
        "gcc-1": Outcome.NOT_COMPILED,
        "gcc-2": Outcome.TIME_LIMIT,
        "gcc-3": Outcome.MEASURED,
        "gcc-9": Outcome.SKIPPED,
    }
    assert ("time", "gcc-0") not in bench.events  # a wrong answer is never timed
    assert ("compile", "gcc-9") not in bench.events


def test_counted_cells_are_not_timed() -> None:
    bench = FakeBench(ends={"gcc-0": Outcome.COUNTED})
    (result,) = run(bench).cells([planned(0)])
    assert result.outcome is Outcome.COUNTED
    assert bench.events == [("compile", "gcc-0")]


def test_a_run_with_little_time_does_the_first_cells_and_says_what_it_left_out() -> None:
    bench = FakeBench()
    cells = [planned(n) for n in range(100)]
    short_run = run(bench, end=100.0)
    done = [result.cell.toolchain for result in short_run.cells(cells)]
    assert {*done} == {f"gcc-{n}" for n in range(len(done))}
    assert 0 < short_run.left_out == 100 - len(done) < 100
    assert bench.seconds <= 100


def test_a_run_with_no_time_has_looked_at_few_cells() -> None:
    bench = FakeBench()
    done = list(run(bench, end=1.0).cells([planned(n) for n in range(100)]))
    assert len(done) == 1


def test_a_batch_that_takes_longer_than_it_seemed_ends_with_the_time() -> None:
    class Slow(FakeBench):
        """A bench whose sixth cell, of another subject, takes a hundred seconds more."""

        def prepare(self, resolved: ResolvedCell) -> CheckedCell | Result:
            if resolved.cell.toolchain == "gcc-5":
                self.seconds += 100
            return super().prepare(resolved)

    bench = Slow()
    short_run = run(bench, end=60.0)
    done = list(short_run.cells([planned(n) for n in range(100)]))
    assert [r.cell.toolchain for r in done] == [f"gcc-{n}" for n in range(6)]
    assert all(len(r.runs) == FEWEST for r in done)
    assert short_run.left_out == 94
