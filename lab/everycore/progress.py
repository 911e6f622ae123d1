# SPDX-License-Identifier: MIT
"""A progress bar for work of more than two seconds, on terminals only."""

from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console

SHOW_AFTER_SECONDS = 2.0


class Progress:
    """`with Progress(console, "building", 40) as progress: progress.step("aes.c")`."""

    def __init__(self, console: Console, title: str, total: int | None) -> None:
        # Only a command that has something to wait for pays for this import.
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[item]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(title, total=total, item="")
        self._began = monotonic()
        self._shown = False

    def step(self, item: str = "") -> None:
        self._bar.update(self._task, advance=1, item=item)
        if not self._shown and monotonic() - self._began > SHOW_AFTER_SECONDS:
            self._shown = True
            self._bar.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._bar.stop()
