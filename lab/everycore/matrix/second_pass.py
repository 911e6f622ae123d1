# SPDX-License-Identifier: MIT
"""The second pass over cells: whether each is constant-time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from typing import Protocol

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.workers import worker_pool
from everycore.matrix.compiled_cell import CellTools, CompiledCell
from everycore.matrix.leaks import Suspect, look
from everycore.matrix.portable_paths import without_paths
from everycore.model.cells import Cell, Outcome, Result, Verdict

LOOKED_AT = (Outcome.MEASURED, Outcome.COUNTED)  # what gives wrong answers needs no verdict


class CellLinker(Protocol):
    """The step of a pipeline that this pass needs, and what it shares."""

    @property
    def tools(self) -> CellTools: ...

    def linked(self, cell: Cell) -> CompiledCell: ...


def left(results: Sequence[Result]) -> list[Result]:
    """Those that may have verdicts, and have none that says yes or no."""
    return [r for r in results if r.outcome in LOOKED_AT and r.constant_time is None]


def looked_at(
    linker: CellLinker,
    results: Sequence[Result],
    cores: int,
    is_time: Callable[[], bool] = lambda: True,
    anew: bool = False,
) -> Iterator[Result]:
    """The results with their verdicts, as they are found; those that can have none as they are.

    Programs that are the same are looked at once, as `look` knows them by all of their code: the
    digest of a cell is of what its call reaches, without the key set-up. Once there is no time left
    no more are begun. `anew`: no verdict of an earlier look is taken.
    """
    own = [result for result in results if result.outcome in LOOKED_AT]
    yield from (result for result in results if result.outcome not in LOOKED_AT)

    def look_at(cell: Cell) -> tuple[Verdict, ...] | None:
        return _verdicts(linker, cell, anew) if is_time() else None

    with worker_pool(cores) as pool:
        waiting = {pool.submit(look_at, result.cell): result for result in own}
        for future in as_completed(waiting):
            if (verdicts := future.result()) is not None:
                yield waiting[future].replace(verdicts=verdicts)


def _verdicts(linker: CellLinker, cell: Cell, anew: bool) -> tuple[Verdict, ...]:
    context = linker.tools.context
    try:
        compiled = linker.linked(cell)
    except EverycoreError as error:  # its compiler is gone since, or its package
        return _public(context, Verdict(None, "trace", error.message))
    program, function = compiled.program, compiled.resolved.function
    lengths = (function.multiple_of, function.fewest)
    suspect = Suspect(program.binary, function.symbol, program.target, cell.key_bits, *lengths)
    return _public(context, *look(context, suspect, anew))


def _public(context: Context, *verdicts: Verdict) -> tuple[Verdict, ...]:
    """As results have them: a method that could not look may have named a file."""
    folders = [context.cache_dir()]
    return tuple(
        verdict.replace(detail=without_paths(verdict.detail, [], folders))
        if verdict.constant is None
        else verdict
        for verdict in verdicts
    )
