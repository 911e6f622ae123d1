# SPDX-License-Identifier: MIT
"""Programs for other CPUs, traced under qemu-user; what is not installed is skipped."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from world import DATA, Lab

from everycore.compile.catalog import find_tree
from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target
from everycore.model.targets import load_target
from everycore.trace.emulated import qemu
from everycore.trace.record import Run, UntraceableError, first_difference

# Thumb symbols, function descriptors, big endian, delay slots
TARGETS = ("qemu-aarch64", "qemu-armhf", "qemu-ppc64", "qemu-mips", "qemu-riscv64", "qemu-s390x")
Traced = Callable[..., Run]


class OldRunner(SystemRunner):
    """Shows an emulator without plugins."""

    def run(self, argv, **options):  # type: ignore[no-untyped-def]
        done = super().run(argv, **options)
        return Completed(done.code, done.stdout.replace("-plugin", ""), done.stderr)


@pytest.fixture(params=TARGETS)
def target(request: pytest.FixtureRequest, real_lab: Lab) -> Target:
    found = load_target(find_tree(real_lab.context().package), request.param)
    for program in (found.compiler, found.emulator[0]):
        if not shutil.which(program):
            pytest.skip(f"no {program}: apt-get install {' '.join(found.packages)}")
    return found


@pytest.fixture
def traced(target: Target, real_lab: Lab, real_cache: Path) -> Traced:
    binary = real_cache / f"traced-{target.name}"
    if not binary.is_file():
        sources = [str(DATA / "traced.c"), str(DATA / "traced_x86.S")]
        flags = [*target.compile_flags, *target.link_flags, "-g", "-O2"]
        done = SystemRunner().run([target.compiler, *flags, "-o", str(binary), *sources])
        assert done.code == 0, done.stderr

    def trace(case: str, begin: str = "region_begin", **options: bool) -> Run:
        argv = [str(binary), case]
        try:
            return qemu(real_lab.context(), target, argv, begin, "region_end", **options)
        except UntraceableError as error:
            pytest.skip(str(error))

    return trace


def need_data(run: Run, target: Target) -> None:
    """Skip where the emulator takes no plugins (Debian 13), and so tells no data addresses."""
    if not run.traces[0].data:
        pytest.skip(f"{target.emulator[0]} does not tell the data addresses: it takes no plugins")


def test_what_does_not_depend_on_the_secret_is_the_same(traced: Traced, target: Target) -> None:
    run, again = traced("scans"), traced("scans")
    assert (len(run.traces), run.code) == (4, 7)
    assert all(t.same(run.traces[0]) for t in (*run.traces, *again.traces))
    need_data(run, target)
    assert all(t.data and t.accesses > 256 / 16 for t in run.traces)  # vectors have 16 bytes


def test_a_branch_on_the_secret_is_told(traced: Traced) -> None:
    traces = traced("branches", keep=True).traces
    assert [t.same(traces[0]) for t in traces] == [True, False, True, False]
    assert str(first_difference(traces[0], traces[1])).startswith("branch at branches+")


def test_an_index_by_the_secret_is_told(traced: Traced, target: Target) -> None:
    run = traced("looks_up", keep=True)
    need_data(run, target)
    traces = run.traces
    assert [t.same(traces[0]) for t in traces] == [True, False, False, False]
    found = first_difference(traces[0], traces[1])
    assert str(found).startswith("address at looks_up+")
    assert "traced.c:" in str(found)


@pytest.mark.parametrize("target", TARGETS[:2], indirect=True)
def test_without_plugins_the_log_has_the_same_instructions_and_no_data(
    traced: Traced, target: Target, real_lab: Lab
) -> None:
    run = traced("looks_up", keep=True)
    need_data(run, target)
    plugged = run.traces
    real_lab.runner = OldRunner()
    logged = traced("looks_up", keep=True).traces
    assert [list(t.pcs()) for t in logged] == [list(t.pcs()) for t in plugged]
    assert [t.pcs_digest for t in logged] == [t.pcs_digest for t in plugged]
    assert not any(t.data or t.accesses for t in logged)
    assert all(t.same(logged[0]) for t in logged)  # of what was seen
    assert not logged[0].same(plugged[0])


@pytest.mark.parametrize("target", TARGETS[:1], indirect=True)
def test_an_absent_emulator_and_a_program_of_no_fixed_place_are_errors(
    target: Target, traced: Traced, real_lab: Lab
) -> None:
    with pytest.raises(EverycoreError, match="may be loaded anywhere") as error:
        qemu(real_lab.context(), target, [shutil.which("true") or "/bin/true"], "main", "main")
    assert "-static" in error.value.hint
    binary = traced("scans").traces[0].program.image.path
    absent = replace(target, emulator=("qemu-absent",))
    with pytest.raises(EverycoreError, match="qemu-absent") as error:
        qemu(real_lab.context(), absent, [str(binary)], "region_begin", "region_end")
    assert "qemu-user" in error.value.hint


@pytest.mark.parametrize("target", TARGETS[:1], indirect=True)
def test_an_endless_region_is_an_error(traced: Traced) -> None:
    with pytest.raises(EverycoreError, match="more than 100 instructions"):
        traced("scans", limit=100)
