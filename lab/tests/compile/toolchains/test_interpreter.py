# SPDX-License-Identifier: MIT
import shutil
import subprocess
from pathlib import Path

import pytest

from everycore.binary.interpreter import interpreter_of, set_interpreter


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A copy of a program of this system."""
    found = shutil.which("true")
    if not found or not interpreter_of(Path(found)):
        pytest.skip("`true` is no 64-bit little-endian program with a loader here")
    return Path(shutil.copy(found, tmp_path))


def test_a_program_starts_with_the_loader_that_it_was_given(program: Path, tmp_path: Path) -> None:
    loader = tmp_path / ("a folder with a long name " * 5) / "loader"
    loader.parent.mkdir()
    shutil.copy(interpreter_of(program), loader)
    set_interpreter(program, str(loader))
    assert interpreter_of(program) == str(loader)
    assert subprocess.run([program], check=False).returncode == 0
    loader.unlink()
    with pytest.raises(FileNotFoundError):  # which the system says of the loader, too
        subprocess.run([program], check=False)


def test_what_is_no_program_has_no_loader(tmp_path: Path) -> None:
    for text in (b"", b"#!/bin/sh\n", b"\x7fELF\x02\x01" + bytes(200), b"\x7fELF\x01\x01" * 30):
        path = tmp_path / "file"
        path.write_bytes(text)
        assert interpreter_of(path) == ""
        with pytest.raises(ValueError, match="names no interpreter"):
            set_interpreter(path, "/loader")
        assert path.read_bytes() == text


def test_object_files_and_files_that_are_cut_short_have_none(program: Path) -> None:
    whole = program.read_bytes()
    for length in (3, 63, 64, 100):
        program.write_bytes(whole[:length])
        assert interpreter_of(program) == ""
