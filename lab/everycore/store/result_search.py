# SPDX-License-Identifier: MIT
"""Finds result files and packs by their names, or in the folders where results are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.store import parquet, run_files


@dataclass
class Packs:
    """Packs of all that was found, and what could not be read."""

    packs: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def files_of(named: Sequence[Path]) -> list[Path]:
    """Return the result files that are named, or in a folder that is named; packs are left out."""
    found: dict[Path, None] = {}
    for path in named:
        if path.is_dir() and not parquet.is_pack(path):
            own = [file for pattern in run_files.PATTERNS for file in path.rglob(pattern)]
            found |= dict.fromkeys(sorted(own))
        elif path.is_dir():
            continue
        elif path.is_file():
            found[path] = None
        else:
            raise EverycoreError(
                f"cannot read {path}: there is no such file", run_files.RESULTS_HINT
            )
    return list(found)


def packs_of(context: Context, named: Sequence[Path], strict: bool) -> Packs:
    """Return packs of all that is named: packs as they are, files as packs of the cache.

    `strict`: a file that cannot be read is an error; else it is noted.
    """
    found = Packs()
    for path in named:
        if path.name.endswith(parquet.SUFFIX) and path.is_dir():
            parquet.check(path)
            found.packs.append(path.resolve())
        elif path.is_dir():
            found.packs += sorted(label.parent.resolve() for label in path.rglob(parquet.LABEL))
    cache = context.cache_dir() / "packs"
    for path in files_of(named):
        try:
            found.packs.append(parquet.cached_pack(path, cache))
        except EverycoreError as error:
            if strict and path in named:
                raise
            found.notes.append(f"left out: {error.message}")
    found.packs = list(dict.fromkeys(found.packs))
    return found
