# SPDX-License-Identifier: MIT
"""`make check` looks at what a file concerns, and tells what it has not looked at."""

import subprocess
import sys

import pytest
from running import ROOT


def check(*words: str) -> tuple[int, list[str]]:
    command = [sys.executable, "tools/check", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, (done.stdout + done.stderr).splitlines()


@pytest.mark.parametrize(
    ("file", "titles"),
    [
        (
            "src/common/carry.h",
            {f"harness check --primitive {name}" for name in ("bn", "bn_words")},
        ),
        ("src/aes/a64_ce.c", {"check-compile src/aes/a64_ce.c"}),
        ("src/aes/x86_vaes512_vec.h", {"harness check --primitive aes", "build harness"}),
        ("harness/residue_rsa.c", {"harness check --primitive bn"}),
        ("src/kernels.def", {"tests/unit/resolve_golden.py", "tests/unit select"}),
        ("src/cpu/x86_cpuid.c", {"tests/unit/x86_dumps.py", "tests/unit cpu"}),
        ("src/qarma", {"harness check --primitive qarma --kernel c_ref"}),
        ("lab/everycore/run/transport/ssh.py", {"pytest lab/tests/run", "mypy"}),
        ("lab/tests/world.py", {"pytest lab/tests/commands/test_commands.py", "mypy"}),
        ("lab/tests/data/traced.c", {"pytest lab/tests/trace"}),
        ("conftest.py", {"pytest tests/tools/test_running.py"}),
        ("tools/setup", {"pytest tests/tools/test_setup.py", "sh -n tools/setup"}),
        ("docs/guides/using.md", {"tools/check-tree"}),
    ],
)
def test_a_file_has_its_checks(file: str, titles: set[str]) -> None:
    code, lines = check("--list", file)
    assert code == 0
    assert titles <= set(lines)


def test_what_is_no_file_of_the_project_is_refused() -> None:
    assert check("nosuch.c") == (2, ["check: no file nosuch.c"])
    assert check("/dev/null")[0] == 2


def test_what_only_make_test_looks_at_is_named() -> None:
    code, lines = check("docs/guides/using.md")
    assert lines[-2:] == [
        "no test of these runs here: docs/guides/using.md; make test has them",
        f"{1 - code} passed, {code} failed, 0 skipped",
    ]
