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

SECRETS = 6
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
            yield Verdict(operation, "trace", *found.get(i, ("pass", f"{SECRETS} secrets")))


class _Traced:
    """A harness that is run with one secret or another; its regions are the operations."""

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

    def run(self, seed: int, keep: Collection[int] = ()) -> tuple[Trace, ...]:
        # Arguments lie on the stack: all seeds are written with as many digits.
        argv = [*self._argv, "--secret", f"{seed:#018x}"]
        if self._target.transport == "local":
            run = native(self._context, argv, BEGIN, END, keep=keep)
        else:
            run = qemu(self._context, self._target, argv, BEGIN, END, keep=keep)
        self._refuse_incomplete(run)
        return run.traces

    def _refuse_incomplete(self, run: Run) -> None:
        lines = [parse(text) for text in run.stdout.splitlines()]
        for line in lines:
            if isinstance(line, Failure):
                raise EverycoreError(f"{line.kernel} {line.operation}: {line.detail}", code=1)
        done = [(o.operation, o.key_bits) for o in lines if isinstance(o, CtRun)]
        all_done = done == [(o.operation, o.key_bits) for o in self.operations]
        if (
            run.code
            or not all_done
            or [bool(t.instructions) for t in run.traces] != [True] * len(done)
        ):
            raise EverycoreError(
                f"{self.operations[0].kernel}: the traced harness ended with code {run.code}",
                f"{len(done)} of {len(self.operations)} operations, {len(run.traces)} regions",
                code=1,
            )


def _compare(traced: _Traced) -> dict[int, tuple[str, str]]:
    """Result and detail of each operation, by number, that is not the same for all secrets."""
    first = traced.run(1)
    seeds: dict[int, int] = {}
    for seed in range(2, SECRETS + 1):
        for i, (a, b) in enumerate(zip(first, traced.run(seed), strict=True)):
            if not a.same(b):
                seeds.setdefault(i, seed)
        if len(seeds) == len(first):
            break
    found: dict[int, tuple[str, str]] = {}
    if traced.half_seen or not all(t.data for t in first):
        unseen = ("impossible", "QEMU does not tell the data addresses")
        found = dict.fromkeys(range(len(first)), unseen)
    if not seeds:
        return found
    again = traced.run(1)
    if not all(again[i].same(first[i]) for i in seeds):
        raise UntraceableError("two runs with the same secrets differ: addresses are randomised")
    places = _places(traced, seeds)
    for i, seed in seeds.items():
        found[i] = ("fail", places.get(i, f"secrets 1 and {seed} differ"))
    return found


def _places(traced: _Traced, seeds: dict[int, int]) -> dict[int, str]:
    """Return for each region where its traces first differ.

    Of a kernel that does not promise constant time in one region only: traces that are kept are
    long.
    """
    wanted = list(seeds) if traced.operations[0].timing == "ct" else list(seeds)[:1]
    found: dict[int, str] = {}
    for seed in sorted({seeds[i] for i in wanted}):
        here = [i for i in wanted if seeds[i] == seed]
        first, second = traced.run(1, here), traced.run(seed, here)
        for i in here:
            if difference := first_difference(first[i], second[i]):
                found[i] = str(difference)
    return found
