# SPDX-License-Identifier: MIT
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from matrix.cells import resolved
from world import Lab

from everycore import subjects
from everycore.compile import refusals
from everycore.compile.binaries import build_timed
from everycore.environment import extras
from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError, NoSpaceError
from everycore.matrix import accepted_flags, cell_code, compiled_cell
from everycore.matrix.cell_code import with_code
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.checked_cell import CheckedCell, how_it_ended
from everycore.matrix.compiled_cell import (
    CellTools,
    CompiledCell,
    FailedCellError,
    compile_cell,
)
from everycore.matrix.timed_cell import NEVER_QUIET, PATIENCE, Timer, read_bench
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.domain import Compiler

SCATTERED = (4096.0, 8192.0)


def line(cycles: Sequence[float] = SCATTERED, **more: object) -> str:
    table = {"counter": "tsc", "sanitizer_hits": 0, "output": "00", "cycles": cycles}
    return json.dumps(table | more)


@dataclass
class FakeRunner:
    """Plays the programs of cells: their lines, one after the other, the last one for ever."""

    lines: list[str]
    calls: list[list[str]] = field(default_factory=list)

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        del options
        self.calls.append(list(argv))
        return Completed(0, self.lines[min(len(self.calls), len(self.lines)) - 1] + "\n")


@dataclass
class FakeContext:
    runner: FakeRunner


def timed(*lines: str, times: int = 1, cpus: tuple[int, ...] = (3,)) -> tuple[Result, FakeRunner]:
    runner = FakeRunner(list(lines))
    context: Any = FakeContext(runner)
    nothing: Any = None
    tools = CellTools(context, nothing)
    bench = CellPipeline(tools, nothing, Timer(tools, cpus))
    resolved_cell = resolved(Cell("s", "f", "gcc-12", ("-O2",)))
    result = Result(resolved_cell.cell, Outcome.MEASURED)
    checked = CheckedCell(CompiledCell(resolved_cell, (), resolved_cell.program(Path("p"))), result)
    for _ in range(times):
        result = bench.timed(checked, result)
    return result, runner


def test_samples_are_cycles_per_byte() -> None:
    result, runner = timed(line(sanitizer_hits=7))
    assert result.runs == ((1.0, 2.0),)
    assert (result.counter, result.sanitizer_hits) == ("tsc", 7)
    assert runner.calls == [["p", "bench", "f", "256", "4096", "101", "250", "3", "0"]]


def test_a_process_that_shared_the_core_is_tried_again() -> None:
    busy, quiet = line(SCATTERED, crowded=True, width=2000), line(width=3900)
    result, runner = timed(busy, busy, quiet)
    assert result.runs == ((1.0, 2.0),)
    assert len(runner.calls) == 3


def test_a_process_that_nothing_disturbed_on_a_shared_core_counts() -> None:
    result, runner = timed(line([4096.0, 4097.0, 4098.0], crowded=True, width=2000))
    assert len(runner.calls) == 1
    assert result.shared == (0,)


def test_after_a_core_that_was_shared_the_next_is_used_until_it_is_shared_too() -> None:
    busy, quiet = line(SCATTERED, crowded=True, width=2000), line(width=3900)
    _, runner = timed(quiet, busy, quiet, quiet, busy, quiet, times=4, cpus=(3, 1))
    assert [call[-2] for call in runner.calls] == ["3", "3", "1", "1", "1", "3"]


def test_what_a_core_of_its_own_does_is_remembered_beside_steady_neighbours() -> None:
    widths = (3900, 3000, 3950, 4178, 3960)  # one of them read while the clock changed
    _, runner = timed(*(line(width=width) for width in widths), line(width=3960), times=6)
    assert [call[-1] for call in runner.calls] == ["0", "0", "0", "3000", "3900", "3950"]
    quiet = [line(width=3960)] * 40
    _, runner = timed(*quiet, line(width=2500), times=240)
    assert runner.calls[-1][-1] == "3960"


def test_processes_that_shared_their_core_are_told() -> None:
    shared = line([4096.0, 4097.0, 4098.0], crowded=True, width=2000)
    result, _ = timed(shared, line([4096.0]), shared, times=3)
    assert result.shared == (0, 2)
    assert not result.is_uncertain
    assert result.replace(shared=(0, 1, 2)).is_uncertain


def test_patience_has_an_end_and_a_core_that_is_never_quiet_is_not_waited_for() -> None:
    busy = line(SCATTERED, crowded=True, width=2000)
    result, runner = timed(busy)
    assert (result.shared, len(runner.calls)) == ((0,), PATIENCE)
    result, runner = timed(busy, times=30)
    assert len(result.runs) == 30
    assert len(runner.calls) < NEVER_QUIET + PATIENCE + 30


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"counter": "tsc"}'])
def test_a_program_that_does_not_say_what_it_measured_has_crashed(text: str) -> None:
    result, _ = timed(text)
    assert result.outcome is Outcome.CRASHED
    assert not result.runs


def test_packages_that_are_missing_are_told_once_and_cost_no_cell(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, nothing = lab.context(), cast(Any, None)
    (made := tmp_path / "x.o").write_bytes(b"")
    cell = Cell("s", "f", "gcc-12", ("-O2",))
    result = Result(cell, Outcome.MEASURED)
    monkeypatch.setattr(cell_code, "entries", lambda *_: ("f",))
    monkeypatch.setitem(sys.modules, "capstone", None)
    tools = CellTools(context, nothing)
    for _ in range(2):
        found = with_code(tools, CompiledCell(resolved(cell), (made,), nothing), result)
        assert found == result.replace(packages_missing=True)
    said = cast(io.StringIO, context.err.file).getvalue()
    assert said.count(extras.install_command("matrix")) == 1


def test_a_cell_without_a_sample_is_tried_again_and_then_left_for_another_run() -> None:
    result, runner = timed(line([]), line([]), line())
    assert (result.outcome, result.runs, len(runner.calls)) == (Outcome.MEASURED, ((1.0, 2.0),), 3)
    result, runner = timed(line([]))
    assert (result.outcome, len(runner.calls)) == (Outcome.SKIPPED, PATIENCE)
    assert "--resume" in result.reason


def test_without_a_counter_a_cell_is_skipped() -> None:
    result, runner = timed(line([], counter="none"))
    assert (result.outcome, len(runner.calls)) == (Outcome.SKIPPED, 1)
    assert read_bench(line(), 2048).samples == (2.0, 4.0)


def test_signals_have_names() -> None:
    assert how_it_ended(-11, "") == "SIGSEGV"
    assert how_it_ended(139, "x") == "SIGSEGV: x"
    assert "does not have" in how_it_ended(-4, "")
    assert how_it_ended(77, "") == "exit code 77"


def test_a_full_disk_is_no_fault_of_the_compiler() -> None:
    assert refusals.full_disk("gcc failed", "a.c:1: error: no such thing") is None
    found = refusals.full_disk("gcc failed", "error writing to /tmp/x.s: No space left on device")
    assert str(found) == "gcc failed: No space left on device"


@pytest.mark.parametrize(("number", "outcome"), [(9, Outcome.SKIPPED), (11, Outcome.NOT_COMPILED)])
def test_a_compiler_that_was_killed_is_tried_again_and_one_that_crashed_is_not(
    number: int, outcome: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Runner:
        def run(self, argv: Sequence[str], **options: object) -> Completed:
            del argv, options
            return Completed(-number)

    context: Any = type("X", (), {"runner": Runner(), "cache_dir": lambda _: tmp_path})()
    compiler = Compiler(("gcc",), "gcc 12", "f")
    (source := tmp_path / "x.c").write_text("")

    def objects(*_: object) -> list[Path]:
        return [build_timed(context, compiler, source, [], "", 1.0)]

    monkeypatch.setattr(subjects, "objects", objects)
    monkeypatch.setattr(compiled_cell, "surroundings", lambda *_: None)
    monkeypatch.setattr(accepted_flags, "takes", lambda *_: True)
    nothing: Any = None
    with pytest.raises(FailedCellError) as error:
        compile_cell(CellTools(context, nothing), resolved(Cell("s", "f", "gcc-12", ("-O2",))))
    assert error.value.outcome is outcome
    assert "gcc 12 cannot compile x.c: " in error.value.reason


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (refusals.NotCompiledError("expected ;"), Outcome.NOT_COMPILED),
        (refusals.NotCompiledError("Killed", may_pass=True), Outcome.SKIPPED),
        (NoSpaceError("a.s: No space left on device"), None),
    ],
)
def test_a_full_disk_in_the_middle_of_a_bisection_is_no_finding(
    error: EverycoreError, outcome: Outcome | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def objects(*_: object) -> list[Path]:
        raise error

    nothing: Any = None
    monkeypatch.setattr(subjects, "objects", objects)
    monkeypatch.setattr(accepted_flags, "takes", lambda *_: False)
    bench = CellPipeline(CellTools(nothing, nothing), nothing, nothing)
    resolved_cell = resolved(Cell("s", "f", "gcc-12", ("-O2",)))
    if outcome:
        assert bench.coded(resolved_cell).outcome is outcome
    else:
        with pytest.raises(EverycoreError, match="no cell can be compiled"):
            bench.coded(resolved_cell)
