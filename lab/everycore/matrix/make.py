# SPDX-License-Identifier: MIT
"""One cell: compiled, linked, checked, timed or counted."""

import json
import signal
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everycore import subjects
from everycore.compile.refusals import MAKE_ROOM
from everycore.environment.context import Completed, Context
from everycore.environment.errors import (
    CannotRunError,
    CannotWriteError,
    EverycoreError,
    LostError,
    MissingPackagesError,
)
from everycore.matrix import accepted_flags
from everycore.matrix.portable_paths import without_paths
from everycore.matrix.resolved_cell import ResolvedCell, Resolver
from everycore.matrix.time_limits import Limits
from everycore.measure.quiet import own_width
from everycore.model.cells import Cell, Listing, Outcome, Result, scatter
from everycore.model.domain import Target
from everycore.subjects import (
    Function,
    NotCompiledError,
    Program,
    Subject,
    SubjectUnavailableError,
    Surroundings,
    sweep,
)
from everycore.subjects.count import ODD_SIZES, SIZES, Call
from everycore.subjects.describe import OWN
from everycore.subjects.source_files import sources
from everycore.trace.record import UntraceableError

if TYPE_CHECKING:
    from everycore.binary.code import OwnFunctions
    from everycore.matrix.board import BoardLink
    from everycore.matrix.modelled import Estimator
    from everycore.matrix.traced_call import Executed

SAMPLES = 101  # of some 50 microseconds
BUDGET_MS = 250  # of a process; a slow cell has fewer samples
PATIENCE = 8  # processes, where something else uses the core; each gives up after some 20 ms
NEVER_QUIET = 32  # of them in a row: waiting does not help
ALWAYS = "-fstack-usage"  # where the compiler has it
WARNINGS_OFF = "-w"
NO_INLINING = "-O0"
VECTOR = " check vector "  # in what the driver says of a wrong answer to one: job.c
DISTURBED = "other programs disturbed all samples; --resume tries it again"


@dataclass(frozen=True, slots=True)
class CheckedCell:
    """A cell whose answers are right."""

    program: Program
    function: Function
    objects: tuple[Path, ...]  # of the cell's compiler
    result: Result  # all that is known without running it again


@dataclass(frozen=True, slots=True)
class Timed:
    """Figures of one process."""

    samples: tuple[float, ...]  # core cycles per byte
    counter: str
    sanitizer_hits: int = 0
    output: str = ""  # a digest of the output of one call
    width: int = 0  # thousandths of independent additions that the core did in a cycle
    crowded: bool = False  # something else was on the core during most samples

    @property
    def is_disturbed(self) -> bool:
        """Whether another program cost it cycles, or all of its samples."""
        return not self.samples or (self.crowded and scatter(self.samples))


@dataclass(slots=True)
class _Quiet:
    """The known speed of an idle core, and the core that was used last."""

    widths: list[int] = field(default_factory=list)  # of all processes
    turn: int = 0  # of the cores
    crowded: int = 0  # processes in a row in which something did

    @property
    def width(self) -> int:
        return own_width(self.widths)


class _FailedError(Exception):
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


@dataclass(frozen=True)
class CellPipeline:
    """All that cells have in common. `measure` does one of them now, from beginning to end."""

    context: Context
    resolver: Resolver
    cpus: tuple[int, ...] = (-1,)  # the cores that measure, one at a time, all of a kind
    limits: Limits = field(default_factory=Limits)
    estimator: "Estimator | None" = None  # of emulated cells
    board: "BoardLink | None" = None  # that measures the cells of its target
    _surroundings: dict[tuple[str, str], Surroundings | _FailedError] = field(default_factory=dict)
    _entered: dict[tuple[str, str, str], tuple[str, ...]] = field(default_factory=dict)
    _contents: dict[tuple[str, str], str] = field(default_factory=dict)
    _quiet: _Quiet = field(default_factory=_Quiet)
    _locks: dict[object, threading.Lock] = field(default_factory=dict)
    _warned: set[str] = field(default_factory=set)

    def resolve(self, cell: Cell, flag_set: str = "") -> ResolvedCell:
        """Look up the names of a cell; an error tells which is not known here."""
        return self.resolver.resolve(cell, flag_set)

    def measure(self, resolved: ResolvedCell, processes: int = 3) -> Result:
        """Compile, check and time a cell, nothing else running meanwhile."""
        ready = self.prepare(resolved)
        if isinstance(ready, Result) or ready.result.outcome is Outcome.COUNTED:
            return ready if isinstance(ready, Result) else ready.result
        result = ready.result
        for _ in range(processes):
            result = self.timed(ready, result)
            if result.outcome is not Outcome.MEASURED:
                break
        return result

    def prepare(self, resolved: ResolvedCell) -> CheckedCell | Result:
        """Compiled, linked and checked; a Result: it came to no more."""
        empty = resolved.skipped("").replace(contents=self.contents(resolved))
        try:
            return self._prepare(resolved, empty)
        except _FailedError as error:
            reason = self.without_local_paths(resolved.subject, error.reason)
            ended = empty.replace(outcome=error.outcome, reason=reason)
            version = sweep.VERSION if error.outcome is Outcome.WRONG else 0
            return ended.replace(time_limit=error.time_limit, given=error.given, sweep=version)

    def contents(self, resolved: ResolvedCell) -> str:
        """A digest of what its function is made of; empty: it is not known."""
        key = (resolved.cell.subject, resolved.cell.function)
        with self._locks.setdefault(("contents", *key), threading.Lock()):
            if key not in self._contents:
                self._contents[key] = ""
                with suppress(EverycoreError):
                    self._contents[key] = subjects.contents(
                        self.context, resolved.subject, resolved.function.name
                    )
            return self._contents[key]

    def without_local_paths(self, subject: Subject, reason: str) -> str:
        """A reason that goes into results, which others may read elsewhere."""
        if "/" not in reason:
            return reason
        known, context = [self.resolver.tree.root, subject.home], self.context
        with suppress(EverycoreError):
            known.append(sources(context, subject)[0])
        home = [Path(context.env["HOME"])] if context.env.get("HOME") else []
        return without_paths(reason, known, [context.cache_dir(), context.cwd, *home])

    def linked(self, cell: Cell) -> tuple[Program, Function]:
        """The program of a cell that is known to be right."""
        resolved = self.resolve(cell)
        try:
            return self._compiled(resolved)[0], resolved.function
        except _FailedError as error:
            reason = self.without_local_paths(resolved.subject, error.reason)
            raise EverycoreError(reason) from None

    def timed(self, ready: CheckedCell, result: Result) -> Result:
        """`result` with the samples of one more process."""
        try:
            timed = self._timed(ready, result.cell)
        except _FailedError as error:
            reason = self.without_local_paths(ready.program.subject, error.reason)
            ended = result.replace(outcome=error.outcome, reason=reason, runs=(), shared=())
            return ended.replace(time_limit=error.time_limit)
        return result.replace(
            outcome=Outcome.MEASURED,
            runs=(*result.runs, timed.samples),
            shared=(*result.shared, *([len(result.runs)] if timed.crowded else [])),
            counter=timed.counter,
            sanitizer_hits=timed.sanitizer_hits,
        )

    def _timed(self, ready: CheckedCell, cell: Cell) -> Timed:
        """Return the first of a few processes that nothing else on the core disturbed; else the
        last.

        After one that something did, the next core is tried.
        """
        quiet = self._quiet
        for _ in range(PATIENCE):
            cpus = self.board.cpus if self.board else self.cpus
            cpu = cpus[quiet.turn % len(cpus)]
            words = [SAMPLES, BUDGET_MS, cpu, quiet.width]
            done = self._run(ready, "bench", [cell.key_bits, cell.n_bytes, *words])
            timed = read_bench(done.stdout, cell.n_bytes)
            quiet.widths.append(timed.width)
            quiet.turn += timed.is_disturbed
            quiet.crowded = quiet.crowded + 1 if timed.is_disturbed else 0
            if not timed.is_disturbed or quiet.crowded > NEVER_QUIET:
                break
        if not timed.samples:  # no fault of the cell, whose answers are right
            raise _FailedError(Outcome.SKIPPED, DISTURBED)
        return timed

    # ---- Before it is timed ------------------------------------------------------------------

    def _prepare(self, resolved: ResolvedCell, empty: Result) -> CheckedCell:
        cell, subject, function = resolved.cell, resolved.subject, resolved.function
        refusal = resolved.why_not
        if not refusal and not function.takes(cell.n_bytes):
            refusal = f"takes multiples of {function.multiple_of} bytes, at least {function.fewest}"
        refusal = refusal or accepted_flags.refusal(self.context, resolved.compiler, cell.flags)
        if refusal:
            raise _FailedError(Outcome.SKIPPED, refusal)
        program, objects = self._compiled(resolved)
        seconds = [subjects.compile_seconds(path) for path in objects]
        known = [one for one in seconds if one is not None]
        result = empty.replace(
            computes=function.computes if function.computes != OWN else "",
            is_assembly=subject.is_assembly,
            compile_seconds=sum(known) if len(known) == len(objects) else None,
        )
        ready = CheckedCell(program, function, tuple(objects), result)
        n_inputs = self._check(ready, cell)
        ready = replace(ready, result=result.replace(sweep=sweep.VERSION, n_inputs=n_inputs))
        ready = replace(ready, result=self._examined(ready, cell))
        if resolved.target.transport in ("local", "ssh"):
            return replace(ready, result=ready.result.replace(outcome=Outcome.MEASURED))
        return replace(ready, result=self._counted(ready))

    def _compiled(self, resolved: ResolvedCell) -> tuple[Program, list[Path]]:
        if resolved.why_not:
            raise _FailedError(Outcome.SKIPPED, resolved.why_not)
        context, cell = self.context, resolved.cell
        subject, compiler, target = resolved.subject, resolved.compiler, resolved.target
        # Cells of other functions of the subject wait for the first, and find its objects.
        key = (cell.subject, cell.toolchain, cell.flags, cell.target)
        with self._locks.setdefault(key, threading.Lock()):
            around = self._around(subject, target)
            try:
                objects = self.objects(resolved)
                if resolved.is_whole_program:
                    binary = subjects.link(context, around, objects, compiler, cell.flags)
                else:
                    binary = subjects.link(context, around, objects)
            except CannotWriteError as error:
                raise _no_room(error) from error
            except NotCompiledError as error:
                raise _FailedError(_refused(error), error.message) from None
            except SubjectUnavailableError as error:  # no perl
                raise _FailedError(Outcome.SKIPPED, error.message) from None
            except TimeoutError:
                reason = f"the compiler was not done after {self.limits.compile:.0f} s"
                raise _FailedError(Outcome.TIME_LIMIT, reason) from None
            except CannotRunError as error:  # the compiler is gone
                raise _FailedError(Outcome.SKIPPED, _in_a_line(error)) from None
            except EverycoreError as error:  # a file of the subject that is not there
                raise _FailedError(Outcome.NOT_COMPILED, _in_a_line(error)) from None
        return resolved.program(binary), objects

    def objects(self, resolved: ResolvedCell) -> list[Path]:
        """Compile the subject's own files; beside its errors TimeoutError."""
        compiler = resolved.compiler
        knows = accepted_flags.takes(self.context, compiler, ALWAYS)
        flags = [WARNINGS_OFF, *resolved.cell.flags, *([ALWAYS] if knows else [])]
        limit = self.limits.compile
        return subjects.objects(
            self.context, resolved.subject, compiler, flags, resolved.target, limit
        )

    def _around(self, subject: Subject, target: Target) -> Surroundings:
        """Made once, or known not to be had; cells that are prepared at the same time wait."""
        key = (subject.name, target.name)
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._surroundings:
                self._surroundings[key] = self._made_around(subject, target)
            found = self._surroundings[key]
        if isinstance(found, _FailedError):
            raise _FailedError(found.outcome, found.reason)
        return found

    def _made_around(self, subject: Subject, target: Target) -> "Surroundings | _FailedError":
        try:
            sources(self.context, subject)
            return subjects.surroundings(self.context, self.resolver.tree, subject, target)
        except SubjectUnavailableError as error:
            reason = f"{error.message} ({error.hint})" if error.hint else error.message
            return _FailedError(Outcome.SKIPPED, reason)
        except CannotWriteError as error:
            raise _no_room(error) from error
        except EverycoreError as error:  # an adapter that does not compile
            return _FailedError(Outcome.NOT_COMPILED, _in_a_line(error))

    def _check(self, ready: CheckedCell, cell: Cell) -> int:
        """Compare answers for all key sizes, the cell's first; return how many inputs of the sweep
        there was time for."""
        function = ready.function
        sizes = [n for n in (*SIZES, *ODD_SIZES, cell.n_bytes) if function.takes(n)]
        every = sorted(function.key_bits, key=lambda bits: bits != cell.key_bits)
        try:
            for bits in every:
                self._run(ready, "check", [bits, *sizes])
        except _FailedError as error:
            raise self._with_input(ready, cell, error) from None
        n_inputs = self._swept(ready, cell)
        for bits in every[1:]:
            words = sweep.words(function, bits, self.limits.run, sweep.OF_OTHER_KEYS)
            self._run(ready, "sweep", words)
        if n_inputs < sweep.N_INPUTS:
            self._warn_once(
                f"{cell.subject} {cell.function}: some cells had time for {n_inputs} of"
                f" {sweep.N_INPUTS} inputs"
            )
        return n_inputs

    def _with_input(self, ready: CheckedCell, cell: Cell, error: _FailedError) -> _FailedError:
        """Return the failure of an input whose bytes can be shown, if the sweep knows one. A wrong
        answer to a check vector says more, and the trusted build may be the wrong one."""
        if error.outcome is Outcome.WRONG and not error.is_of_vector:
            try:
                self._swept(ready, cell)
            except _FailedError as of_sweep:
                return of_sweep if of_sweep.given else error
        return error

    def _swept(self, ready: CheckedCell, cell: Cell) -> int:
        words = sweep.words(ready.function, cell.key_bits, self.limits.run)
        return sweep.n_compared(self._run(ready, "sweep", words).stdout)

    def _run(self, ready: CheckedCell, verb: str, numbers: Iterable[int | str]) -> Completed:
        """One process of the cell; how it failed, if it did."""
        program = ready.program
        words = [verb, ready.function.symbol, *map(str, numbers)]
        argv = [*program.target.emulator, str(program.binary), *words]
        try:
            if self.board and program.target is self.board.target:
                done = self.board.run(program.binary, words)
            else:
                done = self.context.runner.run(argv, seconds=self.limits.run)
        except LostError:  # not the cell's fault
            raise
        except TimeoutError:
            reason = f"{verb} was not done after {self.limits.run:.0f} s"
            raise _FailedError(Outcome.TIME_LIMIT, reason, self.limits.run) from None
        except EverycoreError as error:  # no emulator
            raise _FailedError(Outcome.SKIPPED, error.message) from None
        if done.code == 0:
            return done
        first_line = next(iter((done.stdout + done.stderr).strip().splitlines()), "")
        if done.code == 1:
            given = sweep.given(done.stdout) or None
            raise _FailedError(
                Outcome.WRONG,
                first_line or "a wrong answer",
                given=given,
                is_of_vector=VECTOR in first_line,
            )
        if done.code == sweep.ENDLESS:
            reason = f"{first_line}: it was not done after {self.limits.run:.0f} s"
            raise _FailedError(Outcome.TIME_LIMIT, reason, self.limits.run)
        if done.code == 3:  # catalog/subjects/driver.c
            raise _FailedError(Outcome.SKIPPED, first_line)
        raise _FailedError(Outcome.CRASHED, how_it_ended(done.code, first_line))

    # ---- What the compiler made of it --------------------------------------------------------

    def coded(self, resolved: ResolvedCell) -> Result:
        """Compiled, and what came of it: not checked, and linked only where it has to be."""
        if resolved.is_whole_program:
            made = self.prepare(resolved)
            return made if isinstance(made, Result) else made.result
        cell, subject = resolved.cell, resolved.subject
        empty = Result(cell, Outcome.SKIPPED)
        try:
            objects = self.objects(resolved)
        except CannotWriteError as error:
            raise _no_room(error) from error
        except NotCompiledError as error:
            reason = self.without_local_paths(subject, error.message)
            return empty.replace(outcome=_refused(error), reason=reason)
        except TimeoutError:
            return empty.replace(outcome=Outcome.TIME_LIMIT)
        program = resolved.program(objects[0])
        return self._examined(CheckedCell(program, resolved.function, tuple(objects), empty), cell)

    def _examined(self, ready: CheckedCell, cell: Cell) -> Result:
        """Without its code where nothing can read it; a cell is worth its time without."""
        from everycore.binary.code import examine
        from everycore.binary.digest import digest
        from everycore.binary.objects import NoCodeError

        try:
            found = examine(*self._readable(ready, cell), own=self._own(ready, cell))
        except MissingPackagesError as error:
            self._warn_once(f"no counts of code, no frames: {error.message}: {error.hint}")
            return ready.result.replace(packages_missing=True)
        except NoCodeError:
            return ready.result
        except EverycoreError as error:
            self._warn_once(f"no counts of code of {cell.subject} {cell.function}: {error.message}")
            return ready.result
        return ready.result.replace(code=found.code, digest=digest(found.functions))

    def _warn_once(self, text: str) -> None:
        with self._locks.setdefault("warned", threading.Lock()):
            if text not in self._warned:
                self._warned.add(text)
                self.context.warn(text)

    def _readable(self, ready: CheckedCell, cell: Cell) -> tuple[list[Path], tuple[str, ...]]:
        """The files with the code of a cell, and where it is entered."""
        if any(flag.startswith("-flto") for flag in cell.flags):
            paths = [ready.program.binary]
        else:
            paths = [*ready.objects]
        names = self._entries(ready.program, ready.function)
        if not names:
            around = self._around(ready.program.subject, ready.program.target)
            names, paths = (ready.function.symbol,), [*paths, around.path]
        return paths, names

    def _own(self, ready: CheckedCell, cell: Cell) -> "OwnFunctions | None":
        """Return the subject's functions in a program that was optimised as a whole, which also
        contains everything around them, and the C library; None: it was not."""
        from everycore.binary.code import OwnFunctions
        from everycore.binary.frames import plain_name
        from everycore.binary.objects import Object
        from everycore.matrix.entries import functions_of

        if not any(flag.startswith("-flto") for flag in cell.flags):
            return None
        program = ready.program
        subject, target = program.subject, program.target
        around = self._around(subject, target)
        plain = (WARNINGS_OFF, NO_INLINING)  # so that every function has a name
        made = subjects.objects(self.context, subject, around.compiler, plain, target)
        others = {(one.name, one.size) for one in Object(around.path).functions}
        return OwnFunctions(frozenset(map(plain_name, functions_of(made))), frozenset(others))

    def executed(self, ready: CheckedCell) -> "Executed":
        """One call of a cell under the tracer: exact counts, also of what runs here."""
        from everycore.matrix.traced_call import count

        return count(self._called(ready))

    def _called(self, ready: CheckedCell) -> Call:
        cell = ready.result.cell
        (call,) = subjects.trace(
            self.context, ready.program, ready.function, cell.key_bits, [cell.n_bytes]
        )
        return call

    def hot_loop(self, ready: CheckedCell) -> Listing | None:
        """By executed instructions, where they can be traced; None: nothing can read the code."""
        from everycore.matrix.traced_call import loop_of

        try:
            paths, names = self._readable(ready, ready.result.cell)
            own = self._own(ready, ready.result.cell)
            try:
                return loop_of(paths, names, self.executed(ready), own)
            except UntraceableError:
                return loop_of(paths, names, own=own)
        except EverycoreError:
            return None

    def _entries(self, program: Program, function: Function) -> tuple[str, ...]:
        if program.target.transport == "ssh":  # where nothing is traced
            return ()
        key = (program.subject.name, function.name, program.target.name)
        with self._locks.setdefault(key, threading.Lock()):
            if key not in self._entered:
                from everycore.matrix.entries import entries

                self._entered[key] = entries(
                    self.context, self.resolver.tree, program.subject, function, program.target
                )
            return self._entered[key]

    # ---- Emulated ----------------------------------------------------------------------------

    def _counted(self, ready: CheckedCell) -> Result:
        from everycore.matrix.traced_call import count

        estimates = None
        try:
            call = self._called(ready)
            counted = count(call)
            if self.estimator:
                estimates = self.estimator.of(ready.program, ready.function, call)
        except SubjectUnavailableError as error:
            raise _FailedError(Outcome.SKIPPED, error.message) from None
        except EverycoreError as error:
            raise _FailedError(Outcome.CRASHED, error.message) from None
        code = ready.result.code
        if code:  # no guess is needed
            code = code.replace(hot=next(iter(counted.functions), code.hot))
        return ready.result.replace(
            outcome=Outcome.COUNTED,
            executed=counted.instructions,
            estimates=estimates,
            code=code,
        )


def _refused(error: NotCompiledError) -> Outcome:
    """Tell failures of the compiler from those of the machine, which --resume tries again."""
    return Outcome.SKIPPED if error.may_pass else Outcome.NOT_COMPILED


def _in_a_line(error: EverycoreError) -> str:
    first_error = next((line for line in error.hint.splitlines() if "error" in line), "")
    return ": ".join(part for part in (error.message, first_error.strip()) if part)


def _no_room(error: CannotWriteError) -> CannotWriteError:
    """No compiler is to blame for it, and no later cell would fare better."""
    return type(error)(
        f"no cell can be compiled: {error.message}", f"{MAKE_ROOM}; --resume goes on"
    )


def read_bench(text: str, n_bytes: int) -> Timed:
    """The line of the driver's verb bench."""
    try:
        line = json.loads(text.strip().splitlines()[-1])
        cycles = line.get("cycles", ())[:SAMPLES]
        samples = tuple(round(float(one) / n_bytes, 4) for one in cycles)
        timed = Timed(
            samples,
            line["counter"],
            int(line["sanitizer_hits"]),
            line["output"],
            int(line.get("width", 0)),
            bool(line.get("crowded")),
        )
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        shown = text.strip()[:80]
        raise _FailedError(Outcome.CRASHED, f"it did not say what it measured: {shown}") from None
    if timed.counter == "none":
        raise _FailedError(Outcome.SKIPPED, "no counter works here")
    return timed


def how_it_ended(code: int, output: str) -> str:
    """The words for an exit code that is none of the driver's."""
    try:
        how = signal.Signals(-code if code < 0 else code - 128).name
    except ValueError:
        how = f"exit code {code}"
    if how == "SIGILL":
        how += ": an instruction that this CPU does not have"
    return f"{how}: {output}" if output else how
