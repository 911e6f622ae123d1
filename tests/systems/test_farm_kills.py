# SPDX-License-Identifier: MIT
"""No cell is lost when workers, schedulers and boards are killed in the middle of runs.

pytest tests/systems/test_farm_kills.py [-m slow] [--rounds N] [--seed N] [--out FILE]

A round runs three small matrices side by side, one on the workers and one on each board. At a
moment that is drawn, in turn a worker, both, or the scheduler is killed, and at another moment one
sshd or both, with all of their connections. A run that lost its place is gone on with. In the end
every cell has to be in its file, once, with the right count; and no cell that was written may be
asked again. The work is a stand-in, for the compiler is not under test: some milliseconds of
waiting, and a number. CI (-m slow) has the first rounds. --out adds the result to a file as one
line of JSON, with the commit, the date and the CPU.
"""

import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from farm_network import words_for_own_network
from processes import ROOT, Words

ROUNDS_OF_CI = 6
Tally = collections.Counter[str]
pytestmark = pytest.mark.reads(
    "harness/",
    "catalog/subjects/",
    "lab/everycore/compile/",
    "lab/everycore/farm/",
    "lab/everycore/matrix/",
    "lab/everycore/model/",
    "lab/everycore/store/",
    "lab/everycore/subjects/",
    "tests/systems/farm_network.py",
    "tests/systems/farm_rounds.py",
)


class Rounds:
    """The program that runs rounds, and a folder for it."""

    def __init__(self, folder: pathlib.Path, words: Words, seed: int) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [*words, sys.executable, ROOT / "tests/systems/farm_rounds.py", folder, str(seed)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "lab")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.why_no_boards = str(self._answer())

    def _answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "farm_rounds.py ended"
        return json.loads(line)

    def run(self, number: int) -> dict[str, Any]:
        assert self.process.stdin
        print(number, file=self.process.stdin, flush=True)
        return dict(self._answer())

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def describe(seed: int, tally: Tally, seconds: float) -> "dict[str, object]":
    """Return the result as it is stored."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--untracked-files=no"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    revision = subprocess.run(
        [*git, "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    lines = pathlib.Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
    facts = {
        name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    cpu = " ".join(
        (
            facts.get("model name", os.uname().machine),
            "family",
            facts.get("cpu family", "?"),
            "model",
            facts.get("model", "?"),
        )
    )
    return {
        "rounds": tally["rounds"],
        "seed": seed,
        "failed": tally["rounds"] - tally["passed"],
        **{name: tally[name] for name in sorted(tally.keys() - {"rounds", "passed"})},
        "seconds": round(seconds),
        "revision": revision + (" with changes" if changed else ""),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "cpu": cpu,
        "cores": os.cpu_count(),
    }


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" in metafunc.fixturenames:
        numbers = range(metafunc.config.getoption("rounds"))
        metafunc.parametrize(
            "number",
            [
                pytest.param(
                    number, marks=pytest.mark.slow if number < ROUNDS_OF_CI else pytest.mark.long
                )
                for number in numbers
            ],
        )


@pytest.fixture(scope="module")
def rounds(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rounds]:
    pytest.importorskip("distributed", reason="no Python package distributed: make lab")
    words = words_for_own_network()
    rounds = Rounds(tmp_path_factory.mktemp("farm"), words, request.config.getoption("seed"))
    yield rounds
    rounds.end()


@pytest.fixture(scope="module")
def tally(request: pytest.FixtureRequest, rounds: Rounds) -> Iterator[Tally]:
    """Counts of all rounds; in the end a line of --out has them."""
    tally = Tally()
    began = time.monotonic()
    yield tally
    out = request.config.getoption("out")
    if out and tally["rounds"] and not rounds.why_no_boards:
        with out.open("a") as file:
            seed = request.config.getoption("seed")
            file.write(json.dumps(describe(seed, tally, time.monotonic() - began)) + "\n")


@pytest.mark.slow
def test_boards_take_part(rounds: Rounds) -> None:
    if rounds.why_no_boards:
        pytest.skip(rounds.why_no_boards)


def test_no_cell_is_lost_or_counted_twice(number: int, rounds: Rounds, tally: Tally) -> None:
    answer = rounds.run(number)
    tally["rounds"] += 1
    tally.update(answer["tally"])
    log = (rounds.folder / "dask.log").read_text()[-2000:]
    assert not answer["why"], f"{answer['why']}\n{log}"
    tally["passed"] += 1
