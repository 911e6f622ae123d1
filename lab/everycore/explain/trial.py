# SPDX-License-Identifier: MIT
"""Tries remedies: the same command with one change, in turn with the unchanged one.

A change is one of the environment, of an option's value, of the library that is loaded, or of
OpenSSL's provider.
"""

import re
import resource
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.explain.contained import instructions_in
from everycore.explain.explanation import Remedy

# Runs of each side. If both are equal, all times of one are below all of the other in 3 % of cases.
ROUNDS = 4
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
# Options whose value a word is: a script of a shell, or a variable that another program sets.
_TAKES_WORD = re.compile(r"-\w*c$|-e$|--?(env|setenv)$")
_SONAME = re.compile(r".*?\.so(\.\d+)?")
_CONFIGURATION = "OPENSSL_CONF"
_PATH, _PRELOAD = "LD_LIBRARY_PATH", "LD_PRELOAD"
NOT_TRIED = "it needs another build or configuration than a change of the command"
SET_WITHIN = "the variable is set by what the command starts"
_LEAST_WORK = 0.5  # of the time of a run
_LEAST_CPU = 0.2  # seconds
_SAME_TIME = 0.03  # runs that differ by less have a fixed time
UNDECIDED = "the runs do not differ enough to tell"


@dataclass(frozen=True, slots=True)
class Trial:
    """A remedy, and what it brought: > 1 is faster."""

    remedy: str
    gain: float | None
    by: str  # how the gain was seen, or why it could not be
    change: str = ""  # what was changed for it, where the remedy's words do not say it
    is_tried: bool = True


@dataclass(frozen=True, slots=True)
class _Run:
    seconds: float  # of CPU time, unless the program mostly waits
    number: float | None  # the last one of the output
    shape: str  # of the output's last line: its words without numbers
    code: int


@dataclass(frozen=True, slots=True)
class Change:
    """The command and the environment that a remedy leads to, and what it changes in words."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    words: str = ""


def change_of(
    argv: Sequence[str],
    env: Mapping[str, str],
    remedy: Remedy,
    folders: Sequence[Path] = (),
    provider: Path | None = None,
) -> Change | None:
    """Return what a remedy changes; None where it needs more than a change of a command.

    `provider`: a configuration of OpenSSL that names our provider.
    """
    if remedy.unset:
        return _without_variables(argv, env, remedy.unset)
    if remedy.append:
        option, more = remedy.append
        for place, word in enumerate(argv[:-1]):
            if word == option:
                value = argv[place + 1]
                words = (*argv[: place + 1], value + more, *argv[place + 2 :])
                return Change(words, env, f"{option} {value}{more}")
    if remedy.put:
        changed = dict(setting.partition("=")[::2] for setting in remedy.put)
        return Change(tuple(argv), {**env, **changed}, " ".join(remedy.put))
    if remedy.provider and provider and _CONFIGURATION not in env:
        return Change(tuple(argv), {**env, _CONFIGURATION: str(provider)}, "with our provider")
    if remedy.library and (other := _same_library(remedy, folders or library_folders())):
        # Preloading alone would leave libraries beside it, which may not fit it, to the old path.
        paths = ":".join(path for path in (str(other.parent), env.get(_PATH, "")) if path)
        preload = " ".join(library for library in (str(other), env.get(_PRELOAD, "")) if library)
        return Change(tuple(argv), {**env, _PATH: paths, _PRELOAD: preload}, f"with {other}")
    return None


def _without_variables(
    argv: Sequence[str], env: Mapping[str, str], names: Sequence[str]
) -> Change | None:
    """Take variables out of the environment, and out of words such as those of `env NAME=VALUE`.

    None if they are in neither: a script sets them.
    """
    kept = {name: value for name, value in env.items() if name not in names}
    before = ("", *argv)
    dropped = [
        place
        for place, word in enumerate(argv)
        if word.partition("=")[0] in names and "=" in word and not _TAKES_WORD.match(before[place])
    ]
    if len(kept) == len(env) and not dropped:
        return None
    words = tuple(word for place, word in enumerate(argv) if place not in dropped)
    said = " ".join(sorted({argv[place].partition("=")[0] for place in dropped}))
    return Change(words, kept, f"without {said}=" if said else "")


def not_tried(remedy: Remedy) -> Trial:
    """Say why a remedy cannot be tried."""
    why = SET_WITHIN if remedy.unset else NOT_TRIED
    return Trial(remedy.remedy, None, why, is_tried=False)


def _same_library(remedy: Remedy, folders: Sequence[Path]) -> Path | None:
    """Find a library of the same name and major version that has the instructions."""
    own = Path(remedy.library)
    match = _SONAME.match(own.name)
    for folder in folders if match else ():
        found = folder / (match[0] if match else "")
        is_other = found.exists() and found.resolve() != own.resolve()
        if is_other and instructions_in(str(found)).get(remedy.lacks):
            return found
    return None


def library_folders(root: Path = Path("/")) -> list[Path]:
    """Return the folders where this system keeps its libraries."""
    bases = [root / name for name in ("usr/local/lib", "usr/lib", "lib", "usr/lib64")]
    return [place for base in bases for place in (base, *sorted(base.glob("*-linux-gnu*")))]


def try_remedy(
    argv: Sequence[str], env: Mapping[str, str], remedy: Remedy, provider: Path | None = None
) -> Trial:
    """Run a command with and without a remedy's change, in turn, and compare the best runs."""
    change = change_of(argv, env, remedy, provider=provider)
    if change is None:
        return not_tried(remedy)
    before: list[_Run] = []
    after: list[_Run] = []
    for _ in range(ROUNDS):
        before.append(_run(argv, env))
        after.append(_run(change.argv, change.env))
    if {run.code for run in before} != {run.code for run in after}:
        return Trial(remedy.remedy, None, "the program ends differently with it", change.words)
    gain, how = _compared(before, after)
    return Trial(remedy.remedy, gain, how, change.words)


def _compared(before: Sequence[_Run], after: Sequence[_Run]) -> tuple[float, str]:
    """Return how many times as fast the later runs are, and by what that was seen.

    There is a difference only where all runs of one side are faster than all of the other.
    """
    times = [[run.seconds for run in runs] for runs in (before, after)]
    first, second = map(min, times)
    if abs(first / second - 1) > _SAME_TIME:
        how = f"shortest time of {ROUNDS} runs each"
        return (first / second, how) if _are_apart(*times) else (1.0, f"{how}: {UNDECIDED}")
    shapes = {run.shape for run in (*before, *after)}
    numbers = [[run.number or 0.0 for run in runs] for runs in (before, after)]
    if len(shapes) == 1 and all(map(all, numbers)):
        how = f"the last number that it prints, largest of {ROUNDS} runs each: its time is fixed"
        slow, fast = map(max, numbers)
        return (fast / slow, how) if _are_apart(*numbers) else (1.0, f"{how}; {UNDECIDED}")
    return 1.0, f"shortest time of {ROUNDS} runs each: no difference"


def _are_apart(first: Sequence[float], second: Sequence[float]) -> bool:
    return max(first) < min(second) or max(second) < min(first)


def _run(argv: Sequence[str], env: Mapping[str, str]) -> _Run:
    began, used = time.monotonic(), _cpu_seconds()
    done = subprocess.run(
        list(argv),
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.monotonic() - began
    worked = _cpu_seconds() - used
    if worked >= _LEAST_WORK * seconds or worked >= _LEAST_CPU:  # other programs count less in it
        seconds = worked
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    numbers = _NUMBER.findall(last)
    number = float(numbers[-1]) if numbers else None
    shape = " ".join(_NUMBER.sub("#", last).split())
    return _Run(seconds, number, shape, done.returncode)


def _cpu_seconds() -> float:
    """Return the CPU time of all children that have ended."""
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
