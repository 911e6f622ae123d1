# SPDX-License-Identifier: MIT
"""Read the code that a compiler made of a cell: counts, digest, hot loop."""

from pathlib import Path

from everycore import subjects
from everycore.binary.code import OwnFunctions, examine
from everycore.binary.digest import digest
from everycore.binary.frames import plain_name
from everycore.binary.objects import NoCodeError, Object
from everycore.environment.errors import EverycoreError, MissingPackagesError
from everycore.matrix.compiled_cell import WARNINGS_OFF, CellTools, CompiledCell, surroundings
from everycore.matrix.entries import entries, functions_of
from everycore.matrix.traced_call import executed, loop_of
from everycore.model.cells import Listing, Result
from everycore.trace.record import UntraceableError

NO_INLINING = "-O0"


def with_code(tools: CellTools, compiled: CompiledCell, result: Result) -> Result:
    """Return a result with the counts of its code, where something can read it; a cell is worth its
    time without."""
    cell = result.cell
    try:
        found = examine(*_readable(tools, compiled), own=_own_functions(tools, compiled))
    except MissingPackagesError as error:
        tools.warn_once(f"no counts of code, no frames: {error.message}: {error.hint}")
        return result.replace(packages_missing=True)
    except NoCodeError:
        return result
    except EverycoreError as error:
        tools.warn_once(f"no counts of code of {cell.subject} {cell.function}: {error.message}")
        return result
    return result.replace(code=found.code, digest=digest(found.functions))


def hot_loop(tools: CellTools, compiled: CompiledCell) -> Listing | None:
    """By executed instructions, where they can be traced; None: nothing can read the code."""
    try:
        paths, names = _readable(tools, compiled)
        own = _own_functions(tools, compiled)
        try:
            return loop_of(paths, names, executed(tools.context, compiled), own)
        except UntraceableError:
            return loop_of(paths, names, own=own)
    except EverycoreError:
        return None


def _readable(tools: CellTools, compiled: CompiledCell) -> tuple[list[Path], tuple[str, ...]]:
    """Return the files with the code of a cell, and where it is entered."""
    resolved = compiled.resolved
    paths = [compiled.program.binary] if resolved.is_whole_program else [*compiled.objects]
    if names := _entries(tools, compiled):
        return paths, names
    around = surroundings(tools, resolved.subject, resolved.target)
    return [*paths, around.path], (resolved.function.symbol,)


def _entries(tools: CellTools, compiled: CompiledCell) -> tuple[str, ...]:
    resolved = compiled.resolved
    if resolved.target.transport == "ssh":  # where nothing is traced
        return ()
    return tools.once.value(
        ("entries", resolved.subject.name, resolved.function.name, resolved.target.name),
        lambda: entries(
            tools.context, tools.tree, resolved.subject, resolved.function, resolved.target
        ),
    )


def _own_functions(tools: CellTools, compiled: CompiledCell) -> OwnFunctions | None:
    """Return the subject's functions in a program that was optimised as a whole, which also
    contains everything around them, and the C library; None: it was not."""
    resolved = compiled.resolved
    if not resolved.is_whole_program:
        return None
    around = surroundings(tools, resolved.subject, resolved.target)
    plain = (WARNINGS_OFF, NO_INLINING)  # so that every function has a name
    made = subjects.objects(
        tools.context, resolved.subject, around.compiler, plain, resolved.target
    )
    others = {(symbol.name, symbol.size) for symbol in Object(around.path).functions}
    return OwnFunctions(frozenset(map(plain_name, functions_of(made))), frozenset(others))
