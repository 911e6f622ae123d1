# SPDX-License-Identifier: MIT
"""The results that everycore brings are read whole: no member of any line is lost or changed."""

import json
import lzma
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from world import PACKAGE

from everycore.model import cells, protocol
from everycore.model.protocol import Other
from everycore.store import run_files

STORED = PACKAGE.parent.parent / "results"
MATRICES = sorted(STORED.glob("*/matrix.jsonl.xz"))
RUNS = sorted({*STORED.glob("*/*.jsonl.xz")} - {*MATRICES})
PASSED_OVER = {"type", "runs"}  # that no reader asks for


@pytest.mark.parametrize("path", MATRICES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_line_of_the_matrix_is_written_as_it_was_read(path: Path) -> None:
    for text in lzma.decompress(path.read_bytes()).decode().splitlines():
        line = cells.parse(text)
        assert line is not None
        assert json.loads(cells.as_json(line)) == json.loads(text)


def as_members(value: Any) -> Any:
    """A value of JSON as records have it: null is an empty text."""
    if isinstance(value, dict):
        return {protocol.MEMBERS.get(key, key): as_members(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_members(one) for one in value]
    return "" if value is None else value


@pytest.mark.parametrize("path", RUNS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_line_of_a_run_says_the_same_as_its_record(path: Path) -> None:
    found = run_files.read(path, partial=True)
    assert found.records
    for record in found.records:
        if isinstance(record.line, Other):  # of the lab's own commands, which read its text
            continue
        written = as_members(json.loads(record.text))
        known = as_members(asdict(protocol.parse(record.text).line))
        assert written.keys() - known.keys() <= PASSED_OVER, record.text
        assert {k: v for k, v in written.items() if k in known} == {
            name: value for name, value in known.items() if name in written
        }


def test_there_are_stored_results_of_both_kinds() -> None:
    assert len(MATRICES) >= 2
    assert len(RUNS) >= 8
