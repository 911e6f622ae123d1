# SPDX-License-Identifier: MIT
"""A CPU model of Bochs or Hercules: what CPUs compute that nobody here owns. It has no clock."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from shutil import which

from everycore.environment import extras
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

PACKAGE, EXTRA = "bochscpu", "bochs"
COMMANDS = ("list", "resolve", "check", "vectors")  # of the harness, that measure nothing


def refuse_measuring(target: Target) -> None:
    """Refuse a CPU model for a command that times or traces."""
    raise EverycoreError(
        f"{target.name} has no clock and no tracer",
        f"it takes the harness's commands {', '.join(COMMANDS)} alone",
    )


class CpuModel:
    def __init__(self, context: Context, target: Target) -> None:
        if target.transport == "bochs" and not extras.is_installed(PACKAGE):
            raise extras.missing_packages(f"{target.name}, a CPU model of Bochs,", EXTRA)
        if target.transport == "hercules" and not which("hercules"):
            raise EverycoreError(
                f"{target.name} needs hercules, which is not installed",
                f"Debian: apt-get install {' '.join(target.packages)}",
            )
        self._context = context
        self._target = target

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        if arguments[0] not in COMMANDS:
            refuse_measuring(self._target)
        argv = [*self._target.emulator, str(binary), *arguments]
        return (yield from self._context.runner.stream(argv, stdin=stdin))
