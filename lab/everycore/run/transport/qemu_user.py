# SPDX-License-Identifier: MIT
"""A CPU emulated by qemu-user. Says what is right, never what is fast."""

import re
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from everycore.binary.machine_fit import machine_of
from everycore.environment.context import Completed, Context
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.model.domain import Target

# How QEMU refuses what its option -cpu asks for.
_UNKNOWN = re.compile(
    r"Property '(?:[^']*\.)?([^.']+)' not found|unable to find CPU model '([^']+)'"
)


class Qemu:
    def __init__(self, context: Context, target: Target) -> None:
        self._context = context
        self._target = target

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        argv = [*self._target.emulator, str(binary), *arguments]
        try:
            done = yield from self._context.runner.stream(argv, stdin=stdin)
        except CannotRunError as error:
            packages = " ".join(self._target.packages)
            raise error.with_hint(f"Debian: apt-get install {packages}") from error
        refuse_misfit(self._target, binary, done)
        return done


def refuse_misfit(target: Target, binary: Path, done: Completed) -> None:
    """Refuse an emulator that does not know the target's CPU, or a program for another machine."""
    if done.code and (unknown := _UNKNOWN.search(done.stderr)):
        name, word = target.emulator[0], unknown[1] or unknown[2]
        least = target.emulator_version
        wanted = f"QEMU {least} or newer" if least else "a newer one"
        raise EverycoreError(
            f"{name} does not know '{word}', which {target.name} asks for with -cpu: it is too old",
            f"`{name} --version` names it; put {wanted} before it in PATH: Debian 12 has QEMU 7.2,"
            " Debian 13 has 10.0",
        )
    if done.code and "Invalid ELF image" in done.stderr:
        raise EverycoreError(
            f"the harness is for {machine_of(binary)}, not what {target.emulator[0]} emulates",
            f"--cc must name a compiler for it, as {target.compiler} is",
        )
