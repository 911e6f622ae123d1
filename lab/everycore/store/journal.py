# SPDX-License-Identifier: MIT
"""The journal of a run: a file to which whole lines are added, by one process at a time.

All commands that measure write through it. A line is one call of the system and is there when the
call returns, so a process that is killed loses the line that it was writing, and no other. Half a
line that such a process left is cut off before the next one is added.
"""

import fcntl
import lzma
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from everycore.environment.errors import EverycoreError, cannot_write, unreadable
from everycore.environment.outputs import open_stream, refuse_device

PACKED = ".xz"  # a file that is kept for good may be packed, and can then only be read


def text_of(path: Path, errors: str = "strict", remedy: str = "fetch it anew") -> str:
    """Return the text of a file of lines, packed or not."""
    refuse_device(path)
    try:
        data = path.read_bytes()
        return (lzma.decompress(data) if path.suffix == PACKED else data).decode("utf-8", errors)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    except lzma.LZMAError as error:
        raise EverycoreError(f"cannot unpack {path}: {error}", remedy) from error


def new_path(folder: Path, stem: str, suffix: str, others: Sequence[str] = ()) -> Path:
    """Return a name in a folder that no run has had; the folder is made.

    `others`: suffixes behind it that say that a run has it, too.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EverycoreError(
            f"cannot make {folder}: {error.strerror}",
            "name a file with --out, or set XDG_STATE_HOME to another place",
        ) from error
    number = 1
    while True:
        name = f"{stem}-{number}{suffix}" if number > 1 else f"{stem}{suffix}"
        if not any((folder / f"{name}{other}").exists() for other in ("", *others)):
            return folder / name
        number += 1


class Journal:
    """An open journal. A stream (standard output, a device, a pipe) gets the lines as they come."""

    def __init__(
        self,
        path: Path,
        stdout: IO[str],
        *,
        is_new: bool,
        shown: Path | None = None,
        when_full: str = "name another file with --out",
    ) -> None:
        """Open a file, or make it, and lock it.

        `is_new`: one that is there belongs to another run. `shown`: the name in messages, by which
        a stream is known, too. `when_full`: the remedy if a line cannot be written.
        """
        self._path = path
        self._shown = shown or path
        self._when_full = when_full
        self._stdout = stdout
        self.stream = open_stream(self._shown, stdout)
        if self.stream:
            return
        try:
            self._file = path.open("xb" if is_new else "ab", buffering=0)
        except FileExistsError as error:
            raise self._in_use() from error
        except OSError as error:
            raise self._unwritable(error, "name another file with --out") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise self._in_use() from None

    def add(self, line: str) -> None:
        """Add a line. BrokenPipeError if the reader of a stream has enough."""
        data = (line + "\n").encode()
        try:
            if self.stream:
                self.stream.write(line + "\n")
                self.stream.flush()
                return
            written = self._file.write(data)
            if written != len(data):  # the disk had room for a part
                self._file.write(data[written:])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._unwritable(error, self._when_full) from error

    def cut_half_line(self) -> None:
        """Remove what stands behind the last end of a line."""
        half = self._path.read_bytes().rpartition(b"\n")[2]
        if half:
            os.truncate(self._path, self._path.stat().st_size - len(half))

    def close(self) -> None:
        if self.stream is None:
            self._file.close()
        elif self.stream is not self._stdout:
            with suppress(OSError):  # an error that ends the run says why
                self.stream.close()

    def _in_use(self) -> EverycoreError:
        return EverycoreError(
            f"another run writes {self._path}", "wait for it, or name another file with --out"
        )

    def _unwritable(self, error: OSError, remedy: str) -> EverycoreError:
        return cannot_write(self._shown, error, remedy)
