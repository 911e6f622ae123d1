# SPDX-License-Identifier: MIT
"""Proves by traces that no access of a kernel reaches into a page without a byte of its buffer.

The harness runs every operation on buffers whose first and last page are followed by pages without
access. An access without a mask would fault there. One under a mask does not, but a CPU repairs it
by microcode, in hundreds of cycles: the tracer looks at the whole operand of each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from everycore.ct.run_plan import arguments_for, with_largest_keys
from everycore.ct.traces import BEGIN, END, PACKAGES
from everycore.ct.verdicts import of_kernels
from everycore.environment import extras
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import Check, CtOperation, CtRun, Failure, Kernel, parse
from everycore.run.session import Session
from everycore.trace.native import native
from everycore.trace.record import FarOperands, Trace, UntraceableError

MASKS = "avx512f"  # kernels that need it are run at every length


@dataclass(frozen=True, slots=True)
class _Region:
    """One operation at one place, traced."""

    run: CtRun
    trace: Trace


def groups_of_operations(session: Session, kernels: Sequence[str]) -> list[list[CtOperation]]:
    """The operations of each kernel, with the largest keys that they take."""
    chosen = [word for name in kernels for word in ("--kernel", name)]
    lines = list(session.records("ct", "--list", *chosen))
    operations = [line for line in lines if isinstance(line, CtOperation) and line.operation]
    if not operations:
        raise EverycoreError("no kernel has an operation to trace", "everycore list")
    return [with_largest_keys(own) for own in of_kernels(operations)]


def kernels_with_masks(session: Session) -> set[tuple[str, str]]:
    lines = list(session.records("list"))
    return {(k.primitive, k.name) for k in lines if isinstance(k, Kernel) and MASKS in k.needs}


def check_kernel(
    context: Context, session: Session, operations: Sequence[CtOperation], *, thorough: bool
) -> Iterator[Check]:
    """One result for each operation of a kernel."""
    first = operations[0]
    if not first.runs:
        yield Check(first.primitive, first.kernel, "all", "skip", 0, first.why)
        return
    try:
        regions = _trace(context, session, operations, thorough)
    except UntraceableError as error:
        yield Check(first.primitive, first.kernel, "all", "skip", 0, error.message)
        return
    for operation in operations:
        own = [r for r in regions if r.run.operation == operation.operation]
        yield _judge(operation, own)


def _trace(
    context: Context, session: Session, operations: Sequence[CtOperation], thorough: bool
) -> list[_Region]:
    if not all(map(find_spec, PACKAGES)):
        raise UntraceableError(f"tracing needs: {extras.install_command('matrix')}")
    found: list[_Region] = []
    for bits in dict.fromkeys(o.key_bits for o in operations):
        own = [o for o in operations if o.key_bits == bits]
        argv = [str(session.build.binary), *arguments_for(own), "--placement"]
        run = native(context, argv + ["--thorough"] * thorough, BEGIN, END)
        lines = [parse(text) for text in run.stdout.splitlines()]
        runs = [line for line in lines if isinstance(line, CtRun)]
        failure = next((line for line in lines if isinstance(line, Failure)), None)
        if failure or run.code or len(runs) != len(run.traces):
            where = f"{failure.operation}: {failure.detail}" if failure else f"code {run.code}"
            raise EverycoreError(
                f"{own[0].kernel}: the traced harness ended with {where}",
                "a signal (-11) is an access outside of a buffer: everycore check --kernel "
                + own[0].kernel,
                code=1,
            )
        found += [_Region(r, t) for r, t in zip(runs, run.traces, strict=True)]
    return found


def _judge(operation: CtOperation, regions: Sequence[_Region]) -> Check:
    masked = sum(region.trace.masked for region in regions)
    far = next((r for r in regions if r.trace.far), None)
    if len(regions) == 0:
        result, detail = "fail", "the harness did not run it"
    elif far and far.trace.far:
        result, detail = "fail", _described(far, far.trace.far)
    else:
        result, detail = "pass", ""
    return Check(
        operation.primitive, operation.kernel, operation.operation or "", result, masked, detail
    )


def _described(region: _Region, far: FarOperands) -> str:
    place = region.trace.program.image.place(far.pc)
    return (
        f"buffers at the {region.run.place} of a page: the operand of {far.size} bytes at"
        f" {far.address:#x} reaches into a page without a byte of its buffer, at {place}"
        f" ({far.count} such accesses)"
    )
