# SPDX-License-Identifier: MIT
"""Tries remedies: the same command with one change, in turn with the unchanged one."""

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everycore.explain.explanation import Remedy

ROUNDS = 3
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SAME_TIME = 0.03  # runs that differ by less have a fixed time


@dataclass(frozen=True, slots=True)
class Trial:
    """A remedy, and what it brought: > 1 is faster."""

    remedy: str
    gain: float | None
    by: str  # how the gain was seen, or why it could not be


@dataclass(frozen=True, slots=True)
class _Run:
    seconds: float
    number: float | None  # the last one of the output
    shape: str  # of the output's last line: its words without numbers
    code: int


def try_remedy(argv: Sequence[str], env: Mapping[str, str], remedy: Remedy) -> Trial:
    """Run a command with and without a change of its environment, and compare the best runs."""
    changed = {name: value for name, value in env.items() if name not in remedy.unset}
    before: list[_Run] = []
    after: list[_Run] = []
    for _ in range(ROUNDS):
        before.append(_run(argv, env))
        after.append(_run(argv, changed))
    if {one.code for one in before} != {one.code for one in after}:
        return Trial(remedy.remedy, None, "the program ends differently with it")
    first, second = min(r.seconds for r in before), min(r.seconds for r in after)
    if abs(first / second - 1) > _SAME_TIME:
        return Trial(remedy.remedy, first / second, f"shortest time of {ROUNDS} runs each")
    shapes = {one.shape for one in (*before, *after)}
    numbers = [one.number for one in (*before, *after)]
    if len(shapes) == 1 and all(numbers):
        best = [max(one.number or 0.0 for one in runs) for runs in (before, after)]
        how = f"the last number that it prints, largest of {ROUNDS} runs each: its time is fixed"
        return Trial(remedy.remedy, best[1] / best[0], how)
    return Trial(remedy.remedy, 1.0, f"shortest time of {ROUNDS} runs each: no difference")


def _run(argv: Sequence[str], env: Mapping[str, str]) -> _Run:
    began = time.monotonic()
    done = subprocess.run(
        list(argv),
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    seconds = time.monotonic() - began
    lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    numbers = _NUMBER.findall(last)
    number = float(numbers[-1]) if numbers else None
    shape = " ".join(_NUMBER.sub("#", last).split())
    return _Run(seconds, number, shape, done.returncode)


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment that a process began with; nothing where it may not be read."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:  # noqa: PTH123
            raw = os.fsdecode(stream.read())
    except OSError:
        return {}
    pairs = (one.partition("=") for one in raw.split("\0") if "=" in one)
    return {name: value for name, _, value in pairs}
