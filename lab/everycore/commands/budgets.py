# SPDX-License-Identifier: MIT
"""everycore budgets: does a kernel execute more instructions than it did?"""

import json as jsonlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from everycore.build import catalog
from everycore.build.toolchains import DEFAULT_FLAGS
from everycore.commands.options import Json, KernelNames, context_of, words
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.workers import worker_pool
from everycore.estimate import budgets as rules
from everycore.estimate.budgets import Budgets
from everycore.estimate.executed import CPU, TARGETS, Harness
from everycore.model.domain import RegistryLine
from everycore.run.session import open_session


def budgets(
    command: typer.Context,
    kernel: KernelNames = None,
    write: Annotated[
        bool, typer.Option("--write", help="Take what is counted now as the budgets.")
    ] = False,
    json: Json = False,
) -> None:
    """Check how many instructions the kernels for Arm execute.

    Every kernel for Arm, under emulation; budgets are in tests/budgets.json, with their compiler.
    Exit code 1 if one needs over 1 % more than its budget, or has none.
    """
    context = context_of(command)
    tree = catalog.find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))
    if not tree.is_checkout:
        raise EverycoreError("budgets belong to a checkout", "clone the repository")
    lines = [x for x in catalog.registry(tree) if _arch(x)]
    chosen = _chosen(lines, words(kernel))
    old = Budgets("", DEFAULT_FLAGS, {}) if write else rules.load(tree.root)
    compiler, counts = _count(context, chosen)
    independent = rules.assembly(tree.root, lines)
    if write:
        kept = rules.load(tree.root) if kernel and (tree.root / rules.FILE).is_file() else None
        new = Budgets(compiler, DEFAULT_FLAGS, counts)
        rules.save(tree.root, rules.joined(kept, new, lines, independent) if kept else new)
        context.out.print(f"written: {rules.FILE}: {len(counts)} points of {compiler}")
        return
    judgements = rules.judge(old, compiler, counts, independent)
    if not kernel:
        judgements += rules.stale(old, lines)
    for one in judgements:
        if json:
            context.print_raw(jsonlib.dumps({"type": "budget", **asdict(one)}))
        elif one.result == "fail":
            context.print_raw(f"FAIL {one.point}: {one.detail}")
    for reason in dict.fromkeys(one.detail for one in judgements if one.result == "skip"):
        context.print_raw(f"skipped: {reason}")
    context.print_raw(rules.summary(judgements))
    raise typer.Exit(1 if any(one.result == "fail" for one in judgements) else 0)


def _arch(line: RegistryLine) -> str:
    """a64, a32, or nothing."""
    return next((arch for arch in TARGETS if line.isa.lower().startswith(f"{arch}_")), "")


def _chosen(lines: Sequence[RegistryLine], names: Sequence[str]) -> list[RegistryLine]:
    for name in names:
        if name not in {line.name for line in lines}:
            raise unknown_name("kernel for Arm", name, sorted({line.name for line in lines}))
    return [line for line in lines if not names or line.name in names]


def _count(context: Context, lines: Sequence[RegistryLine]) -> tuple[str, dict[str, int]]:
    """The compiler, and instructions by point."""
    counts: dict[str, int] = {}
    compilers: dict[str, None] = {}
    for arch, target in TARGETS.items():
        own = [line for line in lines if _arch(line) == arch and line.primitive in rules.MODES]
        if not own:
            continue
        session = open_session(context, target)
        compilers[session.build.compiler.name] = None
        harness = Harness(context, session, CPU[arch])
        with worker_pool(2) as pool:
            for found in pool.map(lambda line, by=harness: dict(_of_line(by, line)), own):
                counts.update(found)
    if len(compilers) > 1:
        raise EverycoreError(f"two compilers: {', '.join(compilers)}", "install the same of both")
    return next(iter(compilers), ""), counts


def _of_line(harness: Harness, line: RegistryLine) -> Iterator[tuple[str, int]]:
    sizes = rules.GCM_SIZES if line.primitive == "gcm" else rules.SIZES
    asked = ["--primitive", line.primitive, "--kernel", line.name]
    asked += ["--mode", ",".join(rules.MODES[line.primitive])]
    asked += ["--key-bits", str(rules.KEY_BITS), "--bytes", ",".join(map(str, sizes))]
    for operation, count in harness.count(asked).items():
        yield (
            rules.point(*(operation.primitive, operation.kernel, operation.mode), operation.bytes),
            count,
        )
