# SPDX-License-Identifier: MIT
"""A run of the matrix whose jobs are done elsewhere, and whose timing is done here.

Timing never shares a host with a worker: cells are timed here, one after the other, and only if no
worker of the farm runs on this host.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.atomic import atomic_write
from everycore.environment.errors import EverycoreError
from everycore.farm import worker
from everycore.farm.scheduler import Farm, Undone
from everycore.farm.work import Answer, Job, Work, read_answer
from everycore.matrix.cell_runs import Run
from everycore.matrix.make import Ready, Workbench
from everycore.matrix.plan import Planned
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.decoding import encode_line

CACHED = (Outcome.MEASURED, Outcome.COUNTED, Outcome.WRONG, Outcome.NOT_COMPILED)


@dataclass(slots=True)
class FarmRun:
    """`for result in FarmRun(farm, bench, run, jobs).cells(planned)`: results as they are final."""

    farm: Farm
    bench: Workbench
    local: Run
    jobs: Mapping[Cell, Job]  # the first job of each cell
    left_out: int = 0  # cells for which there was no time

    def cells(self, planned: Sequence[Planned]) -> Iterator[Result]:
        yield from (one.skipped(one.why_not) for one in planned if one.why_not)
        by_key = {self.jobs[one.cell].key: one for one in planned if not one.why_not}
        jobs = [self.jobs[one.cell] for one in by_key.values()]
        self._refuse_shared_host(jobs)
        ready: list[Ready] = []
        done: set[str] = set()
        for found in self._answers(jobs):
            key = found.job.key if isinstance(found, Undone) else found.key
            if key in done or key not in by_key:  # a job may come back twice
                continue
            done.add(key)
            made = self._made(by_key[key], found)
            if isinstance(made, Ready):
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

    def _answers(self, jobs: Sequence[Job]) -> Iterator[Answer | Undone]:
        """Those of earlier runs first."""
        left: list[Job] = []
        for job in jobs:
            known = self._known(job)
            if known is None:
                left.append(job)
            else:
                yield known
        clock = self.local.clock
        for found in self.farm.answers(left, lambda: clock.now() < clock.end):
            if isinstance(found, Answer) and found.result and found.result.outcome in CACHED:
                path = self._path(found.key)
                with suppress(OSError), atomic_write(path) as scratch:  # a full disk loses a copy
                    scratch.write_text(encode_line(found), encoding="utf-8")
            yield found

    def _path(self, key: str) -> Path:
        return self.bench.context.cache_dir() / "answers" / f"{key}.json"

    def _known(self, job: Job) -> Answer | None:
        try:
            answer = read_answer(self._path(job.key).read_text(encoding="utf-8"))
        except (OSError, EverycoreError):
            return None
        return answer if answer.key == job.key else None

    def _made(self, planned: Planned, found: Answer | Undone) -> Ready | Result:
        if isinstance(found, Undone):
            return planned.skipped(found.why)  # --resume tries it again
        if found.result is None or found.result.cell != planned.cell:
            return planned.skipped("a worker answered for another cell")
        return worker.ready(self.bench, self.jobs[planned.cell], found)
