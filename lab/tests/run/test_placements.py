# SPDX-License-Identifier: MIT
"""`everycore bench placement` with saved outputs of the harness."""

import json

import pytest
from world import Lab

from everycore.measure.placement_costs import costs, worst_costs
from everycore.model.protocol import Placement
from everycore.run import placements

POINT = Placement("aes", "k", "ctr", 256, 64, 1, "streamed", "tsc", 100, 90, 50, 60)


def test_the_worst_place_of_each_kernel_is_told(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "placement"
    outcome = lab("bench", "placement", "--mode", "ctr", "--bytes", "20,1500")
    assert outcome.code == 0, outcome.err
    rows = [line.split() for line in outcome.out.splitlines() if line.startswith("ctr ")]
    assert rows[0][:6] == ["ctr", "x86_vaes512", "1.05", "1500", "420", "400"]
    assert rows[1][:6] == ["ctr", "x86_aesni", "1.00", "20", "41", "41"]
    assert "2 of 2 pairs" in outcome.out
    apart, in_place = lab.runner.harness_calls("bench")
    assert "--in-place" not in apart
    assert "--in-place" in in_place


def test_what_stays_beyond_the_bound_fails_with_its_place(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "placement_far"
    outcome = lab("bench", "placement", "--mode", "ctr", "--bytes", "20,100,1500")
    assert outcome.code == 1
    assert "BEYOND x86_vaes512 ctr: 100 bytes at the end of a page: 600 cycles, 60" in outcome.out
    assert "1 of 2 pairs" in outcome.out
    again = lab.runner.harness_calls("bench")[2:]
    assert len(again) == placements.TRIES - 1
    assert {call[call.index("--bytes") + 1] for call in again} == {"100,1500"}
    assert {call[call.index("--kernel") + 1] for call in again} == {"x86_vaes512"}


def test_json_has_every_point_and_a_summary(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "placement_far"
    outcome = lab("bench", "placement", "--mode", "ctr", "--json")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    assert [line["type"] for line in lines] == ["placement"] * 4 + ["summary"]
    assert (lines[-1]["within"], lines[-1]["beyond"]) == (1, 1)


def test_a_cost_is_held_against_the_best_of_its_alignment() -> None:
    start, end = costs(POINT)
    assert (start.cycles, start.best) == (100, 90)
    assert (end.cycles, end.best) == (50, 50)
    assert start.share < 1  # 1.10 times and 20 cycles
    assert next(costs(POINT.replace(start=120))).share > 1
    assert [c.place for c in costs(POINT.replace(start=0))] == ["end"]


def test_the_worst_is_what_is_furthest_beyond_the_bound_not_the_largest_ratio() -> None:
    short = POINT.replace(bytes=16, start=30, inside_start=20, end=20, inside_end=20)
    long = POINT.replace(bytes=4096, start=1300, inside_start=1000, end=1, inside_end=1)
    assert [cost.point.bytes for cost in worst_costs([short, long])] == [4096]


@pytest.mark.parametrize("option", [("--out", "results.jsonl"), ("--fresh",)])
def test_options_of_stored_results_are_refused(lab: Lab, option: tuple[str, ...]) -> None:
    lab("bench", "placement", *option).refuses(option[0])


def test_modes_that_have_no_places_are_an_error(lab: Lab) -> None:
    lab.runner.outputs["bench"] = "bench_no_counter"
    lab("bench", "placement", "--mode", "qarma5").refuses("modes of AES and GCM")


def test_every_length_to_300_and_40_beyond_are_measured() -> None:
    sizes = placements.usual_sizes(quick=False)
    assert sizes[:300] == tuple(range(1, 301))
    assert len(set(sizes)) == 340
    assert sizes[-1] == 16384
    assert set(placements.usual_sizes(quick=True)) < {*range(1, 16385)}
