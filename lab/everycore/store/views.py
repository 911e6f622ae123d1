# SPDX-License-Identifier: MIT
"""The tables of many packs as views of one database, in which SQL reads and writes nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from everycore.environment.errors import EverycoreError
from everycore.model.measurement import TABLES, Column, columns
from everycore.store import parquet

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

STEP = 0.03  # a change of a figure by so much is a step, if the intervals do not overlap
# So many processes each figure needs: those of equal programs lie apart in 3 % of all cases.
STEP_PROCESSES = 4

# Views that are formed of the tables: their columns, and their text.
DERIVED: dict[str, tuple[list[Column], str]] = {
    "latest": (
        [
            Column("...", "", "columns of cells"),
            Column("machine", "VARCHAR", "title of the machine"),
            Column("date", "VARCHAR", "when its run began"),
            Column("revision", "VARCHAR", "commit of its run"),
        ],
        """
        SELECT cells.*, machine, date, revision FROM cells JOIN own_runs USING (run)
        QUALIFY row_number() OVER (
            PARTITION BY machine, installation, what ORDER BY date DESC, cell DESC) = 1
        """,
    ),
    "history": (
        [
            Column("...", "", "what, subject, function, toolchain, compiler, flags, target,"),
            Column("...", "", "key_bits, bytes, conditions, unit, value, low, high of cells"),
            Column("machine", "VARCHAR", "title of the machine"),
            Column("date", "VARCHAR", "when its run began"),
            Column("revision", "VARCHAR", "commit of its run"),
            Column("before", "DOUBLE", "value of the same at the run before; null: the first"),
            Column("ratio", "DOUBLE", "value / before"),
            Column(
                "is_step",
                "BOOLEAN",
                f"changed by {STEP:.0%}, and the intervals lie apart"
                f" (of {STEP_PROCESSES} processes or more)",
            ),
        ],
        f"""
        SELECT what, kind, subject, function, toolchain, compiler, flags, target, key_bits, bytes,
            conditions, unit, value, low, high, machine, installation, date, revision,
            lag(value) OVER earlier AS before,
            value / lag(value) OVER earlier AS ratio,
            coalesce(least(n_processes, lag(n_processes) OVER earlier) >= {STEP_PROCESSES}
                AND abs(value / lag(value) OVER earlier - 1) > {STEP}
                AND (low > lag(high) OVER earlier OR high < lag(low) OVER earlier), false)
                AS is_step
        FROM cells JOIN own_runs USING (run)
        WHERE is_last AND value IS NOT NULL
        WINDOW earlier AS (PARTITION BY what, unit, machine, installation ORDER BY date)
        """,
    ),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query."""

    names: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def documented() -> dict[str, list[Column]]:
    """All tables and views, with their columns."""
    found = {name: columns(kind) for name, kind in TABLES.items()}
    return found | {name: own for name, (own, _) in DERIVED.items()}


class Database:
    """The views of some packs."""

    def __init__(self, packs: Sequence[Path]) -> None:
        for pack in packs:
            parquet.check(pack)
        self._connection = parquet.connect()
        self._make_views(list(packs))

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def _make_views(self, packs: Sequence[Path]) -> None:
        connection = self._connection
        chosen = _chosen_runs(connection, packs)
        for name in TABLES:
            files = ", ".join(_quoted(str(pack / f"{name}.parquet")) for pack in packs)
            text = f"SELECT * FROM read_parquet([{files}], filename = true)"
            if chosen and name != "code":  # a run that is in several packs counts once
                text = f"FROM ({text}) SEMI JOIN chosen_runs USING (run, folder)".replace(
                    "SELECT *", "SELECT *, parse_dirpath(filename) AS folder"
                )
                text = f"SELECT * EXCLUDE (filename, folder) {text}"
            else:
                text = text.replace("SELECT *", "SELECT * EXCLUDE (filename)")
            if name == "code" and len(packs) > 1:
                text = f"SELECT DISTINCT ON (code) * FROM ({text})"
            connection.execute(f"CREATE VIEW {name} AS {text}")
        connection.execute(
            "CREATE VIEW own_runs AS SELECT run, machine, installation, date, revision FROM runs"
        )
        for name, (_, text) in DERIVED.items():
            connection.execute(f"CREATE VIEW {name} AS {text}")
        folders = ", ".join(_quoted(str(pack)) for pack in packs)
        connection.execute(f"SET allowed_directories = [{folders}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def ask(self, sql: str) -> Answer:
        """The answer to one SELECT; EverycoreError: what is wrong with it, in one line."""
        import duckdb

        try:
            statements = self._connection.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise EverycoreError("the query is no single SELECT", _HINT)
            found = self._connection.execute(statements[0])
            names = tuple(str(column[0]) for column in found.description or ())
            return Answer(names, found.fetchall())
        except duckdb.Error as error:
            raise EverycoreError(_in_a_line(str(error)), _HINT) from error


_HINT = "everycore query --columns lists tables and columns"


def _in_a_line(said: str) -> str:
    """The message of the database without its drawing of the place."""
    lines = [line.strip() for line in said.splitlines()]
    end = next((i for i, line in enumerate(lines) if not line or line.startswith("LINE ")), None)
    return f"the query fails: {' '.join(lines[:end])}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _chosen_runs(connection: "DuckDBPyConnection", packs: Sequence[Path]) -> bool:
    """Whether a run is in several packs; then the table chosen_runs has the pack that counts.

    It is the one with the most cells: a file may have been packed while its run was under way.
    """
    files = [[_quoted(str(pack / f"{name}.parquet")) for pack in packs] for name in _COUNTED]
    runs, cells = (", ".join(own) for own in files)
    connection.execute(
        f"""
        CREATE TEMP TABLE chosen_runs AS
        SELECT run, folder, count(*) OVER (PARTITION BY run) AS copies FROM (
            SELECT DISTINCT run, parse_dirpath(filename) AS folder
            FROM read_parquet([{runs}], filename = true))
        """
    )
    several = connection.execute("SELECT max(copies) > 1 FROM chosen_runs").fetchone()
    if not (several and several[0]):
        return False
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE chosen_runs AS
        SELECT run, folder FROM chosen_runs LEFT JOIN (
            SELECT run, parse_dirpath(filename) AS folder, count(*) AS n
            FROM read_parquet([{cells}], filename = true) GROUP BY ALL) USING (run, folder)
        QUALIFY row_number() OVER (PARTITION BY run ORDER BY n DESC NULLS LAST, folder) = 1
        """
    )
    return True


_COUNTED = ("runs", "cells")
