# SPDX-License-Identifier: MIT
"""Notices what a test reads of the library, as far as this process can tell."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from world import PACKAGE

from everycore.compile.catalog import REGISTRY, find_tree, resolver_sources

TREE = find_tree(PACKAGE)
LIBRARY = ("src/", "include/", "harness/", "vectors/")
# `small_tree` of conftest.py has these files of it.
SMALL = (
    "include/",
    "src/cpu/",
    *(path.as_posix() for path in (REGISTRY, *resolver_sources(TREE)) if path.parts[1] != "cpu"),
)
reads_no_kernel = pytest.mark.reads(*SMALL, all_but=LIBRARY)  # of a test with real processes, too
reads_all = pytest.mark.reads("")  # of a test that runs the lab in a process, or a program of ours
# Programs of the checkout, and whatever starts the lab: they read what they want.
PROGRAMS = ("tools/", "contrib/", "tests/")
_LAB = re.compile(r"\beverycore(\.|$)")


class Watch:
    """Collects the paths of the library that a test reads, or hands to a process.

    Links of `copies` lead to the folders of the library.
    """

    def __init__(self, root: Path) -> None:
        self.copies: list[Path] = []
        self._root = root
        self._allowed: tuple[str, ...] | None = None  # None: nothing is collected
        self._read: set[str] = set()
        sys.addaudithook(self._notice)

    @contextmanager
    def beyond(self, allowed: tuple[str, ...]) -> Iterator[set[str]]:
        """Yields what is read meanwhile below none of these paths."""
        self._allowed, self._read = allowed, set()
        try:
            yield self._read
        finally:
            self._allowed = None

    def _notice(self, event: str, args: tuple[object, ...]) -> None:
        if self._allowed is None:
            return
        if event == "open":
            self._add(_absolute(args[0]), LIBRARY)
        elif event in ("os.listdir", "os.scandir"):
            # A copy has the same few names, whatever the library has.
            if (path := _absolute(args[0])).startswith(f"{self._root}/"):
                self._add(f"{path}/", LIBRARY)
        elif event == "subprocess.Popen":
            words = args[1] if isinstance(args[1], list | tuple) else [args[1]]
            settings = args[3] if isinstance(args[3], Mapping) else os.environ
            self._start(list(map(_text, words)), _text(args[2]), "EVERYCORE_TREE" in settings)

    def _start(self, words: Sequence[str], folder: str, has_own_tree: bool) -> None:
        roots = list(map(str, (self._root, *self.copies)))
        if folder in roots or (any(map(_LAB.search, words)) and not has_own_tree):
            self._add(f"{self._root}/src/", LIBRARY)
        for root in roots:
            for path in re.findall(rf"{re.escape(root)}/[\w./-]*", "\n".join(words)):
                self._add(path, (*LIBRARY, *PROGRAMS))

    def _add(self, path: str, below: tuple[str, ...]) -> None:
        for root in (self._root, *self.copies):
            name = path.removeprefix(f"{root}/")
            if name != path and name.startswith(below) and not name.startswith(self._allowed or ()):
                self._read.add(name)


def _absolute(path: object) -> str:
    text = _text(path)
    return str(Path(text).absolute()) if text else ""


def _text(word: object) -> str:
    """Return a word or a path as it was given; empty: it is the number of an open file."""
    return os.fsdecode(word) if isinstance(word, str | bytes | os.PathLike) else ""
