# SPDX-License-Identifier: MIT
"""Lines of several processes as one line of each operation.

Every process that measures an operation writes a line of it, so that lines of one operation are its
processes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from itertools import accumulate, pairwise
from typing import TypeVar

from everycore.model.protocol import Arithmetic, Bench, Limit, Line, Record

Measured = Bench | Limit | Arithmetic
T = TypeVar("T", Bench, Limit, Arithmetic)

# Names of the measured values of a process; the others identify the operation.
_SAMPLES = ("cycles", "ns", "latency_cycles", "per_cycle", "cycles_per_byte")
_OWN = (*_SAMPLES, "parts", "process", "dropped", "calls_per_sample", "fence_cycles", "width")
_OWN_TOO = ("crowded", "why")


def merged(lines: Iterable[Line]) -> list[Line]:
    """Each operation once, with the samples of its processes, at the place of its first line.

    Processes beside which something else used the core are left out, if there are others.
    """
    groups: dict[object, list[Line]] = {}
    for number, line in enumerate(lines):
        key = operation(line) if isinstance(line, Measured) else number
        groups.setdefault(key, []).append(line)
    return [_joined(own) for own in groups.values()]


def merged_records(records: Iterable[Record]) -> tuple[Record, ...]:
    """The same of lines with their texts: of an operation the text of the first."""
    found: dict[object, Record] = {}
    every = list(records)
    for number, record in enumerate(every):
        line = record.line
        found.setdefault(operation(line) if isinstance(line, Measured) else number, record)
    lines = merged(record.line for record in every)
    return tuple(
        Record(record.text, line) for record, line in zip(found.values(), lines, strict=True)
    )


def of_each(samples: Sequence[float], parts: Sequence[int]) -> list[Sequence[float]]:
    """The samples of each process; all are of one where no parts are known.

    Older versions of everycore took one process: how far another may be is not known.
    """
    if not parts:
        return [samples]
    return [samples[begin:end] for begin, end in pairwise(accumulate(parts, initial=0))]


def operation(line: Measured) -> tuple[object, ...]:
    """Return all that says what a line has measured: equal for the processes of one operation."""
    left_out = (*_OWN, *_OWN_TOO)
    names = [item.name for item in fields(line) if item.name not in left_out]
    return (type(line), *(getattr(line, name) for name in names))


def _joined(lines: Sequence[Line]) -> Line:
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
    return replace(first, parts=tuple(_count(line) for line in chosen), **values)  # type: ignore[arg-type]


def _count(line: Measured) -> int:
    """Return how many samples a line has."""
    match line:
        case Bench():
            return len(line.cycles or line.ns)
        case Limit():
            return len(line.latency_cycles or line.per_cycle)
        case Arithmetic():
            return len(line.cycles_per_byte)
