# SPDX-License-Identifier: MIT
"""everycore toolchain: compilers of many versions, fetched, proven, listed and removed."""

import json as jsonlib
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from everycore.commands.completion import complete_targets, complete_toolchains
from everycore.commands.options import Json, context_of, split_commas
from everycore.compile.catalog import tree_of
from everycore.compile.toolchains import add as toolchains
from everycore.compile.toolchains.compilers_file import write_lock
from everycore.compile.toolchains.make_lock import make_lock
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Tree
from everycore.report import toolchain_table as report

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Fetch gcc and clang of many versions, without root.",
)
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...", help="gcc-16, clang-22, ...", autocompletion=complete_toolchains
    ),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="NAME",
        help="For this target of catalog/targets/; repeatable.",
        autocompletion=complete_targets,
    ),
]


@app.command("add")
def add_toolchains(
    command: typer.Context,
    names: Names = None,
    target: Targets = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Every compiler of the lock that is not here yet.")
    ] = False,
    path: Annotated[
        Path | None,
        typer.Option("--path", metavar="DIR", help="The compilers in this folder, as they are."),
    ] = None,
) -> None:
    """Fetch compilers, and prove that each works."""
    context, tree = _world(command)
    if [bool(names), all_, path is not None].count(True) != 1:
        raise EverycoreError(
            "add wants names, or --all, or --path DIR",
            "everycore toolchain add gcc-16; `everycore toolchain list` says what can be added",
        )
    began = monotonic()
    refused: list[toolchains.Refused] = []
    if path is not None:
        added, refused = toolchains.add_path(context, tree, path)
    else:
        chosen = toolchains.missing(context, tree, split_commas(target)) if all_ else names or []
        if not chosen:
            context.out.print("all compilers of the lock file are here: nothing to add")
            return
        added, refused = toolchains.add(
            context, tree, chosen, split_commas(target), context.err.print
        )
    seconds = monotonic() - began
    used = toolchains.disk(context)
    context.out.print(
        f"{len(added)} added in {seconds:.0f} s; all take {report.megabytes(used)} on the disk",
        markup=False,
    )
    if refused:
        for refusal in refused:
            text = f"everycore: {refusal.name}: {refusal.error.message}"
            context.err.print(text, style="bold red", markup=False, soft_wrap=True)
            if refusal.error.hint:
                context.err.print(refusal.error.hint, markup=False, soft_wrap=True)
        raise typer.Exit(2)


@app.command("list")
def list_toolchains(command: typer.Context, json: Json = False) -> None:
    """List the compilers that are here, and those that can be added.

    With their targets, and their use of the disk.
    """
    context, tree = _world(command)
    rows = toolchains.listed(context, tree)
    if json:
        for row in rows:
            context.print_raw(jsonlib.dumps(row.as_json()))
        return
    context.out.print(report.table(rows))
    context.out.print(
        f"added ones take {report.megabytes(toolchains.disk(context))} together", markup=False
    )
    try:
        missing = toolchains.missing(context, tree)
    except EverycoreError as error:
        context.warn(error.message)
        return
    if missing:
        context.out.print(f"can be added: {' '.join(missing)}", markup=False)


@app.command("remove")
def remove_toolchains(
    command: typer.Context,
    names: Names = None,
    target: Targets = None,
    all_: Annotated[bool, typer.Option("--all", help="Everything that was added.")] = False,
) -> None:
    """Remove compilers that were added, and free what no other needs."""
    context, tree = _world(command)
    if bool(names) == all_:
        raise EverycoreError("remove wants names, or --all", "everycore toolchain remove gcc-9")
    freed = toolchains.remove(context, tree, names or [], split_commas(target))
    context.out.print(f"{report.megabytes(freed)} freed", markup=False)


@app.command("lock")
def lock_toolchains(command: typer.Context) -> None:
    """Write the lock file anew.

    It has what the suites and the index of wheels hold now.
    """
    context, tree = _world(command)
    lock = make_lock(context, tree)
    path = write_lock(context, tree, lock)
    context.out.print(
        f"{len(lock.names())} compilers, {len(lock.parts)} parts: {path}",
        markup=False,
        soft_wrap=True,
    )


def _world(command: typer.Context) -> tuple[Context, Tree]:
    context = context_of(command)
    return context, tree_of(context)
