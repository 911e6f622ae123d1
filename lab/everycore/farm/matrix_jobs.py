# SPDX-License-Identifier: MIT
"""The jobs of a run of the matrix, and what does them: this host, or the workers of a scheduler."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial

from everycore.environment.errors import EverycoreError
from everycore.farm.work import Job, Work, jobs_of
from everycore.farm.worker import machine_words, own_version, tree_digest
from everycore.matrix.cell_passes import CellRunner, ThisHost
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.run_request import Request


def planned_jobs(
    request: Request, cells: Sequence[ResolvedCell], with_ct: bool = False
) -> list[Job]:
    """Return the jobs of the plan, each with the file of its subject if that is not in the tree."""
    digest, machine = tree_digest(request.tree), cache(partial(machine_words, request.context))

    def first_job(resolved: ResolvedCell) -> Job:
        home = resolved.subject.home
        is_ours = home.is_relative_to(request.tree.root)
        return Job(
            Work.COMPILE,
            resolved.cell,
            own_version(),
            digest,
            machine=""
            if resolved.why_not
            else machine(resolved.compiler, resolved.cell.target, resolved.cell.flags),
            subject_file="" if is_ours else str((home / f"{resolved.subject.name}.toml").resolve()),
            time_limit=request.run_options.time_limit,
        )

    return [job for resolved in cells for job in jobs_of(resolved, first_job(resolved), with_ct)]


@contextmanager
def cell_runner(
    request: Request, scheduler: str, here: ThisHost, cells: Sequence[ResolvedCell]
) -> Iterator[CellRunner]:
    """Yield what runs the cells: this host alone, or the workers of a scheduler beside it."""
    if not scheduler:
        yield here
        return
    from everycore.farm.matrix_run import FarmRun
    from everycore.farm.scheduler import connected

    if here.pipeline.tools.estimator is not None:
        raise EverycoreError("--estimate and --scheduler do not go together", "estimate later")
    jobs = {job.cell: job for job in planned_jobs(request, cells)}
    if not jobs:
        yield here
        return
    with connected(request.context, scheduler, next(iter(jobs.values()))) as farm:
        yield FarmRun(farm, here.pipeline, here.run, jobs)
