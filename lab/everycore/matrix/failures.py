# SPDX-License-Identifier: MIT
"""Cells that failed in the same way, as one: what the terminal lists."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everycore.matrix.anomalies import ranges
from everycore.matrix.neighbours import family, has_sanitizer, version, without_sanitizer
from everycore.model.cells import Cell, Outcome, Result

ORDER = (Outcome.WRONG, Outcome.CRASHED, Outcome.TIME_LIMIT, Outcome.NOT_COMPILED)
MOST_FLAGS = 4  # sets that are named
_DETAILS = re.compile(
    r" \(byte \d+ of \d+: .*\)$|, input \d+ \(.*?\)"
)  # catalog/subjects/job.c, sweep.c


@dataclass(frozen=True, slots=True)
class FailedCells:
    """Cells of one function that failed in one way: of one family of compilers, or of several where
    the code is to blame."""

    results: tuple[Result, ...]  # those with a sanitizer last, else in the order of cells
    compilers: str  # "gcc 7-9, 12"

    @property
    def first(self) -> Result:
        return self.results[0]

    @property
    def n_sanitized(self) -> int:
        """How many of its cells have a sanitizer, whose checks change the code."""
        return sum(has_sanitizer(result.cell) for result in self.results)

    @property
    def count(self) -> str:
        """38 cells, 9 of them with a sanitizer"""
        count, checked = len(self.results), self.n_sanitized
        cells = f"{count} {'cell' if count == 1 else 'cells'}"
        if not checked:
            return cells
        return f"{cells}, {'all' if checked == count else checked} of them with a sanitizer"

    @property
    def title(self) -> str:
        """WRONG: gcc 7-9 with O2, O3 on mine sum, 6 cells: the output is wrong (byte 3 ...)"""
        cell = self.first.cell
        place = "" if cell.target == "host" else f" for {cell.target}"
        sets = list(
            dict.fromkeys(result.flag_set or " ".join(result.cell.flags) for result in self.results)
        )
        more = f" and {len(sets) - MOST_FLAGS} more" if len(sets) > MOST_FLAGS else ""
        with_flags = f"{self.compilers} with {', '.join(sets[:MOST_FLAGS])}{more}"
        return (
            f"{self.first.outcome.upper()}: {with_flags}"
            f" on {cell.subject} {cell.function}{place}, {self.count}: {self.first.reason}"
        )


def group_failures(results: Iterable[Result]) -> list[FailedCells]:
    """Wrong answers first; of one outcome those that concern most cells."""
    every = list(results)
    found: dict[tuple[object, ...], list[Result]] = {}
    for result in every:
        if result.outcome.is_failure:
            found.setdefault(_key(result), []).append(result)
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
    own = sorted(own, key=lambda result: (has_sanitizer(result.cell), version(result), result.cell))
    name = family(own[0])
    known = sorted({version(result)[:1] for result in every if family(result) == name} - {()})
    versions = ranges(known, {version(result)[:1] for result in own})
    return FailedCells(tuple(own), f"{name} {versions}".strip())


def merge(groups: Sequence[FailedCells]) -> FailedCells:
    """Groups of several families of compilers, as one."""
    results = [result for group in groups for result in group.results]
    results.sort(key=lambda result: has_sanitizer(result.cell))
    return FailedCells(tuple(results), ", ".join(group.compilers for group in groups))


def right_by_sanitizer(group: FailedCells, results: Mapping[Cell, Result]) -> list[Result]:
    """The cells that are right with a sanitizer, and in the group without it: its checks changed
    the code, so that they say nothing of the bug."""
    wrong = {result.cell for result in group.results}
    return [
        result
        for cell, result in results.items()
        if result.outcome in (Outcome.MEASURED, Outcome.COUNTED)
        and has_sanitizer(cell)
        and without_sanitizer(cell) in wrong
    ]
