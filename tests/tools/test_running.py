# SPDX-License-Identifier: MIT
"""Silence is a failure, what is absent is a skip, and the gates run what they should."""

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import pytest
import running
from reads import ARITHMETIC, CIPHERS, ISAS, LIBRARY, WORDS
from running import Build, compiled, launcher, passed, program, skip_lines

SUMMARY = '{"type":"summary","passed":5,"failed":0,"skipped":1,"seed":1}'


@pytest.fixture(autouse=True)
def own_build(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "BUILD", tmp_path / "build")


def script(folder: pathlib.Path, text: str) -> list[str]:
    path = folder / "script.py"
    path.write_text(text)
    notes: list[str] = []
    program([str(path)], notes)
    return notes


def test_a_program_tells_what_it_skipped(tmp_path: pathlib.Path) -> None:
    said = "print('skipped: no clang\\n3 passed, 0 failed, 1 skipped')"
    assert script(tmp_path, said) == ["no clang"]


def test_the_launcher_keeps_objects_of_the_lab_where_builds_have_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CCACHE_DIR", "/a folder")
    monkeypatch.setattr(running, "find", lambda _: "/usr/bin/ccache")
    assert launcher() == "env 'CCACHE_DIR=/a folder' CCACHE_NOHASHDIR=1 ccache"
    monkeypatch.setattr(running, "find", lambda _: None)
    assert not launcher()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "print('3 passed')",
        "print('3 passed, 0 failed, 0 skipped\\nmore')",
        "print('3 passed, 1 failed, 0 skipped')",
        "print('3 passed, 0 failed, 0 skipped'); raise SystemExit(1)",
    ],
)
def test_a_program_that_fails_or_does_not_count_is_a_failure(
    tmp_path: pathlib.Path, text: str
) -> None:
    with pytest.raises(pytest.fail.Exception):
        script(tmp_path, text)


def test_a_program_that_tests_nothing_is_a_failure_and_one_that_skips_all_a_skip(
    tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(AssertionError, match="tested nothing"):
        script(tmp_path, "print('0 passed, 0 failed, 0 skipped')")
    with pytest.raises(pytest.skip.Exception, match="no clang"):
        script(tmp_path, "print('skipped: no clang\\n0 passed, 0 failed, 1 skipped')")


@pytest.mark.parametrize(
    "ended",
    [
        (0, ""),
        (1, SUMMARY),
        (-4, SUMMARY),
        (0, SUMMARY.replace('"failed":0', '"failed":1')),
        (0, SUMMARY.replace("5", "0").replace('skipped":1', 'skipped":0')),
    ],
)
def test_a_harness_that_fails_or_tests_nothing_is_a_failure(ended: tuple[int, str]) -> None:
    passed((0, SUMMARY), [])
    with pytest.raises((pytest.fail.Exception, AssertionError)):
        passed(ended, [])


def test_a_harness_that_skips_all_is_a_skip() -> None:
    with pytest.raises(pytest.skip.Exception):
        passed((0, SUMMARY.replace("5", "0")), [])


def test_skips_of_a_harness_are_told_with_their_kernels() -> None:
    line = '{"kernel":"%s","result":"skip","detail":"needs x86"}'
    text = "\n".join([line % "b", line % "a", line % "b", '{"kernel":"c","result":"pass"}'])
    assert skip_lines(text) == ["needs x86: b, a"]


def test_a_new_compiler_builds_anew(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (
        ("meson", '[ $1 != setup ] || { mkdir -p "$4" && echo setup >>"$LOGGED"; }'),
        ("ninja", ""),
        ("mycc", "echo 1"),
    ):
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    logged = tmp_path / "logged"
    monkeypatch.setenv("LOGGED", str(logged))
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def setups() -> int:
        compiled(Build("x", ("-Da=b",), "mycc"))
        return logged.read_text().count("setup")

    assert [setups(), setups()] == [1, 1]
    (tmp_path / "mycc").write_text("#!/bin/sh\necho 2\n")
    assert setups() == 2


def test_what_is_compiled_for_tests_is_not_in_the_users_cache_and_what_is_fetched_is(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    cache = running.own_cache()
    assert cache == tmp_path / "build/cache"
    assert (cache / "everycore/debs").resolve() == tmp_path / "home/everycore/debs"
    assert not (cache / "everycore/objects").is_symlink()


# ---- Gates ---------------------------------------------------------------------------------------

TESTS = """
import pytest

def test_always(): pass

@pytest.mark.slow
def test_slow(): pass

@pytest.mark.long
def test_long(): pass

@pytest.mark.reads("src/")
def test_library(): pass

@pytest.mark.reads("src/", isa="a32 a64")
def test_arm(): pass

@pytest.mark.reads("src/", primitives="bn")
def test_numbers(): pass

@pytest.mark.reads("src/kernels", all_but=("src/", "docs/"))
def test_lab(): pass
"""


@pytest.fixture
def tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A checkout whose branch has changed docs/page.md since what has landed."""
    tree = tmp_path / "tree"
    for folder in ("tools", "tests", "docs"):
        (tree / folder).mkdir(parents=True)
    for name in ("conftest.py", "tools/changed_files.py"):
        (tree / name).write_bytes((running.ROOT / name).read_bytes())
    (tree / "pytest.ini").write_text("[pytest]\nmarkers = slow\n  long\n  reads\n")
    (tree / "tests/test_some.py").write_text(TESTS)
    (tree / ".gitignore").write_text("__pycache__/\n")
    for words in (
        "init -q -b main",
        "add .",
        "-c user.name=a -c user.email=a@b commit -q -m landed",
        "checkout -q -b branch",
    ):
        subprocess.run(["git", *words.split()], cwd=tree, check=True)
    (tree / "docs/page.md").touch()
    return tree


def gate(tree: pathlib.Path, *options: str) -> tuple[int, str]:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *options], cwd=tree, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--gate", "test"], 1),
        (["--gate", "ci"], 2),
        (["--gate", "all"], 7),
        (["--gate", "test", "--every"], 5),
        (["--gate", "test", "tests/test_some.py"], 5),
        (["--gate", "test", "tests/test_some.py::test_library"], 1),
        (["--gate", "test", "-k", "library"], 1),
        ([], 7),
    ],
)
def test_each_gate_runs_its_tests(tree: pathlib.Path, options: list[str], count: int) -> None:
    code, text = gate(tree, *options)
    assert (code, f"{count} passed" in text) == (0, True), text
    if "--gate" in options:
        assert text.splitlines()[-1] == f"{count} passed, 0 failed, 0 skipped"
    is_filtered = options in (["--gate", "test"], ["--gate", "ci"])
    assert ("test_some.py" in text.partition("not run")[2]) == is_filtered


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("src/aes/new.c", 3),
        ("src/aes/a64_new.c", 3),
        ("src/aes/x86_new.c", 2),
        ("src/bn/new.c", 4),
        ("src/common/new.h", 4),
        ("src/kernels.def", 5),
        ("README.md", 2),
    ],
)
def test_a_changed_file_runs_what_reads_it(tree: pathlib.Path, name: str, count: int) -> None:
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).touch()
    last = gate(tree, "--gate", "test")[1].splitlines()[-1]
    assert last == f"{count} passed, 0 failed, 0 skipped"


def test_a_failure_is_counted_and_told(tree: pathlib.Path) -> None:
    (tree / "tests/test_bad.py").write_text("def test_bad(): assert 1 == 2\n")
    code, text = gate(tree, "--gate", "ci")
    assert code == 1
    assert "assert 1 == 2" in text
    assert text.splitlines()[-1].split(", ")[1] == "1 failed"


def test_a_worker_that_crashes_is_one_failure_and_what_is_behind_it_runs(
    tree: pathlib.Path,
) -> None:
    crash = "import os\n\ndef test_bad(): os._exit(3)\n\ndef test_behind(): pass\n"
    (tree / "tests/test_bad.py").write_text(crash)
    code, text = gate(tree, "--gate", "test")
    assert code == 1
    assert text.splitlines()[-1] == "3 passed, 1 failed, 0 skipped"
    assert "test_some.py" in text.partition("not run")[2]


def gates_of(config: pytest.Config) -> Any:
    """The conftest of the root; lab/tests has one, too."""
    root = str(running.ROOT / "conftest.py")
    plugins = config.pluginmanager.get_plugins()
    (gates,) = (plugin for plugin in plugins if getattr(plugin, "__file__", "") == root)
    return gates


def with_included(paths: Iterable[pathlib.Path]) -> set[pathlib.Path]:
    """Return files of src/, and all files of it that they include."""
    src, new = running.ROOT / "src", [*paths]
    seen = {*new}
    while new:
        path = new.pop()
        for name in re.findall(r'^#\s*include "(.*)"', path.read_text(), re.M):
            for found in {src / name, path.parent / name} - seen:
                if found.is_file():
                    seen.add(found)
                    new.append(found)
    return seen


@pytest.mark.parametrize("machine", ISAS)
def test_an_architecture_reads_all_that_its_kernels_include(
    machine: str, pytestconfig: pytest.Config
) -> None:
    of = gates_of(pytestconfig).OF_ISA
    src, isas = running.ROOT / "src", ISAS[machine].split()
    seen = with_included(path for isa in isas for path in src.glob(f"*/{isa}_*"))
    names = (of.match(path.relative_to(running.ROOT).as_posix()) for path in seen)
    assert {found[1] for found in names if found} <= {*isas}


@pytest.mark.parametrize("primitives", [WORDS, ARITHMETIC, CIPHERS])
def test_primitives_read_all_that_they_include(
    primitives: str, pytestconfig: pytest.Config
) -> None:
    of, names = gates_of(pytestconfig).OF_PRIMITIVE, primitives.split()
    seen = with_included(path for name in names for path in (running.ROOT / "src" / name).iterdir())
    folders = (of.match(path.relative_to(running.ROOT).as_posix()) for path in seen)
    assert {found[1] for found in folders if found} == {*names}


def test_what_tests_read_exists(pytestconfig: pytest.Config) -> None:
    """A path begins the names of files; one that begins none would leave its test out."""
    gates = gates_of(pytestconfig)
    for path in {*gates.ALWAYS, *gates.APART, *LIBRARY, *pytestconfig.stash[gates.READ]}:
        folder, _, name = path.rpartition("/")
        assert list((running.ROOT / folder).glob(f"{name}*")), path
