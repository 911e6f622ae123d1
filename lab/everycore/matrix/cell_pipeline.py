# SPDX-License-Identifier: MIT
"""The way of a cell: resolved, compiled, checked, timed or counted."""

from dataclasses import dataclass

from everycore import subjects
from everycore.environment.errors import EverycoreError
from everycore.matrix import accepted_flags
from everycore.matrix.cell_code import with_code
from everycore.matrix.checked_cell import CheckedCell, check
from everycore.matrix.compiled_cell import (
    CellTools,
    CompiledCell,
    FailedCellError,
    compile_cell,
    compile_objects,
    contents_of,
    without_local_paths,
)
from everycore.matrix.resolved_cell import ResolvedCell, Resolver
from everycore.matrix.timed_cell import Timer
from everycore.matrix.traced_call import counted
from everycore.model.cells import Cell, Outcome, Result
from everycore.subjects import sweep
from everycore.subjects.describe import OWN


@dataclass(frozen=True, slots=True)
class CellPipeline:
    """The steps of a cell, with what cells of a run share. Each step returns a value: a failure is
    the cell's result. `measure` does all of one cell now."""

    tools: CellTools
    resolver: Resolver
    timer: Timer

    def resolve(self, cell: Cell, flag_set: str = "") -> ResolvedCell:
        """Look up the names of a cell; an error tells which is not known here."""
        return self.resolver.resolve(cell, flag_set)

    def measure(self, resolved: ResolvedCell, processes: int = 3) -> Result:
        """Compile, check and time a cell, nothing else running meanwhile."""
        checked = self.prepare(resolved)
        if isinstance(checked, Result):
            return checked
        result = checked.result
        for _ in range(processes):
            if result.outcome is Outcome.MEASURED:
                result = self.timed(checked, result)
        return result

    def prepare(self, resolved: ResolvedCell) -> CheckedCell | Result:
        """Compile, link and check, and count what is emulated; a Result: it came to no more."""
        empty = resolved.skipped("").replace(contents=contents_of(self.tools, resolved))
        try:
            if refusal := _refusal(self.tools, resolved):
                raise FailedCellError(Outcome.SKIPPED, refusal)
            compiled = compile_cell(self.tools, resolved)
            return _checked(self.tools, compiled, empty)
        except FailedCellError as error:
            version = sweep.VERSION if error.outcome is Outcome.WRONG else 0
            return self._failed(empty, resolved, error).replace(given=error.given, sweep=version)

    def timed(self, checked: CheckedCell, result: Result) -> Result:
        """Return `result` with the samples of one more process."""
        try:
            return self.timer.timed(checked.compiled).added_to(result)
        except FailedCellError as error:
            return self._failed(result, checked.compiled.resolved, error).replace(
                runs=(), shared=()
            )

    def coded(self, resolved: ResolvedCell) -> Result:
        """Compile, and read the code: nothing is checked, and linked only where it has to be."""
        if resolved.is_whole_program:
            made = self.prepare(resolved)
            return made if isinstance(made, Result) else made.result
        empty = Result(resolved.cell, Outcome.SKIPPED)
        try:
            objects = compile_objects(self.tools, resolved)
        except FailedCellError as error:
            return self._failed(empty, resolved, error)
        compiled = CompiledCell(resolved, objects, resolved.program(objects[0]))
        return with_code(self.tools, compiled, empty)

    def linked(self, cell: Cell) -> CompiledCell:
        """Compile a cell that is known to be right; an error says why it has no program now."""
        resolved = self.resolve(cell)
        try:
            return compile_cell(self.tools, resolved)
        except FailedCellError as error:
            reason = without_local_paths(self.tools, resolved.subject, error.reason)
            raise EverycoreError(reason) from None

    def _failed(self, result: Result, resolved: ResolvedCell, error: FailedCellError) -> Result:
        reason = without_local_paths(self.tools, resolved.subject, error.reason)
        return result.replace(outcome=error.outcome, reason=reason, time_limit=error.time_limit)


def _refusal(tools: CellTools, resolved: ResolvedCell) -> str:
    """Why nothing is compiled; empty: it is."""
    function, cell = resolved.function, resolved.cell
    if resolved.why_not:
        return resolved.why_not
    if not function.takes(cell.n_bytes):
        return f"takes multiples of {function.multiple_of} bytes, at least {function.fewest}"
    return accepted_flags.refusal(tools.context, resolved.compiler, cell.flags)


def _checked(tools: CellTools, compiled: CompiledCell, empty: Result) -> CheckedCell:
    """Check a program; the result says what is known of it beside its time."""
    function, subject = compiled.resolved.function, compiled.resolved.subject
    seconds = [subjects.compile_seconds(path) for path in compiled.objects]
    known = [amount for amount in seconds if amount is not None]
    result = empty.replace(
        computes=function.computes if function.computes != OWN else "",
        is_assembly=subject.is_assembly,
        compile_seconds=sum(known) if len(known) == len(seconds) else None,
        n_inputs=check(tools, compiled),
        sweep=sweep.VERSION,
    )
    result = with_code(tools, compiled, result)
    if compiled.resolved.target.transport in ("local", "ssh"):
        return CheckedCell(compiled, result.replace(outcome=Outcome.MEASURED))
    return CheckedCell(compiled, counted(tools, compiled).added_to(result))
