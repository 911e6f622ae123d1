# SPDX-License-Identifier: MIT
"""Lines of several processes as one line of each operation.

Every process that measures an operation writes a line of it, so that lines of one operation are its
processes.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import TypeVar

from everycore.environment.decoding import Record
from everycore.model.protocol import Arithmetic, Bench, Limit

Measured = Bench | Limit | Arithmetic
T = TypeVar("T", Bench, Limit, Arithmetic)

# Names of the measured values of a process; the others identify the operation.
_SAMPLES = ("cycles", "ns", "latency_cycles", "per_cycle", "cycles_per_byte")
_OWN = (*_SAMPLES, "parts", "process", "dropped", "calls_per_sample", "fence_cycles", "width")
_OWN_TOO = ("crowded", "why", "runs")


def merged(lines: Iterable[Record]) -> list[Record]:
    """Each operation once, with the samples of its processes, at the place of its first line.

    Processes beside which something else used the core are left out, if there are others.
    """
    groups: dict[object, list[Record]] = {}
    for number, line in enumerate(lines):
        key = operation(line) if isinstance(line, Measured) else number
        groups.setdefault(key, []).append(line)
    return [_joined(own) for own in groups.values()]


def of_each(samples: Sequence[float], parts: Sequence[int]) -> list[Sequence[float]]:
    """The samples of each process; all are of one where no parts are known.

    Older versions of everycore took one process: how far another may be is not known.
    """
    if not parts:
        return [samples]
    return [samples[begin:end] for begin, end in pairwise(accumulate(parts, initial=0))]


def operation(line: Measured) -> tuple[object, ...]:
    """Return all that says what a line has measured: equal for the processes of one operation."""
    return (type(line), *_identity_of(type(line))(line))


@functools.cache
def _identity_of(kind: type[Measured]) -> Callable[[Measured], tuple[object, ...]]:
    """Return what reads the members that identify an operation."""
    left_out = (*_OWN, *_OWN_TOO)
    return attrgetter(*(name for name in kind.__struct_fields__ if name not in left_out))


def _joined(lines: Sequence[Record]) -> Record:
    own = [line for line in lines if isinstance(line, Measured)]
    if len(own) < 2:
        return lines[0]
    quiet = [line for line in own if not line.crowded and _count(line)]
    chosen = quiet or [line for line in own if _count(line)] or own[:1]
    first = chosen[0]
    if len(chosen) == 1:
        return first
    values: dict[str, object] = {
        name: tuple(value for line in chosen for value in getattr(line, name))
        for name in _SAMPLES
        if hasattr(first, name)
    }
    if isinstance(first, Bench):
        values["dropped"] = sum(line.dropped for line in chosen if isinstance(line, Bench))
    return first.replace(parts=tuple(_count(line) for line in chosen), **values)


def _count(line: Measured) -> int:
    """Return how many samples a line has."""
    match line:
        case Bench():
            return len(line.cycles or line.ns)
        case Limit():
            return len(line.latency_cycles or line.per_cycle)
        case Arithmetic():
            return len(line.cycles_per_byte)
