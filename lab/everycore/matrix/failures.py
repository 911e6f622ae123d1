# SPDX-License-Identifier: MIT
"""Cells that failed in the same way, as one: what the terminal lists."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everycore.matrix.anomalies import ranges
from everycore.matrix.neighbours import family, version
from everycore.model.cells import Outcome, Result

ORDER = (Outcome.WRONG, Outcome.CRASHED, Outcome.TIME_LIMIT, Outcome.NOT_COMPILED)
MOST_FLAGS = 4  # sets that are named
_DETAILS = re.compile(r" \(byte \d+ of \d+: .*\)$")  # subjects/job.c


@dataclass(frozen=True, slots=True)
class FailedCells:
    """Cells of one function and one family of compilers that failed in one way."""

    results: tuple[Result, ...]  # in the order of cells
    versions: str  # "7-9, 12"

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def title(self) -> str:
        """WRONG: gcc 7-9 with O2, O3 on mine sum, 6 cells: the output is wrong (byte 3 ...)"""
        cell, count = self.first.cell, len(self.results)
        place = "" if cell.target == "host" else f" for {cell.target}"
        sets = list(dict.fromkeys(one.flag_set or " ".join(one.cell.flags) for one in self.results))
        more = f" and {len(sets) - MOST_FLAGS} more" if len(sets) > MOST_FLAGS else ""
        compiler = f"{family(self.first)} {self.versions}".strip()
        return (
            f"{self.first.outcome.upper()}: {compiler} with {', '.join(sets[:MOST_FLAGS])}{more}"
            f" on {cell.subject} {cell.function}{place}, {count} cells: {self.first.reason}"
        )


def group_failures(results: Iterable[Result]) -> list[FailedCells]:
    """Wrong answers first; of one outcome those that concern most cells."""
    every = list(results)
    found: dict[tuple[object, ...], list[Result]] = {}
    for one in every:
        if one.outcome.is_failure:
            found.setdefault(_key(one), []).append(one)
    groups = [_group(own, every) for own in found.values()]
    return sorted(groups, key=lambda g: (ORDER.index(g.first.outcome), -len(g.results)))


def kind_of_reason(reason: str) -> str:
    """A reason without what differs from cell to cell: bytes of answers, and numbers."""
    return re.sub(r"\d+", "#", _DETAILS.sub("", reason))


def _key(result: Result) -> tuple[object, ...]:
    cell = result.cell
    where = (cell.subject, cell.function, cell.target)
    return (result.outcome, family(result), *where, kind_of_reason(result.reason))


def _group(own: Sequence[Result], every: Sequence[Result]) -> FailedCells:
    own = sorted(own, key=lambda one: (version(one), one.cell))
    name = family(own[0])
    known = sorted({version(one)[:1] for one in every if family(one) == name} - {()})
    return FailedCells(tuple(own), ranges(known, {version(one)[:1] for one in own}))
