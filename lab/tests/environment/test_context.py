# SPDX-License-Identifier: MIT
import io
import sys
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import SystemRunner, system_context
from everycore.environment.errors import EverycoreError


def test_relative_xdg_directories_are_ignored(lab: Lab) -> None:
    lab.env.update(XDG_CACHE_HOME="relative", XDG_STATE_HOME="/state", HOME="/h/me")
    assert Path("/h/me") in lab.context().cache_dir().parents
    assert lab.context().state_dir() == Path("/state/everycore")


def test_a_user_without_a_home_is_told_what_to_set(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    lab.env.clear()
    with pytest.raises(EverycoreError, match="no home directory") as error:
        lab.context().cache_dir()
    assert "XDG_CACHE_HOME" in error.value.hint


def test_output_that_cannot_show_a_sign_shows_another(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding="ascii"))
    system_context().print_raw("1…2")
    sys.stdout.flush()
    assert out.getvalue() == b"1?2\n"


def test_output_that_is_not_text_is_no_surprise() -> None:
    printed = "import sys; sys.stdout.buffer.write(b'a\\xffb\\n')"
    assert list(SystemRunner().stream([sys.executable, "-c", printed])) == ["a\ufffdb"]


def test_a_program_that_falls_silent_is_ended() -> None:
    silent = "import time; print(1, flush=True); time.sleep(60)"
    stream = SystemRunner().stream([sys.executable, "-c", silent], quiet_seconds=1)
    assert next(stream) == "1"
    with pytest.raises(TimeoutError):
        next(stream)
