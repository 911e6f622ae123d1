# SPDX-License-Identifier: MIT
"""A traced call of a cell: exact counts, by function and by instruction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everycore.binary.code import Examined, OwnFunctions, examine
from everycore.binary.listing import hot_loop
from everycore.binary.objects import Object
from everycore.environment.errors import EverycoreError
from everycore.model.cells import Listing
from everycore.subjects.count import Call


@dataclass(frozen=True, slots=True)
class Executed:
    """One call, without the adapter and the driver."""

    instructions: int
    functions: Mapping[str, int]  # by symbol, most first
    places: Mapping[tuple[str, int], Mapping[int, int]] = field(repr=False)  # by symbol and size


def count(call: Call) -> Executed:
    """Count the instructions of a program that lies where it was linked for."""
    image = call.trace.program.image
    if not image.fixed:
        raise EverycoreError(f"{image.path} may be loaded anywhere", "link it with -no-pie")
    program = Object(image.path)
    functions: Counter[str] = Counter()
    places: dict[tuple[str, int], dict[int, int]] = {}
    for pc, times in Counter(call.pcs).items():
        if symbol := program.function_at(pc):
            functions[symbol.name] += times
            own = places.setdefault((symbol.name, symbol.size), {})
            own[pc - symbol.start] = times
    return Executed(len(call.pcs), dict(functions.most_common()), places)


def loop_of(
    paths: Sequence[Path],
    entries: Sequence[str],
    executed: Executed | None = None,
    own: OwnFunctions | None = None,
) -> Listing:
    """The hot loop in some objects, as executed; without a trace by a guess."""
    if executed is None:
        return hot_loop(examine(paths, entries, own=own))
    examined = examine(paths, entries, executed=executed.functions, own=own)
    return hot_loop(examined, _in_objects(examined, executed), executed.instructions)


def _in_objects(examined: Examined, executed: Executed) -> dict[int, int]:
    """How often each place of the hot function was executed.

    The linker moves functions, and does not change their sizes; but of RISC-V it shortens calls,
    and then nothing is known of a place.
    """
    function = examined.hot
    if function is None:
        return {}
    found: dict[int, int] = {}
    for part in function.parts:
        counts = executed.places.get((part.name, part.size), {})
        found |= {part.start + offset: times for offset, times in counts.items()}
    return found
