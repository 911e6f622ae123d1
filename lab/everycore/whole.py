# SPDX-License-Identifier: MIT
"""Files of the cache: complete, or not there, whoever else writes them at the same time."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everycore.errors import EverycoreError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside `path`, whose folder is made, that becomes `path` only when all went well."""
    with passing(path.parent, path.suffix) as scratch:
        yield scratch
        scratch.replace(path)


@contextmanager
def passing(folder: Path, suffix: str) -> Iterator[Path]:
    """A file of a name of its own in a folder, which is made; it is gone in the end."""
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
