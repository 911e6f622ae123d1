# SPDX-License-Identifier: MIT
"""Files that a user names with --out and the like.

`-` is standard output. Links are followed. Only regular files are replaced: a device or a pipe is
written to.
"""

import os
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from everycore.environment.errors import EverycoreError, cannot_write

STANDARD_OUTPUT = Path("-")
_DESCRIPTOR = 1  # of standard output


def is_standard_output(path: Path | None) -> bool:
    """Whether a path is `-`, or names what standard output is, such as /dev/stdout."""
    if path is None or path == STANDARD_OUTPUT:
        return path is not None
    try:
        return os.path.samestat(path.stat(), os.fstat(_DESCRIPTOR))
    except OSError:
        return False


def is_stream(path: Path) -> bool:
    """Whether a path names standard output, a device or a pipe: nothing that can be replaced."""
    return is_standard_output(path) or (path.exists() and not _regular(path))


def _regular(path: Path) -> Path | None:
    """The regular file that is at `path`, or at the end of its links, or that may be made there."""
    try:
        real = path.resolve()
        there, status = real.exists(), path.stat()
    except FileNotFoundError:
        return real
    except RuntimeError as error:  # links in a circle: Python up to 3.12
        raise EverycoreError(f"cannot write {path}: {error}", "name another place") from error
    # The target of a descriptor of /dev/fd may have no path any more.
    return real if there and stat.S_ISREG(status.st_mode) else None


def make_folder(path: Path) -> None:
    """Make the folder of a file that --out names, as every command does, before it works for it.

    A folder that was not there may be a mistyped one, so standard error names it.
    """
    try:
        is_new = not path.parent.exists()
        path.parent.mkdir(parents=True, exist_ok=True)
        if is_new:
            print(f"made the folder {path.parent}", file=sys.stderr)
    except OSError as error:
        raise EverycoreError(
            f"cannot make {path.parent}: {error.strerror}", "name another place with --out"
        ) from error


def refuse_device(path: Path) -> None:
    """Refuse a device as the input of what reads a file whole: /dev/zero has no end."""
    with suppress(OSError):  # one that is not there is told when it is read
        mode = path.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise EverycoreError(f"cannot read {path}: it is a device", "name a file")


def refuse_existing(path: Path, remedy: str = "name another file") -> None:
    """Refuse a file that is there already; devices and pipes are written to."""
    if path.exists() and not is_stream(path):
        raise EverycoreError(f"{path} exists", remedy)


def refuse_input(option: str, path: Path, inputs: Iterable[Path]) -> None:
    """Refuse a file to write that is one of the files that the command reads."""
    for input_path in inputs:
        with suppress(OSError):  # one that is not there yet is no other
            if path.samefile(input_path) and not is_stream(path):
                raise EverycoreError(
                    f"{option} {path} would replace a file that is read", "name another file"
                )


@contextmanager
def atomic_output(path: Path, stdout: IO[str]) -> Iterator[Path]:
    """Yields a scratch file, whose contents are at `path` if the block ends without error.

    A regular file is replaced at once, so that nobody sees a half, and keeps its permissions. Its
    folder is made. `stdout`: standard output.
    """
    try:
        if path.is_dir():
            raise EverycoreError(f"{path} is a folder", "name a file")
        if is_stream(path):
            with _streamed(path, stdout) as scratch:
                yield scratch
        else:
            with _replaced(path) as scratch:
                yield scratch
    except BrokenPipeError:  # the reader has enough
        raise
    except OSError as error:
        raise cannot_write(path, error, "name another place") from error


@contextmanager
def _replaced(path: Path) -> Iterator[Path]:
    real = _regular(path)
    assert real is not None  # it is no stream
    make_folder(real)
    scratch = real.with_name(f".{real.name}.{secrets.token_hex(4)}.part")
    try:
        yield scratch
        with suppress(FileNotFoundError):
            scratch.chmod(stat.S_IMODE(real.stat().st_mode))
        scratch.replace(real)
    finally:
        scratch.unlink(missing_ok=True)


@contextmanager
def _streamed(path: Path, stdout: IO[str]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "output"
        yield scratch
        if not is_standard_output(path):
            with scratch.open("rb") as source, path.open("wb") as sink:
                shutil.copyfileobj(source, sink)
        elif buffer := getattr(stdout, "buffer", None):
            stdout.flush()
            buffer.write(scratch.read_bytes())
            buffer.flush()
        else:
            stdout.write(scratch.read_text(encoding="utf-8"))


def open_stream(path: Path, stdout: IO[str]) -> IO[str] | None:
    """Open the stream that lines are written to; None if `path` is a regular file or no file yet.

    Close it only if it is not `stdout`.
    """
    if not is_stream(path):
        return None
    if is_standard_output(path):
        return stdout
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise cannot_write(path, error, "name another file with --out") from error
