# SPDX-License-Identifier: MIT
"""everycore limits: what can this CPU do at best?"""

import json as jsonlib
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from itertools import chain
from typing import Annotated

import typer

from everycore.commands.options import (
    CompilerCommand,
    CpuNumber,
    Json,
    Out,
    TargetName,
    context_of,
    print_output_path,
)
from everycore.commands.sample_output import SampleOutput
from everycore.environment.decoding import Record, encode_line
from everycore.environment.errors import EverycoreError
from everycore.measure import quiet
from everycore.measure.bounds import bounds, disturbance
from everycore.measure.processes import merged
from everycore.model import protocol
from everycore.model.protocol import Arithmetic, Hello, Limit
from everycore.report import limit_tables as report
from everycore.run.bench_calls import PROCESSES
from everycore.run.session import Session, known_widths, open_session, pin, run_of

DISTURBED = 0.01  # on a quiet core latencies are within 0.3 % of whole cycles, but for a few


def limits(
    command: typer.Context,
    all_: Annotated[
        bool, typer.Option("--all", help="Every loop behind the bounds, not only the best.")
    ] = False,
    target: TargetName = "host",
    cpu: CpuNumber = None,
    cc: CompilerCommand = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Measure what this CPU can do at best, in each mode. --out stores the samples."""
    context = context_of(command)
    output = SampleOutput.of(context, out, json)
    context = output.context
    session = pin(context, open_session(context, target, cc, measures=True), cpu)
    session.widths.extend(known_widths(context, session))
    coming = _measured(session)
    first = next(coming, None)
    if first is None or not isinstance(first, Hello):
        raise EverycoreError("the harness measured nothing", code=1)
    hello, records = first, list[Record]()
    run = run_of(context, session, hello, "limits", {})
    with output.writer(run, out) if out else nullcontext() as writer:
        for record in chain([first], coming):
            records.append(record)
            if writer:
                writer.write(record)
    if out:
        print_output_path(context, "samples", out)
    lines = merged(quiet.marked(records))
    found = bounds(lines)
    if output.json:
        context.print_raw(encode_line(run))
        for record in records:
            context.print_raw(encode_line(record))
        for bound in found:
            context.print_raw(jsonlib.dumps({"type": "bound", **asdict(bound)}))
        return
    instructions = [line for line in lines if isinstance(line, Limit)]
    loops = [line for line in lines if isinstance(line, Arithmetic)]
    if not instructions:
        context.warn(f"no loops are written for {hello.arch}: harness/cpu_limits.h says how")
    elif hello.counter == "none":
        context.warn("nothing was measured: no counter can be calibrated here")
    caption = f"measured: {run.machine.title()}; {run.counter}; {run.revision}"
    context.out.print(report.instructions_table(instructions, caption))
    if all_:
        context.out.print(report.arithmetic_table(loops, caption))
    context.out.print(report.bounds_table(found, caption))
    if (stray := disturbance(instructions)) > DISTURBED:
        context.warn(
            f"latencies are {stray:.1%} away from whole cycles: another program shares the core;"
            " all figures are off by that and more, run it again on a quiet machine"
        )


def _measured(session: Session) -> Iterator[Record]:
    """Yield the lines of all processes, and one greeting."""
    for number in range(PROCESSES):
        for record in session.records("limits", *session.pinned, *session.expecting):
            if not number or not isinstance(record, Hello):
                yield protocol.numbered(record, number)
