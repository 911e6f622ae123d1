# SPDX-License-Identifier: MIT
"""Replays the recordings of the corpus: each program is answered as programs.toml has it.

A verdict that got better is a failure, too: write the new one down.
"""

import functools
import pathlib
import sys
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import corpus
import recordings

pytestmark = pytest.mark.reads(
    "tests/corpus/",
    "lab/everycore/binary/",
    "lab/everycore/environment/",
    "lab/everycore/explain/",
    "lab/everycore/report/",
)
PROGRAMS = corpus.programs()
RECORDED = [known for known in PROGRAMS.values() if known.verdict != corpus.NOT_RECORDED]


@functools.cache
def stored(date: str) -> dict[str, list[Any]]:
    return recordings.load(recordings.FOLDER / f"{date}.xz")


@pytest.mark.parametrize("program", RECORDED, ids=lambda recorded: recorded.name)
def test_a_recorded_program_is_answered_as_before(program: corpus.Program) -> None:
    rows = stored(str(program.first_used))[program.name]
    verdict, wrong = corpus.judged(
        program, corpus.answer_of(*recordings.profile_of(rows, program.name))
    )
    assert verdict == program.verdict, "; ".join(wrong)


def test_every_recording_is_of_a_listed_program() -> None:
    names = {name for path in recordings.FOLDER.iterdir() for name in stored(path.stem)}
    assert names == {program.name for program in RECORDED}


def test_no_control_is_called_cryptography() -> None:
    assert not [
        program.name
        for program in PROGRAMS.values()
        if program.control and program.verdict == "wrong"
    ]
