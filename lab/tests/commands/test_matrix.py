# SPDX-License-Identifier: MIT
"""everycore matrix, with a subject that is broken as it is told to be."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from world import DATA, Lab

from everycore.commands import matrix_steps as steps
from everycore.compile.catalog import find_tree
from everycore.compile.toolchains.installed import installed
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.matrix import cell_passes, run_request
from everycore.matrix.cell_choice import Choice, RunOptions, stored_choice
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.compiled_cell import CellTools
from everycore.matrix.regressions import Explained
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import duration
from everycore.model.cells import Head, Outcome, Result
from everycore.model.domain import Machine, Revision
from everycore.store import matrix_files as store
from everycore.store.matrix_files import read
from everycore.subjects.sweep import VERSION

QUICK = ("--subject", "broken", "--time-limit", "3")


@pytest.fixture
def broken(real_lab: Lab, real_cache: Path) -> Lab:
    """A tree whose only subject beside our kernels is that of the tests."""
    original = find_tree(real_lab.context().package)
    root = real_cache / "broken"  # objects are found again by the place of their sources
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(DATA / "broken", root / "catalog/subjects")
    for path in original.root.iterdir():
        if path.name in ("harness", "include", "src"):
            (root / path.name).symlink_to(path)
    (root / "catalog/targets").symlink_to(original.root / "catalog/targets")
    for path in (original.root / "catalog/subjects").glob("*.[ch]"):
        if not (root / "catalog/subjects" / path.name).exists():
            shutil.copy(path, root / "catalog/subjects")
    real_lab.env["EVERYCORE_TREE"] = str(root)
    real_lab.env["PATH"] = os.environ["PATH"]
    real_lab.width = 120
    return real_lab


@pytest.fixture
def gcc(broken: Lab) -> str:
    """The newest gcc here, by name."""
    tree = find_tree(broken.context().package, broken.env["EVERYCORE_TREE"])
    own = [
        toolchain for toolchain in installed(broken.context(), tree) if toolchain.family == "gcc"
    ]
    if not own:
        pytest.skip("no gcc: apt-get install gcc libc6-dev")
    return own[-1].name


def flags(*sets: str) -> list[str]:
    return [f"--flags={flag_set}" for flag_set in sets]


def found(path: Path) -> dict[str, Result]:
    return {" ".join(cell.flags): result for cell, result in read(path).results.items()}


def test_each_way_of_failing_is_told_and_the_others_are_measured(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    ways = ["WRONG", "CRASH", "ILLEGAL", "LOOP", "BROKEN", "ABSENT", "LATE"]
    sets = flags("-O2", "-O2 -fno-such-flag", *(f"-O1 -D{name}" for name in ways))
    done = broken("matrix", *QUICK, "--toolchain", gcc, *sets, "--out", str(out))
    results = found(out)
    told = {words.rpartition("-D")[2]: result for words, result in results.items()}
    assert {name: told[name].outcome for name in ways} == {
        "WRONG": Outcome.WRONG,
        "CRASH": Outcome.CRASHED,
        "ILLEGAL": Outcome.CRASHED,
        "LOOP": Outcome.TIME_LIMIT,
        "BROKEN": Outcome.NOT_COMPILED,
        "ABSENT": Outcome.NOT_COMPILED,
        "LATE": Outcome.CRASHED,
    }
    assert "the output is wrong" in told["WRONG"].reason
    assert "SIGSEGV" in told["CRASH"].reason
    assert "SIGILL" in told["ILLEGAL"].reason
    assert "3 s" in told["LOOP"].reason
    assert "copy.c" in told["BROKEN"].reason
    assert "absent.h" in told["ABSENT"].reason
    assert broken.env["EVERYCORE_TREE"] not in out.read_text()
    assert str(tmp_path) not in out.read_text()
    assert broken.env["XDG_CACHE_HOME"] not in out.read_text()
    assert all(not told[name].runs for name in ways)  # and so no time of a wrong answer
    skipped = results["-O2 -fno-such-flag"]
    assert (skipped.outcome, "-fno-such-flag" in skipped.reason) == (Outcome.SKIPPED, True)
    right = results["-O2"]
    assert (right.computes, right.is_assembly) == ("ctr", False)
    assert right.outcome is Outcome.MEASURED
    assert len(right.runs) >= 2
    assert right.cycles_per_byte
    assert right.sanitizer_hits == 0
    assert done.code == 1
    assert done.out.index("WRONG:") < done.out.index("TIME LIMIT:") < done.out.index("Compiler")


def test_sanitizers_are_linked_and_their_hits_counted(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    sets = flags("-O2 -fsanitize=undefined", "-O2 -fsanitize=undefined -DSHIFTS")
    assert broken("matrix", *QUICK, "--toolchain", gcc, *sets, "--out", str(out)).code == 0
    hits = {words: result.sanitizer_hits for words, result in found(out).items()}
    assert hits["-O2 -fsanitize=undefined"] == 0
    assert hits["-O2 -fsanitize=undefined -DSHIFTS"] == 1


def test_an_option_beside_resume_replaces_one_of_the_file_and_no_other(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    first = ["--toolchain", gcc, *flags("-O2", "-O1")]
    assert broken("matrix", *QUICK, *first, "--out", str(out)).code == 0
    subjects = {cell.subject for cell in read(out).results}
    resumed = ("matrix", "--resume", "--out", str(out))
    assert broken(*resumed, "--toolchain", gcc).code == 0
    assert {*found(out)} == {"-O1", "-O2"}  # not the usual sets of flags, of all subjects
    assert broken(*resumed, *flags("-O3")).code == 0
    assert {*found(out)} == {"-O1", "-O2", "-O3"}
    assert {cell.subject for cell in read(out).results} == subjects
    assert {cell.toolchain for cell in read(out).results} == {gcc}


def test_a_run_that_was_killed_goes_on_where_it_stopped(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    names = [f"-O2 -DN={n}" for n in range(12)]
    words = ["matrix", *QUICK, "--toolchain", gcc, *flags(*names), "--out", str(out)]
    env = {**os.environ, **broken.env}
    process = subprocess.Popen(
        [sys.executable, "-m", "everycore", *words],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and not (out.exists() and out.read_bytes().count(b"\n") > 3):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = out.read_bytes()
    had = len(read(out).done())
    assert 2 <= had < 12
    with out.open("ab") as file:
        file.write(b'{"type":"cell","cell":{"subj')  # the kill came in the middle of a line
    done = broken("matrix", "--resume", "--out", str(out))  # its options are in the file
    assert done.code == 0, done.err
    assert f"{had} cells are there" in done.err
    assert "the half of a line" in done.err
    assert out.read_bytes().startswith(before)
    assert len(read(out).done()) == 12
    assert out.read_text().count('"type":"cell"') == 12  # none was done twice


def test_cells_of_another_version_of_a_compiler_are_measured_again(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, *flags("-O1", "-O2"), "--out", str(out)]
    assert broken(*words).code == 0
    first = found(out)
    name = first["-O2"].compiler
    lines = out.read_text().splitlines(keepends=True)
    old = next(line for line in lines if '"-O2"' in line and '"type":"cell"' in line)
    out.write_text("".join(lines).replace(old, old.replace(name, "gcc 1.2.3")))
    assert found(out)["-O2"].compiler == "gcc 1.2.3"
    done = broken(*words, "--resume")
    assert done.code == 0
    assert "1 cells are of other versions of their compilers" in done.err
    assert "1 cells are there" in done.err
    assert "revisions" not in done.err
    assert found(out)["-O2"].compiler == name
    assert found(out)["-O1"].runs == first["-O1"].runs


def test_cells_of_other_contents_of_a_subject_are_measured_again(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    assert broken(*words).code == 0
    source = Path(broken.env["EVERYCORE_TREE"]) / "catalog/subjects/theirs/copy.c"
    source.write_text(source.read_text() + "/* another text of it */\n")
    done = broken(*words, "--resume")
    assert done.code == 0
    assert "1 cells are of other contents of broken: once more" in done.err
    assert "cells are there" not in done.err
    old = [
        encode_line(line.replace(contents="") if isinstance(line, Result) else line)
        for line in read(out).lines
    ]
    out.write_text("".join(f"{line}\n" for line in old))
    source.write_text(source.read_text() + "/* and another */\n")
    assert "1 cells are there" in broken(*words, "--resume").err  # of which nothing is known


def test_cells_that_an_earlier_everycore_compared_by_fewer_inputs_are_compared_again(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, *flags("-O2", "-O1 -DWRONG"), "--out", str(out)]
    assert broken(*words).code == 1
    assert found(out)["-O2"].sweep
    out.write_text(re.sub(r'"(sweep|n_inputs)":\d+,?', "", out.read_text()).replace(",}", "}"))
    assert not found(out)["-O2"].sweep
    done = broken(*words, "--resume")
    assert "2 cells were compared by fewer inputs than today: once more" in done.err
    assert "cells are there" not in done.err
    assert found(out)["-O2"].sweep
    assert "2 cells are there" in broken(*words, "--resume").err


def test_cells_that_a_time_limit_ended_are_tried_again_with_more_time(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    sets = flags("-O2", "-O1 -DLOOP")
    words = ["matrix", "--subject", "broken", "--toolchain", gcc, *sets, "--out", str(out)]
    assert broken(*words, "--time-limit", "1").code == 1
    again = broken("matrix", "--resume", "--out", str(out))  # the limit is known
    assert "2 cells are there" in again.err
    more = broken("matrix", "--resume", "--out", str(out), "--time-limit", "2")
    assert "1 cells are there" in more.err
    assert "2 s" in found(out)["-O1 -DLOOP"].reason
    assert [head.options["time_limit"] for head in read(out).heads] == [1.0, 2.0]


def test_the_estimate_of_a_run_is_known_when_it_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    old = Head("", "", Revision("", False), Machine("a cpu"), "tsc", {"subjects": ["x"]})
    for options, run_options in (
        ({}, RunOptions()),
        ({"time_limit": 3.0, "estimate": True}, RunOptions(3.0, True)),
    ):
        out.write_text(encode_line(old.replace(options={**old.options, **options})) + "\n")
        assert stored_choice(out) == (Choice(subjects=("x",)), run_options)


def test_cells_of_two_revisions_are_warned_of(broken: Lab, gcc: str, tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    assert broken(*words).code == 0
    head, *rest = out.read_text().splitlines(keepends=True)
    revision = str(read(out).heads[0].revision)
    changed = head.replace('"commit":""', '"commit":"ba9876543210"', 1)
    assert changed != head
    out.write_text(changed + "".join(rest))
    done = broken(*words, "--resume")
    assert f"cells of 2 revisions: ba9876543210, {revision}" in done.err


def test_a_subject_whose_adapter_is_broken_fails_alone(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    folder = Path(broken.env["EVERYCORE_TREE"]) / "catalog/subjects"
    (folder / "bad.c").write_text('#include "subject.h"\n#error no\n')
    text = (folder / "broken.toml").read_text().replace("adapter.c", "bad.c")
    (folder / "worse.toml").write_text(text)
    out = tmp_path / "m.jsonl"
    words = ["--subject", "worse,broken", "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    assert broken("matrix", *words).code == 0
    worse, right = (next(r for c, r in read(out).results.items() if c.subject == name)
                    for name in ("worse", "broken"))  # fmt: skip
    assert worse.outcome is Outcome.NOT_COMPILED
    assert "bad.c" in worse.reason
    assert right.outcome is Outcome.MEASURED


def test_a_subject_one_of_whose_files_is_misspelt_fails_alone(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    folder = Path(broken.env["EVERYCORE_TREE"]) / "catalog/subjects"
    text = (folder / "broken.toml").read_text().replace("copy.c", "cpoy.c")
    (folder / "misspelt.toml").write_text(text)
    out = tmp_path / "m.jsonl"
    words = ["--subject", "misspelt,broken", "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    assert broken("matrix", *words).code == 0
    ends = {cell.subject: result for cell, result in read(out).results.items()}
    assert ends["misspelt"].outcome is Outcome.NOT_COMPILED
    assert "no file cpoy.c" in ends["misspelt"].reason
    assert ends["broken"].outcome is Outcome.MEASURED


def test_two_subjects_of_one_name_are_refused_and_one_named_twice_is_not(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    folder, other = Path(broken.env["EVERYCORE_TREE"]) / "catalog/subjects", tmp_path / "other"
    shutil.copytree(folder, other)
    words = ["matrix", "plan", "--toolchain", gcc, "--flags=-O2", "--subject"]
    done = broken(*words, f"broken,{other}/broken.toml")
    assert done.code == 2
    assert f"two subjects are called broken: in {folder} and in {other}" in done.err
    assert broken(*words, f"broken,{folder}/broken.toml").out == broken(*words, "broken").out


def test_a_cache_that_cannot_be_written_ends_the_run(broken: Lab, gcc: str, tmp_path: Path) -> None:
    broken.env["XDG_CACHE_HOME"] = "/dev/null"
    out = tmp_path / "m.jsonl"
    done = broken("matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out))
    assert done.code == 2
    assert "cannot write the cache" in done.err
    assert "XDG_CACHE_HOME" in done.err


def test_a_file_of_the_user_is_stored_without_its_place_and_found_again(
    broken: Lab, gcc: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, mine = tmp_path / "m.jsonl", tmp_path / "mine"
    theirs = Path(broken.env["EVERYCORE_TREE"]) / "catalog/subjects"
    shutil.move(theirs / "broken.toml", theirs / "mine.toml")
    shutil.copytree(theirs, mine)
    (theirs / "mine.toml").unlink()
    named = ("--subject", str(mine / "mine.toml"), "--time-limit", "3")
    sets = flags("-O2", "-O2 -DBROKEN")
    assert broken("matrix", *named, "--toolchain", gcc, *sets, "--out", str(out)).code == 0
    assert str(tmp_path) not in out.read_text()
    lost = broken("matrix", "--resume", "--out", str(out))
    assert lost.code == 2
    assert "go on in the folder of that run" in lost.err
    monkeypatch.chdir(tmp_path)
    again = broken("matrix", "--resume", "--out", str(out))
    assert (again.code, "2 cells are there" in again.err) == (0, True)


def test_two_runs_cannot_write_one_file(broken: Lab, gcc: str, tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    assert broken(*words).code == 0
    head = read(out).heads[0]
    with store.Writer(out, head, resume=True):
        done = broken(*words, "--resume")
    assert done.code == 2
    assert "another run writes" in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: Linux has one")
def test_a_full_disk_is_told_in_a_line(broken: Lab, gcc: str, tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    out.symlink_to("/dev/full")
    done = broken("matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out))
    assert done.code == 2
    assert "No space left" in done.err


def test_a_plan_lists_cells_and_does_nothing(broken: Lab, gcc: str, tmp_path: Path) -> None:
    out = tmp_path / "m.jsonl"
    words = [*QUICK, "--toolchain", gcc, "--flag-set", "O2,O1+ubsan", "--out", str(out)]
    done = broken("matrix", "plan", *words, "--target", "host,qemu-hppa")
    assert done.code == 0
    assert f"{gcc} -O2 on broken copies\n" in done.out
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--subject", "brken"], "nearest: broken"),
        (["--toolchain", "gcc-1"], "unknown toolchain 'gcc-1'"),
        (["--flag-set", "O9"], "unknown flag set 'O9'"),
        (["--function", "copiez"], "nearest: copies"),
        (["--target", "qemu-nothing"], "unknown target"),
        (["--key-bits", "512"], "--key-bits 512"),
        (["--bytes", "0"], "--bytes 0"),
        (["--budget", "soon"], "'soon' is no time"),
        (["--flags", "-O2 '"], "cannot be split"),
        (["--flags", "O2"], "begins with no flag"),
        (["--flags", ""], "begins with no flag"),
        (["--resume"], "no run to go on with"),
    ],
)
def test_names_and_numbers_that_are_not_there_are_told(
    broken: Lab, words: Sequence[str], said: str
) -> None:
    given = ["--subject", "broken"] if "--subject" not in words else []
    done = broken("matrix", *given, *words)
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_run_in_which_all_is_skipped_is_no_success(broken: Lab, gcc: str) -> None:
    done = broken("matrix", *QUICK, "--toolchain", gcc, "--flags=-fno-such-flag")
    assert done.code == 2
    assert "every cell was skipped" in done.err
    assert "-fno-such-flag" in done.out


@pytest.mark.parametrize("way", [["run", "--json"], ["regressions"]])
def test_without_tables_failures_and_skips_are_told_beside_the_answer(
    broken: Lab, gcc: str, way: Sequence[str]
) -> None:
    sets = flags("-O2", "-O1 -DBROKEN", "-fno-such-flag")
    done = broken("matrix", *way, *QUICK, "--toolchain", gcc, *sets)
    assert "NOT COMPILED:" in done.err
    assert "Skipped, 1 cells:" in done.err
    assert "NOT COMPILED:" not in done.out


@pytest.mark.parametrize(
    ("sets", "code"),
    [
        (["-O2", "-O1 -DBROKEN", "-fno-such-flag"], 0),
        (["-O2", "-O1 -DCRASH"], 1),
        (["-O2", "-O1 -DLOOP"], 1),
        (["-O1 -DBROKEN", "-fno-such-flag"], 1),  # nothing is measured
    ],
)
def test_a_crash_or_a_time_limit_or_no_figure_at_all_is_no_success(
    broken: Lab, gcc: str, sets: Sequence[str], code: int
) -> None:
    assert broken("matrix", *QUICK, "--toolchain", gcc, *flags(*sets), "--json").code == code


def test_a_budget_is_a_time() -> None:
    assert [duration(text) for text in ("90", "90s", "10m", "1.5h")] == [90, 90, 600, 5400]
    for text in ("", "m", "-1m", "0m", "10 minutes"):
        with pytest.raises(EverycoreError, match="is no time"):
            duration(text)


def test_a_promise_of_constant_time_that_is_broken_is_exit_code_1(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    cells = ["--subject", str(DATA / "planted/planted.toml"), "--function", "flagged"]
    cells += ["--toolchain", gcc, "--flag-set", "O2", "--flag-set", "Os", "--out", str(out)]
    assert broken("matrix", *cells).code == 0
    first = found(out)
    assert not any(result.verdicts for result in first.values())
    done = broken("matrix", "leaks", *cells, "--resume")
    second = found(out)
    constant = {name: result.constant_time for name, result in second.items()}
    if None in constant.values():
        pytest.skip("; ".join(v.detail for result in second.values() for v in result.verdicts))
    assert constant == {"-O2": True, "-Os": False}
    assert done.code == 1
    assert "planted flagged (promises constant time): 1 of 2 cells leak" in done.out
    assert {name: result.runs for name, result in first.items()} == {
        n: r.runs for n, r in second.items()
    }
    again = broken("matrix", "leaks", *cells, "--resume", "--json")
    assert again.code == 1
    assert not again.out  # nothing is measured, or looked at, twice


@pytest.mark.slow
def test_a_miscompilation_is_reported_with_where_its_code_is_from_and_how_it_is_compiled(
    broken: Lab, gcc: str, tmp_path: Path
) -> None:
    out = tmp_path / "m.jsonl"
    cells = ["--subject", str(DATA / "planted/planted.toml"), "--function", "miscompiled"]
    cells += ["--toolchain", gcc, "--bytes", "64", "--out", str(out)]
    wrong = "-O2 -ffinite-math-only"
    done = broken("matrix", "regressions", *cells, *flags("-O2", wrong))
    assert done.code == 1
    assert "miscompiled: wrong answers" in done.out
    assert "code:      what compilers may spoil" in done.out
    assert "Without everycore:" in done.out
    assert re.search(r"-O2 -ffinite-math-only -c (\./\S*|\$SOURCES)/planted\.c", done.out)
    assert ("$SOURCES" in done.out) == ("# SOURCES: the folder that has planted.c" in done.out)
    assert re.search(r"--subject \./(\S*/)?planted\.toml ", done.out)

    # The same, had the first run seen right answers, and slow ones.
    first = found(out)
    runs = tuple(tuple(9 * sample for sample in run) for run in first["-O2"].runs)
    forged = first["-O2"].replace(cell=first[wrong].cell, runs=runs, digest="another")
    with out.open("a", encoding="utf-8") as file:
        file.write(encode_line(forged) + "\n")
    again = broken("matrix", "regressions", *cells, *flags("-O2", wrong), "--resume")
    assert again.code == 1
    assert "WRONG when it was run again: " in again.err
    assert "noise: " not in again.err
    assert "miscompiled: wrong answers" in again.out
    assert found(out)[wrong].outcome is Outcome.WRONG


@dataclass
class FakeWorld:
    """Time, and a pipeline in which all takes one second of it."""

    seconds: float = 0.0
    late: float = 0.0  # what passes before the first cell
    explaining: list[float] = field(default_factory=list)  # when that began, and had to end

    def now(self) -> float:
        self.seconds, passed = self.seconds + self.late, self.seconds
        self.late = 0.0
        return passed

    def bench(self, tools: CellTools, *_: object) -> Any:
        def prepare(resolved: ResolvedCell) -> CheckedCell:
            self.seconds += 1
            nothing: Any = None
            result = resolved.skipped("").replace(outcome=Outcome.MEASURED, sweep=VERSION)
            return CheckedCell(nothing, result)

        def timed(_: CheckedCell, result: Result) -> Result:
            self.seconds += 1
            return result.replace(runs=(*result.runs, (10.0,) * 5))

        return SimpleNamespace(prepare=prepare, timed=timed, tools=tools)

    def explain_all(self, *given: Any, **_: object) -> Explained:
        self.explaining = [self.seconds]
        while given[-1]():
            self.seconds += 1
        self.explaining.append(self.seconds)
        return Explained(given[1], left=2)


@pytest.fixture
def fake_world(monkeypatch: pytest.MonkeyPatch) -> FakeWorld:
    world = FakeWorld()
    monkeypatch.setattr(steps, "monotonic", world.now)
    monkeypatch.setattr(run_request, "CellPipeline", world.bench)
    monkeypatch.setattr(cell_passes, "explain_all", world.explain_all)
    return world


def test_a_budget_is_kept_and_six_tenths_of_it_are_for_measuring_if_there_is_more_to_do(
    broken: Lab, gcc: str, tmp_path: Path, fake_world: FakeWorld
) -> None:
    out = tmp_path / "m.jsonl"
    sets = flags(*(f"-O2 -DN={n}" for n in range(200)))
    words = [*QUICK, "--toolchain", gcc, *sets, "--out", str(out), "--budget", "100s"]
    done = broken("matrix", "regressions", *words)
    assert done.code == 1  # odd cells are left
    first, last = fake_world.explaining
    assert 40 < first <= 60
    assert 100 <= last <= 101
    had = len(read(out).done())
    assert 5 < had < 50
    assert f"no time for {200 - had} cells: --resume goes on with them" in done.err
    assert "no time for 2 slow cells" in done.err
    began = fake_world.seconds
    again = broken("matrix", "--resume", "--out", str(out), "--budget", "100s")
    assert f"{had} cells are there" in again.err
    assert 80 < fake_world.seconds - began <= 100  # all of it is for measuring
    assert broken("matrix", "--resume", "--out", str(out)).code == 0
    assert len(read(out).done()) == 200


def test_a_budget_that_is_over_before_the_first_cell_is_said(
    broken: Lab, gcc: str, tmp_path: Path, fake_world: FakeWorld
) -> None:
    out = tmp_path / "m.jsonl"
    words = ["matrix", *QUICK, "--toolchain", gcc, "--flags=-O2", "--out", str(out)]
    fake_world.late = 11.0
    done = broken(*words, "--budget", "10s")
    assert done.code == 2
    assert "no time for a single cell" in done.err
    assert "--resume goes on" in done.err
    assert broken("matrix", "--resume", "--out", str(out), "--budget", "10s").code == 0
    assert len(read(out).done()) == 1


def test_a_clock_that_went_back_is_told(lab: Lab, tmp_path: Path) -> None:
    context = lab.context()
    for date, said in (("2026-01-02T03:04:05+00:00", False), ("2026-01-02T03:04:06+00:00", True)):
        head = Head(date, "1", Revision("", False), Machine("a cpu"), "none", {})
        cell_passes.warn_of_clock(context, store.Stored(tmp_path / "m.jsonl", (head,)))
        text = context.err.file.getvalue()  # type: ignore[attr-defined]
        assert ("the clock went back: m.jsonl was written at" in text) == said
