# SPDX-License-Identifier: MIT
"""Runs a program in turn under each variant, and takes the user time of each run."""

import resource
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.pauth.programs import Program
from everycore.pauth.variants import Variant

LIMIT_SECONDS = 1800  # of one run
COUNTER = "user time"  # getrusage, POSIX.1-2017
Clock = Callable[[], float]


@dataclass(slots=True)
class Samples:
    """Samples of the runs of one variant."""

    variant: Variant
    seconds: list[float] = field(default_factory=list)  # user time of each; none if none worked
    wrong: str = ""  # what the first wrong run did


def children_seconds() -> float:
    """User time of all processes that this one has started and that have ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def run_in_turn(
    context: Context,
    program: Program,
    scale: float,
    variants: Sequence[Variant],
    rounds: int,
    step: Callable[[str], None],
    clock: Clock = children_seconds,
) -> list[Samples]:
    """Every second round goes backwards. What most variants print in the first one is right.

    A variant that is wrong does not run again.
    """
    every = [Samples(variant) for variant in variants]
    _warm(context, program, scale, every, step)
    expected: str | None = None
    for turn in range(rounds):
        printed: list[tuple[Samples, str]] = []
        for samples in every if turn % 2 == 0 else reversed(every):
            if samples.wrong:
                continue
            step(samples.variant.name)
            before = clock()
            done = _run(context, samples.variant.command(program, scale))
            samples.seconds.append(clock() - before)
            samples.wrong = _complaint(done, program.marker)
            if not samples.wrong:
                printed.append((samples, done.stdout))
        if expected is None and printed:  # of as many, the one that came first
            expected = Counter(text for _, text in printed).most_common(1)[0][0]
        for samples, text in printed:
            if text != expected:
                samples.wrong = f"printed {_short(text)}, not {_short(expected or '')}"
    return every


def _warm(
    context: Context,
    program: Program,
    scale: float,
    every: Sequence[Samples],
    step: Callable[[str], None],
) -> None:
    """A run that nobody times fills caches, under the first variant that works."""
    for samples in every:
        step("warming up")
        argv = samples.variant.command(program, scale)
        samples.wrong = _complaint(_run(context, argv), program.marker)
        if not samples.wrong:
            return
    raise EverycoreError(f"{' '.join(every[0].variant.command(program, scale))} {every[0].wrong}")


def _run(context: Context, argv: Sequence[str]) -> Completed:
    try:
        return context.runner.run(argv, seconds=LIMIT_SECONDS)
    except TimeoutError:
        return Completed(-1, "", f"it took more than {LIMIT_SECONDS} seconds")


def _complaint(done: Completed, marker: str) -> str:
    if done.code:
        said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
        return f"ended with {done.code}, saying: {said[0]}"
    if marker not in done.stdout:
        return f"did not print {marker!r}, but {_short(done.stdout)}"
    return ""


def _short(text: str) -> str:
    """The end: what a console says before is the same in all."""
    return repr(text.strip()[-40:])
