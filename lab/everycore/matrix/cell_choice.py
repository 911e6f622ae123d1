# SPDX-License-Identifier: MIT
"""The cells that a user chooses: by names and numbers, or those of an earlier run."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from everycore.environment.decoding import decode
from everycore.environment.errors import EverycoreError
from everycore.matrix.flagsets import FlagSet, chosen
from everycore.matrix.portable_paths import file_named
from everycore.matrix.time_limits import Limits
from everycore.run.session import split_flags
from everycore.store import matrix_files


@dataclass(frozen=True, slots=True)
class Choice:
    """The choices of the command line; empty: all, or the usual ones."""

    subjects: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    toolchains: tuple[str, ...] = ()
    flag_sets: tuple[str, ...] = ()  # names, and flags as they were given
    targets: tuple[str, ...] = ()
    key_bits: tuple[int, ...] = ()
    bytes: tuple[int, ...] = ()

    def sets(self) -> tuple[FlagSet, ...]:
        """Return the sets of flags that are named, and those that were given word by word."""
        given = [flag_set for flag_set in self.flag_sets if flag_set.startswith("-")]
        names = [flag_set for flag_set in self.flag_sets if not flag_set.startswith("-")]
        return chosen(names, map(split_flags, given))

    def without_paths(self, cwd: Path) -> "Choice":
        """Return the choice with files by their names, as results keep it."""
        return replace(
            self,
            subjects=tuple(file_named(name, cwd) for name in self.subjects),
            targets=tuple(file_named(name, cwd) for name in self.targets),
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How cells are run, beside which there are."""

    time_limit: float = Limits().run
    estimate: bool = False


def flags_given(text: str) -> str:
    """Return flags as one text that a shell would split again."""
    if not text.strip().startswith("-"):
        raise EverycoreError(f"--flags '{text}' begins with no flag", 'such as --flags="-O2"')
    return shlex.join(split_flags(text))


def numbers(option: str, given: Sequence[str], valid: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of an option, each once; an error names one that is not valid."""
    for word in given:
        if not word.isdecimal() or int(word) not in valid:
            shown = f"{valid[0]} to {valid[-1]}" if isinstance(valid, range) else f"{valid}"
            raise EverycoreError(f"{option} {word} is not possible", f"valid: {shown.strip('()')}")
    return tuple(dict.fromkeys(map(int, given)))


def resumed_choice(path: Path, given: Choice) -> tuple[Choice, RunOptions]:
    """Return the choice of the run before, but for what is given now."""
    try:
        before, options = stored_choice(path)
    except EverycoreError:
        if given == Choice():
            raise
        return given, RunOptions()
    names = [field.name for field in fields(Choice)]
    merged = {name: getattr(given, name) or getattr(before, name) for name in names}
    return Choice(**merged), options


def stored_choice(path: Path) -> tuple[Choice, RunOptions]:
    """Return the choice of the run that wrote a file last."""
    heads = matrix_files.read(path).heads
    try:
        return _decoded(dict(heads[-1].options))
    except (IndexError, TypeError) as error:
        raise EverycoreError(
            f"{path} does not say which cells it was to have", "give the options of its run again"
        ) from error


def _decoded(options: Mapping[str, Any]) -> tuple[Choice, RunOptions]:
    names = {field.name for kind in (Choice, RunOptions) for field in fields(kind)}
    if unknown := options.keys() - names:
        raise TypeError(f"unknown: {unknown}")
    return decode(Choice, options), decode(RunOptions, options)
