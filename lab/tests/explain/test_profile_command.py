# SPDX-License-Identifier: MIT
"""The command line of `everycore profile`: bad input, stored samples, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from world import PACKAGE, Lab

SPIN = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; exit 5"


def everycore(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "everycore", *words]
    path = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, **env}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=60)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name one of"),
        (("--pid", "4194305"), "there is no process 4194305"),
        (("--means", "magic", "--", "true"), "unknown means"),
        (("--load", "/no/such/file"), "cannot read /no/such/file"),
        (("--pid", "1", "--", "true"), "name one of"),
        (("--try", "--pid", "1"), "--try needs a command"),
        (("--", "no-such-program"), "cannot run no-such-program"),
    ],
)
def test_wrong_usage_is_one_clear_line(lab: Lab, words: tuple[str, ...], message: str) -> None:
    found = lab("profile", *words)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err


def test_a_command_keeps_its_output_and_its_exit_code() -> None:
    found = everycore("profile", "--", "sh", "-c", SPIN)
    assert (found.returncode, found.stdout) == (5, "done\n")
    assert "samples in" in found.stderr


def test_stored_samples_are_explained_later(tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    first = everycore("profile", "--store", str(file), "--json", "--", "sh", "-c", SPIN)
    assert first.returncode == 5
    again = everycore("profile", "--load", str(file), "--json")
    assert again.returncode == 0
    one, other = json.loads(first.stderr), json.loads(again.stdout)
    assert one["rows"] == other["rows"]
    assert one["samples"] == other["samples"] > 0
    file.write_bytes(file.read_bytes()[:-30])
    cut = everycore("profile", "--load", str(file))
    assert cut.returncode == 2
    assert "cut off" in cut.stderr


def test_a_remedy_is_tried_and_its_gain_is_measured(lab: Lab) -> None:
    from everycore.explain.explanation import Remedy
    from everycore.explain.trial import try_remedy

    del lab
    script = 'sleep 0.0$SLOW; echo "done 7"'
    env = {**os.environ, "SLOW": "9"}
    found = try_remedy(["sh", "-c", script], env, Remedy("slow", "unset SLOW", ("SLOW",)))
    assert found.gain is not None
    assert found.gain > 1.5
    rate = 'sleep 0.05; if [ "$SLOW" ]; then echo "rate 10k"; else echo "rate 30k"; fi'
    found = try_remedy(["sh", "-c", rate], env, Remedy("slow", "unset SLOW", ("SLOW",)))
    assert found.gain == 3.0 or "time" in found.by
    end = 'exit "${SLOW:-3}"'
    assert try_remedy(["sh", "-c", end], env, Remedy("", "", ("SLOW",))).gain is None
