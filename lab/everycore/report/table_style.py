# SPDX-License-Identifier: MIT
"""Give all tables of the terminal one look."""

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

WIDE_COLUMNS = 110


def plain_table(*columns: str, gap: int = 1) -> Table:
    """The look of all tables: no vertical lines, all that fits in 80 columns."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
    for column in columns:
        table.add_column(column)
    return table


def titled(title: str, table: Table, *captions: str) -> Group:
    """A table between its title and the lines that say where its contents come from."""
    feet = [Text(caption, style="dim") for caption in captions if caption]
    return Group(Text(title, style="bold"), table, *feet, Text())
