# SPDX-License-Identifier: MIT
"""Files of the matrix: lines are added as cells are done, and a run that was killed goes on."""

import json
import re
import shlex
import sys
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError, SignalError
from everycore.environment.outputs import is_stream, make_folder
from everycore.model.cells import (
    Anomaly,
    Cell,
    FormatError,
    Head,
    Line,
    Outcome,
    Result,
    current_anomalies,
    latest,
    parse,
)
from everycore.store import journal
from everycore.store.journal import PACKED, Journal

SUFFIX = "-matrix.jsonl"
ANOTHER = "name another file with --out"
WHEN_FULL = "what was measured before is in it: make room and go on with --resume"


@dataclass(frozen=True, slots=True)
class Stored:
    """The contents of a file of the matrix."""

    path: Path
    lines: tuple[Line, ...]
    dropped: str = ""  # the half of a line that a killed run left at its end

    @property
    def heads(self) -> tuple[Head, ...]:
        return tuple(line for line in self.lines if isinstance(line, Head))

    @property
    def results(self) -> dict[Cell, Result]:
        return latest(self.lines)

    @property
    def anomalies(self) -> list[Anomaly]:
        """Those that still are: `current_anomalies`."""
        return list(current_anomalies(self.lines).values())

    def done(
        self,
        time_limit: float = 0.0,
        estimate: bool = False,
        can_count: bool = False,
        sweep: int = 0,
    ) -> dict[Cell, Result]:
        """Cells that need not be looked at again.

        One that was skipped may have what it lacked, one that was ended may have more time, and of
        one that was counted estimates may be wanted now. `can_count`: the packages that read code
        are there, and one that lacked them may have counts. `sweep`: answers that were compared
        by an earlier set of inputs than this are compared anew.
        """
        return {
            cell: result
            for cell, result in self.results.items()
            if result.outcome is not Outcome.SKIPPED
            and time_limit <= (result.time_limit or time_limit)
            and not (can_count and result.packages_missing)
            and not (result.has_answers and result.sweep < sweep)
            and not (estimate and result.outcome is Outcome.COUNTED and result.estimates is None)
        }


_BEGIN = '{"type":"matrix"'  # of the first line
# Half a line of a run that was killed, before the first line of a file that `cat` added to it. No
# text in a line has these characters: its quotation marks are escaped.
_HALF = re.compile(rf"^.+?(?={re.escape(_BEGIN)})", re.MULTILINE)


def read(path: Path) -> Stored:
    """Read a file of the matrix, packed or not; a last line that has no end is left out.

    A file that consists of such a line alone is one of the matrix only if it begins as one does.
    """
    text = journal.text_of(path, errors="replace", remedy="is it whole? fetch it anew")
    whole, end, rest = without_halves(text).rpartition("\n")
    lines: list[Line] = []
    for number, line_text in enumerate((whole + end).splitlines(), 1):
        try:
            line = parse(line_text)
        except FormatError as error:
            raise EverycoreError(f"{path}: {error.message}", f"{error.hint}; {ANOTHER}") from error
        except EverycoreError as error:
            if number == 1:
                raise _other(path, line_text) from error
            raise EverycoreError(f"{path}, line {number}: {error.message}", ANOTHER) from error
        if number == 1 and not isinstance(line, Head):
            raise _other(path, line_text)
        lines.append(line)
    if rest and not lines and not (_BEGIN.startswith(rest) or rest.startswith(_BEGIN)):
        raise _other(path, rest)
    return Stored(path, tuple(lines), rest)


def without_halves(text: str) -> str:
    """Drop half lines that `cat` put before the first line of another file."""
    return _HALF.sub("", text)


def _other(path: Path, first: str) -> EverycoreError:
    """The error for a file whose first line is none of the matrix."""
    try:
        table = json.loads(first)
        command = table.get("command") if table.get("type") == "run" else None
    except (AttributeError, ValueError):
        command = None
    what = f": it has results of `everycore {command}`" if isinstance(command, str) else ""
    return EverycoreError(f"{path} is no file of the matrix{what}", ANOTHER)


class Writer:
    """Adds lines to a file that no other run may write at the same time.

    `resume`: the file may have lines; they are in `stored`. Each line is on its way to the disk
    before the next cell is begun. A stream (standard output, a device, a pipe) is only written to.
    """

    def __init__(
        self, path: Path, head: Head, resume: bool = False, stdout: IO[str] | None = None
    ) -> None:
        self._path = path
        self._stdout = stdout or sys.stdout
        self._written: list[Line] = []
        self._head = head
        self._resume = resume
        self.stored = Stored(path, ())

    def __enter__(self) -> Self:
        if self._path.suffix == PACKED:
            raise EverycoreError(f"{self._path} is packed", f"go on with a copy: unxz {self._path}")
        is_file = not is_stream(self._path)
        if is_file:
            if self._path.exists() and self._path.stat().st_size and not self._resume:
                raise EverycoreError(
                    f"{self._path} exists", "go on with it: --resume; or name another file"
                )
            make_folder(self._path)
        self._journal = Journal(self._path, self._stdout, is_new=False, when_full=WHEN_FULL)
        try:
            if not is_file and self._resume:
                raise EverycoreError(
                    f"--resume needs a file, and {self._path} is none", "name a file with --out"
                )
            if is_file:
                self._begin()
            else:
                self.write(self._head)
        except BaseException:
            self._journal.close()
            raise
        return self

    def _begin(self) -> None:
        self.stored = read(self._path) if self._path.stat().st_size else self.stored
        if self.stored.dropped:
            self._journal.cut_half_line()
        heads = self.stored.heads
        if heads:
            refuse_other(self._path, heads[-1], self._head)
        if not heads or not _same(heads[-1], self._head):
            self.write(self._head)

    def now(self) -> Stored:
        """The lines that were stored before, and those written since."""
        return replace(self.stored, lines=(*self.stored.lines, *self._written))

    def revisions(self) -> list[str]:
        """Revisions of the trees that cells of the file were, or are to be, built from."""
        return list(dict.fromkeys(str(head.revision) for head in (*self.stored.heads, self._head)))

    def write(self, line: Line) -> None:
        self._written.append(line)
        self._journal.add(encode_line(line))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, SignalError) and self._journal.stream is None:
            error.add_note(
                f"{len(self.now().results)} cells are in {self._path}; the same command with"
                f" --resume --out {shlex.quote(str(self._path))} goes on with them"
            )
        self._journal.close()


def refuse_other(path: Path, stored: Head, own: Head) -> None:
    """Cells of two machines are no one matrix."""
    if stored.machine.title() == own.machine.title() and not own.machine.is_same_host(
        stored.machine
    ):
        raise EverycoreError(
            f"{path} was measured on another host of this model, {own.machine.title()}:"
            f" {stored.machine.installation}, and this is {own.machine.installation}",
            "measure on that one, or name another file with --out",
        )
    for what, theirs, ours in (
        ("on", stored.machine.title(), own.machine.title()),
        ("with the counter", stored.counter, own.counter),
    ):
        if theirs != ours:
            raise EverycoreError(
                f"{path} was measured {what} {theirs}, this would be {what} {ours}",
                "name another file with --out",
            )


def _same(stored: Head, own: Head) -> bool:
    """Whether cells of the second head may follow cells of the first in one file."""
    as_stored = parse(encode_line(own.replace(date=stored.date)))  # its tuples are lists
    return as_stored == stored


def new_path(folder: Path, when: datetime) -> Path:
    """A name that no run has had; the folder is made."""
    return journal.new_path(folder, f"{when:%Y%m%d-%H%M%S}", SUFFIX)


def newest(folder: Path) -> Path:
    """The file of the last run."""
    found = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise EverycoreError(
            f"no run to go on with in {folder}", "`everycore matrix` without --resume begins one"
        )
    return found[-1]
