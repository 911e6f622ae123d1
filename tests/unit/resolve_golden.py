#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check which kernels serve all CPUs by name, against resolve_golden.txt beside this.

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

from everycore.model.domain import CpuModel, Tree
from everycore.model.targets import load_cpus

# Primitives that no mode shows, and their uses.
NUMBERS = {
    "bn_words": ("serial",),
    "qarma": ("parallel", "serial"),
}


def table(harness: str, names: list[str], cpu: CpuModel) -> list[str]:
    """Return the lines of CPUs that are alike."""
    done = subprocess.run(
        [harness, "resolve", "--arch", cpu.arch, "--features", ",".join(cpu.features)],
        text=True,
        check=True,
        stdout=subprocess.PIPE,
    )
    lines = [f"{', '.join(names)}: {cpu.arch} {' '.join(sorted(cpu.features))}\n"]
    for fact in map(json.loads, done.stdout.splitlines()):
        if fact["type"] == "mode":
            served = dict.fromkeys(
                f"{kernel or 'none'} ({use})"
                for use, kernel in zip(fact["uses"], fact["kernels"], strict=True)
            )
            lines.append(f"    {fact['algorithm']:18} {', '.join(served)}\n")
            if "warning" in fact:
                lines.append(f"        warning: {fact['warning']}\n")
        elif fact["type"] == "resolve" and fact["use"] in NUMBERS.get(fact["primitive"], ()):
            lines.append(f"    {fact['primitive']:18} {fact['kernel']} ({fact['use']})\n")
    return [*lines, "\n"]


def groups() -> list[tuple[list[str], CpuModel]]:
    """Return all CPUs, those with the same features together."""
    alike: dict[tuple[str, frozenset[str]], tuple[list[str], CpuModel]] = {}
    for name, cpu in load_cpus(Tree(ROOT, is_checkout=True)).items():
        alike.setdefault((cpu.arch, frozenset(cpu.features)), ([], cpu))[0].append(name)
    return list(alike.values())


def main() -> int:
    harness, *options = sys.argv[1:]
    now = [line for names, cpu in groups() for line in table(harness, names, cpu)]
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
