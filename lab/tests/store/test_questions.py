# SPDX-License-Identifier: MIT
"""Every question of docs/QUERY.md has an answer in the stored results."""

import re
from collections.abc import Iterator

import pytest
from world import PACKAGE

pytest.importorskip("duckdb")
from everycore.store import parquet
from everycore.store.views import Database

ROOT = PACKAGE.parent.parent
PAGE = (ROOT / "docs" / "QUERY.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^(\S[^\n]*\?)\n\n```sql\n(.*?)```", PAGE, re.M | re.S)
NO_ANSWER = ("gave wrong answers", "changed from one run")  # in what is stored, luckily


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    pack = tmp_path_factory.mktemp("stored") / "stored.pack"
    parquet.write_pack(sorted((ROOT / "results").rglob("*.jsonl*")), pack)
    with Database([pack]) as database:
        yield database


def test_there_are_ten_questions() -> None:
    assert len(QUESTIONS) == 10


@pytest.mark.parametrize(("question", "sql"), QUESTIONS, ids=[one[0][:40] for one in QUESTIONS])
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
    assert counts["cell"] == (4672, 4012)
    assert counts["pauth"] == (96, 96)
