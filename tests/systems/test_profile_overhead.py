#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measure how much CPU time `everycore profile` adds to a program: test_profile_overhead.py [PAIRS]

A program computes a fixed number of rounds and says how much CPU time that took. It runs in turn
alone, profiled at 99 Hz, and at 499 Hz with stacks. The median of the pairs is at most 2 and 5 %.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

LIMITS = {99: 1.02, 499: 1.05}
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
        argv, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return float(done.stdout.split()[1])


def main() -> int:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "rounds.c", str(pathlib.Path(folder) / "rounds")
        source.write_text(PROGRAM)
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
        profile = [sys.executable, "-m", "everycore", "profile"]
        ratios: dict[int, list[float]] = {hz: [] for hz in LIMITS}
        for number in range(pairs):
            for hz, found in ratios.items():
                with_it = [*profile, "--hz", str(hz), "--", program]
                order = [[program], with_it] if number % 2 else [with_it, [program]]
                times = {len(argv): cpu_seconds(argv) for argv in order}
                found.append(times[len(with_it)] / times[1])
    for hz, found in ratios.items():
        quarters = statistics.quantiles(found, n=4)
        print(
            f"{hz} Hz: CPU time x {statistics.median(found):.4f}, median of {pairs} "
            f"interleaved pairs"
            f" (half of them {quarters[0]:.4f} to {quarters[2]:.4f}), at most {LIMITS[hz]}; "
            f"load {os.getloadavg()[0]:.1f}"
        )
        failed += statistics.median(found) > LIMITS[hz]
    print(f"{len(ratios) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
