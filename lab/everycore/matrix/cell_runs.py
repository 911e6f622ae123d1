# SPDX-License-Identifier: MIT
"""Many cells: compiled in parallel, timed one after the other, each in several processes.

Cells are taken in batches. A batch is compiled and checked on all cores; then, with no compiler
running, its cells are timed once each, and those of the batches before once more. So the processes
of a cell lie apart in time, with other cells between them, and what disturbed one is over at the
next. Every cell has as many processes: were it timed until some agree, the number would depend on
what was drawn, and a program that scatters would look better than a quiet one.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from everycore.environment.workers import worker_pool
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import Clock
from everycore.model.cells import Outcome, Result

PROCESSES = 5  # of every cell, whatever they say
FEWEST = 2  # of one that the end of the time overtakes
BATCH_PER_CORE = 16


class CellSteps(Protocol):
    """The steps of a pipeline that a run needs."""

    def prepare(self, resolved: ResolvedCell) -> CheckedCell | Result: ...

    def timed(self, ready: CheckedCell, result: Result) -> Result: ...


@dataclass(slots=True)
class _Waiting:
    """A cell that has been timed, but not often enough."""

    ready: CheckedCell
    result: Result


@dataclass(slots=True)
class Run:
    """`for result in Run(steps, clock).cells(planned)`: results as they are final."""

    steps: CellSteps
    clock: Clock
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)
    left_out: int = 0  # cells for which there was no time

    def cells(self, planned: Sequence[ResolvedCell]) -> Iterator[Result]:
        rest = [resolved for resolved in planned if not resolved.why_not]
        yield from (resolved.skipped(resolved.why_not) for resolved in planned if resolved.why_not)
        waiting: list[_Waiting] = []
        # The first batch of a run with an end is small, for nothing is known of its pace yet.
        most = self.cores * (BATCH_PER_CORE if self.clock.end == float("inf") else 2)
        late = 0  # cells of a batch that the end overtook
        making = timing = 0.0  # seconds for a cell, and for a process, of the last batch
        with worker_pool(self.cores) as pool:
            while size := self.clock.allows(
                min(len(rest), most), making + PROCESSES * timing, self._left(waiting) * timing
            ):
                began, most = self.clock.now(), BATCH_PER_CORE * self.cores
                batch, rest = rest[:size], rest[size:]
                # An interrupted run begins no more cells.
                made = list(pool.map(self._prepared, sorted(batch, key=_is_quick)))
                late += sum(prepared is None for prepared in made)
                yield from (prepared for prepared in made if isinstance(prepared, Result))
                waiting += [
                    _Waiting(prepared, prepared.result)
                    for prepared in made
                    if isinstance(prepared, CheckedCell)
                ]
                made_at, processes = self.clock.now(), len(waiting)
                waiting = yield from self._round(waiting)
                making = (made_at - began) / size
                timing = (self.clock.now() - made_at) / max(1, processes)
        while waiting:
            waiting = yield from self._round(waiting)
        self.left_out = len(rest) + late

    def timed(self, ready: Sequence[CheckedCell]) -> Iterator[Result]:
        """Time cells that were prepared elsewhere, in turns, as those of one batch."""
        waiting = [_Waiting(checked, checked.result) for checked in ready]
        while waiting:
            waiting = yield from self._round(waiting)

    def _prepared(self, resolved: ResolvedCell) -> CheckedCell | Result | None:
        """None: there is no time any more. A subject's first cell takes longer than one expects."""
        if self.clock.now() >= self.clock.end:
            return None
        made = self.steps.prepare(resolved)
        if isinstance(made, CheckedCell) and made.result.outcome is Outcome.COUNTED:
            return made.result
        return made

    def _round(self, cells: Sequence[_Waiting]) -> Generator[Result, None, list[_Waiting]]:
        """One process more of each; those that need another are returned."""
        again: list[_Waiting] = []
        for waiting in cells:
            waiting.result = self.steps.timed(waiting.ready, waiting.result)
            if waiting.result.outcome is Outcome.MEASURED and not self._is_enough(waiting.result):
                again.append(waiting)
            else:
                yield waiting.result
        return again

    def _left(self, waiting: Sequence[_Waiting]) -> int:
        """How many processes are still to be run."""
        return sum(PROCESSES - len(cell.result.runs) for cell in waiting)

    def _is_enough(self, result: Result) -> bool:
        is_late = self.clock.now() >= self.clock.end
        return len(result.runs) >= (FEWEST if is_late else PROCESSES)


def _is_quick(resolved: ResolvedCell) -> bool:
    """Whether a cell is quick: slow ones are begun first, so that no core waits for them in the
    end."""
    return not any(flag.startswith("-fsanitize") for flag in resolved.cell.flags)
