# SPDX-License-Identifier: MIT
"""Runs a program in all ways, in turn, and takes the user time of each run."""

import resource
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from everycore.context import Completed, Context
from everycore.errors import EverycoreError
from everycore.pauth.programs import Program
from everycore.pauth.ways import Way

LIMIT_SECONDS = 1800  # of one run
Clock = Callable[[], float]


@dataclass(slots=True)
class Samples:
    """What the runs of one way gave."""

    way: Way
    seconds: list[float] = field(default_factory=list)  # user time of each
    wrong: str = ""  # what the first wrong run did


def children_seconds() -> float:
    """User time of all processes that this one has started and that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def race(
    context: Context,
    program: Program,
    scale: float,
    ways: Sequence[Way],
    rounds: int,
    step: Callable[[str], None],
    clock: Clock = children_seconds,
) -> list[Samples]:
    """Every second round goes backwards. What a way prints must equal what the first one does."""
    every = [Samples(way) for way in ways]
    expected = _first(context, ways[0].command(program, scale), program.marker, step)
    for turn in range(rounds):
        for samples in every if turn % 2 == 0 else reversed(every):
            step(samples.way.name)
            before = clock()
            done = _run(context, samples.way.command(program, scale))
            samples.seconds.append(clock() - before)
            samples.wrong = samples.wrong or _complaint(done, expected)
    return every


def _first(context: Context, argv: Sequence[str], marker: str, step: Callable[[str], None]) -> str:
    """What is printed by a run that nobody times: it fills caches."""
    step("warming up")
    done = _run(context, argv)
    if done.code:
        raise EverycoreError(f"{' '.join(argv)} {_complaint(done, '')}")
    if marker not in done.stdout:
        raise EverycoreError(f"{' '.join(argv)} did not print '{marker}'")
    return done.stdout


def _run(context: Context, argv: Sequence[str]) -> Completed:
    try:
        return context.runner.run(argv, seconds=LIMIT_SECONDS)
    except TimeoutError:
        return Completed(-1, "", f"it took more than {LIMIT_SECONDS} seconds")


def _complaint(done: Completed, expected: str) -> str:
    if done.code:
        said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
        return f"ended with {done.code}, saying: {said[0]}"
    if done.stdout != expected:
        return f"printed {done.stdout.strip()[:40]!r}, not {expected.strip()[:40]!r}"
    return ""
