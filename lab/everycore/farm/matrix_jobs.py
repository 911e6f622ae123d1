# SPDX-License-Identifier: MIT
"""The jobs of a run of the matrix, and what does them: this host, or the workers of a scheduler."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from everycore.environment.errors import EverycoreError
from everycore.farm.work import Job, Work, jobs_of
from everycore.farm.worker import machine_words, own_version, tree_digest
from everycore.matrix.cell_passes import CellRunner, ThisHost
from everycore.matrix.plan import Planned
from everycore.matrix.run_request import Request
from everycore.model.cells import Cell
from everycore.model.domain import Tree
from everycore.model.targets import load_target


def planned_jobs(request: Request, cells: Sequence[Planned], with_ct: bool = False) -> list[Job]:
    """Return the jobs of the plan, each with the file of its subject if that is not in the tree."""
    tree = request.tree
    digest = tree_digest(tree)
    files = {
        one.name: str((one.home / f"{one.name}.toml").resolve())
        for one in request.subjects
        if not one.home.is_relative_to(tree.root)
    }
    machines = _machines(request, cells)
    emulated = {name for name in {one.cell.target for one in cells} if _is_emulated(tree, name)}

    def first_job(cell: Cell) -> Job:
        return Job(
            Work.COMPILE,
            cell,
            own_version(),
            digest,
            machine=machines.get((cell.toolchain, cell.flags, cell.target), ""),
            subject_file=files.get(cell.subject, ""),
            time_limit=request.run_options.time_limit,
        )

    return [
        job
        for one in cells
        for job in jobs_of(one, first_job(one.cell), one.cell.target in emulated, with_ct)
    ]


def _machines(
    request: Request, cells: Sequence[Planned]
) -> dict[tuple[str, tuple[str, ...], str], str]:
    """Return what a worker's machine has to be, by toolchain, flags and target."""
    machines: dict[tuple[str, tuple[str, ...], str], str] = {}
    for one in cells:
        cell = one.cell
        compiler = request.toolchains[cell.toolchain].compiler(cell.target)
        key = (cell.toolchain, cell.flags, cell.target)
        if compiler and not one.why_not and key not in machines:
            machines[key] = machine_words(request.context, compiler, cell)
    return machines


def _is_emulated(tree: Tree, name: str) -> bool:
    """Whether cells of this target run under QEMU."""
    return load_target(tree, name).transport == "qemu"


@contextmanager
def cell_runner(
    request: Request, scheduler: str, here: ThisHost, cells: Sequence[Planned]
) -> Iterator[CellRunner]:
    """Yield what runs the cells: this host alone, or the workers of a scheduler beside it."""
    if not scheduler:
        yield here
        return
    from everycore.farm.matrix_run import FarmRun
    from everycore.farm.scheduler import connected

    if here.pipeline.estimator is not None:
        raise EverycoreError("--estimate and --scheduler do not go together", "estimate later")
    jobs = {job.cell: job for job in planned_jobs(request, cells)}
    if not jobs:
        yield here
        return
    with connected(request.context, scheduler, next(iter(jobs.values()))) as farm:
        yield FarmRun(farm, here.pipeline, here.run, jobs)
