# SPDX-License-Identifier: MIT
"""Cells as tests need them."""

from collections.abc import Mapping
from pathlib import Path

from everycore.environment.context import Context
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.compiled_cell import CellTools
from everycore.matrix.resolved_cell import HostCpu, ResolvedCell, Resolver
from everycore.matrix.timed_cell import Timer
from everycore.model.cells import Cell, Code, Outcome, Result, Verdict
from everycore.model.domain import Compiler, Target, Toolchain, Tree
from everycore.subjects import Function, Subject


def cell(toolchain: str = "gcc-12", flags: str = "-O2", **other: str) -> Cell:
    return Cell(
        other.get("subject", "table"),
        other.get("function", "ctr"),
        toolchain,
        tuple(flags.split()),
        other.get("target", "host"),
    )


def resolved(where: Cell, flag_set: str = "", why_not: str = "") -> ResolvedCell:
    """A cell with values of its names that nothing can compile."""
    family, _, major = where.toolchain.partition("-")
    compiler = Compiler((where.toolchain,), f"{family} {major}.1.0", where.toolchain)
    compilers = ((where.target, compiler),)
    function = Function(where.function, "ctr", multiple_of=1, key_bits=(where.key_bits,))
    subject = Subject(where.subject, ("x.c",), (function,), home=Path("/subjects"))
    return ResolvedCell(
        where,
        subject,
        function,
        Toolchain(where.toolchain, "host", family, (int(major), 1, 0), compilers),
        Target(where.target, "", "local" if where.target == "host" else "qemu"),
        flag_set,
        why_not,
    )


def pipeline(
    context: Context,
    tree: Tree,
    toolchains: Mapping[str, Toolchain],
    subjects: Mapping[str, Subject] | None = None,
    arch: str = "",
) -> CellPipeline:
    """A pipeline that measures on any core; its CPU is of `arch`, and has no features."""
    tools = CellTools(context, tree)
    resolver = Resolver(tree, toolchains, HostCpu(arch), subjects or {})
    return CellPipeline(tools, resolver, Timer(tools))


def measured(where: Cell, cycles: float, spread: float = 0.002, **code: int) -> Result:
    """A cell whose processes lie `spread` around its cycles."""
    samples = tuple(cycles * (1 + spread * step) for step in (-2, -1, 0, 1, 2))
    made = Code(
        code.get("code_bytes", 400),
        code.get("instructions", 100),
        code.get("vector", 0),
        code.get("gathers", 0),
        code.get("calls", 0),
        code.get("frame", 64),
    )
    return Result(
        where,
        Outcome.MEASURED,
        compiler=where.toolchain.replace("-", " ") + ".1.0",
        code=made,
        runs=tuple((sample,) * 5 for sample in samples),
        digest=f"{cycles}",
    )


def judged(where: Cell, constant: bool | None) -> Result:
    return Result(where, Outcome.MEASURED, verdicts=(Verdict(constant, "trace"),))


def table(*results: Result) -> dict[Cell, Result]:
    return {result.cell: result for result in results}
