# SPDX-License-Identifier: MIT
"""Read the terminal's output for lines of `everycore pauth`."""

from collections.abc import Sequence

from rich.console import Console

from everycore.environment.decoding import Record
from everycore.report import pauth_tables
from everycore.report.pauth_terminal import pauth_table


def text_of(lines: Sequence[Record], width: int = 120) -> str:
    """All tables and what they are to be read with."""
    console = Console(width=width)
    with console.capture() as capture:
        for table in pauth_tables.tables(lines):
            console.print(pauth_table(table, "here"))
            console.print(table.legend)
    return capture.get()
