# SPDX-License-Identifier: MIT
"""Two programs in turn, two stored runs, two matrices."""

import hashlib
import json
import os
import random
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from world import DATA, PACKAGE, Lab, data_text, objects

from everycore.commands import compare as command
from everycore.commands.compare import NO_VERDICT
from everycore.compile import catalog
from everycore.model.cells import Cell, Head, Outcome, Result
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import parse
from everycore.run.sides import exported
from everycore.store import matrix_files, run_files

SOURCE = DATA / "counting_harness.c"
COIN = command._coin  # before it is replaced


# ---- Two programs in turn


@pytest.fixture(autouse=True)
def same_noise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give a test the same noise and the same order of both sides whenever it runs.

    Equal programs are told apart in one of 100 runs (permutation.LEVEL), which test_permutation.py
    counts; a test of the command may not fail as often.
    """
    monkeypatch.setenv("COUNTING_HARNESS_RUNS", str(tmp_path / "runs"))
    coins = random.Random(1)
    monkeypatch.setattr(command, "_coin", lambda: coins.random() < 0.5)


@pytest.fixture
def program(real_lab: Lab) -> Path:
    return compiled(real_lab, "program")


def compiled(lab: Lab, name: str, *flags: str) -> Path:
    path = lab.folder / name
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))))
    subprocess.run([compiler, *flags, str(SOURCE), "-o", str(path)], check=True)
    return path


@pytest.mark.parametrize(("factor", "verdict", "code"), [(1.03, "slower", 1), (0.97, "faster", 0)])
def test_a_change_of_3_percent_is_found_and_no_other(
    real_lab: Lab, program: Path, factor: float, verdict: str, code: int
) -> None:
    other = compiled(real_lab, "other", f"-DFACTOR={factor}")
    out = real_lab.folder / "run.jsonl"
    options = ("--mode", "ctr", "--bytes", "1500")
    done = real_lab("compare", "--run", str(program), str(other), *options, "--out", str(out))
    assert done.code == code, done.err
    assert f"1 {verdict}" in done.out
    assert "3 unchanged" in done.out
    (row,) = (line for line in done.out.splitlines() if line.startswith("changed"))
    assert abs(float(row.split()[5]) - factor) < 0.01
    again = real_lab("compare", str(out), "--json")
    assert again.code == code
    (change,) = objects(again.out)
    assert (change["operation"]["kernel"], change["change"]["verdict"]) == ("changed", verdict)
    # One in twenty of such intervals does not hold what is true.
    assert change["change"]["low"] - 0.01 < factor < change["change"]["high"] + 0.01
    assert real_lab("compare", str(out), "--no-fail").code == 0
    assert real_lab("compare", str(out), "--threshold", "5").code == 0


def test_a_program_is_no_slower_than_itself(real_lab: Lab, program: Path) -> None:
    done = real_lab("compare", "--run", str(program), str(program), "--mode", "ctr", "--all")
    assert done.code == 0, done.out
    assert "A and B are the same program" in done.err
    assert "0 slower, 0 faster, 4 unchanged" in done.out


def test_the_coin_has_two_sides() -> None:
    assert {COIN() for _ in range(64)} == {True, False}  # fails in one of 2^63 runs


def test_every_round_has_both_sides_in_random_order(real_lab: Lab, program: Path) -> None:
    out = real_lab.folder / "run.jsonl"
    chosen = ("--mode", "ctr", "--bytes", "1500", "--processes", "20", "--out", str(out))
    real_lab("compare", "--run", str(program), str(program), *chosen)
    lines = [bench for bench in run_files.read(out).benches() if bench.kernel == "one"]
    assert [line.process for line in lines] == [i for i in range(20) for _ in "AB"]
    rounds = ["".join(line.side for line in lines[i : i + 2]) for i in range(0, 40, 2)]
    assert set(rounds) == {"AB", "BA"}
    assert all(len(line.cycles) == 11 for line in lines)


def test_revisions_and_trees_are_built_and_compared(real_lab: Lab) -> None:
    tree = real_lab.folder / "tree"
    for name in ("src/kernels.def", "include/everycore/everycore.h", "catalog/targets/host.toml"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(catalog.find_tree(PACKAGE).root / name, tree / name)
    (tree / "harness").mkdir()
    shutil.copy(SOURCE, tree / "harness" / "main.c")
    git = ["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    changed = SOURCE.read_text().replace("#define FACTOR 1.0", "#define FACTOR 1.05")
    (tree / "harness" / "main.c").write_text(changed)
    real_lab.env["EVERYCORE_TREE"] = str(tree)
    done = real_lab("compare", "--run", "HEAD", str(tree), "--mode", "ctr")
    assert done.code == 1, done.err
    assert "1 slower, 0 faster, 3 unchanged" in done.out
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    short = commit.stdout[:12]
    footer = f"A: commit {short}; B: commit {short}+changes"
    assert footer in " ".join(done.out.split())
    (stored,) = (real_lab.folder / "state" / "everycore" / "results").glob("*-compare.jsonl")
    assert footer in " ".join(real_lab("compare", str(stored)).out.split())
    folder = exported(real_lab.context(), commit.stdout.strip())
    assert (folder / "harness" / "main.c").read_text() == SOURCE.read_text()


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        (("program",), "--run needs two programs"),
        (("program", "nonsense"), "'nonsense' is no folder, no program and no revision"),
        (("program", "--all"), "--run needs two programs"),
        (("empty", "program"), "empty is no checkout of everycore"),
        (("program", "text"), "text is no program"),
        (("program", "program", "--processes", "8"), ""),
        (("program", "program", "--threshold", "-1"), "--threshold -1 is no percentage"),
        (("program", "program", "--threshold", "nan"), "--threshold nan is no percentage"),
    ],
)
def test_sides_that_are_none_are_named(
    real_lab: Lab, program: Path, sides: tuple[str, ...], said: str
) -> None:
    (real_lab.folder / "empty").mkdir()
    (real_lab.folder / "text").write_text("{}")
    done = real_lab("compare", "--run", *sides)
    assert program.exists()
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_wrong_kernel_ends_the_run_and_leaves_no_file(real_lab: Lab, program: Path) -> None:
    broken = compiled(real_lab, "broken", "-DBROKEN")
    out = real_lab.folder / "run.jsonl"
    done = real_lab(
        "compare", "--run", str(program), str(broken), "--mode", "ctr", "--out", str(out)
    )
    assert done.code == 1
    assert "B (" in done.err
    assert "three ctr is wrong: byte 5 differs" in done.err
    assert not out.exists()


def test_equal_programs_are_named_with_what_is_known_of_them(real_lab: Lab, program: Path) -> None:
    words = ("--mode", "ctr", "--bytes", "1500", "--processes", "9")
    done = real_lab("compare", "--run", str(program), str(program), *words)
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    for side in "AB":
        assert f"{side}: program without a commit, SHA-256 {digest}" in done.out


def test_what_only_one_side_has_is_named(real_lab: Lab, program: Path) -> None:
    other = compiled(real_lab, "other", '-DCHANGED="new"')
    done = real_lab(
        "compare", "--run", str(program), str(other), "--mode", "ctr", "--bytes", "1500"
    )
    assert done.code == 0
    assert "only A has them: changed ctr 1500" in done.err
    assert "only B has them: new ctr 1500" in done.err
    assert "3 operations" in done.out


def test_an_operation_without_a_figure_in_many_processes_is_named(
    real_lab: Lab, program: Path
) -> None:
    out = real_lab.folder / "run.jsonl"
    chosen = ("--mode", "ctr", "--bytes", "1500", "--out", str(out))
    real_lab("compare", "--run", str(program), str(program), *chosen)
    lines = objects(out.read_text())
    number = next(i for i, line in enumerate(lines) if line.get("kernel") == "two")
    lines[number]["cycles"] = []
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = real_lab("compare", str(out))
    assert "4 operations, 15 processes a side" in done.out
    for line in lines:
        if (line.get("kernel"), line.get("side")) == ("two", "B"):
            line["cycles"] = []
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = real_lab("compare", str(out))
    assert "too many processes have no figure of them: two ctr 1500" in done.err
    assert "3 operations, 16 processes a side" in done.out


def test_of_a_run_that_was_cut_off_the_whole_rounds_count(real_lab: Lab, program: Path) -> None:
    other = compiled(real_lab, "other", "-DFACTOR=1.05")
    out = real_lab.folder / "run.jsonl"
    chosen = ("--mode", "ctr", "--bytes", "1500", "--out", str(out))
    assert real_lab("compare", "--run", str(program), str(other), *chosen).code == 1
    lines = objects(out.read_text())
    for rounds, code in ((12, 1), (8, 0)):
        kept = [line for line in lines[:-1] if line.get("process", 0) <= rounds][:-1]
        end = {"type": "end", "lines": len(kept) - 1, "partial": "it was interrupted"}
        text = "".join(json.dumps(line) + "\n" for line in [*kept, end])
        (partial := real_lab.folder / f"{rounds}.partial").write_text(text)
        done = real_lab("compare", str(partial))
        assert done.code == code, done.out
        assert f"4 operations, {rounds} processes a side" in done.out
        assert "its last round is left out" in done.err
    assert "8 processes a side cannot give a verdict: 9 are needed" in done.err


def test_the_report_and_the_last_two_runs_leave_a_comparison_out(
    real_lab: Lab, program: Path
) -> None:
    words = ("compare", "--run", str(program), str(program), "--mode", "ctr", "--bytes", "1500")
    assert real_lab(*words).code == 0
    done = real_lab("compare")
    assert done.code == 2
    assert "two readable result files are needed" in done.err


def test_programs_are_staged_once_and_at_names_of_one_length(real_lab: Lab, program: Path) -> None:
    other = compiled(real_lab, "a_program_with_a_longer_name", "-DFACTOR=2")
    assert real_lab("compare", "--run", str(program), str(other), "--mode", "ctr").code == 1
    staged = sorted(
        path
        for path in Path(real_lab.env["XDG_CACHE_HOME"]).glob("everycore/bin/*/harness")
        if path.read_bytes() in (program.read_bytes(), other.read_bytes())
    )
    assert len(staged) == 2
    assert len({len(str(path)) for path in staged}) == 1
    assert all(os.access(path, os.X_OK) for path in staged)


def test_options_of_a_run_are_refused_without_one(lab: Lab) -> None:
    done = lab("compare", "a.jsonl", "b.jsonl", "--kernel", "c_ref")
    assert done.code == 2
    assert "add --run" in done.err


# ---- Two stored runs


def stored(lab: Lab, name: str) -> Path:
    path = lab.folder / name
    lab("bench", "--mode", "ctr", "--bytes", "1500", "--out", str(path))
    return path


def slowed(path: Path, name: str, factor: float) -> Path:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line.get("kernel") == "c_ref":
            line["cycles"] = [value * factor for value in line["cycles"]]
    other = path.with_name(name)
    other.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return other


def test_stored_runs_get_no_verdict_and_a_reason(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    b = slowed(a, "b.jsonl", 1.25)
    for named, other, ratio in ((a, b, "1.250"), (b, a, "0.800")):
        done = lab("compare", str(named), str(other))
        assert done.code == 0
        assert ratio in done.out
        assert NO_VERDICT in done.out
        assert "slower" not in done.out
    assert "1 differ" in done.out or "differ by more than 3 %" in done.out
    found = objects(lab("compare", str(a), str(b), "--json").out)
    assert {line["operation"]["kernel"] for line in found} == {"c_ref"}
    assert not objects(lab("compare", str(a), str(b), "--json", "--threshold", "30").out)


def test_equal_stored_runs_do_not_differ(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    done = lab("compare", str(a), str(slowed(a, "b.jsonl", 1.0)))
    assert done.code == 0
    assert ": 0 differ" in done.out


def test_a_file_is_not_compared_with_itself(lab: Lab) -> None:
    a, b = stored(lab, "a.jsonl"), matrix(lab.folder / "b.jsonl", result("gcc-12", 10))
    for path in (a, b):
        done = lab("compare", str(path), str(path))
        assert done.code == 2
        assert f"{path} would be compared with itself" in done.err


def test_the_files_compared_are_named_first(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    b = slowed(a, "b.jsonl", 1.25)
    done = lab("compare", str(a), str(b))
    assert done.out.splitlines()[:2] == [f"Before: {a}", f"After: {b}"]
    done = lab("compare", str(a), str(b), "--json")
    assert done.err.splitlines()[:2] == [f"Before: {a}", f"After: {b}"]
    lab("bench", "--mode", "ctr", "--bytes", "1500")
    (last,) = (lab.folder / "state" / "everycore" / "results").glob("*.jsonl")
    done = lab("compare", str(a))
    assert done.out.splitlines()[:2] == [f"Before: {a}", f"After: {last}"]


def test_a_message_of_a_byte_has_figures_by_the_byte_too(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    lines = [json.loads(line) for line in a.read_text().splitlines()]
    for line in lines:
        if line.get("kernel") == "c_ref":
            line |= {"bytes": 1, "messages": 1}
    a.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = lab("compare", str(a), str(slowed(a, "b.jsonl", 1.25)))
    assert "cycles/B" in done.out


def test_a_bench_is_not_compared_with_limits(lab: Lab) -> None:
    a, b = stored(lab, "a.jsonl"), lab.folder / "b.jsonl"
    run, *lines = a.read_text().splitlines()
    b.write_text("\n".join([run.replace('"bench"', '"limits"'), *lines, ""]))
    done = lab("compare", str(a), str(b))
    assert done.code == 2
    assert f"{a} is of `everycore bench`, {b} of `everycore limits`" in done.err


def test_compare_skips_broken_files_and_names_them(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    broken = lab.folder / "broken.jsonl"
    broken.write_text(a.read_text()[:-20])
    before = broken.read_text()
    outcome = lab("compare", str(a), str(broken))
    assert outcome.code == 2
    assert "broken.jsonl is cut short" in outcome.err
    assert "two readable result files are needed" in outcome.err
    assert broken.read_text() == before


def test_limits_of_two_runs_are_compared_without_a_verdict(lab: Lab) -> None:
    names = ("a.jsonl", "b.jsonl")
    run = run_files.read(stored(lab, "bench.jsonl")).run.replace(command="limits")
    for name in names:
        with run_files.Writer(lab.folder / name, run) as writer:
            for line in data_text("limits.jsonl").splitlines()[1:]:
                value = json.loads(line)
                if name == "b.jsonl" and value.get("instruction") == "vaesenc":
                    value["per_cycle"] = [cycles / 2 for cycles in value["per_cycle"]]
                writer.write(parse(json.dumps(value)))
    files = [str(lab.folder / name) for name in names]
    shown = lab("compare", *files)
    assert shown.code == 0, shown.err
    assert "No verdict" in " ".join(shown.out.split())
    rows = [json.loads(line) for line in lab("compare", *files, "--json", "--all").out.splitlines()]
    ratios = {(row["operation"]["kernel"], row["operation"]["mode"]): row["ratio"] for row in rows}
    assert ratios["vaesenc", "many at once, 512 bits"] == pytest.approx(2.0)  # slower
    assert ratios["vaesenc", "latency, 512 bits"] == 1.0
    assert len({row["unit"] for row in rows}) == 1
    others = {ratio for name, ratio in ratios.items() if name[0] != "vaesenc"}
    assert others == {1.0}
    assert any(row["operation"]["key_bits"] == 256 for row in rows)  # loops of modes


def test_compare_takes_the_last_two_runs(lab: Lab) -> None:
    assert lab("compare").code == 2
    lab("bench", "--mode", "ctr")
    lab("bench", "--mode", "ctr")
    (lab.folder / "state" / "everycore" / "results" / "9.jsonl").write_text("{")
    outcome = lab("compare")
    assert outcome.code == 0
    assert "skipped" in outcome.err


def test_compare_warns_of_different_machines(lab: Lab) -> None:
    a = stored(lab, "a.jsonl")
    other = a.read_text().replace('"gcc 12.2.0"', '"clang 14.0.6"')
    (lab.folder / "b.jsonl").write_text(other)
    outcome = lab("compare", str(a), str(lab.folder / "b.jsonl"))
    assert "different compilers: gcc 12.2.0 / clang 14.0.6" in outcome.err


# ---- Two matrices


def matrix(path: Path, *cells: Result) -> Path:
    when = datetime(2026, 1, 2, tzinfo=UTC).isoformat()
    head = Head(when, "0.1.0", Revision("0123456789ab", False), Machine("AMD"), "tsc", {})
    with matrix_files.Writer(path, head) as writer:
        for cell in cells:
            writer.write(cell)
    return path


def result(toolchain: str, cycles: float, digest: str = "") -> Result:
    cell = Cell("linux-6.1", "cbc-enc", toolchain, ("-O2",))
    runs = ((cycles,) * 5, (cycles,) * 5)
    return Result(cell, Outcome.MEASURED, runs=runs, digest=digest)


def test_matrices_are_compared_cell_by_cell_without_a_verdict(lab: Lab) -> None:
    wrong = result("gcc-9", 5).replace(outcome=Outcome.WRONG, runs=())
    a = matrix(
        lab.folder / "a.jsonl",
        result("gcc-12", 10, "d1"),
        result("gcc-13", 10, "d2"),
        result("gcc-14", 10),
        result("gcc-9", 5),
        result("gcc-8", 5),
    )
    b = matrix(
        lab.folder / "b.jsonl",
        result("gcc-12", 12, "d1"),
        result("gcc-13", 20, "d3"),
        result("gcc-14", 10.1),
        wrong,
    )
    lab.width = 120
    done = lab("compare", str(a), str(b))
    assert done.code == 0, done.err
    assert "4 cells: 3 end otherwise or differ" in done.out
    assert NO_VERDICT in done.out
    rows = {words[2]: words for line in done.out.splitlines() if len(words := line.split()) == 7}
    assert rows["gcc-9"][4:] == ["5.00", "WRONG", "-"]
    assert rows["gcc-12"][6] == "1.200="  # noise, for the code is the same
    assert rows["gcc-13"][6] == "2.000"
    assert "gcc-14" not in rows
    found = objects(lab("compare", str(a), str(b), "--json", "--all").out)
    assert [line["same_code"] for line in found] == [True, False, False, False]
    empty = matrix(lab.folder / "c.jsonl", result("clang-9", 1))
    assert lab("compare", str(a), str(empty)).code == 2


def test_a_matrix_and_a_bench_are_not_compared(lab: Lab) -> None:
    a, b = stored(lab, "a.jsonl"), matrix(lab.folder / "b.jsonl", result("gcc-12", 10))
    done = lab("compare", str(a), str(b))
    assert done.code == 2
    assert "b.jsonl" in done.err
