# SPDX-License-Identifier: MIT
"""The results that everycore brings are read whole: no member of any line is lost or changed."""

import json
import lzma
from pathlib import Path

import pytest
from world import PACKAGE

from everycore.environment.decoding import decode_line, encode_line
from everycore.model import cells
from everycore.model.run_lines import LINES
from everycore.store import run_files

STORED = PACKAGE.parent.parent / "results"
MATRICES = sorted(STORED.glob("*/matrix.jsonl.xz"))
RUNS = sorted({*STORED.glob("*/*.jsonl.xz")} - {*MATRICES})
DEFAULTS = ("", 0, -1, False)
LEFT_OUT = (("process", 0),)


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_line_of_the_matrix_is_written_as_it_was_read(path: Path) -> None:
    for text in lzma.decompress(path.read_bytes()).decode().splitlines():
        written, stored = json.loads(encode_line(cells.parse(text))), json.loads(text)
        if written.get("repaired"):
            written["repaired"].pop("type")  # which earlier versions did not write
        assert written == stored


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_line_of_a_run_is_written_as_it_was_read(path: Path) -> None:
    for text in run_files.lines_of(path):
        written, stored = json.loads(encode_line(decode_line(LINES, text))), json.loads(text)
        if stored["type"] == "run":  # members that have their default are left out
            stored["machine"] = {k: v for k, v in stored["machine"].items() if v not in DEFAULTS}
        stored = {k: v for k, v in stored.items() if (k, v) not in LEFT_OUT}
        assert {k: v for k, v in written.items() if k in stored or k == "format"} == stored


def test_there_are_stored_results_of_both_kinds() -> None:
    assert len(MATRICES) >= 2
    assert len(RUNS) >= 8
