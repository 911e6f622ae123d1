# SPDX-License-Identifier: MIT
"""everycore ct: is it constant-time, by which methods?"""

import json as jsonlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Annotated

import typer
from msgspec import structs

from everycore.commands.option_sets import with_option_sets
from everycore.commands.options import (
    BuildOptions,
    Json,
    KernelNames,
    PrimitiveNames,
    context_of,
    refuse_unknown_kernels,
    refuse_unknown_primitives,
    split_commas,
)
from everycore.ct.gate import Gate
from everycore.ct.run_plan import fewer_sizes, with_largest_keys
from everycore.ct.taint import open_watched
from everycore.ct.timing import timing
from everycore.ct.verdicts import METHODS, Conclusion, Verdict, conclude, count, of_kernels
from everycore.environment.context import Context
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool
from everycore.model.protocol import CtOperation, Hello
from everycore.report import ct_tables as report
from everycore.run.session import Session, pin, run_of

QUICK_PARTS = 6
TAINTED_TOGETHER = 8  # kernels of one process under valgrind, which takes long to start


@dataclass(frozen=True, slots=True)
class CtOptions:
    """The operations, and the methods that look at them."""

    primitive: PrimitiveNames = None
    kernel: KernelNames = None
    operation: Annotated[
        list[str] | None,
        typer.Option("--operation", metavar="NAME", help="Only this operation; repeatable."),
    ] = None
    key_bits: Annotated[
        list[str] | None,
        typer.Option("--key-bits", metavar="BITS", help="Only keys of this size; repeatable."),
    ] = None
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="taint, trace or timing; repeatable. Default: all, with --quick the first two,"
            " on a board the last.",
        ),
    ] = None
    quick: Annotated[bool, typer.Option("--quick", help="Fewer lengths, key sizes and traces.")] = (
        False
    )
    samples: Annotated[
        int, typer.Option("--samples", metavar="N", help="Calls timed for each operation.")
    ] = 10000
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", help="Kernels looked at side by side.", min=1)
    ] = os.cpu_count() or 1

    def chosen(self) -> dict[str, list[str]]:
        """Return the options of the harness that choose operations."""
        return {
            "--primitive": split_commas(self.primitive),
            "--kernel": split_commas(self.kernel),
            "--operation": split_commas(self.operation),
            "--key-bits": split_commas(self.key_bits),
        }


@with_option_sets
def ct(
    command: typer.Context,
    options: CtOptions,
    build: BuildOptions,
    json: Json = False,
) -> None:
    """Check that constant-time kernels are, by several methods.

    Exit code 1 if a constant-time kernel fails a method that decides (taint, trace), if none could
    look at it, or if a kernel that is not constant-time passes.
    """
    context = context_of(command)
    methods = _methods(options.method, options.quick)
    refuse_unknown_kernels(context, split_commas(options.kernel))
    refuse_unknown_primitives(context, split_commas(options.primitive))
    session = open_watched(context, build.target, build.cc, build.flags)
    session = pin(context, session, None)
    if session.target.board and not options.method:
        methods = ["timing"]  # the others need a tracer, or an emulator
    hello, operations = _list(session, options.chosen())
    kernels = of_kernels(operations)
    if options.quick:
        kernels = [fewer_sizes(group, turn, QUICK_PARTS) for turn, group in enumerate(kernels)]
    if json:
        run = run_of(context, session, hello, "ct", {"methods": methods})
        context.print_raw(encode_line(run))
    gate = Gate(context, session, methods, options.quick)
    verdicts = _verdicts(gate, kernels, options, json)
    looked_at = [o for group in kernels for o in group]
    conclusions = conclude(looked_at, verdicts, methods)
    if json:
        _print_json(context, conclusions)
    else:
        _print(context, session, looked_at, verdicts, methods, conclusions)
    raise typer.Exit(1 if any(c.result == "fail" for c in conclusions) else 0)


def _verdicts(
    gate: Gate, kernels: Sequence[Sequence[CtOperation]], options: CtOptions, json: bool
) -> list[Verdict]:
    """Return the verdicts of all kernels; print each as it is found if `json` is set."""
    context, verdicts = gate.context, list[Verdict]()
    steps = len(kernels) * len(gate.methods)
    with Progress(context.err, "constant time", steps) as progress:
        for verdict in _look(gate, kernels, options.samples, options.jobs, progress):
            verdicts.append(verdict)
            if json:
                context.print_raw(_line("verdict", verdict))
    return verdicts


def _by_primitive(
    kernels: Sequence[Sequence[CtOperation]],
) -> Iterator[Sequence[Sequence[CtOperation]]]:
    """Yield the kernels of each primitive: of words for several, the harness runs all pairs."""
    for _, own in groupby(kernels, lambda group: group[0].primitive):
        yield list(own)


def _methods(names: list[str] | None, quick: bool) -> list[str]:
    chosen = split_commas(names)
    for name in chosen:
        if name not in METHODS:
            raise unknown_name("method", name, METHODS)
    return [m for m in METHODS if m in (chosen or METHODS[: 2 if quick else 3])]


def _list(session: Session, chosen: dict[str, list[str]]) -> tuple[Hello, list[CtOperation]]:
    arguments = [word for name, values in chosen.items() for v in values for word in (name, v)]
    lines = list(session.records("ct", "--list", *arguments))
    operations = [line for line in lines if isinstance(line, CtOperation)]
    hello = next((line for line in lines if isinstance(line, Hello)), None)
    if hello is None or not operations:
        raise EverycoreError("no kernel has such an operation", "everycore ct --help")
    return hello, operations


def _look(
    gate: Gate,
    kernels: Sequence[Sequence[CtOperation]],
    samples: int,
    jobs: int,
    progress: Progress,
) -> Iterator[Verdict]:
    """The verdicts, by kernel but those of timing, which has the machine to itself."""
    parts = [
        of_primitive[at : at + TAINTED_TOGETHER]
        for of_primitive in _by_primitive(kernels)
        for at in range(0, len(of_primitive), TAINTED_TOGETHER)
    ]
    tainted: list[Verdict] = []
    with worker_pool(jobs) as pool:
        reports = [pool.submit(gate.taint, part) for part in parts]
        for part, report in zip(parts, reports, strict=True):
            tainted += report.result()
            for group in part if "taint" in gate.methods else ():
                progress.step(f"{group[0].kernel} taint")
        futures = [
            pool.submit(gate.trace, group, turn, tainted) for turn, group in enumerate(kernels)
        ]
        for group, future in zip(kernels, futures, strict=True):
            yield from (verdict for verdict in tainted if verdict.operation in group)
            yield from future.result()
            if "trace" in gate.methods:
                progress.step(f"{group[0].kernel} trace")
    for group in kernels if "timing" in gate.methods else ():
        if group[0].runs and group[0].operation:
            yield from timing(gate.session, with_largest_keys(group), samples)
        progress.step(f"{group[0].kernel} timing")


def _line(kind: str, value: Verdict | Conclusion) -> str:
    found = asdict(value)
    found.update(structs.asdict(found.pop("operation")) if kind == "verdict" else {})
    return jsonlib.dumps({"type": kind, **found})


def _print_json(context: Context, conclusions: Sequence[Conclusion]) -> None:
    for conclusion in conclusions:
        context.print_raw(_line("conclusion", conclusion))
    context.print_raw(jsonlib.dumps({"type": "summary", **count(conclusions)}))


def _print(
    context: Context,
    session: Session,
    operations: Sequence[CtOperation],
    verdicts: Sequence[Verdict],
    methods: Sequence[str],
    conclusions: Sequence[Conclusion],
) -> None:
    for group in report.ct_tables(operations, verdicts, methods, session.build.title):
        context.out.print(group)
    for c in conclusions:
        if c.result == "fail":
            text = f"FAIL {c.primitive} {c.kernel} {c.operation}: {c.detail}"
            context.out.print(text, style="bold red", markup=False, soft_wrap=True)
    context.out.print(report.summary(conclusions))
