# SPDX-License-Identifier: MIT
"""Calls of cells under the tracer: counts by function and by instruction."""

import platform

import pytest
from world import Lab

from everycore.catalog import find_tree
from everycore.matrix.make import Ready, Workbench
from everycore.matrix.plan import Place
from everycore.matrix.records import Cell, Outcome
from everycore.toolchains import installed

HERE = "x86_64"


def prepared(lab: Lab, target: str, *flags: str, n_bytes: int = 64) -> tuple[Workbench, Ready]:
    """c_ttable4 of ours, by a compiler of the host."""
    context = lab.context()
    tree = find_tree(context.package)
    here = {one.name: one for one in installed(context, tree) if one.compiler(target)}
    name = next((name for name, one in here.items() if one.family == "gcc"), "")
    if not name:
        pytest.skip(f"no gcc for {target}")
    if target == "host" and platform.machine() != HERE:
        pytest.skip("programs are traced natively on x86-64 only")
    bench = Workbench(context, tree, here, Place(platform.machine(), frozenset()))
    ready = bench.prepare(Cell("c_ttable4", "cbc-enc", name, flags, target, n_bytes=n_bytes))
    if not isinstance(ready, Ready):
        if ready.outcome is Outcome.SKIPPED:
            pytest.skip(ready.reason)
        if ready.outcome is Outcome.COUNTED:
            pytest.fail("an emulated cell is ready, too")
        pytest.fail(f"{ready.outcome}: {ready.reason}")
    return bench, ready


@pytest.mark.parametrize("target", ["host", "qemu-riscv64"])
def test_a_call_is_counted_by_function(real_lab: Lab, target: str) -> None:
    bench, ready = prepared(real_lab, target, "-O2")
    counted = bench.executed(ready)
    assert sum(counted.functions.values()) == counted.instructions
    assert next(iter(counted.functions)).split(".")[0] == "cbc_encrypt"
    assert not {"main", "cbc_enc", "call_run"} & counted.functions.keys(), "what is ours"
    if target != "host":
        assert ready.result.executed == counted.instructions
    longer = bench.executed(prepared(real_lab, target, "-O2", n_bytes=128)[1])
    per_block = (longer.instructions - counted.instructions) / 4
    assert 250 < per_block < 3000


@pytest.mark.parametrize("target", ["host", "qemu-riscv64"])
def test_the_hot_loop_is_the_one_that_was_executed(real_lab: Lab, target: str) -> None:
    bench, ready = prepared(real_lab, target, "-O2")
    listing = bench.hot_loop(ready)
    assert listing is not None
    assert listing.symbol.split(".")[0] == "cbc_encrypt"
    assert listing.share is not None
    assert 0.5 < listing.share <= 1
    assert any("." in line and ":" in line for line in listing.lines), "it has a label"
    assert ready.result.code is not None
    assert len(listing.lines) < ready.result.code.instructions


def test_code_of_a_whole_program_is_read_out_of_the_program(real_lab: Lab) -> None:
    _, ready = prepared(real_lab, "host", "-O2", "-flto")
    code = ready.result.code
    assert code is not None
    assert 100 < code.instructions < 4000
