# SPDX-License-Identifier: MIT
"""`everycore profile` adds little CPU time to a program; `pytest -s` shows how much.

A program computes a fixed number of rounds and says how much CPU time that took. It runs in turn
alone, profiled at 99 Hz, and at 499 Hz with stacks. The median of the pairs is at most 2 and 5 %.
"""

import os
import statistics
import subprocess
import sys

import pytest
from processes import ROOT, need

pytestmark = pytest.mark.long
PAIRS = 20
PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#define TURN(x, n) ((x) << (n) | (x) >> (32 - (n)))
int main(void)
{
    uint32_t a = 1, b = 2, c = 3, d = 4;
    for (long i = 0; i < 240000000; i++) {
        a += b; d = TURN(d ^ a, 16); c += d; b = TURN(b ^ c, 12);
        a += b; d = TURN(d ^ a, 8); c += d; b = TURN(b ^ c, 7);
    }
    printf("%u %.6f\n", a, (double)clock() / CLOCKS_PER_SEC);
    return 0;
}
"""


def cpu_seconds(argv: list[str]) -> float:
    """Run the program, and return the CPU time that it says it took."""
    done = subprocess.run(
        argv,
        env={**os.environ, "PYTHONPATH": str(ROOT / "lab")},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    return float(done.stdout.split()[1])


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    need("cc")
    path = tmp_path_factory.mktemp("rounds") / "rounds"
    source = path.with_suffix(".c")
    source.write_text(PROGRAM)
    subprocess.run(["cc", "-O2", "-o", path, source], check=True)
    return str(path)


@pytest.mark.parametrize(("hz", "limit"), [(99, 1.02), (499, 1.05)])
def test_profile_adds_little_cpu_time(hz: int, limit: float, program: str) -> None:
    profiled = [sys.executable, "-m", "everycore", "profile", "--hz", str(hz), "--", program]
    ratios = []
    for number in range(PAIRS):
        order = [[program], profiled] if number % 2 else [profiled, [program]]
        seconds = {len(argv): cpu_seconds(argv) for argv in order}
        ratios.append(seconds[len(profiled)] / seconds[1])
    quarters = statistics.quantiles(ratios, n=4)
    print(
        f"{hz} Hz: CPU time x {statistics.median(ratios):.4f}, median of {PAIRS} interleaved pairs "
        f"(half of them {quarters[0]:.4f} to {quarters[2]:.4f}), at most {limit}; "
        f"load {os.getloadavg()[0]:.1f}"
    )
    assert statistics.median(ratios) <= limit
