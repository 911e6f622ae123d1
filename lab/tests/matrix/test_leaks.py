# SPDX-License-Identifier: MIT
"""Constant time, cell by cell: on code that compilers and flags spoil, and on real kernels."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from world import DATA, Lab

from everycore import subjects
from everycore.compile.catalog import find_tree
from everycore.ct.taint import MemcheckError
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.matrix import leaks
from everycore.matrix.leaks import Suspect, by_taint, by_trace, look
from everycore.model.cells import Verdict
from everycore.model.domain import Target, Tree
from everycore.model.targets import load_target
from everycore.subjects import Subject, find_subject
from everycore.subjects.describe import load_subject
from everycore.trace.record import UntraceableError

pytestmark = pytest.mark.slow

Build = Callable[..., Suspect]


@pytest.fixture
def context(real_lab: Lab) -> Context:
    return real_lab.context()


@pytest.fixture
def tree(context: Context) -> Tree:
    return find_tree(context.package)


@pytest.fixture
def suspect(context: Context, tree: Tree) -> Build:
    """A function of the planted subject, or of another, from a compiler with flags."""

    def build(function: str, cc: str, flags: str, target: str = "host", of: str = "") -> Suspect:
        place = load_target(tree, target)
        for name in (cc, place.compiler, *place.emulator[:1]):
            if name and not shutil.which(name):
                pytest.skip(f"no {name}")
        subject = find_subject(tree, of) if of else planted()
        program = subjects.build(context, tree, subject, cc or None, flags.split(), target)
        own = subject.function(function)
        return Suspect(program.binary, own.symbol, place, multiple_of=own.multiple_of)

    return build


def planted() -> Subject:
    return load_subject(DATA / "planted/planted.toml")


def verdicts(context: Context, suspected: Suspect) -> dict[str, Verdict]:
    """Return the verdicts of the methods that can look here; a skip where none can."""
    found = {v.method: v for v in (by_trace(context, suspected), by_taint(context, suspected))}
    looked = {method: v for method, v in found.items() if v.constant is not None}
    if not looked:
        pytest.skip("; ".join(v.detail for v in found.values()))
    return looked


def test_a_select_by_masks_that_clang_makes_a_branch_of_is_a_leak(
    context: Context, suspect: Build
) -> None:
    for found in verdicts(context, suspect("masks", "clang", "-O2")).values():
        assert found.constant is False
        assert found.detail.startswith("masks_ghash+0x")
        assert ": branch: j" in found.detail


@pytest.mark.parametrize(("function", "cc"), [("barrier", "clang"), ("barrier", "gcc")])
def test_a_select_behind_a_barrier_is_constant_time(
    context: Context, suspect: Build, function: str, cc: str
) -> None:
    for found in verdicts(context, suspect(function, cc, "-O2")).values():
        assert found.constant is True


@pytest.mark.parametrize("cc", ["gcc", "clang"])
def test_a_loss_under_one_flag_is_seen_with_that_flag_alone(
    context: Context, suspect: Build, cc: str
) -> None:
    for flags, constant in (("-O2", True), ("-Os", False)):
        for found in verdicts(context, suspect("flagged", cc, flags)).values():
            assert (flags, found.constant) == (flags, constant)


def test_a_look_up_by_a_secret_is_a_leak_at_an_address(context: Context, suspect: Build) -> None:
    for found in verdicts(context, suspect("ghash", "", "-O2", of="c_table4")).values():
        assert found.constant is False
        assert ": address: " in found.detail


def test_what_leaks_in_the_key_alone_is_told_as_of_the_key(suspect: Build) -> None:
    barrier = suspect("barrier", "", "-O2")
    first = leaks._said("key", barrier.binary, 0x401000, "branch")
    assert first.startswith("key set-up: ")


def test_another_cpu_is_traced_under_qemu_and_not_tainted(context: Context, suspect: Build) -> None:
    for flags, constant in (("-O2", True), ("-Os", False)):
        flagged = suspect("flagged", "", flags, target="qemu-aarch64")
        traced = by_trace(context, flagged)
        if traced.detail == "QEMU does not tell the data addresses":
            pytest.skip(traced.detail)
        assert (flags, traced.constant) == (flags, constant)
        assert by_taint(context, flagged).constant is None


def test_a_miscompilation_is_wrong_and_gets_no_verdict(
    context: Context, tree: Tree, suspect: Build
) -> None:
    flags = ["-O2", "-ffinite-math-only"]
    program = subjects.build(context, tree, planted(), flags=flags)
    with pytest.raises(EverycoreError, match="the tag is wrong"):
        subjects.check(context, program, planted().function("miscompiled"))
    miscompiled = suspect("miscompiled", "", " ".join(flags))
    assert by_trace(context, miscompiled).constant is None
    assert by_taint(context, miscompiled).constant is None
    miscompiled = suspect("miscompiled", "", "-O2")
    assert by_trace(context, miscompiled).constant is not False


def test_what_valgrind_does_not_know_is_named_and_no_pass(context: Context, suspect: Build) -> None:
    barrier = suspect("barrier", "gcc", "-O3 -march=x86-64-v4")
    found = by_taint(context, barrier)
    assert found.constant is None
    assert "valgrind" in found.detail


def test_a_program_that_was_looked_at_is_not_run_again(
    context: Context, suspect: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    flagged = suspect("flagged", "", "-Os")
    for path in (context.cache_dir() / "verdicts").glob("*"):  # of other tests
        path.unlink()
    first = look(context, flagged)
    if any(verdict.constant is None for verdict in first):
        pytest.skip("; ".join(v.detail for v in first))
    monkeypatch.setattr(leaks, "by_trace", lambda *_: pytest.fail("it was run again"))
    assert look(context, suspect("flagged", "", "-Os -g0")) == first
    monkeypatch.setattr(leaks, "by_trace", lambda *_: Verdict(None, "trace", "another"))
    assert look(context, suspect("flagged", "", "-O2"))[0].detail == "another"
    assert look(context, flagged, anew=True)[0].detail == "another"
    assert look(context, flagged) == first  # what could not look again takes no verdict back


def test_what_one_method_said_is_kept_where_the_other_cannot_look(
    context: Context, suspect: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = replace(suspect("barrier", "", "-O2"), key_bits=128)
    monkeypatch.setattr(leaks, "by_taint", lambda *_: Verdict(None, "taint", "not now"))
    monkeypatch.setattr(leaks, "by_trace", lambda *_: Verdict(True, "trace", "first"))
    assert [v.detail for v in look(context, barrier)] == ["first", "not now"]
    monkeypatch.setattr(leaks, "by_trace", lambda *_: Verdict(True, "trace", "second"))
    monkeypatch.setattr(leaks, "by_taint", lambda *_: Verdict(True, "taint", "now"))
    assert [v.detail for v in look(context, barrier)] == ["first", "now"]


def test_a_verdict_of_the_cache_that_is_damaged_is_made_again(
    context: Context, suspect: Build
) -> None:
    barrier = suspect("barrier", "", "-O2")
    first = look(context, barrier)
    for path in (context.cache_dir() / "verdicts").glob("*"):
        path.write_text('[{"constant": tr', encoding="utf-8")
    assert look(context, barrier) == first


def test_a_full_disk_costs_no_verdict(
    context: Context, suspect: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    barrier = suspect("barrier", "", "-O2 -fno-ident")
    for path in (context.cache_dir() / "verdicts").glob("*"):
        path.unlink()
    monkeypatch.setattr(Path, "write_text", full)
    assert [verdict.method for verdict in look(context, barrier)] == ["trace", "taint"]
    assert not list((context.cache_dir() / "verdicts").glob("*"))


def test_methods_that_cannot_look_say_why(
    context: Context, suspect: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = suspect("barrier", "", "-O2")
    monkeypatch.setattr(leaks, "has_valgrind", lambda _: False)
    assert by_taint(context, barrier) == Verdict(None, "taint", "no valgrind")

    def refused(*_: object, **__: object) -> None:
        raise UntraceableError("tracing is not permitted here")

    monkeypatch.setattr(leaks, "native", refused)
    assert by_trace(context, barrier) == Verdict(None, "trace", "tracing is not permitted here")
    board = replace(barrier, target=replace(barrier.target, transport="ssh"))
    assert by_trace(context, board).constant is None


REGIONS = [["region", "key", "0"], ["region", "call", "0"]] * 3


@pytest.mark.parametrize(
    ("lines", "code", "fatal", "said"),
    [
        (REGIONS, 0, None, True),
        (REGIONS[:-1], 0, None, "does not mark"),
        ([["blind"]], 0, None, "does not notice"),
        ([], 3, None, "shows a CPU"),
        (REGIONS[:2], 132, None, "ended with code 132"),
        (REGIONS[:2], 132, MemcheckError("SIGILL", "SIGILL", 0x401000), "does not know"),
        ([["judges"], *REGIONS[1:], ["region", "call", "1"]], 0, None, "judges the tag"),
        ([*REGIONS[1:], ["region", "call", "1"]], 0, None, False),
        ([*REGIONS[:-1], ["region", "key", "4"]], 0, None, False),
    ],
)
def test_a_run_of_memcheck_that_says_too_little_is_no_pass(
    suspect: Build,
    lines: list[list[str]],
    code: int,
    fatal: MemcheckError | None,
    said: bool | str,
) -> None:
    found = leaks._judge(
        suspect("barrier", "", "-O2"), lines, code, {"fatal": fatal} if fatal else {}
    )
    if isinstance(said, bool):
        assert found.constant is said
    else:
        assert found.constant is None
        assert said in found.detail


def test_lengths_are_those_that_a_function_takes() -> None:
    on_host = Suspect(Path("none"), "f", Target("host", ""))
    assert on_host.lengths == (16, 240, 592)
    assert replace(on_host, multiple_of=1).lengths == (16, 240, 592, 77)
    assert replace(on_host, multiple_of=128).lengths == (128, 256, 640)
