# SPDX-License-Identifier: MIT
"""The world as tests see it: saved harness outputs instead of processes."""

import io
import json
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console

import everycore
from everycore.cli import main
from everycore.environment.context import Completed, Context
from everycore.environment.errors import CannotRunError

DATA = Path(__file__).parent / "data"
PACKAGE = Path(everycore.__file__).parent


def data_text(name: str) -> str:
    return (DATA / name).read_text(encoding="utf-8")


def tool(name: str) -> ModuleType:
    """Load a program of tools/ as a module; without a checkout the test is skipped."""
    path = PACKAGE.parents[1] / "tools" / name
    if not path.is_file():
        pytest.skip("no checkout, no tools")
    loader = SourceFileLoader(name.replace("-", "_"), str(path))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.dont_write_bytecode", True)
        loader.exec_module(module)
    return module


@dataclass
class FakeRunner:
    """Plays a compiler that always succeeds and a harness whose output is in data/."""

    outputs: dict[str, str] = field(
        default_factory=dict
    )  # command -> file in data/, without suffix
    ends: dict[str, Completed] = field(default_factory=dict)  # command -> how it ends
    compiler: str = "gcc_macros.txt"
    absent: tuple[str, ...] = ()  # programs that cannot be started
    calls: list[list[str]] = field(default_factory=list)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str | bytes = "",
        cwd: Path | None = None,
        seconds: float | None = None,
    ) -> Completed:
        del stdin, cwd, seconds
        self._start(argv)
        if "-dM" in argv:
            return Completed(0, data_text(self.compiler))
        if argv[0] == "git":
            return Completed(0, "0123456789ab\n" if "rev-parse" in argv else "")
        return self.ends.get("compile" if "-c" in argv else "link", Completed(0))

    def stream(
        self, argv: Sequence[str], *, stdin: Iterable[str] = (), quiet_seconds: float | None = None
    ) -> Generator[str, None, Completed]:
        del quiet_seconds
        self._start(argv)
        self.given = list(stdin)
        place = next(i for i, word in enumerate(argv) if word.endswith("harness"))
        command = argv[place + 1]
        end = self.ends.get(command, Completed(0))
        if end.code != 2:
            yield from data_text(self.outputs.get(command, command) + ".jsonl").splitlines()
        return end

    def _start(self, argv: Sequence[str]) -> None:
        self.calls.append(list(argv))
        if argv[0] in self.absent:
            raise CannotRunError(f"cannot run {argv[0]}: No such file or directory")

    def harness_calls(self, command: str) -> list[list[str]]:
        return [c for c in self.calls if len(c) > 1 and c[1] == command]


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    def refuses(self, *messages: str) -> None:
        """Expect an error of usage that says all of this, and no traceback."""
        assert self.code == 2, self
        for message in messages:
            assert message in self.err, self.err
        assert "Traceback" not in self.err, self.err


@dataclass
class Lab:
    """A command line in-process, in a world of its own."""

    runner: Any
    folder: Path
    env: dict[str, str]
    width: int = 80

    def context(self) -> Context:
        return Context(
            out=Console(file=io.StringIO(), width=self.width, highlight=False),
            err=Console(file=io.StringIO(), width=200, highlight=False),
            env=self.env,
            cwd=self.folder,
            runner=self.runner,
            now=lambda: datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            package=PACKAGE,
        )

    def __call__(self, *arguments: str) -> Outcome:
        context = self.context()
        code = main(arguments, context)
        out, err = context.out.file, context.err.file
        assert isinstance(out, io.StringIO)
        assert isinstance(err, io.StringIO)
        return Outcome(code, out.getvalue(), err.getvalue())


def objects(text: str) -> list[dict[str, Any]]:
    """Read lines of JSON."""
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def nothing_ignored() -> Iterator[None]:
    """Programs inherit ignored signals: SIGHUP under nohup, SIGINT behind &."""
    ignored = [
        number
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
        if signal.getsignal(number) == signal.SIG_IGN
    ]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
