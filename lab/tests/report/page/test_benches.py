# SPDX-License-Identifier: MIT
"""Tables of stored runs of bench, peers, limits and goals."""

from pathlib import Path

import pytest
from store.test_run_files import RUN
from world import data_text

import everycore
from everycore.measure.processes import merged
from everycore.model.protocol import parse
from everycore.report.page import benches
from everycore.store import run_files
from everycore.store.run_files import Results

RESULTS = Path(everycore.__file__).parents[2] / "results"


def stored(kind: str) -> Results:
    return run_files.read(sorted(RESULTS.glob(f"*/{kind}.jsonl.xz"))[-1])


def test_a_table_of_bench_has_a_kernel_a_row_and_a_size_a_column() -> None:
    tables = benches.bench_tables(stored("bench").records)
    (table,) = [t for t in tables if t.title == "cbc-enc aes-256: cycles per byte"]
    assert table.head[0] == "kernel"
    assert table.head[-1] == "16384 B"
    assert "x86_aesni" in {row[0].shown for row in table.rows}
    assert all(len(row) == len(table.head) for row in table.rows)


def test_the_best_of_a_column_is_the_coolest() -> None:
    for table in benches.bench_tables(stored("bench").records):
        for column in range(1, len(table.head)):
            entries = [row[column] for row in table.rows if isinstance(row[column].sort, float)]
            if entries:
                assert min(entries, key=lambda e: e.sort).step == 0


def test_a_table_of_peers_has_ours_first_and_says_how_we_stand() -> None:
    (table, *_) = benches.peer_tables(stored("peers").records, {})
    assert table.rows[0][0].shown.startswith("everycore")
    assert table.feet[0][0].shown == "everycore / best peer"


def test_estimates_are_of_a_table_of_their_own() -> None:
    records = stored("estimate").records
    table = benches.estimate_table(records)
    assert table is not None
    assert table.head[:5] == ("code", "mode", "key bits", "bytes", "i/B")
    assert len(table.rows) == len(records)
    shown = {entry.shown for row in table.rows for entry in row}
    assert {"a64_ce", "linux-arm64 gcm-seal", "hidden"} <= shown
    assert not benches.bench_tables(records)
    assert benches.estimate_table(stored("goals").records) is None


def test_limits_are_tables_of_instructions_and_of_bounds(tmp_path: Path) -> None:
    lines = data_text("limits.jsonl").splitlines()
    with run_files.Writer(tmp_path / "a.jsonl", RUN.replace(command="limits")) as writer:
        for line in lines[1:]:
            writer.write(parse(line))
    records = run_files.read(tmp_path / "a.jsonl").records
    instructions, costs = benches.limit_tables(merged(records))
    rows = {row[0].shown: [entry.shown for entry in row[1:]] for row in instructions.rows}
    assert rows["vaesenc"][:3] == ["512", "~4.00", "~2.00"], "it is of one process"
    assert rows["vgf2p8affineqb"][3].startswith("needs gfni")
    row = next(row for row in costs.rows if row[0].shown == "cbc-enc" and row[1].shown == "256")
    assert "14 dependent aesenc per 16 bytes" in row[3].shown
    assert float(row[2].sort) == pytest.approx(3.5, rel=0.05)
    assert not benches.bench_tables(records)


def test_goals_are_of_a_table_of_their_own() -> None:
    records = stored("goals").records
    table = benches.goal_table(records)
    assert table is not None
    assert table.head[0] == "goal"
    assert not benches.bench_tables(records)
    assert benches.goal_table(stored("bench").records) is None
