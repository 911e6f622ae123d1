# SPDX-License-Identifier: MIT
import io
import time

import pytest
from rich.console import Console
from world import Lab

from everycore.environment import progress
from everycore.environment.progress import Progress


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, highlight=False)


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_terminal_shows_a_bar_before_the_first_step_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "SHOW_AFTER_SECONDS", 0.01)
    screen = console(terminal=True)
    with Progress(screen, "checking", None):
        end = time.monotonic() + 10
        while "checking" not in text_of(screen) and time.monotonic() < end:
            time.sleep(0.01)
        assert "checking" in text_of(screen)


def test_of_two_bars_at_a_time_the_first_is_shown() -> None:
    screen = console(terminal=True)
    with Progress(screen, "outer", None) as outer, Progress(screen, "inner", None) as inner:
        outer._show()
        inner._show()
        inner.step("a.c")
    assert "outer" in text_of(screen)


def test_short_work_shows_nothing() -> None:
    for terminal in (True, False):
        screen = console(terminal=terminal)
        with Progress(screen, "checking", 2, lines=True) as bar:
            bar.step("aes")
        time.sleep(0.01)
        assert text_of(screen) == ""


def test_a_file_gets_a_line_every_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    screen = console(terminal=False)
    with Progress(screen, "checking", None, lines=True) as bar:
        for number in range(12):
            now = float(number)
            bar.step(f"aes c_ref {number}")
    assert text_of(screen).splitlines() == [
        "checking: 6 done, the last: aes c_ref 5",
        "checking: 11 done, the last: aes c_ref 10",
    ]


def test_only_work_that_asks_for_it_prints_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    screen = console(terminal=False)
    with Progress(screen, "compiling", 3) as bar:
        bar.step("aes.c")
    assert text_of(screen) == ""


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_check_tells_each_property_on_standard_error(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setattr(progress, "LINE_EVERY_SECONDS", 0.0)
    done = lab("check", *options)
    assert "checking: 1 done, the last: aes " in done.err
    assert "checking: 1 done" not in done.out
