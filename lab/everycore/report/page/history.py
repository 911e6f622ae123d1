# SPDX-License-Identifier: MIT
"""Tables of figures over time: one cell, measured again and again on one machine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from everycore.model.stats import chance_apart
from everycore.report.figures import number
from everycore.report.page.benches import Entry, Table

HEAD = ("measured", "with", "date", "commit", "value", "interval", "change")
STEP_COLOUR = 5  # of the steps of heat: as a cell far from the best
NOTE = (
    "The interval is the lowest to the highest process of up to eight; the true median is in it in"
    " 94 % of all cases with five processes, in 88 % with four, in 75 % with three."
    " A step is a change of more than {share:.0%} between two runs of {processes} processes or more"
    " whose intervals do not overlap: on a machine that did not change, {alarm:.0%} of the pairs of"
    " runs of one program look so."
    " Two runs lie apart in time, and the machine may have changed between them:"
    " everycore compare --run decides."
)


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A figure of one run, beside that of the run before."""

    machine: str
    measured: str  # "x86_vaes256 ctr 1500 B"
    program: str  # "gcc 12.2.0 -O2"
    unit: str
    date: str
    revision: str
    value: float
    low: float
    high: float
    ratio: float | None  # to the run before; None: this is the first
    is_step: bool


def tables(points: Iterable[HistoryPoint], share: float, processes: int) -> list[Table]:
    """Return a table for each machine; points of one cell follow one another, oldest first.

    `share`, `processes`: the change that is a step, and how many processes its figures need.
    """
    alarm = 2 * chance_apart(processes, processes)
    note = NOTE.format(share=share, processes=processes, alarm=alarm)
    found = []
    for (machine, unit), own in groupby(points, key=lambda point: (point.machine, point.unit)):
        title = f"{machine}: {unit} over time"
        rows = tuple(_row(point) for point in own)
        found.append(Table(title, HEAD, rows, note=note))
    return found


def steps(points: Sequence[HistoryPoint]) -> int:
    return sum(point.is_step for point in points)


def _row(point: HistoryPoint) -> tuple[Entry, ...]:
    change, step = Entry("-"), None
    if point.ratio is not None:
        mark = ("▲ " if point.ratio > 1 else "▼ ") if point.is_step else ""
        step = (STEP_COLOUR if point.ratio > 1 else 0) if point.is_step else None
        remark = "a step" if point.is_step else ""
        change = Entry(f"{mark}{point.ratio - 1:+.1%}", point.ratio, step, remark)
    return (
        Entry(point.measured, point.measured),
        Entry(point.program, point.program),
        Entry(point.date[:16], point.date),
        Entry(point.revision, point.revision),
        Entry(number(point.value), point.value),
        Entry(f"{number(point.low)} to {number(point.high)}", point.low),
        change,
    )
