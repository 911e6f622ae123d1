# SPDX-License-Identifier: MIT
"""How our kernels stand beside other libraries, on the terminal."""

from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from everycore.report.figures import UNCERTAIN
from everycore.report.peer_comparison import BY_TIME, OLDER, PeerTable, figure, foot
from everycore.report.table_style import plain_table, titled

LEGEND = (
    f"{OLDER} older than the version that goals count against (peers.toml); {UNCERTAIN};"
    " a code path at which the core lowers its clock pays in time, and not in cycles"
)


MOST_COLUMNS = 12
SLOWER = 1.02  # times the best peer


def rich_table(table: PeerTable, caption: str) -> Group:
    if len(table.sizes) > MOST_COLUMNS:
        return _size_by_size(table, caption)
    blocks: list[RenderableType] = [_contestant_by_contestant(table)]
    if timed := table.of_time():
        blocks += [Text(f"{timed.unit}:"), _contestant_by_contestant(timed)]
    source = f"limit: {table.limit.source}" if table.limit else ""
    return titled(table.title(), Group(*blocks), source, caption)


def _contestant_by_contestant(table: PeerTable) -> Table:
    heads = [table.column(size).removesuffix(" B") for size in table.sizes]
    grid = plain_table("", figures=heads)
    best = [table.best(i, False) for i in range(len(table.sizes))]
    for row in table.rows:
        mark = OLDER if row.is_older else " "
        cells = [
            Text(figure(row, i), style="bold green" if row is best[i] else "")
            for i in range(len(table.sizes))
        ]
        style = "bold" if row.is_ours else "yellow" if row.is_older else ""
        grid.add_row(Text(f"{mark} {row.name}", style=style), *cells)
    for name, values in table.feet():
        if name != BY_TIME:  # in a block of its own
            grid.add_row(Text(f"  {name}", style="dim"), *(foot(name, v) for v in values))
    return grid


@dataclass(slots=True)
class _Verdict:
    """The sizes at which a peer is faster."""

    slower: int = 0
    compared: int = 0
    undecided: int = 0

    def ratio(self, table: PeerTable, column: int) -> Text:
        """Our figure over that of the best peer, counted."""
        ratio = table.ratio(column)
        is_slower = table.is_slower(column, SLOWER)
        may_be = not is_slower and (ratio or 0) > SLOWER
        self.compared += ratio is not None
        self.slower += is_slower
        self.undecided += may_be
        style = "red" if is_slower else "yellow" if may_be else ""
        return Text("-" if ratio is None else f"{ratio:.2f}", style=style)

    def text(self, by: str) -> str:
        found = f"{by}a peer is over 2 % faster at {self.slower} of {self.compared} sizes"
        if self.undecided:
            found += (
                f"; at {self.undecided} more its median is, but not all rounds: give more --rounds"
            )
        return found


def _size_by_size(table: PeerTable, caption: str) -> Group:
    """A line for each size: ours, and the best peer; by cycles, and by time."""
    timed = table.of_time()
    of_time = ("ns", "best peer", "ratio") if timed else ()
    grid = plain_table("", figures=("bytes", "everycore", "best peer", "ratio", *of_time))
    grid.add_column("", no_wrap=True)
    by_cycles, by_time = _Verdict(), _Verdict()
    for i, size in enumerate(table.sizes):
        cells: list[Text] = []
        for part, verdict in ((table, by_cycles), (timed, by_time)):
            if part:
                best = (part.best(i, True), part.best(i, False))
                cells += [Text(figure(row, i) if row else "-") for row in best]
                cells.append(verdict.ratio(part, i))
        other = table.best(i, False)
        grid.add_row(Text(str(size)), *cells, Text(other.name if other else "", style="dim"))
    verdicts = [by_cycles.text(""), *([by_time.text("by time, ")] if timed else [])]
    return titled(table.title(), grid, *verdicts, caption)
