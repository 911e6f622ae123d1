# SPDX-License-Identifier: MIT
"""Wrong answers: listed in groups, with what makes them right."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from world import Lab

from everycore.build.catalog import find_tree
from everycore.build.toolchains.installed import installed
from everycore.matrix import bugs
from everycore.matrix.bisect import Stage
from everycore.matrix.failures import group_failures
from everycore.matrix.miscompilations import explain_wrong
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, as_json, parse
from everycore.store.matrix_files import read

pytestmark = pytest.mark.slow

REASON = "sum: 16 bytes: the output is wrong (byte {0} of 16: got 0{0}, expected 10)"


def wrong(toolchain: str, flags: str, byte: int = 3, **more: object) -> Result:
    cell = Cell("mine", "sum", toolchain, tuple(flags.split()))
    compiler = toolchain.replace("-", " ") + ".1.0"
    values: dict[str, object] = {"reason": REASON.format(byte), "compiler": compiler, **more}
    return Result(cell, Outcome.WRONG, **values)  # type: ignore[arg-type]


class Fake:
    """Answers are right if a cell has all flags of a set."""

    def __init__(self, repair: Sequence[str], stages: Sequence[Stage] = ()) -> None:
        self.repair = set(repair)
        self.of_compiler = stages
        self.asked: list[Cell] = []

    def are_right(self, cells: Sequence[Cell]) -> list[bool | None]:
        self.asked += cells
        return [bool(self.repair) and self.repair <= set(cell.flags) for cell in cells]

    def stages(self, anomaly: Anomaly) -> Sequence[Stage]:
        assert anomaly.kind is Kind.WRONG
        return self.of_compiler

    def wrong_after(self, cell: Cell) -> tuple[str, ...]:
        return (f"SomePass on {cell.function}",)


def test_cells_that_failed_in_one_way_are_one_line() -> None:
    results = [wrong(f"gcc-{n}", flags, n % 9) for n in (9, 12, 13) for flags in ("-O2", "-O3")]
    right = Result(Cell("mine", "sum", "gcc-11", ("-O2",)), Outcome.MEASURED, compiler="gcc 11.1.0")
    crash = replace(wrong("gcc-12", "-O1"), outcome=Outcome.CRASHED, reason="SIGSEGV")
    other = wrong("clang-19", "-O2")
    found = group_failures([crash, right, *results, other])
    assert [len(one.results) for one in found] == [6, 1, 1]
    assert found[0].title == (
        "WRONG: gcc 9, 12-13 with -O2, -O3 on mine sum, 6 cells: " + REASON.format(0)
    )
    assert found[1].first == other
    assert found[2].first == crash


def test_what_gives_undefined_behaviour_a_meaning_is_tried_first() -> None:
    bench = Fake(["-fno-strict-aliasing"])
    results = [wrong("gcc-12", "-O2"), wrong("gcc-12", "-O3"), wrong("gcc-13", "-O2")]
    found = explain_wrong(bench, results)
    assert {one.repair for one in found.values()} == {("-fno-strict-aliasing",)}
    assert len(found) == 3
    first = found[results[0].cell]
    assert first.passes == ("SomePass on sum",)
    assert "pointer of another type" in first.causes[0]
    assert len(bench.asked) == 1 + 4 + 2  # the first cell, four switches, and the other cells


@pytest.mark.parametrize("n_needed", [1, 2])
def test_the_smallest_set_of_the_compilers_switches_is_found(n_needed: int) -> None:
    switches = tuple((f"-fno-{name}",) for name in "abcdefghijk")
    repair = [one[0] for one in switches[2 : 2 + n_needed]]
    bench = Fake(repair, [Stage("optimizations", switches)])
    (found,) = explain_wrong(bench, [wrong("clang-19", "-O2")]).values()
    assert sorted(found.repair) == sorted(repair)
    assert found.tried > n_needed
    assert not found.causes


def test_without_a_repair_it_is_said_what_was_tried() -> None:
    results = [wrong("gcc-12", "-O2"), wrong("gcc-12", "-O3")]
    found = explain_wrong(Fake([]), results)
    assert not any(one.repair for one in found.values())
    assert "no switch of the compiler" in found[results[0].cell].why_not
    assert "no more was tried" in found[results[1].cell].why_not


def test_what_is_known_is_not_tried_again_and_no_time_leaves_cells_for_later() -> None:
    one, other = wrong("gcc-12", "-O2"), wrong("clang-19", "-O2")
    known = Anomaly(one.cell, Kind.WRONG, 0.0, None, None, 1.0, repair=("-fwrapv",))
    assert parse(as_json(known)) == known
    bench = Fake(["-fwrapv"])
    assert explain_wrong(bench, [one], [known]) == {one.cell: known}
    assert not bench.asked
    assert explain_wrong(bench, [one, other], [known], lambda: False) == {one.cell: known}


def test_the_report_of_a_group_says_where_what_and_why() -> None:
    results = [wrong("gcc-12", "-O2"), wrong("gcc-12", "-O3"), wrong("gcc-13", "-O2")]
    (group,) = group_failures(results)
    why = explain_wrong(Fake(["-fno-strict-aliasing"]), results)
    text = bugs.miscompilation(group, why)
    title = text.splitlines()[0]
    assert title == ("gcc 12-13 -O2 on mine sum: wrong answers; -fno-strict-aliasing repairs it")
    assert "got 03, expected 10" in text
    assert "makes the answers of 3 of 3 cells right" in text
    assert "wrong after the pass SomePass on sum" in text
    assert "gcc 13.1.0 -O2 (right with -fno-strict-aliasing)" in text


# ---- With the compilers that are here


TOML = """
files = ["alias.c"]
declaration = "void alias(unsigned char *, const unsigned char *, size_t)"
[functions.alias]
call = "alias(out, in, n_bytes)"
"""
# An object of one type is accessed through a pointer of another.
SOURCE = """
#include <stddef.h>
void alias(unsigned char *out, const unsigned char *in, size_t n);
int both(int *a, short *b);
__attribute__((noinline)) int both(int *a, short *b)
{
    *a = 1;
    *b = 2;
    return *a;
}
void alias(unsigned char *out, const unsigned char *in, size_t n)
{
    static int memory;
    int *a = &memory;
    short *b = (short *)&memory;
    int got = both(a, b);
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(in[i] ^ got);
}
"""


@pytest.fixture
def newest(real_lab: Lab, tmp_path: Path) -> Callable[[str], str]:
    (tmp_path / "alias.toml").write_text(TOML)
    (tmp_path / "alias.c").write_text(SOURCE)
    real_lab.env["PATH"] = os.environ["PATH"]
    tree = find_tree(real_lab.context().package)

    def named(family: str) -> str:
        own = [one for one in installed(real_lab.context(), tree) if one.family == family]
        if not own:
            pytest.skip(f"no {family}: apt-get install {family}")
        return own[-1].name

    return named


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_a_planted_bug_is_grouped_and_its_repair_found(
    real_lab: Lab, newest: Callable[[str], str], family: str
) -> None:
    path = real_lab.folder / "m.jsonl"
    words = ["--subject", str(real_lab.folder / "alias.toml"), "--toolchain", newest(family)]
    words += ["--flags=-O2", "--flags=-O3", "--flags=-O0", "--bytes", "2048", "--out", str(path)]
    done = real_lab("matrix", *words, "--regressions")
    assert done.code == 1, done.err
    assert done.out.count("wrong answers") == 1
    assert "-fno-strict-aliasing repairs it" in done.out
    assert "2 of 2 cells" in done.out
    assert "got " in done.out
    assert " ".join(done.err.split()).count("WRONG: ") == 1
    assert "2 with wrong answers, 0 worse than a neighbour; 1 cause\n" in done.err
    found = [line for line in read(path).lines if isinstance(line, Anomaly)]
    assert [one.repair for one in found] == [("-fno-strict-aliasing",)] * 2
    assert bool(found[0].passes) == (family == "clang")
    again = real_lab("matrix", *words, "--regressions", "--resume")
    assert again.code == 1
    assert [line for line in read(path).lines if isinstance(line, Anomaly)] == found


def test_the_build_that_is_trusted_does_not_have_the_bug(
    real_lab: Lab, newest: Callable[[str], str]
) -> None:
    newest("clang")
    real_lab.env["CC"] = "clang"
    words = ["--subject", str(real_lab.folder / "alias.toml"), "--toolchain", newest("gcc")]
    words += ["--flags=-O0", "--bytes", "2048", "--out", str(real_lab.folder / "m.jsonl")]
    done = real_lab("matrix", *words)
    assert done.code == 0, done.out
