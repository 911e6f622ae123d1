# SPDX-License-Identifier: MIT
"""everycore list: which kernels are there, what do they need, which run here?"""

from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import CompilerCommand, CompilerFlags, Json, TargetName, context_of
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import Hello, Kernel
from everycore.report import kernels as pages
from everycore.report import kernels_table
from everycore.run.session import open_session
from everycore.store import run_files


def list_kernels(
    command: typer.Context,
    target: TargetName = "host",
    cc: CompilerCommand = None,
    flags: CompilerFlags = None,
    json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The table as Markdown.")] = False,
    results: Annotated[
        Path | None,
        typer.Option("--results", metavar="FILE", help="With --markdown: add its speeds."),
    ] = None,
) -> None:
    """List the kernels, what they need, and which run here.

    --json and --markdown add the size of keys and the operations of each kernel. For these all
    kernels are compiled.
    """
    context = context_of(command)
    if results is not None and not markdown:
        raise EverycoreError("--results needs --markdown", "add --markdown")
    session = open_session(context, target, cc, flags, without_kernels=not (json or markdown))
    records = list(session.records("list"))
    kernels = [r for r in records if isinstance(r, Kernel)]
    if json:
        for record in records:
            context.print_raw(encode_line(record))
    elif markdown:
        context.print_raw(pages.registry_markdown(kernels).rstrip("\n"))
        if results is not None:
            found = run_files.read(results)
            speeds = pages.speed_markdown(kernels, found.figures(), found.source())
            context.print_raw("\n" + speeds.rstrip("\n"))
    else:
        arch = next((r.arch for r in records if isinstance(r, Hello)), "")
        context.out.print(kernels_table.kernels_table(kernels, arch, context.out.width))
