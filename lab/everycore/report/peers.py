# SPDX-License-Identifier: MIT
"""How our kernels stand beside other libraries, on the terminal. Pure."""

from rich.console import Group
from rich.text import Text

from everycore.report.figures import NOISY_LEGEND
from everycore.report.standing import OLDER, PeerTable, figure, foot
from everycore.report.tables import plain_table, titled

LEGEND = (
    f"{OLDER} older than the version that goals count against (peers/peers.toml); {NOISY_LEGEND}"
)


def rich_table(table: PeerTable, caption: str) -> Group:
    grid = plain_table("")
    for size in table.sizes:
        grid.add_column(str(size), justify="right", no_wrap=True)
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
