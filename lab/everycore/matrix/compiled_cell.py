# SPDX-License-Identifier: MIT
"""Compile a cell: the objects of its subject's own files, and the program around them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from everycore import subjects
from everycore.compile.refusals import MAKE_ROOM
from everycore.environment.context import Context
from everycore.environment.errors import CannotRunError, CannotWriteError, EverycoreError
from everycore.matrix import accepted_flags
from everycore.matrix.once import Once
from everycore.matrix.portable_paths import without_paths
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.time_limits import Limits
from everycore.model.cells import Outcome
from everycore.model.domain import Target, Tree
from everycore.subjects import (
    NotCompiledError,
    Program,
    Subject,
    SubjectUnavailableError,
    Surroundings,
)

if TYPE_CHECKING:
    from everycore.matrix.board import BoardLink
    from everycore.matrix.modelled import Estimator

ALWAYS = "-fstack-usage"  # where the compiler has it
WARNINGS_OFF = "-w"


class FailedCellError(Exception):
    """The end of a cell. `time_limit`: seconds that a process of it had. `given`: the input that it
    answers wrongly, if that is one of a sweep; `is_of_vector`: if it is a check vector."""

    def __init__(
        self,
        outcome: Outcome,
        reason: str,
        time_limit: float | None = None,
        given: Mapping[str, str] | None = None,
        is_of_vector: bool = False,
    ) -> None:
        super().__init__(reason)
        self.is_of_vector = is_of_vector
        self.given = given
        self.outcome = outcome
        self.reason = reason
        self.time_limit = time_limit


@dataclass(frozen=True, slots=True)
class CellTools:
    """The context, the limits and the values that all cells of a run share."""

    context: Context
    tree: Tree
    limits: Limits = field(default_factory=Limits)
    board: "BoardLink | None" = None  # that measures the cells of its target
    estimator: "Estimator | None" = None  # of emulated cells
    once: Once = field(default_factory=Once)  # what cells share

    def warn_once(self, text: str) -> None:
        self.once.value(("warning", text), lambda: self.context.warn(text))


@dataclass(frozen=True, slots=True)
class CompiledCell:
    """A cell that has its objects and its program."""

    resolved: ResolvedCell
    objects: tuple[Path, ...]  # of the cell's compiler
    program: Program


def compile_cell(tools: CellTools, resolved: ResolvedCell) -> CompiledCell:
    """Compile and link; FailedCellError: there is no program."""
    if resolved.why_not:
        raise FailedCellError(Outcome.SKIPPED, resolved.why_not)
    cell = resolved.cell
    # Cells of other functions of the subject wait for the first, and find its objects.
    with tools.once.lock(("program", cell.subject, cell.toolchain, cell.flags, cell.target)):
        around = surroundings(tools, resolved.subject, resolved.target)
        try:
            objects = compile_objects(tools, resolved)
            with _failures(tools.limits):
                if resolved.is_whole_program:
                    binary = subjects.link(
                        tools.context, around, objects, resolved.compiler, cell.flags
                    )
                else:
                    binary = subjects.link(tools.context, around, objects)
        except CannotWriteError:
            raise
        except SubjectUnavailableError as error:  # no perl
            raise FailedCellError(Outcome.SKIPPED, error.message) from None
        except CannotRunError as error:  # the compiler is gone
            raise FailedCellError(Outcome.SKIPPED, _in_a_line(error)) from None
        except EverycoreError as error:  # a file of the subject that is not there
            raise FailedCellError(Outcome.NOT_COMPILED, _in_a_line(error)) from None
    return CompiledCell(resolved, objects, resolved.program(binary))


def compile_objects(tools: CellTools, resolved: ResolvedCell) -> tuple[Path, ...]:
    """Compile the subject's own files; FailedCellError: the compiler makes no objects of them."""
    context, compiler = tools.context, resolved.compiler
    knows = accepted_flags.takes(context, compiler, ALWAYS)
    flags = [WARNINGS_OFF, *resolved.cell.flags, *([ALWAYS] if knows else [])]
    with _failures(tools.limits):
        made = subjects.objects(
            context, resolved.subject, compiler, flags, resolved.target, tools.limits.compile
        )
    return tuple(made)


def surroundings(tools: CellTools, subject: Subject, target: Target) -> Surroundings:
    """Return what is around the objects of a subject, made once; FailedCellError: it is not to be
    had."""

    def make() -> Surroundings | FailedCellError:
        try:
            subjects.sources(tools.context, subject)
            return subjects.surroundings(tools.context, tools.tree, subject, target)
        except SubjectUnavailableError as error:
            reason = f"{error.message} ({error.hint})" if error.hint else error.message
            return FailedCellError(Outcome.SKIPPED, reason)
        except CannotWriteError as error:
            raise _no_room(error) from error
        except EverycoreError as error:  # an adapter that does not compile
            return FailedCellError(Outcome.NOT_COMPILED, _in_a_line(error))

    found = tools.once.value(("surroundings", subject.name, target.name), make)
    if isinstance(found, FailedCellError):
        raise FailedCellError(found.outcome, found.reason)
    return found


def contents_of(tools: CellTools, resolved: ResolvedCell) -> str:
    """Return a digest of what a function is made of; empty: it is not known."""
    subject, name = resolved.subject, resolved.function.name

    def make() -> str:
        with suppress(EverycoreError):
            return subjects.contents(tools.context, subject, name)
        return ""

    return tools.once.value(("contents", subject.name, name), make)


def without_local_paths(tools: CellTools, subject: Subject, reason: str) -> str:
    """Return a reason as results have it, which others may read elsewhere."""
    if "/" not in reason:
        return reason
    context, known = tools.context, [tools.tree.root, subject.home]
    with suppress(EverycoreError):
        known.append(subjects.sources(context, subject)[0])
    home = [Path(context.env["HOME"])] if context.env.get("HOME") else []
    return without_paths(reason, known, [context.cache_dir(), context.cwd, *home])


@contextmanager
def _failures(limits: Limits) -> Iterator[None]:
    """Tell failures of the compiler from those of the machine, which --resume tries again."""
    try:
        yield
    except CannotWriteError as error:
        raise _no_room(error) from error
    except NotCompiledError as error:
        outcome = Outcome.SKIPPED if error.may_pass else Outcome.NOT_COMPILED
        raise FailedCellError(outcome, error.message) from None
    except TimeoutError:
        reason = f"the compiler was not done after {limits.compile:.0f} s"
        raise FailedCellError(Outcome.TIME_LIMIT, reason) from None


def _no_room(error: CannotWriteError) -> CannotWriteError:
    """No compiler is to blame for it, and no later cell would fare better."""
    return type(error)(
        f"no cell can be compiled: {error.message}", f"{MAKE_ROOM}; --resume goes on"
    )


def _in_a_line(error: EverycoreError) -> str:
    first_error = next((line for line in error.hint.splitlines() if "error" in line), "")
    return ": ".join(part for part in (error.message, first_error.strip()) if part)
