# SPDX-License-Identifier: MIT
"""Runs that are killed in the middle of writing, whatever they write."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from store.test_matrix_files import HEAD, result
from store.test_run_files import RUN
from world import data_text

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import parse
from everycore.store import matrix_files, run_files
from everycore.store.journal import Journal

ROUNDS = 3
# Each line is told on standard output once its call has returned. The parent kills in between.
SCRIPT = """
import sys
sys.path[:0] = [sys.argv[3]]
from pathlib import Path
from store import test_journal
for number in test_journal.WRITERS[sys.argv[1]](Path(sys.argv[2])):
    print(number, flush=True)
"""


def _write_cells(path: Path) -> Iterator[int]:
    with matrix_files.Writer(path, HEAD, resume=True) as writer:
        for number in range(len(writer.stored.results), 1 << 20):
            writer.write(result(number))
            yield number


def _write_figures(path: Path) -> Iterator[int]:
    measured = parse(data_text("bench.jsonl").splitlines()[1])
    with run_files.Writer(path, RUN) as writer:
        for number in range(1 << 20):
            writer.write(measured)
            yield number


WRITERS = {"cells": _write_cells, "figures": _write_figures}


def _killed(kind: str, path: Path, seconds: float) -> int:
    """Run a writer, kill it after some time, and return how many lines it said were written."""
    words = [sys.executable, "-c", SCRIPT, kind, str(path), str(Path(__file__).parents[1])]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        first = child.stdout.readline()
        time.sleep(seconds)
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
    assert first
    return (first + rest).count("\n")


def test_cells_of_a_matrix_that_is_killed_again_and_again_are_all_there(tmp_path: Path) -> None:
    path, chance, told = tmp_path / "m.jsonl", random.Random(1), 0
    for _ in range(ROUNDS):
        told += _killed("cells", path, chance.uniform(0, 0.02))
        lines = path.read_text(encoding="utf-8").splitlines()
        assert told <= len(matrix_files.read(path).results) <= told + 1
        told = len(matrix_files.read(path).results)
        assert lines[1] == encode_line(result(0))


def test_figures_of_a_run_that_is_killed_are_all_there(tmp_path: Path) -> None:
    chance = random.Random(2)
    for number in range(ROUNDS):
        path = tmp_path / f"{number}.jsonl"
        told = _killed("figures", path, chance.uniform(0, 0.02))
        found = run_files.partial_of(path, RUN)
        assert found
        assert told <= len(found.records) <= told + 1
        assert found.cut_off == "it was killed"


def test_a_journal_is_of_one_run(tmp_path: Path) -> None:
    first = Journal(tmp_path / "a", sys.stdout, is_new=True)
    for is_new in (True, False):
        with pytest.raises(EverycoreError, match="another run writes"):
            Journal(tmp_path / "a", sys.stdout, is_new=is_new)
    first.add("line")
    (tmp_path / "a").open("a").write("half")
    first.cut_half_line()
    first.close()
    assert (tmp_path / "a").read_text() == "line\n"
