# SPDX-License-Identifier: MIT
"""everycore pack: many result files as one pack of Parquet files."""

from pathlib import Path
from typing import Annotated

import typer

from everycore.commands.options import context_of
from everycore.environment.errors import EverycoreError
from everycore.store import parquet, result_search


def pack(
    command: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE...]", help="Result files, or folders of them. Default: your own."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="NAME.pack", help="The folder of the pack; a new one."),
    ] = None,
) -> None:
    """Pack result files, of any command, for fast queries.

    A pack is a folder of Parquet files: runs, cells, processes with their samples, code by digest,
    verdicts and anomalies. The result files stay as they are. docs/reference/query.md says more.
    """
    context = context_of(command)
    folder = context.state_dir() / "results"
    chosen = result_search.files_of(files or [folder]) if files or folder.is_dir() else []
    if not chosen:
        raise EverycoreError(
            "no result files to pack", "name some, or measure first: `everycore bench`"
        )
    target = out or folder / f"{context.now():%Y%m%d-%H%M%S}{parquet.SUFFIX}"
    if not target.name.endswith(parquet.SUFFIX):
        raise EverycoreError(
            f"{target} is no name of a pack", f"such as {target.name}{parquet.SUFFIX}"
        )
    counts = parquet.write_pack(chosen, target)
    summary = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    context.err.print(f"{len(chosen)} files: {summary}", soft_wrap=True)
    context.out.print(str(target), markup=False, soft_wrap=True)
