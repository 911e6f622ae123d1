# SPDX-License-Identifier: MIT
"""The cost of messages at the edges of pages, beside the best place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group

from everycore.model.protocol import Placement
from everycore.report.tables import plain_table, titled

RATIO, CYCLES = 1.10, 20.0  # a placement may cost so much more than the best


@dataclass(frozen=True, slots=True)
class Cost:
    """A message at one edge, and at the best place of the same alignment modulo 64."""

    point: Placement
    place: str  # start, end
    cycles: float
    best: float

    @property
    def ratio(self) -> float:
        return self.cycles / self.best

    @property
    def share(self) -> float:
        """The share of the allowed cost that the placement takes; above 1: too much."""
        return self.cycles / (RATIO * self.best + CYCLES)

    @property
    def where(self) -> str:
        return f"at the {self.place} of a page{', in place' if self.point.in_place else ''}"


def costs(point: Placement) -> Iterator[Cost]:
    """Those that were measured; every sample of others was disturbed."""
    for place, cycles, inside in (
        ("start", point.start, point.inside_start),
        ("end", point.end, point.inside_end),
    ):
        if cycles > 0 and inside > 0:
            yield Cost(point, place, cycles, min(cycles, inside))


def worst_costs(points: Iterable[Placement]) -> list[Cost]:
    """The worst of each mode and kernel, in the order of the points."""
    worst: dict[tuple[str, str, str], Cost] = {}
    for point in points:
        name = (point.primitive, point.mode, point.kernel)
        for cost in costs(point):
            if name not in worst or cost.share > worst[name].share:
                worst[name] = cost
    return list(worst.values())


def table(worst: Sequence[Cost], caption: str) -> Group:
    found = plain_table("Mode", "Kernel")
    for name in ("Worst", "Bytes", "Cycles", "Best"):
        found.add_column(name, justify="right", no_wrap=True)
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
