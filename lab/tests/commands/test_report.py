# SPDX-License-Identifier: MIT
"""everycore report: files in, one page and its companions out."""

import csv
import io
import json
from pathlib import Path

import pytest
from report.page import matrices
from world import Lab

from everycore.commands import report as command
from everycore.environment.extras import install_command

pytest.importorskip("altair", reason="make lab")
pytest.importorskip("vl_convert", reason="make lab")


@pytest.fixture(autouse=True)
def _no_plot_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundling takes a second; test_browser.py has it."""
    monkeypatch.setattr(command, "_plot_library", lambda: "/* no library */")


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """A small one: one subject."""
    path = tmp_path / "a-matrix.jsonl"
    wanted = ('"type":"matrix"', '"libressl"')
    lines = [line for line in matrices.text().splitlines() if any(word in line for word in wanted)]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_page_is_made_and_its_path_is_said(lab: Lab, matrix: Path, tmp_path: Path) -> None:
    done = lab("report", str(matrix), "--out", str(tmp_path / "page.html"))
    assert done.code == 0, done.err
    assert done.out.replace("\n", "") == str(tmp_path / "page.html")
    assert "52 slow cells, 2 failed cells: 8 causes" in done.err
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_cells_are_had_as_csv_by_a_query(lab: Lab, matrix: Path) -> None:
    pytest.importorskip("duckdb", reason="make lab")
    sql = "SELECT what, toolchain, reason, value FROM cells"
    done = lab("query", "--from", str(matrix), "--csv", sql)
    assert done.code == 0, done.err
    rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
    as_json = [
        json.loads(line)
        for line in lab("query", "--from", str(matrix), "--json", sql).out.splitlines()
    ]
    texts = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in as_json
    ]
    assert len(rows) == 375
    assert sorted(map(str, rows)) == sorted(map(str, texts))


def test_plots_are_files_in_both_formats(lab: Lab, matrix: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plots"
    done = lab("report", str(matrix), "--out", str(tmp_path / "p.html"), "--plots", str(folder))
    assert done.code == 0, done.err
    names = {path.name for path in folder.iterdir()}
    stem = "libressl-generic-cbc-enc"
    assert names == {f"{k}-{stem}.{s}" for k in ("heat", "series") for s in ("png", "svg")}
    assert (folder / f"heat-{stem}.png").read_bytes()[:4] == b"\x89PNG"
    assert "hangs" not in (folder / f"heat-{stem}.svg").read_text(encoding="utf-8")


def test_half_a_last_line_is_left_out_and_said(lab: Lab, matrix: Path, tmp_path: Path) -> None:
    matrix.write_text(matrix.read_text(encoding="utf-8") + '{"type":"cell","ce', encoding="utf-8")
    done = lab("report", str(matrix), "--out", str(tmp_path / "page.html"))
    assert done.code == 0
    assert "its last line is cut short" in done.err


@pytest.mark.parametrize("content", ["", "no JSON\n", '{"type":"cell"}\n', '{"type":"run"}\n'])
def test_a_file_that_is_none_of_ours_is_named(lab: Lab, tmp_path: Path, content: str) -> None:
    path = tmp_path / "strange.jsonl"
    path.write_text(content, encoding="utf-8")
    done = lab("report", str(path), "--out", str(tmp_path / "page.html"))
    assert done.code == 2
    assert "strange.jsonl" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "page.html").exists()


def test_a_missing_file_is_named(lab: Lab, tmp_path: Path) -> None:
    done = lab("report", str(tmp_path / "gone.jsonl"))
    assert done.code == 2
    assert "gone.jsonl" in done.err


def test_of_a_folder_what_cannot_be_read_is_said(lab: Lab, matrix: Path, tmp_path: Path) -> None:
    (tmp_path / "strange.jsonl").write_text("no JSON\n", encoding="utf-8")
    done = lab("report", str(tmp_path), "--out", str(tmp_path / "page.html"))
    assert done.code == 0
    assert matrix.exists()
    assert "strange.jsonl" in done.err


def test_a_place_that_cannot_be_written_is_named(lab: Lab, matrix: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = lab("report", str(matrix), "--out", str(tmp_path / "file" / "page.html"))
    assert done.code == 2
    assert "cannot write" in done.err
    done = lab("report", str(matrix), "--out", str(tmp_path))
    assert done.code == 2
    assert "is a folder" in done.err


def test_a_missing_package_is_named_with_its_remedy(
    lab: Lab, matrix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    done = lab("report", str(matrix), "--out", "page.html")
    assert done.code == 2
    assert "extra 'report'" in done.err
    assert install_command("report") in done.err.replace("\n", " ")


@pytest.mark.slow
def test_without_files_the_stored_results_are_shown(
    lab: Lab, real_cache: Path, tmp_path: Path
) -> None:
    lab.env["XDG_CACHE_HOME"] = str(real_cache)  # packs of what is stored serve other tests, too
    out = tmp_path / "page.html"
    done = lab("report", "--out", str(out))
    assert done.code == 0, done.err
    text = out.read_text(encoding="utf-8")
    assert "Peers 20" in text
    assert "Bench 20" in text


def test_own_cells_are_told_from_those_that_everycore_brings(
    lab: Lab, matrix: Path, tmp_path: Path
) -> None:
    """By the folder: the same file is stored in the tree, and with another subject the user's."""
    tree, own = tmp_path / "tree", tmp_path / "state" / "everycore" / "results"
    for path in (tree / "results" / "b-matrix.jsonl", tree / "src" / "kernels.def", own / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
    (tree / "src" / "kernels.def").touch()
    (tree / "catalog/peers").mkdir(parents=True)
    (tree / "catalog/peers" / "peers.toml").touch()
    (tree / "results" / "b-matrix.jsonl").write_text(matrix.read_text())
    (own / "a-matrix.jsonl").write_text(matrix.read_text().replace("libressl", "mine"))
    lab.env["EVERYCORE_TREE"] = str(tree)
    done = lab("report", "--out", str(tmp_path / "page.html"))
    assert done.code == 0, done.err
    assert ". Stored with everycore: 1 cell that lost constant time, 52 slow cells" in done.err
    both = lab("report", str(tree / "results"), str(own), "--out", str(tmp_path / "page.html"))
    assert "Stored with everycore" not in both.err  # the user named them


def test_a_device_is_not_replaced_and_a_dash_is_standard_output(
    lab: Lab, matrix: Path, tmp_path: Path
) -> None:
    link = tmp_path / "device"
    link.symlink_to("/dev/null")
    done = lab("report", str(matrix), "--out", str(link))
    assert (done.code, done.out) == (0, ""), done.err
    assert link.is_symlink()
    done = lab("report", str(matrix), "--out", "-")
    assert done.code == 0, done.err
    assert done.out.startswith("<!DOCTYPE html>")
    assert done.out.rstrip().endswith("</html>")
