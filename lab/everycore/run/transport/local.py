# SPDX-License-Identifier: MIT
"""This machine."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from everycore.binary.machine_fit import machine_of
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError, WrongMachineError


class Local:
    def __init__(self, context: Context) -> None:
        self._context = context

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        try:
            return (yield from self._context.runner.stream([str(binary), *arguments], stdin=stdin))
        except WrongMachineError as error:
            raise EverycoreError(
                f"the harness is for {machine_of(binary)}, which this machine is not",
                "--cc names a compiler for another machine; `--target` names an emulated one",
            ) from error
