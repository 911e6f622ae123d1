# SPDX-License-Identifier: MIT
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from everycore.compile import refusals
from everycore.environment.context import Completed
from everycore.environment.errors import CannotRunError, NoSpaceError
from everycore.matrix import accepted_flags

KILLED = "gcc: fatal error: Killed signal terminated program cc1"


@dataclass
class FakeRunner:
    """Ends as it is told to, each time anew."""

    end: Completed | Exception
    calls: list[list[str]] = field(default_factory=list)

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        del options
        self.calls.append(list(argv))
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


@dataclass
class FakeContext:
    runner: FakeRunner
    folder: Path

    def cache_dir(self) -> Path:
        return self.folder


COMPILER: Any = type("C", (), {"name": "gcc 12", "fingerprint": "f", "command": ("gcc",)})


def asked(end: Completed | Exception, folder: Path) -> tuple[str, int]:
    """Return the answer of a run of its own, and how often the compiler was asked."""
    accepted_flags._OF_THIS_RUN.clear()
    runner = FakeRunner(end)
    context: Any = FakeContext(runner, folder)
    said = {accepted_flags.refusal(context, COMPILER, ("-x",)) for _ in range(2)}
    return said.pop(), len(runner.calls)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (Completed(0), ""),
        (Completed(1, "", "gcc: error: unrecognized option '-x'"), "unrecognized option"),
        (Completed(0, "", "clang: warning: unknown flag ignored"), "ignored"),
    ],
)
def test_a_final_answer_is_kept(end: Completed, said: str, tmp_path: Path) -> None:
    first, calls = asked(end, tmp_path)
    assert (said in first, calls) == (True, 1)
    assert asked(Completed(1), tmp_path) == (first, 0)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (TimeoutError(), "no answer in 20 s"),
        (Completed(-9), "Killed"),
        (Completed(1, "", KILLED), "Killed"),
        (Completed(1, "", "cc1: out of memory allocating 65536 bytes"), "out of memory"),
        (Completed(1, "", "Cannot create temporary file in /tmp/: No such file"), "temporary"),
        (CannotRunError("cannot run gcc: Resource temporarily unavailable"), "cannot run"),
    ],
)
def test_what_may_pass_is_an_answer_for_one_run(
    end: Completed | Exception, said: str, tmp_path: Path
) -> None:
    first, calls = asked(end, tmp_path)
    assert (said in first, calls) == (True, 1)
    assert asked(Completed(0), tmp_path) == ("", 1)


def test_a_crash_of_the_compiler_proper_is_an_answer() -> None:
    assert not refusals.is_passing("x.c:1: internal compiler error: Segmentation fault")
    assert refusals.is_passing(KILLED)


def test_a_full_disk_is_no_answer(tmp_path: Path) -> None:
    full = Completed(1, "", "cc1: error writing to /tmp/x.s: No space left on device")
    with pytest.raises(NoSpaceError, match="cannot try flags: No space left on device"):
        asked(full, tmp_path)
    assert asked(Completed(0), tmp_path) == ("", 1)
