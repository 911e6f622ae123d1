# SPDX-License-Identifier: MIT
"""Every question of docs/reference/query.md has an answer in the stored results."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from library_reads import reads_no_kernel
from world import DATA, PACKAGE

pytest.importorskip("duckdb")
from everycore.store import parquet
from everycore.store.views import Database

pytestmark = reads_no_kernel

ROOT = PACKAGE.parent.parent
PAGE = (ROOT / "docs/reference/query.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^(\S[^\n]*\?)\n\n```sql\n(.*?)```", PAGE, re.M | re.S)
NO_ANSWER = ("gave wrong answers", "changed from one run")  # in what is stored, luckily


@pytest.fixture(scope="module")
def stored(real_cache: Path) -> Iterator[Database]:
    """All that is stored, in packs of one file each, as `everycore query` makes them."""
    files = sorted((ROOT / "results").rglob("*.jsonl*"))
    cache = real_cache / "everycore" / "packs"
    with Database([parquet.cached_pack(path, cache) for path in files]) as database:
        yield database


# The answers of everycore fb04d27a, of 2026-11-23, before its modules and readers were moved.
GOLDEN = DATA / "golden_answers.jsonl"
GOLDEN_FILES = (
    "amd-zen4-epyc-b/matrix.jsonl.xz",
    "amd-zen5-epyc/peers.jsonl.xz",
    "intel-sapphire-rapids/bench.jsonl.xz",
)


def test_answers_are_those_of_the_version_before_the_move(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    expected: dict[str, list[dict[str, object]]] = {}
    for line in lines:
        if "question" in line:
            rows = expected.setdefault(line["question"], [])
        else:
            rows.append(line)
    assert sum(map(len, expected.values())) == 40
    pack = tmp_path / "golden.pack"
    parquet.write_pack([ROOT / "results" / name for name in GOLDEN_FILES], pack)
    with Database([pack]) as database:
        for question, sql in QUESTIONS:
            answer = database.ask(sql)
            found = [dict(zip(answer.names, row, strict=True)) for row in answer.rows]
            assert len(found) == len(expected[question]), question
            for ours, theirs in zip(found, expected[question], strict=True):
                assert {name: _comparable(ours[name]) for name in ours} == theirs, question


def _comparable(value: object) -> object:
    """Floating point in another order may differ in the last digit."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-12)
    return list(value) if isinstance(value, tuple) else value


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(("question", "sql"), QUESTIONS, ids=[asked[0][:40] for asked in QUESTIONS])
def test_a_question_of_the_docs_has_an_answer(stored: Database, question: str, sql: str) -> None:
    answer = stored.ask(sql)
    assert answer.names
    if not any(words in question for words in NO_ANSWER):
        assert answer.rows


def test_all_that_was_measured_is_in_the_tables(stored: Database) -> None:
    commands = {row[0] for row in stored.ask("SELECT DISTINCT command FROM runs").rows}
    assert {"matrix", "bench", "peers", "pauth", "pauth-primitive", "pauth-system"} <= commands
    found = stored.ask("SELECT kind, count(*), count(value) FROM cells GROUP BY kind").rows
    counts = {kind: (cells, figures) for kind, cells, figures in found}
    assert counts["cell"] == (6096, 5070)
    assert counts["pauth"] == (123, 123)
