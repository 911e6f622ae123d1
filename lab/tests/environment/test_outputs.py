# SPDX-License-Identifier: MIT
"""Files and devices that --out and the like may name."""

import io
import os
import stat
import sys
import threading
from pathlib import Path

import pytest
from library_reads import reads_all

from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import (
    atomic_output,
    is_standard_output,
    is_stream,
    refuse_device,
    refuse_existing,
)


def write(path: Path, text: str = "new\n", stdout: io.StringIO | None = None) -> str:
    """Write `text`, and return what standard output got."""
    stream = stdout or io.StringIO()
    with atomic_output(path, stream) as scratch:
        scratch.write_text(text, encoding="utf-8")
    return stream.getvalue()


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    """/dev/stdout of a program in a pipeline; devices go the same way."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    assert write(pipe) == ""
    reader.join()
    assert got == ["new\n"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    link = tmp_path / "nothing"
    link.symlink_to("/dev/null")
    for path in (Path("/dev/null"), link):
        write(path)
        assert is_stream(path)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert link.is_symlink()


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "deep" / "real", tmp_path / "link"
    link.symlink_to("deep/real")
    write(link, "first\n")  # nothing is there yet, not even the folder
    real.chmod(0o640)
    write(link, "second\n")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "second\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [path.name for path in real.parent.iterdir()] == ["real"]


def test_the_old_file_stays_if_the_new_one_fails(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_text("old\n", encoding="utf-8")
    with pytest.raises(RuntimeError), atomic_output(path, io.StringIO()) as scratch:
        raise RuntimeError(scratch.write_text("half"))
    assert path.read_text(encoding="utf-8") == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write(Path("-")) == "new\n"
    with atomic_output(Path("-"), sys.stdout) as scratch:
        scratch.write_bytes(b"\x89PNG\xff")
    assert capfdbinary.readouterr().out == b"\x89PNG\xff"
    assert not list(tmp_path.iterdir())


@reads_all
def test_a_name_of_standard_output_is_standard_output(tmp_path: Path) -> None:
    """Also of a file: replaced, what the shell opened would be lost."""
    shell = tmp_path / "shell"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from pathlib import Path; from everycore.environment.outputs import atomic_output\n"
        "print('before', flush=True)\n"
        "with atomic_output(Path('/dev/stdout'), sys.stdout) as s: s.write_text('page\\n')\n"
    )
    package = Path(sys.modules["everycore"].__file__ or "").parents[1]
    import subprocess

    with shell.open("w", encoding="utf-8") as out:
        subprocess.run([sys.executable, "-c", code, str(package)], stdout=out, check=True)
    assert shell.read_text(encoding="utf-8") == "before\npage\n"
    assert not is_standard_output(shell)
    assert list(tmp_path.iterdir()) == [shell]


def test_links_in_a_circle_and_folders_are_named(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to("circle")
    with pytest.raises(EverycoreError, match=r"cannot write .*circle"):
        write(circle)
    with pytest.raises(EverycoreError, match="is a folder"):
        write(tmp_path)


def test_a_device_is_no_input_and_pipes_and_absent_files_may_be(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refuse_device(tmp_path / "pipe")
    refuse_device(tmp_path / "absent")
    with pytest.raises(EverycoreError, match="cannot read /dev/zero: it is a device"):
        refuse_device(Path("/dev/zero"))


def test_a_file_that_is_there_is_refused_and_a_device_is_not(tmp_path: Path) -> None:
    refuse_existing(tmp_path / "absent")
    refuse_existing(Path(os.devnull))
    (tmp_path / "there").write_text("mine\n")
    with pytest.raises(EverycoreError, match="there exists"):
        refuse_existing(tmp_path / "there")


def test_a_folder_that_is_made_is_named_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "reslts" / "new" / "file.jsonl"
    write(path, "first\n")
    assert capsys.readouterr().err == f"made the folder {path.parent}\n"
    write(path, "second\n")
    assert not capsys.readouterr().err
