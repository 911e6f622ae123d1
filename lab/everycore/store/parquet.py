# SPDX-License-Identifier: MIT
"""Packs: folders of Parquet files, a file for each table, made of result files."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from everycore.environment import extras
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, cannot_write, unreadable
from everycore.model.measurement import FORMAT, READABLE, TABLES, Row, RunRow, columns
from everycore.store.unpacked import rows_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SUFFIX = ".pack"
LABEL = "pack.json"
MOST_MEMORY = "700MB"


def is_pack(path: Path) -> bool:
    return (path / LABEL).is_file()


def check(path: Path) -> None:
    """Raise an error if a pack is incomplete, or of another format."""
    try:
        label = json.loads((path / LABEL).read_text(encoding="utf-8"))
        number = label["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EverycoreError(f"{path} is no pack of results", "everycore pack makes one") from error
    if number not in READABLE:
        raise EverycoreError(
            f"{path} has format {number}, this everycore reads format {FORMAT}",
            "use the everycore that wrote it, or pack its result files again",
        )
    for name in TABLES:
        if not (path / f"{name}.parquet").is_file():
            raise EverycoreError(f"{path} lacks {name}.parquet", "pack its result files again")


def connect() -> "DuckDBPyConnection":
    """A database in memory, which asks no network for extensions."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise extras.missing_packages("packs and queries", "report") from error
    settings: dict[str, str | bool | int | float | list[str]] = {}
    settings |= {"autoinstall_known_extensions": "false", "memory_limit": MOST_MEMORY}
    return duckdb.connect(config=settings)


def write_pack(files: Sequence[Path], target: Path) -> dict[str, int]:
    """Pack result files into a folder that is not there yet; return how many rows tables have.

    The folder has its name when it is complete.
    """
    if target.exists():
        raise EverycoreError(f"{target} exists", "results are never overwritten: name another")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        counts = _write_lines(files, scratch)
        with connect() as database:
            for name, kind in TABLES.items():
                _convert(database, scratch, name, kind)
        label = {"format": FORMAT, "files": [path.name for path in files], "rows": counts}
        (scratch / LABEL).write_text(json.dumps(label) + "\n", encoding="utf-8")
        scratch.chmod(0o755)
        scratch.rename(target)
    except OSError as error:
        raise cannot_write(target, error, "make room") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return counts


def _write_lines(files: Sequence[Path], folder: Path) -> dict[str, int]:
    """Write the rows of all files as lines of JSON, which DuckDB reads in one go."""
    counts, labels = dict.fromkeys(TABLES, 0), set[str]()
    with ExitStack() as stack:
        opened: dict[type[Row], tuple[str, IO[str]]] = {
            kind: (name, stack.enter_context((folder / f"{name}.json").open("w", encoding="utf-8")))
            for name, kind in TABLES.items()
        }
        for path in files:
            label = path.name
            if label in labels:  # of another folder
                label = f"{path.parent.name}/{path.name}"
            labels.add(label)
            for row in rows_of(path):
                named = replace(row, file=label) if isinstance(row, RunRow) else row
                name, file = opened[type(row)]
                file.write(encode_line(named) + "\n")
                counts[name] += 1
    return counts


# The later of two cells of one thing in a file counts. In a file of several runs each may be
# of another machine: journals may be joined.
_CHOSEN = {
    "cells": """
        SELECT rows.* REPLACE (
            cell = max(cell) OVER (PARTITION BY file, machine, installation, what) AS is_last)
        FROM rows JOIN (SELECT DISTINCT run, file, machine, installation FROM '{runs}') USING (run)
        """,
    "code": "SELECT DISTINCT ON (code) * FROM rows",
}


def _convert(database: "DuckDBPyConnection", folder: Path, name: str, kind: type[Row]) -> None:
    import duckdb

    lines = folder / f"{name}.json"
    types = {column.name: column.sql for column in columns(kind)}
    try:
        rows = database.read_json(str(lines), columns=types, format="newline_delimited")
        runs = str(folder / "runs.parquet").replace("'", "''")
        sql = _CHOSEN.get(name, "SELECT * FROM rows").format(runs=runs)
        chosen = rows.query("rows", sql)
        assert chosen is not None
        chosen.write_parquet(str(folder / f"{name}.parquet"), compression="zstd")
    except duckdb.Error as error:
        raise OSError(str(error).splitlines()[0]) from error
    lines.unlink()


def cached_pack(path: Path, folder: Path) -> Path:
    """The pack of one result file, made where it is not in `folder`."""
    digest = hashlib.sha256(f"{FORMAT}".encode())
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError as error:
        raise unreadable(path, error) from error
    found = folder / f"{digest.hexdigest()[:32]}{SUFFIX}"
    if is_pack(found):
        with suppress(OSError):
            (found / LABEL).touch()  # it is in use, and not to be tidied up
    else:
        try:
            write_pack([path], found)
        except EverycoreError:
            if not is_pack(found):  # another process was as quick
                raise
    return found
