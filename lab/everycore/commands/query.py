# SPDX-License-Identifier: MIT
"""everycore query: any question to all results, in SQL."""

import csv as csvlib
import io
import json as jsonlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import Json, context_of
from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.store import result_search, views
from everycore.store.views import Answer


def query(
    command: typer.Context,
    sql: Annotated[
        str | None, typer.Argument(metavar="[SELECT...]", help="One SELECT, quoted.")
    ] = None,
    sources: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Result files, packs, or folders of them; repeatable."
            " Default: the stored ones, and your own.",
        ),
    ] = None,
    list_columns: Annotated[
        bool, typer.Option("--columns", help="List the tables and their columns.")
    ] = False,
    csv: Annotated[bool, typer.Option("--csv", help="CSV instead of a table.")] = False,
    json: Json = False,
) -> None:
    """Ask all results a question in SQL.

    Tables are runs, cells, processes, code, verdicts and anomalies; latest and history are views of
    them. docs/reference/query.md has their columns and ten questions. A query reads these tables
    alone, and writes nothing.
    """
    context = context_of(command)
    if list_columns:
        _list_columns(context)
        return
    if not sql:
        raise EverycoreError("a query needs a SELECT", "everycore query --columns lists tables")
    if csv and json:
        raise EverycoreError("--csv and --json are two formats", "give one of them")
    places = sources or _usual(context)
    packs = result_search.packs_of(context, places, strict=bool(sources))
    for note in packs.notes:
        context.warn(note)
    if not packs.packs:
        where = f" in {', '.join(map(str, places))}" if places else ""
        raise EverycoreError(f"no results to ask{where}", "name some with --from, or measure first")
    with views.Database(packs.packs) as database:
        answer = database.ask(sql)
    if json:
        for row in answer.rows:
            named = dict(zip(answer.names, row, strict=True))
            context.print_raw(jsonlib.dumps(named, default=str))
    elif csv:
        for row in (answer.names, *answer.rows):
            context.print_raw(_csv_line(row))
    else:
        _show(context, answer)


def _csv_line(row: Sequence[object]) -> str:
    text = io.StringIO()
    csvlib.writer(text, lineterminator="").writerow(row)
    return text.getvalue()


def _usual(context: Context) -> list[Path]:
    tree = catalog.tree_of(context)
    folders = [tree.root / "results", context.state_dir() / "results"]
    return [folder for folder in folders if folder.is_dir()]


def _list_columns(context: Context) -> None:
    for name, columns in views.documented().items():
        context.print_raw(name)
        for column in columns:
            context.print_raw(f"  {column.name:<16} {column.sql:<9} {column.meaning}".rstrip())


def _show(context: Context, answer: Answer) -> None:
    """Show the answer as a table; on a narrow terminal nothing is cut, lines are longer."""
    rows = [[_shown(value) for value in row] for row in answer.rows]
    widths = [
        max([len(name), *(len(row[at]) for row in rows)]) for at, name in enumerate(answer.names)
    ]
    is_number = [
        all(type(row[at]) in (int, float, type(None)) for row in answer.rows)
        for at in range(len(answer.names))
    ]
    for row in [list(answer.names), *rows]:
        parts = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, is_number, strict=True)
        ]
        context.print_raw("  ".join(parts).rstrip())
    count = len(rows)
    context.err.print(f"{count} {'row' if count == 1 else 'rows'}")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
