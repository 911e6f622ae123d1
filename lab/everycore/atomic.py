# SPDX-License-Identifier: MIT
"""Files of the cache: complete, or not there, whoever else writes them at the same time."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everycore.errors import EverycoreError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yields a scratch file beside `path`, which replaces `path` if the block ends without error.

    The folder of `path` is made.
    """
    with scratch_file(path.parent, path.suffix) as scratch:
        yield scratch
        scratch.replace(path)


@contextmanager
def scratch_file(folder: Path, suffix: str) -> Iterator[Path]:
    """Yields a new file with a unique name in a folder, and removes it in the end.

    The folder is made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, suffix=suffix)
    except OSError as error:
        raise EverycoreError(
            f"cannot write the cache {folder}: {error.strerror}",
            "set XDG_CACHE_HOME to another place",
        ) from error
    os.close(handle)
    scratch = Path(name)
    try:
        yield scratch
    finally:
        scratch.unlink(missing_ok=True)
