# SPDX-License-Identifier: MIT
"""The cost of a message at an edge of a page, and how much of it is allowed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from everycore.model.protocol import Placement

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
