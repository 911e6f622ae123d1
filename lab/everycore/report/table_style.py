# SPDX-License-Identifier: MIT
"""Give all tables of the terminal one look."""

from collections.abc import Iterable

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

WIDE_COLUMNS = 110


def plain_table(*columns: str, figures: Iterable[str] = (), gap: int = 1) -> Table:
    """The look of all tables: no vertical lines, all that fits in 80 columns.

    `figures`: the heads of columns of numbers, which stand behind the others, at their right.
    """
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
    for column in columns:
        table.add_column(column)
    for column in figures:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def titled(title: str, table: RenderableType, *captions: str) -> Group:
    """A table between its title and the lines that say where its contents come from."""
    feet = [Text(caption, style="dim") for caption in captions if caption]
    return Group(Text(title, style="bold"), table, *feet, Text())
