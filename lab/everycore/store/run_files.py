# SPDX-License-Identifier: MIT
"""Result files: raw JSON lines, one file a run, never overwritten.

The only module that writes them.

The first line describes the run, the last one says how many lines lie between: a file that was cut
short is known by it. In between stand the harness's own lines.
"""

import fcntl
import json
import lzma
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from everycore.environment.decoding import Opening, Record, complaint, decode_line, encode_line
from everycore.environment.errors import EverycoreError, LostError, SignalError
from everycore.environment.outputs import is_stream, make_folder
from everycore.measure import quiet
from everycore.measure.processes import merged
from everycore.model.domain import Revision
from everycore.model.protocol import Bench
from everycore.model.run_lines import FORMAT, LINES, End, Run
from everycore.store import journal
from everycore.store.journal import PACKED, Journal

RESULTS_HINT = (
    "name a result file (.jsonl), a pack, or a folder of them; docs/reference/query.md says more"
)
BROKEN = "fetch or copy it anew; if a run of yours wrote it, measure again"
_RUN_BEGINS = ('{"type": "run"', '{"type":"run"')
SUFFIX = ".jsonl"
PATTERNS = (f"*{SUFFIX}", f"*{SUFFIX}{PACKED}")  # of the names of result files
PARTIAL = ".partial"
PART = ".part"


@dataclass(frozen=True, slots=True)
class Results:
    """A whole result file."""

    path: Path
    run: Run
    records: tuple[Record, ...]
    cut_off: str = ""  # why it ended early; of a partial result only
    earlier: tuple[Run, ...] = ()  # other runs that the file joins, the oldest first

    def source(self) -> str:
        """Say where the numbers come from, for the foot of a table."""
        said = self.run.source()
        if not self.earlier:
            return said
        others = [f"{run.revision} ({run.date[:10]})" for run in self.earlier]
        return f"{said}; other rows of commit {', '.join(dict.fromkeys(others))}"

    def benches(self) -> Iterator[Bench]:
        """A line of each process."""
        return (line for line in self.records if isinstance(line, Bench))

    def figures(self) -> Iterator[Bench]:
        """A line of each operation, with the samples of all processes."""
        return (line for line in merged(self.benches()) if isinstance(line, Bench))


def new_path(folder: Path, when: datetime, revision: Revision, command: str) -> Path:
    """A name that no run has had: date, time, commit, command. The folder is made."""
    stem = f"{when:%Y%m%d-%H%M%S}-{revision.commit or 'no-commit'}-{command}"
    return journal.new_path(folder, stem, SUFFIX, (PART, PARTIAL))


def refuse_if_unusable(path: Path) -> None:
    """Raise an error if a run could not begin to write this file: it is there, or has no folder.

    The folder is made. A stream (standard output, a device, a pipe) can always be written to.
    """
    if path.is_dir():
        raise EverycoreError(f"{path} is a folder", "name a file")
    if is_stream(path):
        return
    if path.exists():
        raise EverycoreError(f"{path} exists", "results are never overwritten: name another file")
    make_folder(path)


def _part(path: Path) -> Path:
    return path.with_name(path.name + PART)


def partial_path(path: Path) -> Path:
    """Return the path where the beginning of a run is kept if it is cut off."""
    return path.with_name(path.name + PARTIAL)


class Writer:
    """Collects a run beside its final name, and takes that name when the run is complete.

    The file beside it belongs to one run: another that wants the same name is refused at once. What
    a run that was killed has left there becomes a partial result.
    Of a run that is interrupted, whose place is lost or whose disk is full, what was measured is
    kept as a partial result. A stream (standard output, a device, a pipe) gets the lines as they
    come.
    """

    def __init__(self, path: Path, run: Run, stdout: IO[str] | None = None) -> None:
        refuse_if_unusable(path)
        self._path = path
        self._stdout = stdout or sys.stdout
        self._is_full = False
        self._part = _part(path)
        self._run = run
        self._lines = 0

    def __enter__(self) -> Self:
        if not is_stream(self._path):
            _rescue(self._path)
        self._journal = Journal(self._part, self._stdout, is_new=True, shown=self._path)
        try:
            self._journal.add(encode_line(self._run))
        except EverycoreError:
            self._leave_nothing()
            raise
        return self

    def write(self, line: Record) -> None:
        try:
            self._journal.add(encode_line(line))
        except EverycoreError:
            self._is_full = True
            raise
        self._lines += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._journal.stream:
            if kind is None:
                self._journal.add(encode_line(End(self._lines)))
            self._journal.close()
            return
        why = _why_partial(error) if self._lines else ""
        if self._lines and self._is_full and error:
            why = str(error)
        if kind is not None and not why:
            self._leave_nothing()
            return
        kept = partial_path(self._path)
        try:
            if why:
                self._journal.cut_half_line()
            self._journal.add(encode_line(End(self._lines, why)))
        except EverycoreError as full:
            # The lines stay, and the next run of this name makes a partial result of them.
            self._journal.close()
            full.add_note(f"what was measured is in {self._part}")
            if not error:
                raise
            kept = self._part
        else:
            self._journal.close()
            if not why:
                self._publish()
                return
            _keep_partial(self._part, self._path)
        if error and not isinstance(error, LostError):
            error.add_note(f"what was measured is in {kept}")

    def _leave_nothing(self) -> None:
        self._journal.close()
        if self._journal.stream is None:
            self._part.unlink(missing_ok=True)

    def _publish(self) -> None:
        try:
            os.link(self._part, self._path)  # fails rather than overwrites
        except FileExistsError:
            raise EverycoreError(
                f"{self._path} appeared meanwhile", f"the results are in {self._part}"
            ) from None
        except OSError:  # a file system without hard links
            self._part.replace(self._path)
        self._part.unlink(missing_ok=True)


def _why_partial(error: BaseException | None) -> str:
    """Why a result ends early, if what was measured until then is good; else nothing."""
    if isinstance(error, LostError):
        return error.message
    return "it was interrupted" if isinstance(error, SignalError | KeyboardInterrupt) else ""


def _keep_partial(part: Path, path: Path) -> None:
    """Keep `part` as the partial result of `path`, unless an earlier one has more lines."""
    partial = partial_path(path)
    with suppress(OSError):
        if partial.read_bytes().count(b"\n") > part.read_bytes().count(b"\n"):
            part.unlink()
            return
    part.replace(partial)


def _rescue(path: Path) -> None:
    """Make a partial result of what a run that was killed has left beside `path`."""
    part = _part(path)
    try:
        with part.open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused if its run is alive
            lines = file.read().splitlines(keepends=True)
            whole = [line for line in lines if line.endswith(b"\n")]
            if len(whole) < 2:  # the first describes the run
                part.unlink()
                return
            file.seek(0)
            file.truncate()
            end = encode_line(End(len(whole) - 1, "it was killed"))
            file.write(b"".join(whole) + f"{end}\n".encode())
            file.flush()
            _keep_partial(part, path)
    except OSError:  # not there, of a run that is alive, or of another user
        return


def lines_of(path: Path) -> list[str]:
    """Return the lines of a result file, packed or not."""
    return journal.text_of(path).splitlines()


def read(path: Path, partial: bool = False) -> Results:
    """A result file; an EverycoreError that names it if it is cut short or of another version.

    A file that joins runs of one command on one host is read as one run, the newest.
    `partial`: it may be the beginning of a run that was cut off.
    """
    *earlier, last = _each(path, partial)
    if not earlier:
        return last
    for results in earlier:
        if (results.run.command, results.run.counter) != (
            last.run.command,
            last.run.counter,
        ) or not (results.run.machine.is_same_host(last.run.machine)):
            raise EverycoreError(
                f"{path} joins runs of several commands, counters or machines",
                "`everycore query --from` and `everycore pack` read it",
            )
    records = tuple(record for results in (*earlier, last) for record in results.records)
    return Results(path, last.run, records, last.cut_off, tuple(results.run for results in earlier))


def read_each(path: Path) -> list[Results]:
    """Return the runs of a file that result files were joined to, partial ones too."""
    return _each(path, partial=True)


def _each(path: Path, partial: bool) -> list[Results]:
    lines = lines_of(path)
    begins = [0, *(at for at, line in enumerate(lines) if at and line.startswith(_RUN_BEGINS))]
    ends = [*begins[1:], len(lines)]
    return [
        _results(path, lines[begin:end], partial) for begin, end in zip(begins, ends, strict=True)
    ]


def head(path: Path) -> dict[str, Any]:
    """Return the first line of a file, packed or not; nothing if it is no object of JSON."""
    try:
        with (lzma.open if path.suffix == PACKED else open)(path, "rt", encoding="utf-8") as file:
            value = json.loads(file.readline())
    except (EOFError, OSError, ValueError, lzma.LZMAError):
        return {}
    return value if isinstance(value, dict) else {}


def _results(path: Path, texts: Sequence[str], partial: bool) -> Results:
    _refuse_other_file(path, texts[0] if texts else "")
    try:
        end = decode_line(LINES, texts[-1])
    except (KeyError, TypeError, ValueError):
        end = None
    if not isinstance(end, End) or end.lines != len(texts) - 2:
        raise EverycoreError(f"{path} is cut short", "the run that wrote it did not end well")
    if end.partial and not partial:
        raise EverycoreError(
            f"{path} is a partial result: {end.partial}",
            "the same command, given again, measures what is missing",
        )
    run, *lines = (_line(path, number, text) for number, text in enumerate(texts[:-1], 1))
    assert isinstance(run, Run)
    return Results(path, run, tuple(quiet.marked(lines)), end.partial)


def _refuse_other_file(path: Path, first: str) -> None:
    try:
        opening = decode_line(Opening, first)
    except (TypeError, ValueError):
        raise EverycoreError(
            f"{path} is cut short or no result file of everycore", RESULTS_HINT
        ) from None
    if opening.type != "run":
        raise EverycoreError(f"{path} is no result file of everycore", RESULTS_HINT)
    if opening.format != FORMAT:
        raise EverycoreError(
            f"{path} has format {opening.format}, this everycore reads format {FORMAT}",
            "measure again, or use the everycore that wrote it",
        )


def _line(path: Path, number: int, text: str) -> Run | End | Record:
    try:
        line: Run | End | Record = decode_line(LINES, text)
    except (KeyError, TypeError, ValueError) as error:
        raise EverycoreError(f"{path}, line {number}: {complaint(error)}", BROKEN) from error
    return line


def partial_of(path: Path, run: Run) -> Results | None:
    """The partial result beside `path`, if it is of the same run."""
    _rescue(path)
    beside = partial_path(path)
    if not beside.exists():
        return None
    found = read(beside, partial=True)
    then, now = found.run.machine, run.machine
    if then.title() == now.title() and not then.is_same_host(now):
        raise EverycoreError(
            f"{beside} was begun on another host of this model, {now.title()}:"
            f" {then.installation}, and this is {now.installation}",
            "measure on that one, or name another file with --out; that run stays as it is",
        )
    if not found.run.same_as(run):
        raise EverycoreError(
            f"{beside} is the beginning of another run",
            "name another file with --out; that run stays as it is",
        )
    return found


def latest_partial(folder: Path, run: Run) -> Results | None:
    """The newest partial result of the same run in a folder."""
    for part in folder.glob(f"*{_part(Path(SUFFIX)).name}"):
        _rescue(part.with_suffix(""))
    for path in sorted(folder.glob(f"*{SUFFIX}{PARTIAL}"), reverse=True):
        with suppress(EverycoreError):
            if (found := read(path, partial=True)).run.same_as(run):
                return found
    return None


def latest(folder: Path, count: int) -> tuple[list[Results], list[EverycoreError]]:
    """The newest results of a folder that time operations, newest last, and what could not be read.

    Runs of programs in emulators and the like have nothing that another run could be compared with.
    """
    found: list[Results] = []
    unreadable: list[EverycoreError] = []
    for path in sorted(folder.glob(f"*{SUFFIX}"), reverse=True):
        if len(found) == count:
            break
        try:
            results = read(path)
        except EverycoreError as error:
            unreadable.append(error)
        else:
            of_one = not any(bench.side for bench in results.benches())
            found += [results] if any(results.benches()) and of_one else []
    return found[::-1], unreadable
