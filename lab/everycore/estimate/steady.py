# SPDX-License-Identifier: MIT
"""Finds the steady state of a trace: what repeats in its middle, and how long one turn is."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

PART = 4  # one part in so many of the trace has to repeat


@dataclass(frozen=True, slots=True)
class Turn:
    """trace[start : start + length] is executed again and again."""

    start: int
    length: int


def steady_turn(pcs: Sequence[int], part: int = PART) -> Turn | None:
    """The shortest stretch that repeats throughout the middle of a trace, from its loop's head.

    Loops inside of the stretch (rounds of a cipher) repeat too, but only until the stretch ends: a
    quarter of the trace would have to lie in one of them. None: the trace has no steady state.
    """
    window = len(pcs) // part
    data = array("Q", pcs).tobytes()
    return _turn_at(pcs, data, (len(pcs) - window) // 2, window)


def _turn_at(pcs: Sequence[int], data: bytes, start: int, window: int) -> Turn | None:
    """The shortest stretch, from pcs[start] on, whose repetitions fill the window and one more."""
    size = array("Q").itemsize
    stretch = data[start * size : (start + window) * size]
    first = pcs[start] if pcs else 0
    for length in range(1, min(window, len(pcs) - start - window) + 1):
        if pcs[start + length] != first:
            continue
        at = (start + length) * size
        if data[at : at + window * size] == stretch:
            return Turn(start + _head(pcs[start : start + length]), length)
    return None


def _head(turn: Sequence[int]) -> int:
    """Return where the furthest jump back leads."""
    return max(range(len(turn)), key=lambda i: (turn[i - 1] - turn[i], -i))


@dataclass(frozen=True, slots=True)
class Turns:
    """How often a turn is repeated without a break, from where on."""

    start: int
    count: int


def whole_turns(pcs: Sequence[int], turn: Turn) -> Turns:
    """All repetitions of a turn around the place where it was found."""
    stretch = list(pcs[turn.start : turn.start + turn.length])
    first = turn.start
    while first >= turn.length and list(pcs[first - turn.length : first]) == stretch:
        first -= turn.length
    end = turn.start + turn.length
    while list(pcs[end : end + turn.length]) == stretch:
        end += turn.length
    return Turns(first, (end - first) // turn.length)


def long_loop(pcs: Sequence[int], least: int, part: int = 4 * PART) -> tuple[Turn, Turns] | None:
    """A stretch that repeats for that part of the trace, anywhere, and at least so often."""
    window = len(pcs) // part
    data = array("Q", pcs).tobytes()
    for number in range(part):
        if turn := _turn_at(pcs, data, number * window, window):
            turns = whole_turns(pcs, turn)
            if turns.count >= least:
                return turn, turns
    return None


def first_call(pcs: Sequence[int], begin: int) -> int:
    """Return the place where the call that enters a function at pcs[begin] has returned.

    It returns to the instruction behind the one that made it, which is 2 or 4 bytes long.
    """
    if begin == 0:
        return len(pcs)
    caller = pcs[begin - 1]
    for i in range(begin, len(pcs)):
        if caller < pcs[i] <= caller + 4:
            return i
    return len(pcs)
