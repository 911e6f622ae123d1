# SPDX-License-Identifier: MIT
"""Groups of commands: headed sections in the help, and a subcommand that need not be named."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typer.core import TyperGroup

from everycore.environment.errors import EverycoreError

DEFAULT = "run"  # the subcommand that is meant where none is named
USAGE = 2


class SectionedGroup(TyperGroup):
    """A group whose help lists commands under the heading of their `rich_help_panel`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        sections: dict[str, list[tuple[str, Any]]] = {}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            sections.setdefault(str(heading), []).append((name, command))
        widest = max((len(name) for name in self.commands), default=0)
        for heading, commands in sections.items():
            rows = [
                (name.ljust(widest), command.get_short_help_str(formatter.width - 6 - widest))
                for name, command in commands
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


class DefaultCommandGroup(TyperGroup):
    """A group in which options without a subcommand belong to `run`.

    `moved` maps options that were modes once to the subcommands that they are now.
    """

    moved: ClassVar[Mapping[str, str]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "subcommand_metavar": "[COMMAND] [ARGS]..."})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        names_run = args[:1] == [DEFAULT]
        if not ctx.resilient_parsing and (names_run or not args or args[0] not in self.commands):
            self.refuse_moved(ctx.command_path, args[1:] if names_run else args)
        is_help = bool(args) and args[0] in ctx.help_option_names
        is_asked = not args and ctx.resilient_parsing  # a shell that completes
        if not is_help and not is_asked and (not args or args[0].startswith("-")):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def refuse_moved(self, path: str, words: Sequence[str]) -> None:
        """Raise an error with the new command lines if words have an option that moved."""
        if not (given := [word for word in words if word.partition("=")[0] in self.moved]):
            return
        lines = [f"{path} {shlex.join(line)}" for line in self.new_lines(list(words))]
        raise EverycoreError(
            f"{given[0].partition('=')[0]} is a command of its own now", "\n".join(lines), USAGE
        )

    def new_lines(self, words: list[str]) -> list[list[str]]:
        """Return the words of today's command lines for words with an option that moved."""
        moved = next(word for word in words if word in self.moved)
        return [[self.moved[moved], *(word for word in words if word != moved)]]

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        found: list[Any] = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            run = self._context_of_run(ctx)
            known = {item.value for item in found}
            own = run.command.shell_complete(run, incomplete)
            found += [item for item in own if item.value not in known]
        return found

    def format_options(self, ctx: Any, formatter: Any) -> None:
        super().format_options(ctx, formatter)
        run = self._context_of_run(ctx)
        rows = [
            row
            for param in run.command.get_params(run)
            if param.name != "help" and (row := param.get_help_record(run))
        ]
        with formatter.section(f"Options of {DEFAULT}"):
            formatter.write_dl(rows)

    def _context_of_run(self, ctx: Any) -> Any:
        run: Any = self.commands[DEFAULT]
        return run.make_context(DEFAULT, [], parent=ctx, resilient_parsing=True)
