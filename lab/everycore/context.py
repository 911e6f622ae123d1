# SPDX-License-Identifier: MIT
"""The world outside, in one object: paths, streams, clock, processes. Tests replace it."""

import io
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

from rich.console import Console

from everycore.errors import EverycoreError

STDERR_LIMIT_BYTES = 1 << 16
PIECE_BYTES = 1 << 16


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
        """Less than that only at its end."""
        return self.source.read(length)

    def write(self, data: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended: the next read says so
            self.sink.write(data)
            self.sink.flush()


class Runner(Protocol):
    """Starts processes."""

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
        ...

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = (), quiet_seconds: float | None = None
    ) -> Generator[str, None, Completed]:
        """Yield lines of standard output as they come; the generator's value is the end.

        A process that writes nothing for `quiet_seconds` is ended: TimeoutError.
        """
        ...

    def talk(
        self, argv: Sequence[str], *, env: Mapping[str, str]
    ) -> AbstractContextManager[Dialogue]:
        """Speak with a process through its standard streams; it is ended with the dialogue."""
        ...


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


def _run_limited(argv: Sequence[str], data: bytes, cwd: Path | None, seconds: float) -> Completed:
    """In a group of its own, for the driver of a compiler starts the compiler proper."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        argv, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, start_new_session=True
    )
    try:
        out, err = process.communicate(data, timeout=seconds)
    except BaseException as error:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise TimeoutError from None
        raise
    return _completed(process.returncode, out, err)


class SystemRunner:
    """The runner outside of tests."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | bytes = "",
        cwd: Path | None = None,
        seconds: float | None = None,
    ) -> Completed:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        try:
            if seconds is not None:
                return _run_limited(argv, data, cwd, seconds)
            done = subprocess.run(  # noqa: PLW1510 - the caller looks at the code
                argv, input=data, capture_output=True, cwd=cwd
            )
        except TimeoutError:
            raise
        except OSError as error:
            raise EverycoreError(f"cannot run {argv[0]}: {error.strerror}") from error
        return _completed(done.returncode, done.stdout, done.stderr)

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = (), quiet_seconds: float | None = None
    ) -> Generator[str, None, Completed]:
        # Files rather than pipes at both ends but one: no thread, no deadlock.
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
            for line in stdin:
                source.write(line.encode() + b"\n")
            source.seek(0)
            try:
                process = subprocess.Popen(
                    argv, bufsize=0, stdin=source, stdout=subprocess.PIPE, stderr=errors
                )
            except OSError as error:
                raise EverycoreError(f"cannot run {argv[0]}: {error.strerror}") from error
            try:
                assert process.stdout is not None
                yield from lines(_pieces(process.stdout, quiet_seconds))
                code = process.wait()
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
                if process.stdout is not None:
                    process.stdout.close()
            errors.seek(0)
            return Completed(code, "", errors.read(STDERR_LIMIT_BYTES).decode(errors="replace"))

    @contextmanager
    def talk(self, argv: Sequence[str], *, env: Mapping[str, str]) -> Iterator[Dialogue]:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, env=env)
        except OSError as error:
            raise EverycoreError(f"cannot run {argv[0]}: {error.strerror}") from error
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Dialogue(process.stdout, process.stdin)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            with suppress(BrokenPipeError):
                process.stdin.close()


@dataclass(frozen=True, slots=True)
class Context:
    """What a command may touch."""

    out: Console
    err: Console
    env: Mapping[str, str]
    cwd: Path
    runner: Runner
    now: Callable[[], datetime]
    package: Path  # the folder of this package: where the C tree is looked for
    closing: ExitStack = field(default_factory=ExitStack)  # what has to be closed in the end

    def print_raw(self, text: str) -> None:
        """One line for programs: no wrapping, no markup."""
        self.out.file.write(text + "\n")

    def warn(self, text: str) -> None:
        self.err.print(f"warning: {text}", style="yellow", markup=False)

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


def system_context() -> Context:
    """The context outside of tests."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it cannot show is no reason to stop
            stream.reconfigure(errors="replace")
    return Context(
        out=Console(highlight=False),
        err=Console(stderr=True, highlight=False),
        env=dict(os.environ),
        cwd=Path.cwd(),
        runner=SystemRunner(),
        now=lambda: datetime.now(UTC),
        package=Path(__file__).parent,
    )
