# SPDX-License-Identifier: MIT
"""The command line: one table of commands, and one place where errors become exit codes."""

import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from everycore.commands import bench, check, compare, ct, limits, list, peers, resolve
from everycore.context import Context, system_context
from everycore.errors import EverycoreError

INTERRUPTED = 130

COMMANDS = (
    ("bench", bench.bench),
    ("check", check.check),
    ("ct", ct.ct),
    ("resolve", resolve.resolve),
    ("list", list.list_kernels),
    ("compare", compare.compare),
    ("limits", limits.limits),
    ("peers", peers.peers_command),
)


def make_app() -> typer.Typer:
    app = typer.Typer(
        name="everycore",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(help="Kernels of cryptography for every CPU core: measured, checked, chosen.")
    def common(
        _version: Annotated[
            bool,
            typer.Option(
                "--version",
                help="Print the version and exit.",
                callback=show_version,
                is_eager=True,
            ),
        ] = False,
        _debug: Annotated[bool, typer.Option("--debug", help="Tracebacks with errors.")] = False,
    ) -> None:
        """--version ends before this; main() takes --debug itself, wherever it stands."""

    for name, function in COMMANDS:
        app.command(name)(function)
    return app


def show_version(command: typer.Context, wanted: bool) -> None:
    if wanted:
        command.obj.print_raw(f"everycore {package_version()}")
        raise typer.Exit


def package_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("everycore")
    except PackageNotFoundError:
        return "(not installed)"


def main(arguments: Sequence[str], context: Context | None = None) -> int:
    """Run one command line; the exit code."""
    context = context or system_context()
    try:
        return _run(arguments, context)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc(file=context.err.file)
        if not isinstance(error, EverycoreError):
            text = f"internal error: {type(error).__name__}: {error}"
            error = EverycoreError(text, "--debug shows where; please report it")
        context.err.print(f"everycore: {error.message}", style="bold red", markup=False)
        if error.hint:
            context.err.print(error.hint, markup=False, soft_wrap=True)
        return error.code


def _run(arguments: Sequence[str], context: Context) -> int:
    command = typer.main.get_command(make_app())
    try:
        words = [word for word in arguments if word != "--debug"]  # goes anywhere
        command.main(args=words, prog_name="everycore", obj=context)
    except SystemExit as end:
        if isinstance(end.__context__, typer.Abort):
            return INTERRUPTED
        return end.code if isinstance(end.code, int) else 0
    return 0
