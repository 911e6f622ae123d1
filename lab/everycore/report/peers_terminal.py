# SPDX-License-Identifier: MIT
"""How our kernels stand beside other libraries, on the terminal."""

from rich.console import Group
from rich.text import Text

from everycore.report.figures import UNCERTAIN
from everycore.report.peer_comparison import OLDER, PeerTable, figure, foot
from everycore.report.table_style import plain_table, titled

LEGEND = f"{OLDER} older than the version that goals count against (peers.toml); {UNCERTAIN}"


MOST_COLUMNS = 12
SLOWER = 1.02  # times the best peer


def rich_table(table: PeerTable, caption: str) -> Group:
    if len(table.sizes) > MOST_COLUMNS:
        return _size_by_size(table, caption)
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
        grid.add_row(Text(f"  {name}", style="dim"), *(foot(name, v) for v in values))
    source = f"limit: {table.limit.source}" if table.limit else ""
    return titled(table.title(), grid, source, caption)


def _size_by_size(table: PeerTable, caption: str) -> Group:
    """A line for each size: ours, and the best peer."""
    heads = ("bytes", "everycore", "best peer", "everycore / best peer")
    grid = plain_table("", figures=heads)
    grid.add_column("", no_wrap=True)
    slower = compared = undecided = 0
    for i, size in enumerate(table.sizes):
        mine, other, ratio = table.best(i, True), table.best(i, False), table.ratio(i)
        compared += ratio is not None
        is_slower = table.is_slower(i, SLOWER)
        slower += is_slower
        undecided += not is_slower and (ratio or 0) > SLOWER
        grid.add_row(
            Text(str(size)),
            Text(figure(mine, i) if mine else "-"),
            Text(figure(other, i) if other else "-"),
            Text(
                "-" if ratio is None else f"{ratio:.2f}",
                style="red" if is_slower else "yellow" if (ratio or 0) > SLOWER else "",
            ),
            Text(other.name if other else "", style="dim"),
        )
    verdict = f"a peer is over 2 % faster at {slower} of {compared} sizes"
    if undecided:
        verdict += f"; at {undecided} more its median is, but not all rounds: give more --rounds"
    return titled(table.title(), grid, verdict, caption)
