# SPDX-License-Identifier: MIT
"""The folder of fetched toolchains, which one run at a time changes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError


def folder_of(context: Context, name: str = "") -> Path:
    return context.cache_dir() / "toolchains" / name


@contextmanager
def exclusively(context: Context) -> Iterator[None]:
    """Wait until no other run adds or removes toolchains; a run that dies waits for nobody."""
    path = folder_of(context, "alone")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        raise EverycoreError(
            f"cannot write the cache {path.parent}: {error.strerror}",
            "set XDG_CACHE_HOME to another place",
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            context.err.print("another run adds or removes toolchains: waiting for its end")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
