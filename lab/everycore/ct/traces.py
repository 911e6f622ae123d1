# SPDX-License-Identifier: MIT
"""The same instructions at the same addresses, whatever the secrets: runs traced and compared."""

from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec

from everycore.ct.run_plan import arguments_for, by_key_size
from everycore.ct.verdicts import Verdict
from everycore.environment import extras
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import CtOperation, CtRun, Failure, parse
from everycore.run.session import Session
from everycore.trace.emulated import qemu
from everycore.trace.native import native
from everycore.trace.record import Run, Trace, UntraceableError, first_difference

SEEDS = range(1, 7)  # of secrets
BEGIN, END = "ct_begin", "ct_end"  # harness/ct_marks.h
PACKAGES = ("iced_x86", "elftools")
# QEMU (7.2) carries out MVC, XC and others from memory to memory in helpers, whose accesses its
# plugins are not told.
HALF_SEEN = ("qemu-s390x",)


def trace(
    context: Context, session: Session, operations: Sequence[CtOperation], extra: Sequence[str] = ()
) -> Iterator[Verdict]:
    """Verdicts on operations of one kernel; `extra`: more arguments of the harness."""
    for part in by_key_size(operations):
        try:
            if session.target.transport == "ssh":
                raise UntraceableError("no tracer runs on a board; an emulated target has one")
            if not all(map(find_spec, PACKAGES)):
                raise UntraceableError(f"tracing needs: {extras.install_command('matrix')}")
            found = _compare(_Traced(context, session, part, extra))
        except UntraceableError as error:
            found = dict.fromkeys(range(len(part)), ("impossible", error.message))
        for i, operation in enumerate(part):
            yield Verdict(operation, "trace", *found.get(i, ("pass", f"{len(SEEDS)} secrets")))


class _Traced:
    """A harness that runs each operation with several secrets; a region is one of both."""

    def __init__(
        self,
        context: Context,
        session: Session,
        operations: Sequence[CtOperation],
        extra: Sequence[str],
    ) -> None:
        self.operations = operations
        self._context = context
        self._target = session.target
        self.half_seen = bool({*HALF_SEEN} & {*session.target.emulator})
        self._argv = [str(session.build.binary), *arguments_for(operations), *extra]

    def run(
        self, seeds: Sequence[int], keep: Collection[tuple[int, int]] = ()
    ) -> list[tuple[Trace, ...]]:
        """Return the traces of each operation, one for each seed.

        `keep`: numbers of an operation and a seed whose events are kept.
        """
        argv = [*self._argv, "--secret", ",".join(map(str, seeds))]
        kept = [operation * len(seeds) + seed for operation, seed in keep]
        if self._target.transport == "local":
            run = native(self._context, argv, BEGIN, END, keep=kept)
        else:
            run = qemu(self._context, self._target, argv, BEGIN, END, keep=kept)
        self._refuse_incomplete(run, len(seeds))
        n = len(seeds)
        return [run.traces[i : i + n] for i in range(0, len(run.traces), n)]

    def _refuse_incomplete(self, run: Run, n_seeds: int) -> None:
        lines = [parse(text) for text in run.stdout.splitlines()]
        for line in lines:
            if isinstance(line, Failure):
                raise EverycoreError(f"{line.kernel} {line.operation}: {line.detail}", code=1)
        done = [(o.operation, o.key_bits) for o in lines if isinstance(o, CtRun)]
        all_done = done == [(o.operation, o.key_bits) for o in self.operations]
        if (
            run.code
            or not all_done
            or [bool(t.instructions) for t in run.traces] != [True] * len(done) * n_seeds
        ):
            raise EverycoreError(
                f"{self.operations[0].kernel}: the traced harness ended with code {run.code}",
                f"{len(done)} of {len(self.operations)} operations, {len(run.traces)} regions",
                code=1,
            )


def _compare(traced: _Traced) -> dict[int, tuple[str, str]]:
    """Result and detail of each operation, by number, that is not the same for all secrets."""
    operations = traced.run(SEEDS)
    differ: dict[int, int] = {}  # of an operation, the first seed whose trace is another
    for i, (first, *others) in enumerate(operations):
        other = next((at for at, trace in enumerate(others, 1) if not trace.same(first)), None)
        if other is not None:
            differ[i] = other
    found: dict[int, tuple[str, str]] = {}
    if traced.half_seen or not all(trace.data for traces in operations for trace in traces):
        unseen = ("impossible", "QEMU does not tell the data addresses")
        found = dict.fromkeys(range(len(operations)), unseen)
    return found | _differences(traced, differ)


def _differences(traced: _Traced, differ: dict[int, int]) -> dict[int, tuple[str, str]]:
    """Return result and detail of operations that differ: where their traces first do, or that one
    says nothing, since two calls with the same secrets differ.

    Of a kernel that does not promise constant time one place is asked: traces that are kept are
    long.
    """
    if not differ:
        return {}
    wanted = list(differ) if traced.operations[0].timing == "ct" else list(differ)[:1]
    keep = [(i, seed) for i in wanted for seed in (0, differ[i])]
    again = traced.run([*SEEDS, SEEDS[0]], keep)
    found: dict[int, tuple[str, str]] = {}
    for i, seed in differ.items():
        if not again[i][-1].same(again[i][0]):
            found[i] = ("impossible", "two calls with the same secrets differ")
            continue
        place = first_difference(again[i][0], again[i][seed]) if i in wanted else None
        words = str(place) if place else f"secrets {SEEDS[0]} and {SEEDS[seed]} differ"
        found[i] = ("fail", words)
    return found
