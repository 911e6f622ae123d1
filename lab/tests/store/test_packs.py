# SPDX-License-Identifier: MIT
"""Result files as rows, packs of them, and what queries of packs say."""

import json
import shutil
from pathlib import Path

import pytest
from matrix.cells import cell, measured
from world import PACKAGE, Lab

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model.cells import Anomaly, Head, Kind, Line, Result, Verdict
from everycore.model.domain import Machine, Revision
from everycore.model.measurement import TABLES, CellRow, ProcessRow, columns
from everycore.model.protocol import Bench
from everycore.report.figures import operation_figure
from everycore.store import parquet, run_files
from everycore.store.unpacked import rows_of
from everycore.store.views import Database, documented

pytest.importorskip("duckdb")
STORED = PACKAGE.parent.parent / "results"
HEAD = Head(
    "2026-01-02T00:00:00", "0.1", Revision("0123456789ab", False), Machine("A CPU"), "tsc", {}
)


def matrix_file(path: Path, *lines: Line) -> Path:
    path.write_text("".join(encode_line(line) + "\n" for line in lines), encoding="utf-8")
    return path


def asked(sql: str, *packs: Path) -> list[tuple[object, ...]]:
    with Database(packs) as database:
        return database.ask(sql).rows


def packed(folder: Path, *files: Path) -> Path:
    target = folder / f"{files[0].stem}-{len(list(folder.glob('*.pack')))}.pack"
    parquet.write_pack(files, target)
    return target


def judged(result: Result) -> Result:
    return result.replace(verdicts=(Verdict(False, "trace", "x+1"), Verdict(None, "taint", "no")))


def test_every_member_of_a_cell_is_in_the_rows(tmp_path: Path) -> None:
    result = judged(measured(cell(), 5.0)).replace(executed=7, shared=(1,), digest="d")
    odd = Anomaly(result.cell, Kind.SLOW, 5.0, cell("gcc-11"), 2.5, 2.0, repair=("-O1", "-fx"))
    pack = packed(tmp_path, matrix_file(tmp_path / "a.jsonl", HEAD, result, odd))
    assert asked(
        "SELECT subject, toolchain, flags, value, executed, constant_time FROM cells", pack
    ) == [("table", "gcc-12", "-O2", 5.0, 7, False)]
    samples = asked("SELECT process, samples, is_crowded FROM processes ORDER BY process", pack)
    assert [tuple(own) for _, own, _ in samples] == list(result.runs)  # type: ignore[arg-type]
    assert [crowded for _, _, crowded in samples] == [False, True, False, False, False]
    assert asked("SELECT method, constant FROM verdicts ORDER BY method", pack) == [
        ("taint", None),
        ("trace", False),
    ]
    assert asked(
        "SELECT kind, ratio, repair, what = (SELECT what FROM cells) FROM anomalies", pack
    ) == [("slow", 2.0, "-O1 -fx", True)]
    assert asked("SELECT code, instructions, frame_bytes FROM code", pack) == [("d", 100, 64)]


def test_figures_are_those_of_the_lab() -> None:
    """The figure of a cell is the one that its command shows."""
    path = STORED / "amd-zen5-epyc" / "peers.jsonl.xz"
    cells = [row for row in rows_of(path) if isinstance(row, CellRow) and row.kind == "bench"]
    figures = [line for line in run_files.read(path).figures() if isinstance(line, Bench)]
    assert len(cells) == len(figures) > 100
    for row, line in zip(cells, figures, strict=True):
        shown = operation_figure(line)
        expected = (
            shown.cycles_per_byte
            if row.unit == "cycles per byte"
            else (shown.cycles.median if shown.cycles else None)
        )
        assert row.value == (pytest.approx(expected) if expected is not None else None)
        assert (row.subject, row.function, row.bytes) == (line.kernel, line.mode, line.bytes)


def test_samples_of_a_run_are_in_the_rows() -> None:
    path = STORED / "amd-zen5-epyc" / "peers.jsonl.xz"
    lines = list(run_files.read(path).benches())
    rows = [row for row in rows_of(path) if isinstance(row, ProcessRow)]
    stored = sum(len(line.cycles) for line in lines)
    assert sum(len(row.ns) for row in rows) == sum(len(line.ns) for line in lines)
    assert sum(len(row.samples) for row in rows) > stored  # and those of loops of arithmetic


def test_the_later_line_of_a_cell_is_the_last_one(tmp_path: Path) -> None:
    old, new = measured(cell(), 5.0), measured(cell(), 6.0)
    other = HEAD.replace(machine=Machine("Another CPU"))
    path = matrix_file(tmp_path / "a.jsonl", HEAD, old, new, other, old)
    pack = packed(tmp_path, path)
    assert asked(
        "SELECT value, machine FROM cells JOIN runs USING (run) WHERE is_last ORDER BY 1", pack
    ) == [
        (5.0, "Another CPU"),
        (6.0, "A CPU"),
    ]


@pytest.mark.parametrize(
    ("name", "run", "what"),
    [
        ("amd-zen5-epyc/bench", "f13f51469386fe0f", "8829f22478363c51"),
        ("intel-sapphire-rapids/pauth", "1e736722b057deab", "d8ed5ea5c54f3da3"),
        ("intel-sapphire-rapids/pauth-primitive", "1d761bf34fb5603e", "c3751ed4a88dbe40"),
    ],
)
def test_keys_are_those_of_packs_of_any_age(name: str, run: str, what: str) -> None:
    cells = (row for row in rows_of(STORED / f"{name}.jsonl.xz") if isinstance(row, CellRow))
    first = next(cells)
    assert (first.run, first.what) == (run, what)


def test_half_a_line_at_the_end_of_a_running_file_is_left_out(tmp_path: Path) -> None:
    path = matrix_file(tmp_path / "a.jsonl", HEAD, measured(cell(), 5.0))
    path.write_text(path.read_text() + encode_line(measured(cell("gcc-11"), 5.0))[:40])
    assert asked("SELECT count(*) FROM cells", packed(tmp_path, path)) == [(1,)]


def test_joined_files_have_the_runs_of_all(tmp_path: Path) -> None:
    files = [
        STORED / "amd-zen4-epyc-b" / "pauth-system.jsonl.xz",
        STORED / "intel-sapphire-rapids" / "pauth.jsonl.xz",
    ]
    whole = tmp_path / "both.jsonl.xz"
    whole.write_bytes(b"".join(path.read_bytes() for path in files))
    (single,) = asked(
        "SELECT count(*), count(DISTINCT run), count(DISTINCT cell) FROM cells",
        packed(tmp_path, whole),
    )
    assert single == (72, 2, 72)


def test_files_of_the_matrix_are_joined_with_what_a_killed_run_left(tmp_path: Path) -> None:
    results = [measured(cell(flags=f"-O{level}"), 5.0) for level in "0123"]
    later = HEAD.replace(date="2026-02-01T00:00:00")
    first = matrix_file(tmp_path / "first.jsonl", HEAD, *results[:2])
    second = matrix_file(tmp_path / "second.jsonl", later, *results[2:])
    apart = asked(
        "SELECT flags FROM cells ORDER BY ALL", packed(tmp_path, first), packed(tmp_path, second)
    )
    half = encode_line(results[3])[:70]
    joined = tmp_path / "joined.jsonl"
    for between in ("", half):
        joined.write_text(first.read_text() + between + second.read_text())
        pack = packed(tmp_path, joined)
        assert asked("SELECT flags FROM cells ORDER BY ALL", pack) == apart
        assert asked("SELECT count(*) FROM runs", pack) == [(2,)]


def test_a_run_that_is_in_several_packs_counts_once(tmp_path: Path) -> None:
    results = [measured(cell(flags=f"-O{level}"), 5.0) for level in "0123"]
    part = packed(tmp_path, matrix_file(tmp_path / "part.jsonl", HEAD, *results[:2]))
    whole = packed(tmp_path, matrix_file(tmp_path / "whole.jsonl", HEAD, *results))
    again = tmp_path / "copy.pack"
    shutil.copytree(whole, again)
    for table, count in (("runs", 1), ("cells", 4), ("processes", 20), ("code", 1), ("latest", 4)):
        assert asked(f"SELECT count(*) FROM {table}", part, whole, again) == [(count,)], table


def runs_over_time(folder: Path, *values: float) -> list[Path]:
    return [
        packed(
            folder,
            matrix_file(
                folder / f"{day}.jsonl",
                HEAD.replace(
                    date=f"2026-01-{day:02}T00:00:00", revision=Revision(f"{day:012}", False)
                ),
                measured(cell(), value),
            ),
        )
        for day, value in enumerate(values, 1)
    ]


def test_a_step_of_a_figure_over_time_is_marked_and_noise_is_not(tmp_path: Path) -> None:
    packs = runs_over_time(tmp_path, 5.0, 5.01, 6.0, 6.0, 5.0)
    found = asked("SELECT revision, value, before, is_step FROM history ORDER BY date", *packs)
    assert [row[3] for row in found] == [False, False, True, False, True]
    assert found[2][1:3] == (6.0, 5.01)
    wide = [
        packed(
            tmp_path,
            matrix_file(
                tmp_path / f"wide{day}.jsonl",
                HEAD.replace(date=f"2026-02-{day:02}", machine=Machine("Noisy")),
                measured(cell(), value, spread=0.2),
            ),
        )
        for day, value in ((1, 5.0), (2, 5.5))
    ]
    assert asked("SELECT count_if(is_step) FROM history", *wide) == [(0,)]


def test_a_pack_of_another_format_or_without_a_file_is_refused(tmp_path: Path) -> None:
    pack = packed(tmp_path, matrix_file(tmp_path / "a.jsonl", HEAD, measured(cell(), 5.0)))
    label = json.loads((pack / "pack.json").read_text())
    (pack / "pack.json").write_text(json.dumps(label | {"format": 99}))
    with pytest.raises(
        EverycoreError, match=r"a-0.pack has format 99, this everycore reads format 2"
    ):
        asked("SELECT 1", pack)
    (pack / "pack.json").write_text(json.dumps(label))
    (pack / "cells.parquet").unlink()
    with pytest.raises(EverycoreError, match=r"lacks cells.parquet"):
        asked("SELECT 1", pack)


def test_a_pack_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    path = matrix_file(tmp_path / "a.jsonl", HEAD, measured(cell(), 5.0))
    path.write_text(path.read_text() + '{"type":"cell","cell":5}\n')
    with pytest.raises(EverycoreError, match=r"a.jsonl, line 3: not a line of the matrix"):
        parquet.write_pack([path], tmp_path / "made" / "a.pack")
    assert not list((tmp_path / "made").iterdir())


def test_a_pack_of_the_format_before_is_still_read(tmp_path: Path) -> None:
    pack = packed(tmp_path, matrix_file(tmp_path / "a.jsonl", HEAD, measured(cell(), 5.0)))
    label = json.loads((pack / "pack.json").read_text())
    (pack / "pack.json").write_text(json.dumps(label | {"format": 1}))
    assert asked("SELECT value FROM cells", pack) == [(5.0,)]


def test_columns_are_documented_and_have_types() -> None:
    for kind in TABLES.values():
        for column in columns(kind):
            assert column.sql
            assert len(column.meaning) > 3
    assert set(documented()) == {*TABLES, "latest", "history"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("SELEC 1",), "the query fails: Parser Error: syntax error"),
        (("SELECT nothing FROM cells",), 'column "nothing" not found'),
        (("COPY cells TO 'x.csv'",), "the query is no single SELECT"),
        (("SELECT 1; SELECT 2",), "the query is no single SELECT"),
        ((" ",), "the query is no single SELECT"),
        (("SELECT * FROM read_csv('/etc/passwd')",), "file system operations are disabled"),
        ((), "a query needs a SELECT"),
        (("--from", "absent.jsonl", "SELECT 1"), "cannot read absent.jsonl"),
        (("--from", "text.jsonl", "SELECT 1"), "text.jsonl is no result file"),
        (("--from", "old.pack", "SELECT 1"), "old.pack is no pack of results"),
    ],
)
def test_what_is_wrong_with_a_query_is_one_line(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(lab.folder)
    (lab.folder / "text.jsonl").write_text("no JSON\n")
    (lab.folder / "old.pack").mkdir()
    matrix_file(lab.folder / "a.jsonl", HEAD, measured(cell(), 5.0))
    own = words if "--from" in words else ("--from", "a.jsonl", *words)
    done = lab("query", *own)
    done.refuses(said)
    assert len(done.err.splitlines()) <= 2
    assert not (lab.folder / "x.csv").exists()


def test_a_folder_without_results_is_named(lab: Lab) -> None:
    folder = lab.folder / "empty"
    folder.mkdir()
    done = lab("query", "--from", str(folder), "SELECT 1")
    assert done.code == 2
    assert f"no results to ask in {folder}" in done.err.splitlines()[0]


@pytest.mark.parametrize("words", [("query", "SELECT 1", "--from"), ("pack", "--out", "a.pack")])
@pytest.mark.parametrize("name", ["absent.jsonl", "text.jsonl", "data.jsonl"])
def test_a_file_without_results_is_refused_with_a_remedy(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(lab.folder)
    (lab.folder / "text.jsonl").write_text("no JSON\n")
    (lab.folder / "data.jsonl").write_text('{"type": "other"}\n')
    done = lab(*words, name)
    done.refuses(name)
    assert done.err.splitlines()[1:] == [run_files.RESULTS_HINT]


def test_a_query_is_shown_as_a_table_and_as_lines(lab: Lab) -> None:
    path = matrix_file(lab.folder / "a.jsonl", HEAD, measured(cell(), 5.0))
    sql = "SELECT subject, value, reason = '' AS empty, executed FROM cells"
    shown = lab("query", "--from", str(path), sql)
    assert shown.out.splitlines() == [
        "subject  value  empty  executed",
        "table        5  True          -",
    ]
    lines = lab("query", "--from", str(path), "--json", sql)
    assert json.loads(lines.out) == {
        "subject": "table",
        "value": 5.0,
        "empty": True,
        "executed": None,
    }


def test_a_pack_is_made_and_asked_beside_its_file(lab: Lab) -> None:
    path = matrix_file(lab.folder / "a.jsonl", HEAD, measured(cell(), 5.0))
    out = lab.folder / "a.pack"
    done = lab("pack", str(path), "--out", str(out))
    assert (done.code, done.out.strip()) == (0, str(out))
    assert lab("pack", str(path), "--out", str(out)).code == 2
    assert "exists" in lab("pack", str(path), "--out", str(out)).err
    both = lab("query", "--from", str(path), "--from", str(out), "SELECT count(*) AS n FROM cells")
    assert both.out.split() == ["n", "1"]
