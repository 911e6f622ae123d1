# SPDX-License-Identifier: MIT
"""This machine."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from everycore.context import Completed, Context


class Local:
    def __init__(self, context: Context) -> None:
        self._context = context

    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        return self._context.runner.stream([str(binary), *arguments], stdin=stdin)
