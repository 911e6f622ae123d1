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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from everycore.environment.decoding import decode
from everycore.environment.errors import EverycoreError, LostError, SignalError, unreadable
from everycore.environment.outputs import is_stream, make_folder, refuse_device
from everycore.measure import quiet
from everycore.measure.processes import merged
from everycore.model import protocol
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import Bench, Record
from everycore.store import journal
from everycore.store.journal import Journal

FORMAT = 1
PACKED = ".xz"  # a file that is kept for good may be packed, and can then only be read
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
class Run:
    """The facts that make a measurement worth anything."""

    command: str
    date: str
    everycore: str
    revision: Revision
    machine: Machine
    target: str
    compiler: str
    flags: tuple[str, ...]
    counter: str
    options: dict[str, Any]
    resumed: tuple[str, ...] = ()  # when the runs began that were cut off and that this one goes on

    def title(self) -> str:
        return f"{self.revision} {self.compiler} {' '.join(self.flags)}"

    def source(self) -> str:
        """Say where the numbers come from, for the foot of a table."""
        return (
            f"{self.machine.title()}, {self.counter}, {self.compiler} {' '.join(self.flags)},"
            f" commit {self.revision}, {self.date[:10]}{self.in_parts()}"
        )

    def in_parts(self) -> str:
        return f", in {len(self.resumed) + 1} parts" if self.resumed else ""

    def same_as(self, other: Self) -> bool:
        """Whether the two would measure the same: the same harness, machine and options."""
        return all(
            getattr(self, name) == getattr(other, name)
            for name in ("command", "target", "compiler", "flags", "counter", "options")
        ) and (
            self.machine.is_same_host(other.machine)
            and (self.machine.midr, self.machine.cpu_index)
            == (other.machine.midr, other.machine.cpu_index)
        )


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
        return (r.line for r in self.records if isinstance(r.line, Bench))

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
            self._journal.add(run_line(self._run))
        except EverycoreError:
            self._leave_nothing()
            raise
        return self

    def write(self, text: str) -> None:
        try:
            self._journal.add(text)
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
                self._journal.add(_end_line(self._lines))
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
            self._journal.add(_end_line(self._lines, why))
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


def _end_line(count: int, partial: str = "") -> str:
    end = {"type": "end", "lines": count} | ({"partial": partial} if partial else {})
    return json.dumps(end)


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
            file.write(b"".join(whole) + f"{_end_line(len(whole) - 1, 'it was killed')}\n".encode())
            file.flush()
            _keep_partial(part, path)
    except OSError:  # not there, of a run that is alive, or of another user
        return


def run_line(run: Run) -> str:
    return json.dumps({"type": "run", "format": FORMAT, **asdict(run)})


def lines_of(path: Path) -> list[str]:
    """Return the lines of a result file, packed or not."""
    refuse_device(path)
    try:
        data = path.read_bytes()
        text = (lzma.decompress(data) if path.suffix == PACKED else data).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error
    except lzma.LZMAError as error:
        raise EverycoreError(f"cannot unpack {path}: {error}", "fetch it anew") from error
    return text.splitlines()


def read(path: Path, partial: bool = False) -> Results:
    """A result file; an EverycoreError that names it if it is cut short or of another version.

    A file that joins runs of one command on one host is read as one run, the newest.
    `partial`: it may be the beginning of a run that was cut off.
    """
    *earlier, last = _each(path, partial)
    if not earlier:
        return last
    for one in earlier:
        if (one.run.command, one.run.counter) != (last.run.command, last.run.counter) or not (
            one.run.machine.is_same_host(last.run.machine)
        ):
            raise EverycoreError(
                f"{path} joins runs of several commands, counters or machines",
                "`everycore query --from` and `everycore pack` read it",
            )
    records = tuple(record for one in (*earlier, last) for record in one.records)
    return Results(path, last.run, records, last.cut_off, tuple(one.run for one in earlier))


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


def _results(path: Path, lines: Sequence[str], partial: bool) -> Results:
    head = _object(path, lines[0] if lines else "")
    if head.get("type") != "run":
        raise EverycoreError(f"{path} is no result file of everycore", RESULTS_HINT)
    if head.get("format") != FORMAT:
        raise EverycoreError(
            f"{path} has format {head.get('format')}, this everycore reads format {FORMAT}",
            "measure again, or use the everycore that wrote it",
        )
    last = _object(path, lines[-1])
    if last.get("type") != "end" or last.get("lines") != len(lines) - 2:
        raise EverycoreError(f"{path} is cut short", "the run that wrote it did not end well")
    cut_off = str(last.get("partial", ""))
    if cut_off and not partial:
        raise EverycoreError(
            f"{path} is a partial result: {cut_off}",
            "the same command, given again, measures what is missing",
        )
    return Results(path, _run(path, head), tuple(_records(path, lines[1:-1])), cut_off)


def _records(path: Path, lines: Iterable[str]) -> list[Record]:
    try:
        found = [protocol.parse(line) for line in lines]
    except EverycoreError as error:
        raise EverycoreError(f"{path}: {error.message}", error.hint) from error
    marked = quiet.marked([record.line for record in found])
    return [Record(record.text, line) for record, line in zip(found, marked, strict=True)]


def _run(path: Path, head: dict[str, Any]) -> Run:
    try:
        run: Run = decode(Run, head)
    except KeyError as error:
        raise EverycoreError(f"{path}: its first line is incomplete ({error})", BROKEN) from error
    except (TypeError, ValueError) as error:
        raise EverycoreError(f"{path}: its first line is damaged ({error})", BROKEN) from error
    return run


def _object(path: Path, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise EverycoreError(
            f"{path} is cut short or no result file of everycore", RESULTS_HINT
        ) from None
    return value if isinstance(value, dict) else {}


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
