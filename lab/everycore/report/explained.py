# SPDX-License-Identifier: MIT
"""The tables of `everycore profile` and `everycore doctor`."""

from collections.abc import Iterable, Sequence

from rich.console import Group

from everycore.report.tables import plain_table, titled

Line = tuple[float, str, str, str, str]  # share, primitive, implementation, library, callers


def profile_table(rows: Iterable[Line], title: str, caption: str) -> Group:
    """Each row a part of the time of user code."""
    table = plain_table("Share")
    for name in ("Computes", "By", "In", "Called through"):
        table.add_column(name, overflow="fold")
    for share, computes, implementation, library, called in rows:
        table.add_row(f"{share:.0f} %", computes, implementation, library, called)
    return titled(title, table, caption)


def plain_rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Group:
    """A table of texts."""
    table = plain_table()
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return titled(title, table)
