# SPDX-License-Identifier: MIT
"""The cost of messages at the edges of pages, beside the best place."""

from collections.abc import Sequence

from rich.console import Group

from everycore.measure.placement_costs import CYCLES, RATIO, Cost
from everycore.report.table_style import plain_table, titled


def table(worst: Sequence[Cost], caption: str) -> Group:
    found = plain_table("Mode", "Kernel", figures=("Worst", "Bytes", "Cycles", "Best"))
    found.add_column("Where")
    for cost in worst:
        found.add_row(
            cost.point.mode,
            cost.point.kernel,
            f"{cost.ratio:.2f}",
            str(cost.point.bytes),
            f"{cost.cycles:.0f}",
            f"{cost.best:.0f}",
            cost.where,
            style="bold red" if cost.share > 1 else "",
        )
    title = "The placement of each mode and kernel that costs most beside the best of its alignment"
    return titled(title, found, caption)


def sentence(cost: Cost) -> str:
    point = cost.point
    return (
        f"{point.kernel} {point.mode}: {point.bytes} bytes {cost.where}: {cost.cycles:.0f} cycles,"
        f" {cost.best:.0f} at the best place"
    )


def summary(worst: Sequence[Cost]) -> str:
    within = sum(cost.share <= 1 for cost in worst)
    return (
        f"{within} of {len(worst)} pairs of a mode and a kernel stay within {RATIO:.2f} times"
        f" + {CYCLES:.0f} cycles of the best place"
    )
