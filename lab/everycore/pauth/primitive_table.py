# SPDX-License-Identifier: MIT
"""Our codes of pointers beside QEMU's, as tables and as lines for programs. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.console import Group

from everycore.report.tables import plain_table, titled

THREE_DIGITS = 99.95
LEGEND = (
    "core cycles of one block or operation, the lowest of the rounds' medians; x: times as fast as"
    " QEMU's own function; apart: calls that do not wait for each other; many: all in one call,"
    " beside QEMU's calls apart; key: its schedule"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """Cycles of one operation; `ratio`: of QEMU's own function to them."""

    operation: str
    mode: str
    cycles: float | None
    ratio: float | None
    rounds: tuple[float, ...] = ()  # the median of each; `cycles` is the lowest

    def text(self) -> str:
        if self.cycles is None:
            return "-"
        return _short(self.cycles) + (f" {_short(self.ratio)}x" if self.ratio else "")


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= THREE_DIGITS else f"{value:.1f}"


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class PrimitiveTable:
    title: str
    first: str  # the heading of the names
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[dict[str, object]]:
        for row in self.rows:
            for cell in row.cells:
                if cell.cycles is not None:
                    yield {"type": "pauth-primitive", "who": row.name, **asdict(cell)}


def cell(operation: str, mode: str, rounds: Sequence[float], own: Sequence[float]) -> Cell:
    """What disturbs a core only adds: the lowest of the rounds counts. `own`: QEMU's rounds."""
    cycles = min(rounds, default=None)
    ratio = min(own) / cycles if own and cycles else None
    return Cell(operation, mode, cycles, ratio, tuple(rounds))


def rich_table(table: PrimitiveTable, caption: str) -> Group:
    headings = [one.operation for one in table.rows[0].cells]
    grid = plain_table(gap=2)
    grid.add_column(table.first, no_wrap=True)
    for heading in headings:
        grid.add_column(heading, justify="right", no_wrap=True)
    for row in table.rows:
        grid.add_row(row.name, *(one.text() for one in row.cells))
    return titled(table.title, grid, "", caption)


def complete(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Without rows that say nothing."""
    return tuple(row for row in rows if any(one.cycles is not None for one in row.cells))
