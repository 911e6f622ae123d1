# SPDX-License-Identifier: MIT
"""Figures over time on the page."""

import re
from pathlib import Path

import pytest
from matrix.cells import cell, measured
from world import Lab

from everycore.environment.decoding import encode_line
from everycore.model.cells import Head
from everycore.model.domain import Machine, Revision

pytest.importorskip("duckdb", reason="make lab")
pytest.importorskip("jinja2", reason="make lab")
HEAD = Head("", "0.1", Revision("", False), Machine("A CPU"), "tsc", {})


@pytest.fixture(autouse=True)
def _no_plot_library(monkeypatch: pytest.MonkeyPatch) -> None:
    from everycore.commands import report

    monkeypatch.setattr(report, "_plot_library", lambda: "/* no library */")


def runs(folder: Path, *values: float) -> list[str]:
    """Files of a run a day, each with one cell; and another cell that never changes."""
    found = []
    for day, value in enumerate(values, 1):
        path = folder / f"{day}-matrix.jsonl"
        head = HEAD.replace(date=f"2026-01-{day:02}T08:00", revision=Revision(f"c{day}", False))
        other = measured(cell(subject="steady"), 3.0)
        lines = (head, measured(cell(), value), other)
        path.write_text("".join(encode_line(line) + "\n" for line in lines), encoding="utf-8")
        found.append(str(path))
    return found


def page(lab: Lab, *words: str) -> str:
    out = lab.folder / "page.html"
    done = lab("report", *words, "--out", str(out))
    assert done.code == 0, done.err
    text = out.read_text(encoding="utf-8")
    found = re.search(r"over time.*?</table>", text, re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()) if found else ""


def test_steps_of_a_cell_are_marked_with_their_commits(lab: Lab) -> None:
    shown = page(lab, *runs(lab.folder, 5.0, 5.0, 6.0, 5.0))
    assert re.search(r"c1 5\.00 .*c3 6\.00 .* ▲ \+20\.0% .*c4 5\.00 .* ▼ -16\.7%", shown)
    assert shown.count("▲") == shown.count("▼") == 1
    assert "steady" not in shown


def test_without_steps_history_is_shown_only_if_asked_for(lab: Lab) -> None:
    files = runs(lab.folder, 5.0, 5.0)
    assert page(lab, *files) == ""
    shown = page(lab, "--history", *files)
    assert "steady" in shown
    assert "▲" not in shown
