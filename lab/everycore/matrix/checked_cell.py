# SPDX-License-Identifier: MIT
"""Check a cell: its program compares the answers of its function with trusted ones."""

import signal
from collections.abc import Iterable
from dataclasses import dataclass

from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError, LostError
from everycore.matrix.compiled_cell import CellTools, CompiledCell, FailedCellError
from everycore.model.cells import Outcome, Result
from everycore.subjects import sweep
from everycore.subjects.count import ODD_SIZES, SIZES

VECTOR = " check vector "  # in what the driver says of a wrong answer to one: job.c


@dataclass(frozen=True, slots=True)
class CheckedCell:
    """A cell whose answers are right."""

    compiled: CompiledCell
    result: Result  # all that is known without running it again


def check(tools: CellTools, compiled: CompiledCell) -> int:
    """Compare answers for all key sizes, the cell's first; return how many inputs of the sweep
    there was time for."""
    cell, function = compiled.resolved.cell, compiled.resolved.function
    sizes = [n for n in (*SIZES, *ODD_SIZES, cell.n_bytes) if function.takes(n)]
    every = sorted(function.key_bits, key=lambda bits: bits != cell.key_bits)
    try:
        for bits in every:
            run_program(tools, compiled, "check", [bits, *sizes])
    except FailedCellError as error:
        raise _with_input(tools, compiled, error) from None
    n_inputs = _swept(tools, compiled)
    for bits in every[1:]:
        words = sweep.words(function, bits, tools.limits.run, sweep.OF_OTHER_KEYS)
        run_program(tools, compiled, "sweep", words)
    if n_inputs < sweep.N_INPUTS:
        tools.warn_once(
            f"{cell.subject} {cell.function}: some cells had time for {n_inputs} of"
            f" {sweep.N_INPUTS} inputs"
        )
    return n_inputs


def _with_input(
    tools: CellTools, compiled: CompiledCell, error: FailedCellError
) -> FailedCellError:
    """Return the failure of an input whose bytes can be shown, if the sweep knows one. A wrong
    answer to a check vector says more, and the trusted build may be the wrong one."""
    if error.outcome is Outcome.WRONG and not error.is_of_vector:
        try:
            _swept(tools, compiled)
        except FailedCellError as of_sweep:
            return of_sweep if of_sweep.given else error
    return error


def _swept(tools: CellTools, compiled: CompiledCell) -> int:
    resolved = compiled.resolved
    words = sweep.words(resolved.function, resolved.cell.key_bits, tools.limits.run)
    return sweep.n_compared(run_program(tools, compiled, "sweep", words).stdout)


def run_program(
    tools: CellTools, compiled: CompiledCell, verb: str, numbers: Iterable[int | str]
) -> Completed:
    """Run one process of a cell; FailedCellError: it failed."""
    program, limit = compiled.program, tools.limits.run
    words = [verb, compiled.resolved.function.symbol, *map(str, numbers)]
    argv = [*program.target.emulator, str(program.binary), *words]
    try:
        if tools.board and program.target is tools.board.target:
            done = tools.board.run(program.binary, words)
        else:
            done = tools.context.runner.run(argv, seconds=limit)
    except LostError:  # not the cell's fault
        raise
    except TimeoutError:
        reason = f"{verb} was not done after {limit:.0f} s"
        raise FailedCellError(Outcome.TIME_LIMIT, reason, limit) from None
    except EverycoreError as error:  # no emulator
        raise FailedCellError(Outcome.SKIPPED, error.message) from None
    if done.code == 0:
        return done
    first_line = next(iter((done.stdout + done.stderr).strip().splitlines()), "")
    if done.code == 1:
        raise FailedCellError(
            Outcome.WRONG,
            first_line or "a wrong answer",
            given=sweep.given(done.stdout) or None,
            is_of_vector=VECTOR in first_line,
        )
    if done.code == sweep.ENDLESS:
        reason = f"{first_line}: it was not done after {limit:.0f} s"
        raise FailedCellError(Outcome.TIME_LIMIT, reason, limit)
    if done.code == 3:  # catalog/subjects/driver.c
        raise FailedCellError(Outcome.SKIPPED, first_line)
    raise FailedCellError(Outcome.CRASHED, how_it_ended(done.code, first_line))


def how_it_ended(code: int, output: str) -> str:
    """The words for an exit code that is none of the driver's."""
    try:
        how = signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        how = f"exit code {code}"
    if how == "SIGILL":
        how += ": an instruction that this CPU does not have"
    return f"{how}: {output}" if output else how
