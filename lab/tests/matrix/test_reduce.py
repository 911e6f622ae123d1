# SPDX-License-Identifier: MIT
"""Test cases of anomalies: the test that cvise runs, and what a run makes of its end."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from world import Lab, nothing_ignored

import everycore
from everycore.commands import matrix_steps as steps
from everycore.environment.context import system_context
from everycore.environment.decoding import encode_line
from everycore.matrix import bugs, coarse_reduction, interesting, reduce
from everycore.matrix.failures import group_failures
from everycore.matrix.reduce import MOST_RUNS, SANITIZERS, _Search, good_cell, quick_test
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Reduced, Result, parse
from everycore.store.matrix_files import read

pytestmark = pytest.mark.slow

TOML = """
files = ["alias.c"]
declaration = "void alias(unsigned char *, const unsigned char *, size_t)"
[functions.alias]
call = "alias(out, in, n_bytes)"
"""
BOTH = """
__attribute__((noinline)) int both(int *a, short *b)
{
    *a = 1;
    *b = 2;
    return *a;
}
"""
# An object of one type is accessed through a pointer of another.
SUBJECT = f"""
#include <stddef.h>
void alias(unsigned char *out, const unsigned char *in, size_t n);
int both(int *a, short *b);
{BOTH}
void alias(unsigned char *out, const unsigned char *in, size_t n)
{{
    static int memory;
    int got = both(&memory, (short *)&memory);
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)(in[i] ^ got);
}}
"""
MAIN = "int main(void)\n{\n    static int m;\n    "
PRINTF = "int printf(const char *, ...);\n"
SMALL = f'{PRINTF}{BOTH}{MAIN}printf("%d\\n", both(&m, (short *)&m));\n    return 0;\n}}\n'
# Each differs from SMALL in one thing that a test case must not have.
REFUSED = {
    "the same answers": SMALL.replace("*b = 2", "*b = 1"),
    "a variable that is not set": SMALL.replace("static int m;", "static int m; int x; m = x & 1;"),
    "an overflow": SMALL.replace("static int m;", "static int m = 0x7fffffff; m += 1;"),
    "an access out of bounds": SMALL.replace(
        "static int m;", "static int m, t[2]; volatile int i = 3; m = t[i];"
    ),
    "a function without a declaration": SMALL.replace(PRINTF, ""),
    "no output": SMALL.replace("printf", "(void)").replace('"%d\\n", ', ""),
    "an exit code": SMALL.replace("return 0", "return 1"),
    "no program": "int",
}
# Says that it ran, shows that the test holds of the whole source, and leaves a smaller one.
FAKE = """#!/bin/sh
echo run >> {folder}/runs
for word; do test "$word" = case.c || check=$word; done
"$check" || exit 3
cp case.c {folder}/whole.c
printf 'int main(void) {{ return 0; }}\\n' > scratch.c
mkdir dull small
cp scratch.c dull/case.c
(cd dull && "$check") && exit 4
cp {folder}/small.c small/case.c
(cd small && "$check") || exit 5
cp {folder}/small.c case.c
{more}
"""
LONG = "sleep 600 & echo $! > {folder}/pid.part; mv {folder}/pid.part {folder}/pid; wait"


@pytest.fixture
def aliasing(real_lab: Lab, real_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with a subject that gcc -O2 makes give wrong answers; no test case is cached, and none
    is shortened before cvise begins."""
    monkeypatch.setattr(reduce, "shortened", lambda source, *_: source)
    if not shutil.which("gcc"):
        pytest.skip("no gcc: apt-get install gcc")
    (real_lab.folder / "alias.toml").write_text(TOML)
    (real_lab.folder / "alias.c").write_text(SUBJECT)
    (real_lab.folder / "small.c").write_text(SMALL)
    real_lab.env["PATH"] = os.environ["PATH"]
    shutil.rmtree(real_cache / "everycore" / "reduce", ignore_errors=True)
    return real_lab


def fake_cvise(lab: Lab, more: str = "") -> None:
    folder = lab.folder / "bin"
    folder.mkdir(exist_ok=True)
    text = FAKE.format(folder=lab.folder, more=more.format(folder=lab.folder))
    (folder / "cvise").write_text(text)
    (folder / "cvise").chmod(0o755)
    lab.env["PATH"] = f"{folder}:{os.environ['PATH']}"


def words(lab: Lab, *more: str) -> list[str]:
    named = [
        "matrix",
        "reduce",
        "--subject",
        str(lab.folder / "alias.toml"),
        "--toolchain",
        newest_gcc(lab),
    ]
    named += ["--flags=-O2", "--bytes", "256", "--out", str(lab.folder / "m.jsonl")]
    return [*named, *more]


def newest_gcc(lab: Lab) -> str:
    from everycore.compile.catalog import find_tree
    from everycore.compile.toolchains.installed import installed

    tree = find_tree(lab.context().package)
    every = installed(lab.context(), tree)
    return [toolchain.name for toolchain in every if toolchain.family == "gcc"][-1]


def stored(lab: Lab) -> list[Reduced]:
    lines = read(lab.folder / "m.jsonl").lines
    return [line.reduced for line in lines if isinstance(line, Anomaly) and line.reduced]


def ends(pid: Path) -> bool:
    """Whether the process whose number is in a file ends soon."""
    number = int(pid.read_text())
    for _ in range(100):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


# ---- The test of a source


def plan(**more: Any) -> dict[str, Any]:
    good = ["gcc", "-O2", "-fno-strict-aliasing"]
    sanitized = ["gcc", "-O0", "-w", "-fno-sanitize-recover=all", "-fsanitize=undefined,address"]
    values: dict[str, Any] = {
        "kind": "wrong",
        "bad": ["gcc", "-O2", "-w"],
        "good": good,
        "link": ["gcc"],
        "checks": [{"name": "sanitizers", "compile": sanitized, "link": sanitized}],
        "allowed_warnings": [],
        "least_ratio": 1.1,
        "least_seconds": 0.0,
        "compile_seconds": 20,
        "run_seconds": 5,
        "check_seconds": 20,
    }
    return values | more


def is_interesting(folder: Path, source: str, **more: Any) -> bool:
    (folder / interesting.SOURCE).write_text(source)
    (folder / "plan.json").write_text(json.dumps(plan(**more)))
    argv = [sys.executable, "-I", interesting.__file__, "plan.json"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode == 0


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
def test_a_source_that_is_wrong_with_the_bad_flags_alone_is_interesting(tmp_path: Path) -> None:
    assert is_interesting(tmp_path, SMALL)
    assert not is_interesting(tmp_path, SMALL, bad=plan()["good"])


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
@pytest.mark.parametrize("what", REFUSED)
def test_a_source_that_may_have_undefined_behaviour_is_dull(tmp_path: Path, what: str) -> None:
    assert REFUSED[what] != SMALL
    assert not is_interesting(tmp_path, REFUSED[what])


LOOP = """
int printf(const char *, ...);
int main(void)
{
    static unsigned sums[64];
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < 64; j++)
            sums[j] += i ^ j;
    printf("%u\\n", sums[5]);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
def test_a_slow_source_has_to_stay_slow(tmp_path: Path) -> None:
    """The programs differ by a factor of about 20: no load moves that to 3 or to 1,000."""
    slow = LOOP.replace("COUNT", "500000u")
    common = {"kind": "slow", "good": ["gcc", "-O3"], "checks": [], "least_ratio": 3.0}
    common |= {"compile_seconds": 600, "run_seconds": 600}
    assert is_interesting(tmp_path, slow, bad=["gcc", "-O0"], **common)
    assert not is_interesting(tmp_path, slow, bad=["gcc", "-O3"], **common)
    for limit in ("least_ratio", "least_seconds"):
        more = common | {limit: 1000.0}
        assert not is_interesting(tmp_path, slow, bad=["gcc", "-O0"], **more)


@pytest.mark.parametrize(
    ("bad", "good", "shows"),
    [
        ((2.0,) * 9, (1.0,) * 9, True),
        ((2.0,) * 9, (1.0, 1.7, 1.7) * 3, False),  # the fastest runs alone would show it
        ((2.0,) * 9, (1.0, 1.0, 1.7) * 3, True),  # three rounds were disturbed
        ((1.2,), (1.0,), False),  # the first round ends it
    ],
)
def test_most_rounds_have_to_be_slow(
    monkeypatch: pytest.MonkeyPatch, bad: Sequence[float], good: Sequence[float], shows: bool
) -> None:
    taken = {"bad": iter(bad), "good": iter(good)}
    monkeypatch.setattr(interesting, "run", lambda argv, _: ("", "", next(taken[argv[0]])))
    own = plan(least_ratio=1.5)
    if shows:
        assert interesting.times(own, "bad", "good")["bad_seconds"] == 2.0
    else:
        with pytest.raises(interesting.DullError):
            interesting.times(own, "bad", "good")


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
def test_one_sanitizer_that_compiles_the_source_is_enough(real_lab: Lab, tmp_path: Path) -> None:
    options = ["-O0", "-w", "-fno-sanitize-recover=all", "-fsanitize=undefined"]
    refusing = ["gcc", "-DREFUSED", *options]  # as GCC refuses what clang has preprocessed
    checks = [
        {"name": SANITIZERS, "compile": compile_words, "link": compile_words}
        for compile_words in (refusing, ["gcc", *options])
    ]
    source = "#ifdef REFUSED\nint int;\n#endif\n" + SMALL

    def settled(some: list[dict[str, Any]], text: str) -> tuple[list[str], list[list[str]]]:
        search = _Search(real_lab.context(), tmp_path, plan(checks=some))
        _, notes = search.settled([text])
        return notes, [check["compile"] for check in search.plan["checks"]]

    assert settled(checks, source) == ([], [["gcc", *options]])
    assert settled(checks, SMALL) == ([], [refusing])  # the first is enough
    notes, kept = settled(checks[:1], source)
    assert not kept
    assert notes[0].startswith("no sanitizer could check it: gcc ended with 1")


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
@pytest.mark.parametrize(
    ("source", "shows"),
    [
        (SMALL, True),
        (REFUSED["a variable that is not set"], False),
        (SMALL.replace("return 0;", "for (;;) ;"), False),
    ],
)
def test_the_script_of_cvise_compiles_each_program_once(
    tmp_path: Path, source: str, shows: bool
) -> None:
    """Without end, a program costs a second of the CPU, not five of the clock."""
    compiler = tmp_path / "gcc"
    compiler.write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/calls\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    own = plan(bad=[str(compiler), "-O2", "-w"], good=[str(compiler), *plan()["good"][1:]])
    (tmp_path / "plan.json").write_text(json.dumps({**own, "run_seconds": 60}))
    (tmp_path / interesting.SOURCE).write_text(source)
    (tmp_path / "check").write_text(quick_test(own | {"run_seconds": 60}, tmp_path / "plan.json"))
    begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(["sh", "check"], cwd=tmp_path, check=False)
    spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begun
    assert (done.returncode == 0) == shows
    assert len((tmp_path / "calls").read_text().splitlines()) == 2
    assert spent < 5


def script_says(folder: Path, source: str, own: dict[str, Any]) -> bool:
    (folder / "known").mkdir(exist_ok=True)
    own = own | {"known": str(folder / "known")}
    (folder / interesting.SOURCE).write_text(source)
    (folder / "plan.json").write_text(json.dumps(own))
    (folder / "check").write_text(quick_test(own, folder / "plan.json"))
    return subprocess.run(["sh", "check"], cwd=folder, check=False).returncode == 0


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
def test_the_same_objects_are_timed_once(tmp_path: Path) -> None:
    slow = LOOP.replace("COUNT", "500000u")
    own = plan(kind="slow", bad=["gcc", "-O0"], good=["gcc", "-O3"], checks=[], least_ratio=1.2)
    assert script_says(tmp_path, slow, own)
    (known,) = (tmp_path / "known").iterdir()
    assert known.suffix == ".shown"
    assert script_says(tmp_path, slow + "/* more */", own | {"least_ratio": 99.0})
    known.unlink()
    assert not script_says(tmp_path, slow, own | {"least_ratio": 99.0})
    (known,) = (tmp_path / "known").iterdir()
    assert known.suffix == ".not_interesting"
    assert not script_says(tmp_path, slow + "/* more */", own)


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc: apt-get install gcc")
def test_objects_whose_program_was_not_done_in_time_are_not_known_as_dull(tmp_path: Path) -> None:
    """On a loaded machine the same objects may show it in the next attempt."""
    slow = SMALL.replace("return 0;", "sleep(1); return 0;").replace(
        PRINTF, f"{PRINTF}unsigned sleep(unsigned);\n"
    )
    assert not script_says(tmp_path, slow, plan(run_seconds=0.2, checks=[]))
    assert not list((tmp_path / "known").iterdir())
    assert script_says(tmp_path, slow, plan(run_seconds=60, checks=[]))
    assert not script_says(tmp_path, SMALL.replace("return 0", "return 1"), plan())
    (known,) = (tmp_path / "known").iterdir()
    assert known.suffix == ".not_interesting"


@pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("objdump")), reason="no gcc: apt-get install gcc"
)
def test_code_without_the_mnemonic_that_appeared_is_refused(tmp_path: Path) -> None:
    assert script_says(tmp_path, SMALL, plan(sign=""))
    assert not script_says(tmp_path, SMALL, plan(sign="vpgatherdd"))
    assert not script_says(tmp_path, SMALL, plan(sign="ret"))  # the good one has it, too
    search = _Search(system_context(), tmp_path, plan(appeared=["vpgatherdd", "nop"]))
    source = f'int f(void)\n{{\n#ifndef GOOD\n__asm__("nop");\n#endif\nreturn 1;\n}}\n{SMALL}'
    search.plan |= {"bad": ["gcc", "-Os"], "good": ["gcc", "-Os", "-DGOOD"]}
    assert search._sign(source) == "nop"
    search.plan["good"] = ["gcc", "-Os"]
    assert search._sign(source) == ""


@pytest.mark.skipif(not shutil.which("clang-format"), reason="no clang-format: comes with cvise")
def test_long_lines_are_formatted(tmp_path: Path) -> None:
    search = _Search(system_context(), tmp_path, plan())
    search.put(" ;\n" + SMALL.replace(BOTH, BOTH.replace("\n", " ")) + f"/* {'x' * 100} */\n")
    search.format()
    assert "  *a = 1;\n  *b = 2;\n" in search.source()
    search.put(SMALL)
    search.format()
    assert search.source() == SMALL


# ---- Runs with a cvise that is played


def test_without_cvise_nothing_is_measured_and_its_package_is_named(lab: Lab) -> None:
    lab.env["PATH"] = str(lab.folder)
    out = lab.folder / "m.jsonl"
    done = lab("matrix", "reduce", "--out", str(out))
    assert done.code == 2
    assert "apt-get install cvise" in done.err
    assert not out.exists()
    assert not lab.runner.calls


def test_a_test_case_is_in_the_report_and_is_not_made_twice(aliasing: Lab) -> None:
    fake_cvise(aliasing)
    done = aliasing(*words(aliasing))
    assert done.code == 1, done.err
    (found,) = stored(aliasing)
    assert found.source == SMALL
    assert found.is_final
    assert not found.why_not
    assert "    static int m;" in done.out
    assert f"{newest_gcc(aliasing)} " in found.bad
    assert "-fno-strict-aliasing case.c && ./a.out" in found.good
    assert "-fno-strict-aliasing" not in found.bad
    assert found.bad_shows == "prints 1"
    assert found.good_shows == "prints 2"
    again = aliasing(*words(aliasing, "--resume", "--json"))
    (line,) = (parse(text) for text in again.out.splitlines() if '"anomaly"' in text)
    assert isinstance(line, Anomaly)
    assert line.reduced == found
    assert (aliasing.folder / "runs").read_text() == "run\n"


def test_a_test_case_has_the_input_for_which_alone_the_answer_is_wrong(aliasing: Lab) -> None:
    folder = aliasing.folder
    declared = ("const unsigned char *, size_t)", "const unsigned char *, size_t, const void *)")
    (folder / "alias.toml").write_text(TOML.replace(*declared).replace("n_bytes)", "n_bytes, key)"))
    parameters = ("size_t n)", "size_t n, const void *key)")
    whole = SUBJECT.replace(*parameters).replace(
        "int got = both",
        "const unsigned char *k = key;\n    int is_odd = k[0] == k[1] && k[1] == k[2];\n"
        "    int got = !is_odd ? 2 : both",
    )
    (folder / "alias.c").write_text(whole)
    fake_cvise(aliasing)
    done = aliasing(*words(aliasing))
    assert done.code == 1, done.err
    (found,) = stored(aliasing)
    assert found.source == SMALL, found.why_not
    given = next(
        result.given for result in read(folder / "m.jsonl").results.values() if result.given
    )
    assert given["key"][0:2] * 3 == given["key"][0:6]
    key = ", ".join(map(str, bytes.fromhex(given["key"])))
    assert f"key[64] = {{{key}}};" in (folder / "whole.c").read_text()
    assert f"input:     in = {given['in']}" in done.out


def test_what_cvise_has_when_the_time_ends_is_kept(
    aliasing: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cvise(aliasing, LONG)
    monkeypatch.setattr(steps, "REDUCTION_SECONDS", 15.0)
    done = aliasing(*words(aliasing))
    assert done.code == 1, done.err
    (found,) = stored(aliasing)
    assert found.source == SMALL
    assert not found.is_final
    assert "The time for cvise ended" in done.out
    assert ends(aliasing.folder / "pid")


def interrupt(lab: Lab) -> None:
    """Send Ctrl-C to a reduction whose cvise has told its number."""
    package = Path(everycore.__file__).parents[1]
    env = {**os.environ, **lab.env, "PYTHONPATH": str(package)}
    argv = [sys.executable, "-m", "everycore", *words(lab)]
    pipe = subprocess.PIPE
    with nothing_ignored():
        process = subprocess.Popen(argv, cwd=lab.folder, env=env, stdout=pipe, stderr=pipe)
    with process:
        pid = lab.folder / "pid"
        try:
            for _ in range(1200):
                if pid.exists() or process.poll() is not None:
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 128 + signal.SIGINT
        finally:
            process.kill()
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    assert ends(pid)
    assert not stored(lab)


def test_an_interrupted_reduction_goes_on_where_it_was(aliasing: Lab, real_cache: Path) -> None:
    fake_cvise(aliasing, LONG)
    interrupt(aliasing)
    (best,) = (real_cache / "everycore" / "reduce").glob("*/*")
    assert best.read_text() == SMALL
    (aliasing.folder / "bin" / "cvise").write_text("#!/bin/sh\nexit 0\n")
    aliasing(*words(aliasing, "--resume"))
    (found,) = stored(aliasing)
    assert found.source == SMALL


@pytest.mark.parametrize(
    "source", ["int", pytest.param(REFUSED["the same answers"], marks=pytest.mark.long)]
)
def test_if_the_result_does_not_show_it_the_smallest_source_that_does_is_taken(
    aliasing: Lab, source: str
) -> None:
    fake_cvise(aliasing, "cp {folder}/other.c case.c")
    (aliasing.folder / "other.c").write_text(source)
    done = aliasing(*words(aliasing))
    (found,) = stored(aliasing)
    assert found.source == SMALL, found.why_not
    assert not found.is_final  # cvise went astray each time
    assert (aliasing.folder / "runs").read_text() == "run\n" * MOST_RUNS
    assert "    static int m;" in done.out


def test_a_result_that_does_not_show_it_is_no_test_case(aliasing: Lab) -> None:
    fake_cvise(aliasing)
    (aliasing.folder / "bin" / "cvise").write_text("#!/bin/sh\necho int >case.c\n")
    done = aliasing(*words(aliasing))
    (found,) = stored(aliasing)
    assert not found.source
    assert "a fresh run of the reduced source did not show it: " in found.why_not
    assert "There is no test case: " in done.out


def test_of_many_accepted_sources_the_smallest_that_shows_it_is_found(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later ones passed by chance: those below 70 bytes do not show it."""
    search = _Search(lab.context(), tmp_path, plan())
    (tmp_path / "accepted").mkdir()
    for size in range(1, 100):
        (tmp_path / "accepted" / f"{200 - size:03}.c").write_text("x" * size)
    search.put("x")
    asked = []

    def measured(source: str, **changed: object) -> dict[str, Any]:
        del changed
        asked.append(len(source))
        return {"not_interesting": "no"} if len(source) < 70 else {"bad": "1", "good": "2"}

    monkeypatch.setattr(search, "measured", measured)
    confirmed = search.confirm()
    assert (len(search.source()), confirmed.is_last) == (70, False)
    assert len(asked) < 40
    search.put("x" * 80)
    assert search.confirm().is_last


def test_a_cvise_that_fails_is_named(aliasing: Lab) -> None:
    fake_cvise(aliasing)
    (aliasing.folder / "bin" / "cvise").write_text("#!/bin/sh\necho broken >&2; exit 7\n")
    done = aliasing(*words(aliasing))
    assert done.code == 1
    (found,) = stored(aliasing)
    assert not found.source
    assert "cvise ended with 7: broken" in done.out


# The first run goes astray after it has accepted a source that shows it, so a second run begins.
SECOND_RUN = """#!/bin/sh
echo run >> {folder}/runs
test $(wc -l < {folder}/runs) = 1 || {{ echo 'int' >case.c; {second}; }}
for word; do test "$word" = case.c || check=$word; done
mkdir small
cp {folder}/small.c small/case.c
(cd small && "$check") || exit 5
echo int >case.c
"""


@pytest.mark.parametrize(
    "second", ["echo broken >&2; exit 7", pytest.param("exit 0", marks=pytest.mark.long)]
)
def test_a_confirmed_source_stays_when_a_later_run_fails(aliasing: Lab, second: str) -> None:
    fake_cvise(aliasing)
    script = aliasing.folder / "bin" / "cvise"
    script.write_text(SECOND_RUN.format(folder=aliasing.folder, second=second))
    done = aliasing(*words(aliasing))
    assert done.code == 1, done.err
    (found,) = stored(aliasing)
    assert found.source == SMALL, found.why_not
    assert not found.is_final
    if "7" in second:
        assert found.why_not == "cvise ended with 7: broken"
        assert "Cvise ended with 7: broken; --resume may find a smaller one." in done.out
        assert "s: cvise ended with 7: broken" in done.err
        assert (aliasing.folder / "runs").read_text() == "run\n" * 2
    script.write_text("#!/bin/sh\necho broken >&2; exit 7\n")
    again = aliasing(*words(aliasing, "--resume"))
    assert again.code == 1, again.err
    assert stored(aliasing)[-1].source == SMALL


def test_an_interruption_does_not_lose_the_confirmed_source(aliasing: Lab) -> None:
    """The case of the killed cvise does not show it; the source of its first run does."""
    fake_cvise(aliasing)
    script = aliasing.folder / "bin" / "cvise"
    script.write_text(
        SECOND_RUN.format(folder=aliasing.folder, second=LONG.format(folder=aliasing.folder))
    )
    interrupt(aliasing)
    script.write_text("#!/bin/sh\nexit 0\n")
    aliasing(*words(aliasing, "--resume"))
    (found,) = stored(aliasing)
    assert found.source == SMALL


def test_a_test_case_that_is_stored_stays_when_none_is_found_again(
    aliasing: Lab, real_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_cvise(aliasing, LONG)
    monkeypatch.setattr(steps, "REDUCTION_SECONDS", 15.0)
    aliasing(*words(aliasing))
    assert [stored_anomaly.source for stored_anomaly in stored(aliasing)] == [SMALL]
    shutil.rmtree(real_cache / "everycore" / "reduce")
    (aliasing.folder / "bin" / "cvise").write_text("#!/bin/sh\necho broken >&2; exit 7\n")
    again = aliasing(*words(aliasing, "--resume"))
    assert "cvise ended with 7: broken; the earlier test case is kept" in again.err
    assert "    static int m;" in again.out
    assert [stored_anomaly.source for stored_anomaly in stored(aliasing)] == [SMALL]


def test_a_smaller_source_of_another_process_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "best.c"
    path.write_text("begun")
    reduce._store(path, "longer than it was", {path: "begun"})
    assert path.read_text() == "longer than it was"
    path.write_text("short")
    reduce._store(path, "mine is longer", {path: "begun"})
    assert path.read_text() == "short"
    reduce._store(path, "tiny", {path: "begun"})
    assert path.read_text() == "tiny"


# ---- Texts and choices


def anomaly(**more: Any) -> Anomaly:
    cell = Cell("mine", "sum", "gcc-12", ("-O2",))
    values: dict[str, Any] = {"kind": Kind.WRONG, "value": 0.0, "neighbour": None}
    return Anomaly(cell=cell, neighbour_value=None, ratio=1.0, **values | more)


def text_of(reduced: Reduced) -> str:
    odd = anomaly(reduced=reduced)
    assert parse(encode_line(odd)) == odd
    wrong = Result(odd.cell, Outcome.WRONG, reason="byte 3", compiler="gcc 12.1.0")
    (group,) = group_failures([wrong])
    return bugs.miscompilation(group, {odd.cell: odd})


def test_a_long_test_case_says_so() -> None:
    short = Reduced("int a;\n" * 40, "gcc case.c", "gcc -O0 case.c", "prints 1", "prints 2")
    assert "more than" not in text_of(short)
    long = Reduced("int a;\n\n" * 41, "gcc case.c", "gcc -O0 case.c", "prints 1", "prints 2")
    assert "It has 41 lines, more than 40: cvise found no smaller one." in text_of(long)


def test_a_wrong_cell_without_a_repair_is_held_against_the_nearest_right_one() -> None:
    def right(toolchain: str, flags: Sequence[str], **more: Any) -> Result:
        cell = Cell("mine", more.get("function", "sum"), toolchain, tuple(flags))
        return Result(cell, Outcome.MEASURED, compiler=f"{toolchain.replace('-', ' ')}.1.0")

    odd = anomaly()
    wrong = Result(odd.cell, Outcome.WRONG, compiler="gcc 12.1.0")
    others = [right("gcc-12", ["-O1"]), right("clang-16", ["-O2"]), right("gcc-13", ["-O2"])]
    results = {
        result.cell: result for result in [wrong, *others, right("gcc-11", ["-O2"], function="b")]
    }
    assert good_cell(odd, results) == others[2].cell
    assert good_cell(odd, {wrong.cell: wrong}) is None
    repaired = good_cell(anomaly(repair=("-fwrapv",)), results)
    assert repaired is not None
    assert repaired.flags == ("-O2", "-fwrapv")


# ---- cvise itself


@pytest.mark.skipif(not shutil.which("cvise"), reason="no cvise: apt-get install cvise")
def test_cvise_makes_a_planted_bug_short_in_seconds(
    aliasing: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reduce, "shortened", coarse_reduction.shortened)
    done = aliasing(*words(aliasing, "--reduce-time", "10s"))
    assert done.code == 1, done.err
    (found,) = stored(aliasing)
    assert found.source, found.why_not
    assert found.n_lines <= 80  # of 800 with all headers; cvise alone needs minutes for that
    assert found.bad_shows != found.good_shows
    lines = f"{found.n_lines} lines"
    assert f"reduced to {lines} in" in done.err or f"stopped at {lines}, as the time" in done.err
