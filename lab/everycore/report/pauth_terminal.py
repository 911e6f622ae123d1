# SPDX-License-Identifier: MIT
"""The tables of `everycore pauth` for the terminal."""

from rich.console import Group, JustifyMethod
from rich.text import Text

from everycore.report.pauth_tables import WRONG, PauthTable
from everycore.report.table_style import plain_table, titled


def pauth_table(table: PauthTable, caption: str) -> Group:
    """Return the table with its notes; `caption` says where the figures are from."""
    grid = plain_table(gap=2)
    for column, name in enumerate(table.head):
        justify: JustifyMethod = "left" if column < table.names else "right"
        grid.add_column(name, justify=justify, no_wrap=True)
    for row in table.rows:
        grid.add_row(*(Text(cell, "bold red" if cell == WRONG else "") for cell in row))
    return titled(table.title, grid, *table.notes, caption)
