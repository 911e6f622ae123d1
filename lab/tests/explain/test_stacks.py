# SPDX-License-Identifier: MIT
"""Stacks of profiles: folded for other tools, and laid on each other as a flame graph."""

import itertools

from explain.test_recognition import LAST, NOTHING, ROUND, profile_of, region

from everycore.explain.recognise import Named, recognise
from everycore.explain.regions import Caller
from everycore.explain.stacks import flame, folded, primitives_by_share, stacks

CODE = ROUND * 9 + LAST + NOTHING * 30


def found() -> list[Named]:
    """Two functions of one program; one is called in two ways."""
    aes = region(CODE, name="encrypt", callers=("update", "main", "__libc_start_main", "_start"))
    other = region(NOTHING * 60, name="parse", path="/lib/y", callers=("main", "__libc_start_main"))
    short = tuple(Caller("/usr/bin/x", 0x9999, name) for name in ("", "main"))
    aes.chains.append((25, short))
    return recognise(profile_of(aes, other))


def test_folded_stacks_begin_outside_and_end_with_what_is_computed() -> None:
    named = found()
    lines = list(folded(stacks(named)))
    counts = {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}
    assert counts == {
        "x;__libc_start_main;main;update;encrypt;AES: AES-NI": 140,
        "x;main;x+0x9999;encrypt;AES: AES-NI": 35,
        "x;__libc_start_main;main;parse": 225,
    }


def test_no_sample_of_a_region_is_lost_or_counted_twice() -> None:
    named = found()
    samples = sum(named_region.region.samples for named_region in named)
    frames = flame(stacks(named))
    roots = [frame for frame in frames if frame.depth == 0]
    assert sum(root.end - root.begin for root in roots) == samples


def test_frames_of_a_flame_graph_lie_within_their_callers_and_overlap_no_neighbour() -> None:
    frames = flame(stacks(found()))
    by_depth: dict[int, list[tuple[float, float]]] = {}
    for frame in frames:
        by_depth.setdefault(frame.depth, []).append((frame.begin, frame.end))
    for depth, spans in by_depth.items():
        ordered = sorted(spans)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ordered))
        if depth:
            outer = by_depth[depth - 1]
            assert all(any(o[0] <= s[0] <= s[1] <= o[1] for o in outer) for s in spans)
    assert {frame.name for frame in frames if frame.primitives} == {"AES: AES-NI"}


def test_primitives_are_in_the_order_of_their_shares() -> None:
    assert primitives_by_share(stacks(found())) == ["AES"]
