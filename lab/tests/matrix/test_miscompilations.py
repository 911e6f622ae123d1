# SPDX-License-Identifier: MIT
"""Wrong answers: listed in groups, with what makes them right."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from world import Lab

from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.decoding import encode_line
from everycore.matrix import anomalies, bugs
from everycore.matrix.bisect import Stage
from everycore.matrix.failures import group_failures
from everycore.matrix.miscompilations import explain_wrong, reported, with_figures
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, parse
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
        self.timed: list[Cell] = []

    def are_right(self, cells: Sequence[Cell]) -> list[bool | None]:
        self.asked += cells
        return [bool(self.repair) and self.repair <= set(cell.flags) for cell in cells]

    def code(self, cells: Sequence[Cell]) -> list[Result]:
        """All cells with -O2 are one program."""
        return [
            Result(cell, Outcome.MEASURED, digest="2" * ("-O2" in cell.flags)) for cell in cells
        ]

    def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
        assert (kind, processes) == (Kind.SLOW, 5)
        self.timed += cells
        runs = ((31.2,) * 5,) * 5
        names = [cell.toolchain.replace("-", " ") + ".1.0" for cell in cells]
        return [
            Result(cell, Outcome.MEASURED, compiler=name, runs=runs)
            for cell, name in zip(cells, names, strict=True)
        ]

    def stages(self, anomaly: Anomaly) -> Sequence[Stage]:
        assert anomaly.kind is Kind.WRONG
        return self.of_compiler

    def wrong_after(self, cell: Cell) -> tuple[str, ...]:
        return (f"SomePass on {cell.function}",)


def test_cells_that_failed_in_one_way_are_one_line() -> None:
    results = [wrong(f"gcc-{n}", flags, n % 9) for n in (9, 12, 13) for flags in ("-O2", "-O3")]
    right = Result(Cell("mine", "sum", "gcc-11", ("-O2",)), Outcome.MEASURED, compiler="gcc 11.1.0")
    crash = wrong("gcc-12", "-O1").replace(outcome=Outcome.CRASHED, reason="SIGSEGV")
    other = wrong("clang-19", "-O2")
    found = group_failures([crash, right, *results, other])
    assert [len(group.results) for group in found] == [6, 1, 1]
    assert found[0].title == (
        "WRONG: gcc 9, 12-13 with -O2, -O3 on mine sum, 6 cells: " + REASON.format(0)
    )
    assert found[1].first == other
    assert found[2].first == crash


def test_what_gives_undefined_behaviour_a_meaning_is_tried_first() -> None:
    bench = Fake(["-fno-strict-aliasing"])
    results = [wrong("gcc-12", "-O2"), wrong("gcc-12", "-O3"), wrong("gcc-13", "-O2")]
    found = explain_wrong(bench, results)
    assert {anomaly.repair for anomaly in found.values()} == {("-fno-strict-aliasing",)}
    assert len(found) == 3
    first = found[results[0].cell]
    assert first.passes == ("SomePass on sum",)
    assert "pointer of another type" in first.causes[0]
    assert len(bench.asked) == 1 + 4 + 2  # the first cell, four switches, and the other cells


@pytest.mark.parametrize("n_needed", [1, 2])
def test_the_smallest_set_of_the_compilers_switches_is_found(n_needed: int) -> None:
    switches = tuple((f"-fno-{name}",) for name in "abcdefghijk")
    repair = [switch[0] for switch in switches[2 : 2 + n_needed]]
    bench = Fake(repair, [Stage("optimizations", switches)])
    (found,) = explain_wrong(bench, [wrong("clang-19", "-O2")]).values()
    assert sorted(found.repair) == sorted(repair)
    assert found.tried > n_needed
    assert not found.causes


def test_without_a_repair_it_is_said_what_was_tried() -> None:
    results = [wrong("gcc-12", "-O2"), wrong("gcc-12", "-O3")]
    found = explain_wrong(Fake([]), results)
    assert not any(anomaly.repair for anomaly in found.values())
    assert "no switch of the compiler" in found[results[0].cell].why_not
    assert "no more was tried" in found[results[1].cell].why_not


def test_what_is_known_is_not_tried_again_and_no_time_leaves_cells_for_later() -> None:
    first, second = wrong("gcc-12", "-O2"), wrong("clang-19", "-O2")
    known = Anomaly(first.cell, Kind.WRONG, 0.0, None, None, 1.0, repair=("-fwrapv",))
    assert parse(encode_line(known)) == known
    bench = Fake(["-fwrapv"])
    assert explain_wrong(bench, [first], [known]) == {first.cell: known}
    assert not bench.asked
    assert explain_wrong(bench, [first, second], [known], lambda: False) == {first.cell: known}


def test_cells_with_a_sanitizer_come_last_and_are_named() -> None:
    checked = [wrong("gcc-12", f"{level} -fsanitize=undefined") for level in ("-O1", "-O2")]
    plain = [wrong("gcc-12", "-O2"), wrong("gcc-13", "-O2")]
    (both,) = group_failures([*checked, *plain])
    assert both.first == plain[0]
    assert "4 cells, 2 of them with a sanitizer: " in both.title
    (group,) = group_failures(checked)
    assert "2 cells, all of them with a sanitizer: " in group.title
    text = bugs.miscompilation(both, {})
    same, beside = text.split("The same elsewhere:\n")[1].split(bugs.WITH_SANITIZER)
    assert same.strip() == "gcc 13.1.0 -O2"
    assert beside.count("-fsanitize=undefined") == 2


def test_a_cell_that_only_a_sanitizer_makes_right_is_told_with_the_bug() -> None:
    bad = wrong("gcc-12", "-O2")
    right = Result(
        bad.cell.replace(flags=("-O2", "-fsanitize=undefined")),
        Outcome.MEASURED,
        compiler="gcc 12.1.0",
        runs=((90.0,) * 5,) * 5,
    )
    newer = right.replace(cell=right.cell.replace(toolchain="gcc-13"), runs=((30.0,) * 5,) * 5)
    results = {result.cell: result for result in (bad, right, newer)}
    assert not anomalies.find(results)  # three times as slow as the newer one
    (group,) = group_failures(results.values())
    said = bugs.miscompilation(group, {}, results=results)
    assert "and wrong without it:\n  gcc 12.1.0 -O2 -fsanitize=undefined\n" in said
    plain = bad.replace(outcome=Outcome.MEASURED, runs=((30.0,) * 5,) * 5)
    (odd,) = anomalies.find(results | {plain.cell: plain})  # without a bug it is a slow cell
    assert odd.cell == right.cell


def test_a_repaired_cell_has_a_figure_and_equal_code_is_timed_once() -> None:
    bench = Fake(["-fwrapv"])
    flags = ("-O2", "-O2 -fno-a", "-O3")
    results = [wrong("gcc-12", flag) for flag in flags] + [wrong("gcc-13", "-O2")]
    why = explain_wrong(bench, results)
    assert with_figures(bench, why, lambda: False) == why
    found = with_figures(bench, why)
    timed = [f"{cell.toolchain} {' '.join(cell.flags)}" for cell in bench.timed]
    assert timed == ["gcc-12 -O2 -fwrapv", "gcc-12 -O3 -fwrapv", "gcc-13 -O2 -fwrapv"]
    for cell, anomaly in found.items():
        assert anomaly.repaired
        assert anomaly.repaired.cell == cell.replace(flags=(*cell.flags, "-fwrapv"))
        assert anomaly.repaired.cycles_per_byte == 31.2
        assert anomaly.repaired.compiler == cell.toolchain.replace("-", " ") + ".1.0"
    assert with_figures(Fake([]), found) == found
    (group,) = group_failures(results)
    text = bugs.miscompilation(group, found)
    rows = {line.split("  ")[0]: line.split() for line in text.splitlines() if "gcc 12.1" in line}
    assert "WRONG" in rows["this"]
    assert "31.20" in rows["repaired"]
    assert "gcc 13.1.0 -O2 (right with -fwrapv: 31.20 cycles/byte)" in text


def test_a_bug_of_the_code_is_one_report_for_all_compilers() -> None:
    results = [wrong("gcc-12", "-O2"), wrong("clang-19", "-O2"), wrong("clang-19", "-O3")]
    groups = group_failures(results)
    assert len(groups) == 2
    why = explain_wrong(Fake(["-fno-strict-aliasing"]), results)
    (group,) = reported(groups, why)
    assert len(group.results) == 3
    assert bugs.miscompilation(group, why).startswith("clang 19, gcc 12 -O2 on mine sum: wrong")
    assert len(reported(groups, {})) == 2
    of_compiler = [Stage("optimizations", (("-fno-a",),))]
    why = explain_wrong(Fake(["-fno-a"], of_compiler), results)
    assert len(reported(groups, why)) == 2  # each may be a bug of its compiler


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
        own = [
            toolchain
            for toolchain in installed(real_lab.context(), tree)
            if toolchain.family == family
        ]
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
    words += ["--flags=-O2 -fsanitize=bounds"]
    done = real_lab("matrix", "regressions", *words)
    assert done.code == 1, done.err
    assert done.out.count("wrong answers") == 1
    assert "-fno-strict-aliasing repairs it" in done.out
    assert "3 of 3 cells" in done.out
    assert "got " in done.out
    assert " ".join(done.err.split()).count("WRONG: ") == 1
    assert "3 cells, 1 of them with a sanitizer" in " ".join(done.err.split())
    assert "3 with wrong answers, 0 worse than a neighbour; 1 cause\n" in done.err
    found = [line for line in read(path).lines if isinstance(line, Anomaly)]
    assert [anomaly.repair for anomaly in found] == [("-fno-strict-aliasing",)] * 3
    assert all(anomaly.repaired and anomaly.repaired.cycles_per_byte for anomaly in found)
    assert bool(found[0].passes) == (family == "clang")
    shown = real_lab("matrix", *words, "--resume")
    assert shown.code == 1
    repaired = found[0].repaired
    assert repaired
    assert f"({repaired.cycles_per_byte:.2f})" in shown.out
    assert "in parentheses" in shown.out
    assert "matrix regressions --resume" not in shown.out
    again = real_lab("matrix", "regressions", *words, "--resume")
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
