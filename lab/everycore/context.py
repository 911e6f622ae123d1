# SPDX-License-Identifier: MIT
"""The world outside, in one object: paths, streams, clock, processes. Tests replace it."""

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

from rich.console import Console

from everycore.errors import EverycoreError

STDERR_LIMIT_BYTES = 1 << 16


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

    def run(self, argv: Sequence[str], *, stdin: str = "", cwd: Path | None = None) -> Completed:
        """Run to the end."""
        ...

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        """Yield lines of standard output as they come; the generator's value is the end."""
        ...

    def talk(
        self, argv: Sequence[str], *, env: Mapping[str, str]
    ) -> AbstractContextManager[Dialogue]:
        """Speak with a process through its standard streams; it is ended with the dialogue."""
        ...


class SystemRunner:
    """The runner outside of tests."""

    def run(self, argv: Sequence[str], *, stdin: str = "", cwd: Path | None = None) -> Completed:
        try:
            done = subprocess.run(  # noqa: PLW1510 - the caller looks at the code
                argv, input=stdin, capture_output=True, text=True, errors="replace", cwd=cwd
            )
        except OSError as error:
            raise EverycoreError(f"cannot run {argv[0]}: {error.strerror}") from error
        return Completed(done.returncode, done.stdout, done.stderr)

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        # Files rather than pipes at both ends but one: no thread, no deadlock.
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
            for line in stdin:
                source.write(line.encode() + b"\n")
            source.seek(0)
            try:
                process = subprocess.Popen(
                    argv,
                    stdin=source,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf-8",
                    errors="replace",
                )
            except OSError as error:
                raise EverycoreError(f"cannot run {argv[0]}: {error.strerror}") from error
            try:
                assert process.stdout is not None
                for line in process.stdout:
                    yield line.rstrip("\n")
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
