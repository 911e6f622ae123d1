# SPDX-License-Identifier: MIT
"""This machine, with valgrind's memcheck looking on."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError

TAINT_FLAGS = ("-DEVC_TAINT",)  # secrets are marked; valgrind's headers are needed


def has_valgrind(context: Context) -> bool:
    try:
        return context.runner.run(["valgrind", "--version"]).code == 0
    except EverycoreError:
        return False


class Valgrind:
    def __init__(self, context: Context, report: Path) -> None:
        self._context = context
        self._report = report

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        # Without a limit, or memcheck stops counting after 1000 distinct errors.
        options = ["--error-limit=no", "--num-callers=8", "--xml=yes", f"--xml-file={self._report}"]
        argv = ["valgrind", "--tool=memcheck", *options, str(binary), *arguments]
        return self._context.runner.stream(argv, stdin=stdin)
