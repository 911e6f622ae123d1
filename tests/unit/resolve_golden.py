#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check which kernels serve which modes on CPUs by name, against resolve_golden.txt beside this.

python resolve_golden.py HARNESS [--update]

A new kernel, or another order of the lines, is seen here on every CPU that it concerns: look at the
difference, and let
--update write it.
"""

import difflib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).with_suffix(".txt")
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "lab"))

from everycore.model.domain import Tree
from everycore.model.targets import load_cpus

CPUS = (
    "cortex-a53",
    "raspberrypi3",
    "cortex-a57",
    "cortex-a72",
    "raspberrypi4",
    "thunderx2",
    "neoverse-n1",
    "neoverse-v1",
    "apple-m1",
    "ampereone",
    "cortex-a7",
    "cortex-a53-a32",
    "cortex-m4",
    "westmere",
    "haswell",
    "skylake",
    "skylake-x",
    "icelake-server",
    "alderlake",
    "sapphirerapids",
    "zen4",
    "pentium3",
    "pentium4",
    "riscv64",
    "riscv64-zkt",
    "power8",
    "s390x",
)


def table(harness: str, name: str) -> list[str]:
    cpu = load_cpus(Tree(ROOT, is_checkout=True))[name]
    done = subprocess.run(
        [harness, "resolve", "--arch", cpu.arch, "--features", ",".join(cpu.features)],
        text=True,
        check=True,
        stdout=subprocess.PIPE,
    )
    lines = [f"{name}: {cpu.arch} {' '.join(cpu.features)}\n"]
    for fact in map(json.loads, done.stdout.splitlines()):
        if fact["type"] == "mode":
            served = dict.fromkeys(
                f"{kernel or 'none'} ({use})"
                for use, kernel in zip(fact["uses"], fact["kernels"], strict=True)
            )
            lines.append(f"    {fact['algorithm']:18} {', '.join(served)}\n")
            if "warning" in fact:
                lines.append(f"        warning: {fact['warning']}\n")
    return [*lines, "\n"]


def main() -> int:
    harness, *options = sys.argv[1:]
    now = [line for name in CPUS for line in table(harness, name)]
    if options == ["--update"]:
        GOLDEN.write_text("".join(now))
        return 0
    was = GOLDEN.read_text().splitlines(keepends=True)
    sys.stdout.writelines(difflib.unified_diff(was, now, "resolve_golden.txt", "resolve"))
    if was != now:
        print(f"if that is meant: {sys.executable} {sys.argv[0]} {harness} --update")
    return 0 if was == now else 1


if __name__ == "__main__":
    sys.exit(main())
