# SPDX-License-Identifier: MIT
"""Shows how far work of more than two seconds has come."""

from contextlib import suppress
from threading import Lock, Timer
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.errors import LiveError

SHOW_AFTER_SECONDS = 2.0
LINE_EVERY_SECONDS = 5.0


class Progress:
    """`with Progress(console, "building", 40) as progress: progress.step("aes.c")`.

    On a terminal: a bar, which is gone in the end. Elsewhere nothing; with `lines`, a line every
    five seconds, for work that may take minutes and prints its results only in the end.
    """

    def __init__(
        self, console: Console, title: str, total: int | None, *, lines: bool = False
    ) -> None:
        # Only a command that has something to wait for pays for this import.
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._console, self._title, self._total = console, title, total
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
        self._lock = Lock()  # of the two below
        self._is_over = False
        self._is_shown = False
        self._timer = Timer(SHOW_AFTER_SECONDS, self._show)
        self._timer.daemon = True  # a command that ends otherwise does not wait for it
        self._prints_lines = lines and not console.is_terminal
        self._done, self._last_line = 0, monotonic()

    def _show(self) -> None:
        """Start the bar, also if the first step takes long."""
        with self._lock:
            if self._is_over:
                return
            with suppress(LiveError):  # another bar is on this terminal
                self._bar.start()
                self._is_shown = True

    def step(self, item: str = "") -> None:
        self._done += 1
        self._bar.update(self._task, advance=1, item=item)
        if self._prints_lines and monotonic() - self._last_line >= LINE_EVERY_SECONDS:
            self._last_line = monotonic()
            of = f" of {self._total}" if self._total else ""
            text = f"{self._title}: {self._done}{of} done, the last: {item}"
            self._console.print(text, markup=False, soft_wrap=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            if self._is_shown:
                self._bar.stop()
