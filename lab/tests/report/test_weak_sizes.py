# SPDX-License-Identifier: MIT
"""Lengths of numbers that are slower than their neighbours promise."""

import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_all

from everycore.model.protocol import Bench
from everycore.report.weak_sizes import sweeps

ROOT = Path(__file__).resolve().parents[3]


def benches(kernel: str, **changed: float) -> list[Bench]:
    """Lengths of 32 to 128 bytes, whose time is their square, but for those that are named."""
    times = {n: changed.get(f"at{n}", float(n * n)) for n in range(32, 136, 8)}
    return [
        Bench("bn", kernel, "mont-mul", 128, n, 1, "streamed", "tsc", (3 * time, time, 2 * time))
        for n, time in times.items()
    ]


def test_lengths_on_a_curve_are_even() -> None:
    (sweep,) = sweeps(benches("c_limb64"))
    assert sweep.is_even
    assert sweep.lengths == 13


def test_a_length_that_is_slower_than_a_longer_one_is_weak() -> None:
    (sweep,) = sweeps(benches("x86_ifma", at64=75.0 * 75))
    assert not sweep.is_even
    assert sweep.longer_at == 512


def test_a_step_between_neighbours_is_weak_where_digits_are_registers() -> None:
    (scalar,) = sweeps(benches("c_limb64", at64=4096 * 1.2))
    assert scalar.to_longer < 1.03
    assert not scalar.is_even
    assert scalar.line_at == 512
    (vectors,) = sweeps(benches("x86_ifma", at64=4096 * 1.2))
    assert vectors.is_even


def test_kernels_of_other_primitives_are_no_sweep() -> None:
    assert not sweeps([])
    assert not sweeps(benches("c_limb64")[:2])


def test_one_of_five_processes_may_have_counted_too_few_cycles() -> None:
    too_fast = benches("x86_ifma", at128=60.0 * 60)
    (sweep,) = sweeps([*too_fast, *benches("x86_ifma")])
    assert not sweep.is_even, "of two processes the fastest counts"
    (sweep,) = sweeps([*too_fast, *(bench for _ in range(4) for bench in benches("x86_ifma"))])
    assert sweep.is_even


@reads_all
@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("bn_sizes.jsonl.xz", ("c_limb64", "x86_adx")),
        ("bn_sizes_zen4.jsonl.xz", ("c_limb64", "c_limb32", "c_limb16", "x86_adx", "x86_ifma")),
    ],
)
def test_stored_sweeps_are_even(name: str, kernels: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/weak-sizes", ROOT / "tools/costs" / name],
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for kernel in kernels:
        for mode in ("mont-mul", "mont-sqr"):
            assert f"even  {kernel} {mode}, 125 lengths" in done.stdout
