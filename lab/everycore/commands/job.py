# SPDX-License-Identifier: MIT
"""everycore job: one pure job of the matrix, from a line of JSON to a line of JSON."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import context_of
from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.farm import work, worker


def job(
    command: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="The job, one line of JSON. Default: standard input."
        ),
    ] = None,
) -> None:
    """Do one job of the matrix: JSON in, JSON out.

    `everycore matrix plan --json` lists jobs. A job compiles, counts, traces, looks for leaks or
    bisects; it times nothing, so that any host may do it. docs/guides/farm.md says how.
    """
    context = context_of(command)
    try:
        text = file.read_text(encoding="utf-8") if file else sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise EverycoreError(f"cannot read {file or 'standard input'}: {reason}") from error
    answer = worker.do(context, work.read_job(text))
    context.print_raw(encode_line(answer))
