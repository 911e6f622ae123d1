# SPDX-License-Identifier: MIT
"""The pass that looks for leaks, and how it tells what it found."""

import io
import platform
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from matrix.cells import cell, judged, measured, pipeline, resolved
from rich.console import Console
from world import DATA, Lab

from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.errors import EverycoreError
from everycore.matrix import anomalies, bisect, second_pass, trials
from everycore.matrix.cell_runs import Run
from everycore.matrix.compiled_cell import CellTools, CompiledCell
from everycore.matrix.time_limits import Clock
from everycore.model.cells import Cell, Kind, Outcome, Result, Verdict
from everycore.report import leak_table, matrix_tables
from everycore.subjects.describe import load_subject


def text(parts: Iterable[Any]) -> str:
    out = io.StringIO()
    console = Console(file=out, width=200)
    for part in parts:
        console.print(part)
    return out.getvalue()


# ---- With real compilers ----------------------------------------


@pytest.fixture
def results(real_lab: Lab) -> dict[str, Result]:
    """Cells of the planted subject by function and flags, as `everycore matrix leaks` has them."""
    context = real_lab.context()
    tree = find_tree(context.package)
    here = {toolchain.name: toolchain for toolchain in installed(context, tree)}
    name = next((name for name, toolchain in here.items() if toolchain.family == "clang"), "")
    if not name or not shutil.which("valgrind"):
        pytest.skip("no clang, or no valgrind")
    planted = load_subject(DATA / "planted/planted.toml")
    bench = pipeline(context, tree, here, {planted.name: planted}, platform.machine())
    flags = [
        *(("masks", ("-O2",)), ("barrier", ("-O2",)), ("flagged", ("-O2",)), ("flagged", ("-Os",))),
        *(("miscompiled", ("-O2",)), ("miscompiled", ("-O2", "-ffinite-math-only"))),
    ]
    cells = [bench.resolve(Cell("planted", f, name, words, n_bytes=64)) for f, words in flags]
    first = list(Run(bench, Clock(lambda: 0.0)).cells(cells))
    if any(result.outcome is Outcome.SKIPPED for result in first):
        pytest.skip(first[0].reason)
    found = {result.cell: result for result in first}
    for result in second_pass.looked_at(bench, second_pass.left(first), cores=2):
        found[result.cell] = result
    return {f"{c.function} {' '.join(c.flags)}": result for c, result in found.items()}


@pytest.mark.slow
def test_losses_of_constant_time_and_a_miscompilation_are_caught(
    results: dict[str, Result],
) -> None:
    constant = {name: result.constant_time for name, result in results.items()}
    assert constant == {
        "masks -O2": False,
        "barrier -O2": True,
        "flagged -O2": True,
        "flagged -Os": False,
        "miscompiled -O2": True,
        "miscompiled -O2 -ffinite-math-only": None,
    }
    wrong = results["miscompiled -O2 -ffinite-math-only"]
    assert wrong.outcome is Outcome.WRONG
    assert not wrong.runs
    assert not wrong.verdicts
    shown = text(matrix_tables.tables(list(results.values()), 200))
    assert shown.startswith("WRONG: ")
    (leak,) = [
        a for a in anomalies.find({r.cell: r for r in results.values()}) if a.kind is Kind.LEAK
    ]
    assert leak.cell == results["flagged -Os"].cell
    assert leak.neighbour == results["flagged -O2"].cell
    claims = [("planted", "flagged"), ("planted", "masks"), ("planted", "barrier")]
    broken = leak_table.broken(list(results.values()), claims)
    assert {result.cell.function for result in broken} == {"flagged", "masks"}


# ---- Without ----------------------------------------


@dataclass
class FakeBench:
    """Programs that `look` is told to find; what it is asked for."""

    tools: CellTools
    asked: list[Cell] = field(default_factory=list)
    gone: tuple[str, ...] = ()

    def linked(self, cell: Cell) -> CompiledCell:
        self.asked.append(cell)
        if cell.toolchain in self.gone:
            raise EverycoreError(f"no {cell.toolchain}")
        resolved_cell = resolved(cell)
        return CompiledCell(resolved_cell, (), resolved_cell.program(Path("p")))


@pytest.fixture
def bench(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    said = (Verdict(True, "trace", "6 secrets"),)
    monkeypatch.setattr(second_pass, "look", lambda *_: said)
    context = lab.context()
    return FakeBench(CellTools(context, find_tree(context.package)))


def test_cells_whose_calls_are_alike_are_each_looked_at_for_their_key_set_up(
    bench: FakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = (measured(cell(flags=f), 10.0).replace(digest="d") for f in ("-O2", "-O3"))
    said = lambda *_: (Verdict(bench.asked[-1] != bad.cell, "trace"),)  # noqa: E731
    monkeypatch.setattr(second_pass, "look", said)
    found = {result.cell: result for result in second_pass.looked_at(bench, [good, bad], cores=1)}
    assert found[good.cell].constant_time is True
    assert found[bad.cell].constant_time is False


def test_what_is_wrong_or_known_is_not_looked_at_and_what_could_not_be_is_again() -> None:
    wrong = measured(cell(flags="-O1"), 10.0).replace(outcome=Outcome.WRONG)
    known, unseen = judged(cell(flags="-O2"), True), judged(cell(flags="-O3"), None)
    counted = measured(cell(target="qemu-aarch64"), 10.0).replace(outcome=Outcome.COUNTED)
    assert second_pass.left([wrong, known, unseen, counted]) == [unseen, counted]


def test_a_compiler_that_is_gone_costs_its_cells_their_verdicts_alone(bench: FakeBench) -> None:
    bench.gone = ("gcc-7",)
    cells = [measured(cell("gcc-7"), 10.0), measured(cell("gcc-9"), 11.0)]
    found = {
        result.cell.toolchain: result for result in second_pass.looked_at(bench, cells, cores=2)
    }
    assert found["gcc-7"].verdicts == (Verdict(None, "trace", "no gcc-7"),)
    assert found["gcc-9"].constant_time is True


def test_without_time_nothing_more_is_begun(bench: FakeBench) -> None:
    cells = [measured(cell(f"gcc-{n}"), 10.0 + n) for n in range(5)]
    found = list(second_pass.looked_at(bench, cells, 1, lambda: len(bench.asked) < 2))
    assert len(found) == len(bench.asked) == 2


def test_cells_that_failed_stay_as_they_are(bench: FakeBench) -> None:
    failed = [
        measured(cell(), 10.0).replace(outcome=outcome) for outcome in Outcome if outcome.is_failure
    ]
    assert list(second_pass.looked_at(bench, failed, 1)) == failed
    assert not bench.asked


def verdicts(where: Cell, *verdicts: Verdict) -> Result:
    return judged(where, None).replace(verdicts=verdicts)


LEAK = Verdict(False, "trace", "blocks+0x10: branch: jne 0x20")


def test_broken_promises_are_told_first_with_their_cells() -> None:
    good = judged(cell(subject="a", function="ctr"), True)
    bad = verdicts(cell("clang-14", "-Os", subject="b", function="ctr"), LEAK)
    fine = judged(cell("gcc-12", "-Os", subject="b", function="ctr"), True)
    shown = text(leak_table.paragraphs([good, bad, fine], [("b", "ctr"), ("a", "ctr")]))
    first, second, *_ = shown.splitlines()
    assert first.startswith("b ctr (promises constant time): 1 of 2 cells leak")
    assert second.strip() == "clang-14 -Os: trace: blocks+0x10: branch: jne 0x20"
    assert "a ctr (promises constant time): 0 of 1 cells leak" in shown


def test_of_code_that_never_was_constant_time_one_place_is_enough() -> None:
    both = (LEAK, LEAK.replace(method="taint"))
    table_cells = [verdicts(cell(flags=f), *both) for f in ("-O1", "-O2", "-O3")]
    shown = text(leak_table.paragraphs(table_cells, []))
    assert "promises nothing): 3 of 3 cells leak (looked at by taint 3, trace 3)" in shown
    assert shown.count("trace and taint: blocks+0x10") == 1
    assert leak_table.broken(table_cells, []) == []


def test_cells_that_nobody_could_look_at_are_counted_with_the_reason_and_are_no_pass() -> None:
    why = Verdict(None, "trace", "no tracer here"), Verdict(None, "taint", "no valgrind")
    shown = text(leak_table.paragraphs([verdicts(cell(), *why)], []))
    assert "0 of 0 cells leak" in shown
    assert "Not looked at, 1 cells:" in shown
    assert "1 trace: no tracer here; taint: no valgrind" in shown


def test_a_long_list_of_leaks_is_cut_and_says_so() -> None:
    many = [verdicts(cell(f"gcc-{n}"), LEAK) for n in range(20)]
    shown = text(leak_table.paragraphs(many, [("table", "ctr")]))
    assert "and 8 more" in shown


def test_a_rerun_of_a_leak_takes_no_verdict_of_before_and_a_trial_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def looked(_: object, results: list[Result], cores: int, anew: bool) -> list[Result]:
        del cores
        asked.append(anew)
        return results

    monkeypatch.setattr(trials, "looked_at", looked)
    bench: Any = SimpleNamespace(
        resolve=lambda where: where, prepare=lambda where: judged(where, False)
    )
    for processes in (bisect.PROCESSES, bisect.TRIAL_PROCESSES):
        trials.Trials(bench).measure([cell()], Kind.LEAK, processes)
    assert asked == [True, False]
