# SPDX-License-Identifier: MIT
"""Calls of cells under the tracer: counts by function and by instruction."""

import io
import platform
from dataclasses import replace

import pytest
from matrix.cells import pipeline
from rich.console import Console
from world import Lab

from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.errors import EverycoreError
from everycore.estimate.core_estimates import techniques
from everycore.matrix.cell_code import hot_loop
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.modelled import kinds_of, open_estimator
from everycore.matrix.traced_call import counted, executed
from everycore.model.cells import Cell, Outcome, Result
from everycore.report.matrix_tables import tables
from everycore.subjects import Function

pytestmark = pytest.mark.slow

HERE = "x86_64"


def prepared(
    lab: Lab, target: str, *flags: str, n_bytes: int = 64, function: str = "cbc-enc"
) -> tuple[CellPipeline, CheckedCell]:
    """c_ttable4 of ours, by a compiler of the host."""
    context = lab.context()
    tree = find_tree(context.package)
    here = {
        toolchain.name: toolchain
        for toolchain in installed(context, tree)
        if toolchain.compiler(target)
    }
    name = next((name for name, toolchain in here.items() if toolchain.family == "gcc"), "")
    if not name:
        pytest.skip(f"no gcc for {target}")
    if target == "host" and platform.machine() != HERE:
        pytest.skip("programs are traced natively on x86-64 only")
    bench = pipeline(context, tree, here, arch=platform.machine())
    cell = Cell("c_ttable4", function, name, flags, target, n_bytes=n_bytes)
    ready = bench.prepare(bench.resolve(cell))
    if not isinstance(ready, CheckedCell):
        if ready.outcome is Outcome.SKIPPED:
            pytest.skip(ready.reason)
        if ready.outcome is Outcome.COUNTED:
            pytest.fail("an emulated cell is ready, too")
        pytest.fail(f"{ready.outcome}: {ready.reason}")
    return bench, ready


@pytest.mark.parametrize("target", ["host", "qemu-riscv64"])
def test_a_call_is_counted_by_function(real_lab: Lab, target: str) -> None:
    bench, ready = prepared(real_lab, target, "-O2")
    context = bench.tools.context
    call = executed(context, ready.compiled)
    assert sum(call.functions.values()) == call.instructions
    assert next(iter(call.functions)).split(".")[0] == "cbc_encrypt"
    assert not {"main", "cbc_enc", "call_run"} & call.functions.keys(), "what is ours"
    if target != "host":
        assert ready.result.executed == call.instructions
    longer = executed(context, prepared(real_lab, target, "-O2", n_bytes=128)[1].compiled)
    per_block = (longer.instructions - call.instructions) / 4
    assert 250 < per_block < 3000


@pytest.mark.parametrize("target", ["host", "qemu-riscv64"])
def test_the_hot_loop_is_the_one_that_was_executed(real_lab: Lab, target: str) -> None:
    bench, ready = prepared(real_lab, target, "-O2")
    listing = hot_loop(bench.tools, ready.compiled)
    assert listing is not None
    assert listing.symbol.split(".")[0] == "cbc_encrypt"
    assert listing.share is not None
    assert 0.5 < listing.share <= 1
    assert listing.executed == executed(bench.tools.context, ready.compiled).instructions
    assert any("." in line and ":" in line for line in listing.lines), "it has a label"
    assert ready.result.code is not None
    assert len(listing.lines) < ready.result.code.instructions


def test_code_of_a_whole_program_is_read_out_of_the_program(real_lab: Lab) -> None:
    _, ready = prepared(real_lab, "host", "-O2", "-flto")
    code = ready.result.code
    assert code is not None
    assert 100 < code.instructions < 4000
    _, plain = prepared(real_lab, "host", "-O2")
    assert plain.result.code is not None
    assert code.hot.split(".")[0] == plain.result.code.hot.split(".")[0]
    assert code.instructions < 2 * plain.result.code.instructions  # nothing of the C library


def test_estimates_are_ranges_for_cores_that_points_of_the_same_kind_calibrated(
    real_lab: Lab,
) -> None:
    try:
        estimator = open_estimator(real_lab.context())
    except EverycoreError as error:
        pytest.skip(error.message)
    bench, ready = prepared(real_lab, "qemu-aarch64", "-O2", function="ecb-enc")
    tools = replace(bench.tools, estimator=estimator)
    estimates = counted(tools, ready.compiled).estimates
    assert estimates is not None
    low, high = estimates["cortex-a53"]
    assert 10 < low < high < 200
    assert "cortex-a55" not in estimates, "no point of it was published"
    _, chained = prepared(real_lab, "qemu-aarch64", "-O2")
    assert counted(tools, chained.compiled).estimates == {}


def test_what_kind_of_code_a_function_is() -> None:
    theirs = Function("generic-ecb-enc", "ecb-enc", "table")
    assert kinds_of("linux-6.1", theirs) == ("table",)
    assert kinds_of("c_ttable4", Function("ctr", "ctr", "c_ttable4")) == ("table",)
    assert kinds_of("c_ref", Function("ghash", "ghash", "c_ref")) == techniques("ghash", "c_ref")
    both = kinds_of("a64_ce", Function("gcm-seal", "gcm-seal", "a64_ce"))
    assert both == ("ce", "pmull.p64")


def test_estimates_have_tables_of_their_own() -> None:
    cell = Cell("table", "ctr", "gcc-12", ("-O2",), "qemu-aarch64")
    estimated = Result(
        cell, Outcome.COUNTED, executed=40960, estimates={"cortex-a53": (30.2, 41.7)}
    )
    other = estimated.replace(cell=cell.replace(toolchain="gcc-13"), estimates=None)
    out = io.StringIO()
    for part in tables([estimated, other], 80):
        Console(file=out, width=80).print(part)
    counts, estimates = out.getvalue().split("cortex-a53")
    assert "10.00" in counts
    assert "30-42" not in counts
    assert "30-42" in estimates
    assert "no time" in estimates
