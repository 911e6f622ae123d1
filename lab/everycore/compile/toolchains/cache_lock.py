# SPDX-License-Identifier: MIT
"""The folder of fetched toolchains, which one run at a time changes."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from everycore.environment.atomic import cache_folder
from everycore.environment.context import Context


def folder_of(context: Context, name: str = "") -> Path:
    return context.cache_dir() / "toolchains" / name


@contextmanager
def toolchain_lock(context: Context) -> Iterator[None]:
    """Wait until no other run adds or removes toolchains; a run that dies waits for nobody."""
    path = folder_of(context, "alone")
    with cache_folder(path.parent):
        file = path.open("w")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            context.err.print("another run adds or removes toolchains: waiting for its end")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
