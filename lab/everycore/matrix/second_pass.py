# SPDX-License-Identifier: MIT
"""The second pass over cells: whether each is constant-time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Protocol

from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.matrix.leaks import Suspect, look
from everycore.matrix.records import Cell, Outcome, Result, Verdict
from everycore.subjects import Function, Program

LOOKED_AT = (Outcome.MEASURED, Outcome.COUNTED)  # what gives wrong answers needs no verdict


class Bench(Protocol):
    """What this pass needs of a workbench."""

    @property
    def context(self) -> Context: ...

    def linked(self, cell: Cell) -> tuple[Program, Function]: ...


def left(results: Sequence[Result]) -> list[Result]:
    """Those that may have verdicts, and have none that says yes or no."""
    return [r for r in results if r.outcome in LOOKED_AT and r.constant_time is None]


def looked_at(
    bench: Bench,
    results: Sequence[Result],
    cores: int,
    is_time: Callable[[], bool] = lambda: True,
) -> Iterator[Result]:
    """The results with their verdicts, as they are found; those that can have none as they are.

    Of cells that are the same program by their digests one is looked at. Once there is no time
    left no more are begun.
    """
    groups: dict[tuple[object, ...], list[Result]] = {}
    for one in results:
        if one.outcome in LOOKED_AT:
            groups.setdefault(_program(one), []).append(one)
        else:
            yield one

    def look_at(cell: Cell) -> tuple[Verdict, ...] | None:
        return _verdicts(bench, cell) if is_time() else None

    with ThreadPoolExecutor(max_workers=cores) as pool:
        waiting = {pool.submit(look_at, same[0].cell): same for same in groups.values()}
        try:
            for future in as_completed(waiting):
                if (verdicts := future.result()) is not None:
                    yield from (replace(one, verdicts=verdicts) for one in waiting[future])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _program(result: Result) -> tuple[object, ...]:
    cell = result.cell
    if not result.digest:
        return (cell,)
    return (result.digest, cell.subject, cell.function, cell.target, cell.key_bits)


def _verdicts(bench: Bench, cell: Cell) -> tuple[Verdict, ...]:
    try:
        program, function = bench.linked(cell)
    except EverycoreError as error:  # its compiler is gone since, or its package
        return (Verdict(None, "trace", error.message),)
    suspect = Suspect(
        program.binary, function.symbol, program.target, cell.key_bits, function.multiple_of
    )
    return look(bench.context, suspect)
