# SPDX-License-Identifier: MIT
"""The steady state of a trace, and where a call in it ends."""

from everycore.estimate.models import KEPT_TURNS, cut
from everycore.estimate.steady import Turns, first_call, long_loop, steady_turn, whole_turns

ROUND = [108, 112, 116]
TURN = [100, 104, *ROUND * 9, 120, 124]  # a loop of rounds inside of a loop of blocks
TRACE = [8, 12, 16, *TURN * 40, 200, 204]


def test_the_turn_is_that_of_the_outer_loop_from_its_head() -> None:
    turn = steady_turn(TRACE)
    assert turn is not None
    assert turn.length == len(TURN)
    assert TRACE[turn.start : turn.start + turn.length] == TURN


def test_whole_turns_are_all_of_them() -> None:
    turn = steady_turn(TRACE)
    assert turn is not None
    assert whole_turns(TRACE, turn) == Turns(3, 40)


def test_what_does_not_repeat_has_no_steady_state() -> None:
    assert steady_turn(list(range(0, 4000, 4))) is None
    assert steady_turn([]) is None


def test_a_loop_that_is_not_in_the_middle_is_a_long_loop() -> None:
    trace = [*TRACE, *range(1000, 20000, 4)]
    assert steady_turn(trace) is None
    found = long_loop(trace, 10)
    assert found is not None
    assert found[1].count >= 39
    assert long_loop(trace, 1000) is None


def test_cut_takes_turns_out_of_both_loops_and_tells_how_many() -> None:
    other = [500, 504, 508, 512]
    trace = [*TRACE[:3], *TURN * 400, *other * 3000, 900]
    parts = cut(trace)
    assert len(parts.loops) == 2
    assert len(parts.pcs) + sum(len(turn) * n for turn, n in parts.loops) == len(trace)
    assert sorted(parts.loops[i][1] for i in range(2)) == [400 - KEPT_TURNS, 3000 - KEPT_TURNS]


def test_a_short_trace_stays_whole() -> None:
    assert cut(TURN * 100).loops == ()


def test_a_call_ends_behind_the_instruction_that_made_it() -> None:
    pcs = [40, 44, 800, 804, 400, 404, 808, 48, 52]  # 44 calls 800, which calls 400
    assert first_call(pcs, 2) == 7
    assert first_call([40, 42, 800, 804, 44], 2) == 4  # Thumb: blx of 2 bytes
    assert first_call([800, 804], 0) == 2  # all of it
