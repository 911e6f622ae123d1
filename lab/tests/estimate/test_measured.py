# SPDX-License-Identifier: MIT
"""Results of a board become points of the calibration."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from everycore.environment.errors import EverycoreError
from everycore.estimate import data
from everycore.estimate.measured import add, points_of
from everycore.model.domain import Machine, Revision
from everycore.model.protocol import Bench
from everycore.model.run_lines import Run
from everycore.store.run_files import Results

FOLDER = Path(data.__file__).parent
CORES = data.load_cores(FOLDER, {})
BENCH = Bench(
    primitive="aes", kernel="a64_bitslice", mode="ctr", key_bits=128, bytes=16384, messages=1,
    style="streamed", counter="perf:cycles", cycles=(163840.0,) * 9,
)  # fmt: skip
RUN = Run(
    command="bench", date="2026-01-02", everycore="0.1.0", revision=Revision("abc", False),
    machine=Machine(cpu="Cortex-A53"), target="pi3", compiler="gcc 12.2.0", flags=("-O2",),
    counter="perf:cycles", options={},
)  # fmt: skip


def results(*benches: Bench) -> Results:
    return Results(Path("r.jsonl"), RUN, benches)


def test_the_longest_message_of_each_kernel_and_mode_is_a_point() -> None:
    short = BENCH.replace(bytes=4096, cycles=(49152.0,) * 9)
    (point,) = points_of(results(short, BENCH), CORES["cortex-a53"], ["ctr"])
    assert (point.subject, point.function) == ("everycore", "a64_bitslice/ctr")
    assert (point.cycles_per_byte, point.techniques) == (10.0, ("bitslice",))
    assert point.source == "measured on Cortex-A53"
    assert "commit abc, gcc 12.2.0 -O2, perf:cycles" in point.note


@pytest.mark.parametrize(
    "bench",
    [
        BENCH.replace(key_bits=256),
        BENCH.replace(bytes=1500),
        BENCH.replace(cycles=()),
        BENCH.replace(style="fenced"),
        BENCH.replace(messages=16),
        BENCH.replace(peer="openssl"),
        BENCH.replace(mode="setkey"),
    ],
)
def test_what_is_no_long_message_of_ours_is_no_point(bench: Bench) -> None:
    with pytest.raises(EverycoreError, match="measures no long message") as error:
        points_of(results(bench), CORES["cortex-a53"], ["ctr"])
    assert "everycore bench --target" in error.value.hint


@pytest.mark.parametrize(
    ("machine", "fits"), [("aarch64", True), ("arm64", True), ("x86_64", False), ("armv7l", False)]
)
def test_results_of_another_architecture_are_refused(machine: str, fits: bool) -> None:
    run = RUN.replace(machine=Machine(cpu="a board", architecture=machine))
    of_it = replace(results(BENCH), run=run)
    if fits:
        assert points_of(of_it, CORES["cortex-a53"], ["ctr"])
        return
    with pytest.raises(EverycoreError, match=f"is of {machine}, and a Cortex-A53 is not"):
        points_of(of_it, CORES["cortex-a53"], ["ctr"])


def test_points_are_added_and_newer_ones_replace_older(tmp_path: Path) -> None:
    for name in (data.CORES, data.PUBLISHED):
        shutil.copy(FOLDER / name, tmp_path)
    before = data.load_points(tmp_path, CORES)
    first = points_of(results(BENCH), CORES["cortex-a53"], ["ctr"])
    add(tmp_path, before, first)
    faster = BENCH.replace(cycles=(147456.0,) * 9)
    other = BENCH.replace(mode="cbc-dec")
    second = points_of(results(faster, other), CORES["cortex-a53"], ["ctr", "cbc-dec"])
    add(tmp_path, data.load_points(tmp_path, CORES), second)
    found = [p for p in data.load_points(tmp_path, CORES) if p.subject == "everycore"]
    assert {p.function: p.cycles_per_byte for p in found} == {
        "a64_bitslice/ctr": 9.0,
        "a64_bitslice/cbc-dec": 10.0,
    }
    assert len(data.load_points(tmp_path, CORES)) == len(before) + 2
