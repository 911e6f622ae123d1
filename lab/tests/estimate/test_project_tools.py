# SPDX-License-Identifier: MIT
"""tools/budgets, tools/goals and tools/weak-sizes: what they refuse before anything is built."""

import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

TOOLS = PACKAGE.parents[1] / "tools"


@reads_all
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("budgets", "--kernel", "x86_aesni"), "unknown kernel for Arm 'x86_aesni'"),
        (("goals", "--only", "tomorrow"), "tomorrow"),
        (("goals", "--out", "there.jsonl"), "there.jsonl"),
        (("weak-sizes", "there.jsonl"), "there.jsonl"),
    ],
)
def test_bad_input_is_named_in_one_line(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "there.jsonl").write_text("mine")
    argv = [sys.executable, str(TOOLS / words[0]), *words[1:]]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "there.jsonl").read_text() == "mine"
