# SPDX-License-Identifier: MIT
"""Files of the cache: complete, or not there, whoever else writes them at the same time."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everycore.environment.errors import cannot_write

LOCK_DIGITS = 2  # hexadecimal: so many files are locks


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yields a scratch file beside `path`, which replaces `path` if the block ends without error.

    The folder of `path` is made.
    """
    with scratch_file(path.parent, path.suffix) as scratch:
        yield scratch
        scratch.replace(path)


def publish(scratch: Path, path: Path) -> None:
    """Give `scratch` the name `path`, unless that is there: who uses it now keeps what it has."""
    try:
        os.link(scratch, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        scratch.replace(path)


@contextmanager
def cache_folder(folder: Path) -> Iterator[None]:
    """Make a folder of the cache; a file that the block cannot write is one error."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise cannot_write(
            f"the cache {folder}", error, "set XDG_CACHE_HOME to another place"
        ) from error


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """No other thread or process is in such a block of the same file `path`, which need not exist.

    Locks are files of a folder `locks` in the folder of `path`; different paths may share one, so
    these blocks must not be nested.
    """
    number = hashlib.sha256(path.name.encode()).hexdigest()[:LOCK_DIGITS]
    lock = path.parent / "locks" / number
    with cache_folder(lock.parent):
        file = lock.open("w")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def scratch_file(folder: Path, suffix: str) -> Iterator[Path]:
    """Yields a new file with a unique name in a folder, and removes it in the end.

    The folder is made.
    """
    with cache_folder(folder):
        handle, name = tempfile.mkstemp(dir=folder, suffix=suffix)
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)
