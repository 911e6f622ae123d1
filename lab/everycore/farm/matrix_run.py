# SPDX-License-Identifier: MIT
"""A run of the matrix whose jobs are done elsewhere, and whose timing is done here.

Timing never shares a host with a worker: cells are timed here, one after the other, and only if no
worker of the farm runs on this host.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from everycore.environment.atomic import atomic_write
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.farm import worker
from everycore.farm.scheduler import Farm, Undone
from everycore.farm.work import Answer, Job, Work, read_answer
from everycore.matrix.bisect import BisectOutcome, Switch
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.cell_runs import Run
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.miscompilations import wrong_answers
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, Verdict

CACHED = (Outcome.MEASURED, Outcome.COUNTED, Outcome.WRONG, Outcome.NOT_COMPILED)


@dataclass(frozen=True, slots=True)
class _Explained:
    """The members of an answer on an anomaly."""

    anomaly: Anomaly
    again: tuple[Result, ...]
    said: str


@dataclass(slots=True)
class FarmRun:
    """`for result in FarmRun(farm, pipeline, run, jobs).cells(plan)`: results as they are final."""

    farm: Farm
    pipeline: CellPipeline
    local: Run
    jobs: Mapping[Cell, Job]  # the first job of each cell
    left_out: int = 0  # cells for which there was no time

    def cells(self, planned: Sequence[ResolvedCell]) -> Iterator[Result]:
        yield from (resolved.skipped(resolved.why_not) for resolved in planned if resolved.why_not)
        by_key = {
            self.jobs[resolved.cell].key: resolved for resolved in planned if not resolved.why_not
        }
        jobs = [self.jobs[resolved.cell] for resolved in by_key.values()]
        self._refuse_shared_host(jobs)
        ready: list[CheckedCell] = []
        done: set[str] = set()
        for found in self._answers(jobs, self.local.clock.has_time):
            key = found.job.key if isinstance(found, Undone) else found.key
            if key in done or key not in by_key:  # a job may come back twice
                continue
            done.add(key)
            made = self._made(by_key[key], found)
            if isinstance(made, CheckedCell):
                ready.append(made)
            else:
                yield made
        self.left_out = len(by_key) - len(done)
        if ready:
            self._refuse_shared_host(jobs)  # a worker may have come since
        yield from self.local.timed(ready)

    def _refuse_shared_host(self, jobs: Sequence[Job]) -> None:
        shared = self.farm.shares_host()
        if shared and any(job.work is Work.COMPILE for job in jobs):
            raise EverycoreError(
                f"worker {shared[0]} runs on this host, where cells are to be timed",
                "end it, or measure emulated targets alone: --target qemu-aarch64",
            )

    def looked_at(
        self, results: Sequence[Result], has_time: Callable[[], bool]
    ) -> Iterator[Result]:
        """Yield results with their verdicts on constant time, as they are found."""
        own: dict[str, Result] = {}
        jobs: list[Job] = []
        for planned_result in results:
            if job := self._job(planned_result.cell, Work.CT):
                own[job.key] = planned_result
                jobs.append(job)
        for found in self._answers(jobs, has_time):
            if isinstance(found, Undone):
                result = own.pop(found.job.key, None)
                verdicts: tuple[Verdict, ...] = (Verdict(None, "trace", found.why),)
            else:
                result = own.pop(found.key, None)  # an answer may come back twice
                verdicts = found.result.verdicts if found.result else ()
            if result is not None:
                yield result.replace(verdicts=verdicts)

    def bisected(
        self, anomalies: Sequence[Anomaly], has_time: Callable[[], bool]
    ) -> Iterator[BisectOutcome]:
        """Yield what repairs anomalies; those that have to be timed, or that no worker can explain,
        are left to this host."""
        asked = [(anomaly, ()) for anomaly in anomalies if anomaly.kind is not Kind.SLOW]
        for found in self._bisected(asked, has_time):
            yield BisectOutcome(found.anomaly, found.again, bool(found.said), found.said)

    def made_right(
        self, cells: Sequence[tuple[Cell, tuple[Switch, ...]]], has_time: Callable[[], bool]
    ) -> Iterator[Anomaly]:
        """Yield what makes wrong answers of cells right, each with repairs that are tried first;
        those that no worker can explain are left to this host."""
        asked = [(wrong_answers(cell), repairs) for cell, repairs in cells]
        yield from (explained.anomaly for explained in self._bisected(asked, has_time))

    def _bisected(
        self, asked: Sequence[tuple[Anomaly, tuple[Switch, ...]]], has_time: Callable[[], bool]
    ) -> Iterator["_Explained"]:
        jobs: dict[str, Job] = {}
        for anomaly, repairs in asked:
            if first := self._job(anomaly.cell, Work.BISECT):
                job = replace(first, anomaly=anomaly, repairs=repairs)
                jobs[job.key] = job
        for found in self._answers(list(jobs.values()), has_time):
            if isinstance(found, Answer) and found.anomaly and jobs.pop(found.key, None):
                yield _Explained(found.anomaly, found.again, found.said)

    def _job(self, cell: Cell, work: Work) -> Job | None:
        first = self.jobs.get(cell)  # none: the cell is of an earlier run with other options
        return replace(first, work=work) if first else None

    def _answers(
        self, jobs: Sequence[Job], has_time: Callable[[], bool]
    ) -> Iterator[Answer | Undone]:
        """Those of earlier runs first."""
        left: list[Job] = []
        for job in jobs:
            known = self._known(job)
            if known is None:
                left.append(job)
            else:
                yield known
        for found in self.farm.answers(left, has_time):
            if isinstance(found, Answer) and _is_final(found):
                path = self._path(found.key)
                with suppress(OSError), atomic_write(path) as scratch:  # a full disk loses a copy
                    scratch.write_text(encode_line(found), encoding="utf-8")
            yield found

    def _path(self, key: str) -> Path:
        return self.pipeline.tools.context.cache_dir() / "answers" / f"{key}.json"

    def _known(self, job: Job) -> Answer | None:
        try:
            answer = read_answer(self._path(job.key).read_text(encoding="utf-8"))
        except (OSError, EverycoreError):
            return None
        return answer if answer.key == job.key else None

    def _made(self, planned: ResolvedCell, found: Answer | Undone) -> CheckedCell | Result:
        if isinstance(found, Undone):
            return planned.skipped(found.why)  # --resume tries it again
        if found.result is None or found.result.cell != planned.cell:
            return planned.skipped("a worker answered for another cell")
        return worker.ready(self.pipeline.tools.context, planned, found)


def _is_final(answer: Answer) -> bool:
    """Whether a later run may take the answer; a missing verdict is worth another try."""
    result = answer.result
    if result is None or result.outcome not in CACHED:
        return False
    return not result.verdicts or result.constant_time is not None
