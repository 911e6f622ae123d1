# SPDX-License-Identifier: MIT
"""A traced call of a cell: exact counts, by function and by instruction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everycore import subjects
from everycore.binary.code import Examined, OwnFunctions, examine
from everycore.binary.listing import hot_loop
from everycore.binary.objects import Object
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.matrix.compiled_cell import CellTools, CompiledCell, FailedCellError
from everycore.model.cells import Listing, Outcome, Result
from everycore.subjects import SubjectUnavailableError
from everycore.subjects.count import Call


@dataclass(frozen=True, slots=True)
class Executed:
    """One call, without the adapter and the driver."""

    instructions: int
    functions: Mapping[str, int]  # by symbol, most first
    places: Mapping[tuple[str, int], Mapping[int, int]] = field(repr=False)  # by symbol and size


@dataclass(frozen=True, slots=True)
class CountedCall:
    """Figures of an emulated cell."""

    executed: Executed
    estimates: Mapping[str, tuple[float, float]] | None  # by core; None: nobody asked

    def added_to(self, result: Result) -> Result:
        """Return a result with these figures."""
        code = result.code
        if code:  # no guess is needed
            code = code.replace(hot=next(iter(self.executed.functions), code.hot))
        return result.replace(
            outcome=Outcome.COUNTED,
            executed=self.executed.instructions,
            estimates=self.estimates,
            code=code,
        )


def counted(tools: CellTools, compiled: CompiledCell) -> CountedCall:
    """Count one call of an emulated cell; FailedCellError: it cannot be traced."""
    try:
        call = _traced(tools.context, compiled)
        executed = count(call)
        if not tools.estimator:
            return CountedCall(executed, None)
        of = tools.estimator.of(compiled.program, compiled.resolved.function, call)
        return CountedCall(executed, of)
    except SubjectUnavailableError as error:
        raise FailedCellError(Outcome.SKIPPED, error.message) from None
    except EverycoreError as error:
        raise FailedCellError(Outcome.CRASHED, error.message) from None


def executed(context: Context, compiled: CompiledCell) -> Executed:
    """One call of a cell under the tracer: exact counts, also of what runs here."""
    return count(_traced(context, compiled))


def _traced(context: Context, compiled: CompiledCell) -> Call:
    resolved = compiled.resolved
    (call,) = subjects.trace(
        context,
        compiled.program,
        resolved.function,
        resolved.cell.key_bits,
        [resolved.cell.n_bytes],
    )
    return call


def count(call: Call) -> Executed:
    """Count the instructions of a program that lies where it was linked for."""
    image = call.trace.program.image
    if not image.fixed:
        raise EverycoreError(f"{image.path} may be loaded anywhere", "link it with -no-pie")
    program = Object(image.path)
    functions: Counter[str] = Counter()
    places: dict[tuple[str, int], dict[int, int]] = {}
    for pc, times in Counter(call.pcs).items():
        if symbol := program.function_at(pc):
            functions[symbol.name] += times
            own = places.setdefault((symbol.name, symbol.size), {})
            own[pc - symbol.start] = times
    return Executed(len(call.pcs), dict(functions.most_common()), places)


def loop_of(
    paths: Sequence[Path],
    entries: Sequence[str],
    executed: Executed | None = None,
    own: OwnFunctions | None = None,
) -> Listing:
    """The hot loop in some objects, as executed; without a trace by a guess."""
    if executed is None:
        return hot_loop(examine(paths, entries, own=own))
    examined = examine(paths, entries, executed=executed.functions, own=own)
    return hot_loop(examined, _in_objects(examined, executed), executed.instructions)


def _in_objects(examined: Examined, executed: Executed) -> dict[int, int]:
    """How often each place of the hot function was executed.

    The linker moves functions, and does not change their sizes; but of RISC-V it shortens calls,
    and then nothing is known of a place.
    """
    function = examined.hot
    if function is None:
        return {}
    found: dict[int, int] = {}
    for part in function.parts:
        counts = executed.places.get((part.name, part.size), {})
        found |= {part.start + offset: times for offset, times in counts.items()}
    return found
