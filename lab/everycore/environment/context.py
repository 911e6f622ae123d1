# SPDX-License-Identifier: MIT
"""The world outside, in one object: paths, streams, clock, processes. Tests replace it."""

import ctypes
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rich.console import Console

from everycore.environment.errors import EverycoreError, SignalError, cannot_run, cannot_write

STDERR_LIMIT_BYTES = 1 << 16
PIECE_BYTES = 1 << 16
_PR_SET_PDEATHSIG = 1  # linux/prctl.h

Process = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Completed:
    """A process that has ended."""

    code: int
    stdout: str = ""
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The standard streams of a process that is asked and answered in bytes."""

    source: IO[bytes]
    sink: IO[bytes]

    def read(self, length: int) -> bytes:
        """Return `length` bytes, or fewer at the end of the stream."""
        return self.source.read(length)

    def write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended: the next read says so
            self.sink.write(data)
            self.sink.flush()


def collected(stream: Generator[str, None, Completed]) -> Completed:
    """Return the end of a process with all of the lines that it wrote."""
    out: list[str] = []
    while True:
        try:
            out.append(next(stream))
        except StopIteration as end:
            done: Completed = end.value
            return replace(done, stdout="\n".join(out))


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """The lines of a text that comes in pieces of any length."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
    if rest:
        yield rest.decode(errors="replace")


def _pieces(pipe: IO[bytes], quiet_seconds: float | None) -> Iterator[bytes]:
    while True:
        if quiet_seconds is not None and not select.select([pipe], [], [], quiet_seconds)[0]:
            raise TimeoutError
        piece = os.read(pipe.fileno(), PIECE_BYTES)
        if not piece:
            return
        yield piece


def _completed(code: int, out: bytes, err: bytes) -> Completed:
    return Completed(code, out.decode(errors="replace"), err.decode(errors="replace"))


def _end_with(parent: int) -> Callable[[], None] | None:
    """A function for a new process, which makes Linux kill that process when its parent ends."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before
            os._exit(1)

    return end_with_parent


def _end_group(process: Process, number: signal.Signals) -> None:
    """Send a signal to a process and to all that it started."""
    if process.returncode is None:
        with suppress(OSError):
            os.killpg(process.pid, number)


class SystemRunner:
    """Starts processes; tests have others.

    Each process leads a group of its own, so that it is ended together with all that it started.
    """

    def __init__(self) -> None:
        self._running: dict[int, Process] = {}
        self.is_ending = False  # a signal asked this program to end

    def end_all(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to all processes; from now on only the main thread may start others."""
        self.is_ending = True
        for process in list(self._running.values()):
            _end_group(process, number)

    @contextmanager
    def _started(self, argv: Sequence[str], *, tied: bool, **options: Any) -> Iterator[Process]:
        """A process that does not outlive the block; `tied`: nor this program, if it is killed."""
        self._refuse_if_ending()
        prepare = _end_with(os.getpid()) if tied else None
        try:
            process = subprocess.Popen(
                argv,
                start_new_session=True,
                preexec_fn=prepare,  # noqa: PLW1509 - it takes no lock
                stdout=subprocess.PIPE,
                **options,
            )
        except OSError as error:
            raise cannot_run(argv[0], error) from error
        self._running[process.pid] = process
        try:
            self._refuse_if_ending()
            yield process
            self._refuse_if_ending()
        finally:
            _end_group(process, signal.SIGKILL)
            process.wait()
            del self._running[process.pid]
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    with suppress(OSError):  # what it did not read
                        pipe.close()

    def _refuse_if_ending(self) -> None:
        """Raise SignalError in threads other than the main one, which the signal's handler ends."""
        if self.is_ending and threading.current_thread() is not threading.main_thread():
            raise SignalError(signal.SIGTERM)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | bytes = "",
        cwd: Path | None = None,
        seconds: float | None = None,
    ) -> Completed:
        """Run to the end; what takes longer than `seconds` is ended, with all that it started:
        TimeoutError."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        pipe = subprocess.PIPE
        with self._started(
            argv, tied=seconds is not None, stdin=pipe, stderr=pipe, cwd=cwd
        ) as process:
            try:
                out, err = process.communicate(data, timeout=seconds)
            except subprocess.TimeoutExpired:
                raise TimeoutError from None
        return _completed(process.returncode, out, err)

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = (), quiet_seconds: float | None = None
    ) -> Generator[str, None, Completed]:
        """Yield lines of standard output as they come; the generator's value is the end.

        A process that writes nothing for `quiet_seconds` is ended: TimeoutError.
        """
        # Files rather than pipes at both ends but one: no thread, no deadlock.
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
            for line in stdin:
                source.write(line.encode() + b"\n")
            source.seek(0)
            with self._started(argv, tied=True, bufsize=0, stdin=source, stderr=errors) as process:
                assert process.stdout is not None
                yield from lines(_pieces(process.stdout, quiet_seconds))
                code = process.wait()
            errors.seek(0)
            return Completed(code, "", errors.read(STDERR_LIMIT_BYTES).decode(errors="replace"))

    @contextmanager
    def talk(self, argv: Sequence[str], *, env: Mapping[str, str]) -> Iterator[Dialogue]:
        """Speak with a process through its standard streams; it is ended with the dialogue."""
        with self._started(argv, tied=True, stdin=subprocess.PIPE, env=env) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield Dialogue(process.stdout, process.stdin)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything outside the process that a command may touch."""

    out: Console
    err: Console
    env: Mapping[str, str]
    cwd: Path
    runner: SystemRunner
    now: Callable[[], datetime]
    package: Path  # the folder of this package: where the C tree is looked for
    closing: ExitStack = field(default_factory=ExitStack)  # what has to be closed in the end

    def print_raw(self, text: str) -> None:
        """One line for programs: no wrapping, no markup."""
        with written():
            self.out.file.write(text + "\n")

    def warn(self, text: str) -> None:
        self.err.print(f"warning: {text}", style="yellow", markup=False, soft_wrap=True)

    def tell(self, error: EverycoreError) -> None:
        """Show an error and its remedy."""
        self.err.print(
            f"everycore: {error.message}", style="bold red", markup=False, soft_wrap=True
        )
        if error.hint:
            self.err.print(error.hint, markup=False, soft_wrap=True)

    def cache_dir(self) -> Path:
        """Compiled objects and binaries; may be deleted at any time."""
        return self._user_dir("XDG_CACHE_HOME", ".cache", "Library/Caches")

    def state_dir(self) -> Path:
        """Results of measurements; not ours to delete."""
        return self._user_dir("XDG_STATE_HOME", ".local/state", "Library/Application Support")

    def _user_dir(self, variable: str, elsewhere: str, on_macos: str) -> Path:
        # A relative path is invalid: XDG Base Directory Specification 0.8.
        if (base := Path(self.env.get(variable, ""))).is_absolute():
            return base / "everycore"
        try:
            home = Path(self.env.get("HOME") or Path.home())
        except RuntimeError as error:  # a user without a line in the table of users
            raise EverycoreError(
                "no home directory for what everycore keeps", f"set HOME or {variable}"
            ) from error
        return home / (on_macos if sys.platform == "darwin" else elsewhere) / "everycore"


@contextmanager
def written() -> Iterator[None]:
    """Standard output is written in this block; what keeps it from that is one clear error."""
    try:
        yield
    except BrokenPipeError:  # the reader has enough
        raise
    except OSError as error:
        raise unwritable(error) from error


def unwritable(error: OSError) -> EverycoreError:
    """The error of a standard output that takes nothing, such as a file on a full disk."""
    return cannot_write("standard output", error)


class StandardOutput(Console):
    """A console for standard output."""

    def print(self, *objects: Any, **options: Any) -> None:
        with written():
            super().print(*objects, **options)


def system_context(runner: SystemRunner | None = None) -> Context:
    """The context outside of tests."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it cannot show is no reason to stop
            stream.reconfigure(errors="replace")
    return Context(
        out=StandardOutput(highlight=False),
        err=Console(stderr=True, highlight=False),
        env=dict(os.environ),
        cwd=Path.cwd(),
        runner=runner or SystemRunner(),
        now=lambda: datetime.now(UTC),
        package=Path(__file__).parents[1],
    )
