# SPDX-License-Identifier: MIT
"""Count the instructions that budgets are about, under emulation."""

from collections.abc import Callable, Iterator, Sequence

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.workers import worker_pool
from everycore.estimate import budgets
from everycore.estimate.executed import CPU, TARGETS, Harness
from everycore.model.domain import RegistryLine
from everycore.run.session import open_session


def arch_of(line: RegistryLine) -> str:
    """a64, a32, or nothing."""
    return next((arch for arch in TARGETS if line.isa.lower().startswith(f"{arch}_")), "")


def chosen_lines(lines: Sequence[RegistryLine], names: Sequence[str]) -> list[RegistryLine]:
    for name in names:
        if name not in {line.name for line in lines}:
            raise unknown_name("kernel for Arm", name, sorted({line.name for line in lines}))
    return [line for line in lines if not names or line.name in names]


def _always(_line: RegistryLine, _compiler: str) -> bool:
    return True


def count(
    context: Context,
    lines: Sequence[RegistryLine],
    is_wanted: Callable[[RegistryLine, str], bool] = _always,
) -> tuple[str, dict[str, int]]:
    """The compiler, and instructions by point of the kernels that are wanted of this compiler."""
    counts: dict[str, int] = {}
    compilers: dict[str, None] = {}
    for arch, target in TARGETS.items():
        own = [line for line in lines if arch_of(line) == arch and line.primitive in budgets.MODES]
        if not own:
            continue
        session = open_session(context, target)
        compiler = session.build.compiler.name
        compilers[compiler] = None
        own = [line for line in own if is_wanted(line, compiler)]
        harness = Harness(context, session, CPU[arch])
        with worker_pool(2) as pool:
            for found in pool.map(lambda line, by=harness: dict(_of_line(by, line)), own):
                counts.update(found)
    if len(compilers) > 1:
        raise EverycoreError(f"two compilers: {', '.join(compilers)}", "install the same of both")
    return next(iter(compilers), ""), counts


def _of_line(harness: Harness, line: RegistryLine) -> Iterator[tuple[str, int]]:
    sizes = budgets.GCM_SIZES if line.primitive == "gcm" else budgets.SIZES
    asked = ["--primitive", line.primitive, "--kernel", line.name]
    asked += ["--mode", ",".join(budgets.MODES[line.primitive])]
    asked += ["--key-bits", str(budgets.KEY_BITS), "--bytes", ",".join(map(str, sizes))]
    for operation, count in harness.count(asked).items():
        yield (
            budgets.point(operation.primitive, operation.kernel, operation.mode, operation.bytes),
            count,
        )
