#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that dumps of real CPUs give the features that catalog/targets/cpus.toml has for them.

python x86_dumps.py PROGRAM FILE

PROGRAM is x86_dumps.c, FILE x86_dumps.txt: the program decodes each dump as a CPU's own CPUID is
decoded. Each CPU of x86 in cpus.toml has a dump.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "lab"))

from everycore.model.domain import Tree
from everycore.model.targets import load_cpus

NEVER_DUMPED = {"diamondrapids"}  # not on sale
OF_MODE = {"x86-64", "tune-word64"}  # features of programs of 64 bits alone


def main() -> int:
    program, file = sys.argv[1:]
    cpus = {
        name: set(cpu.features)
        for name, cpu in load_cpus(Tree(ROOT, is_checkout=True)).items()
        if cpu.arch == "x86"
    }
    decoded = subprocess.run(
        [program, file, "--print"], text=True, check=True, stdout=subprocess.PIPE
    ).stdout
    wrong, dumped = [], set()
    for line in decoded.splitlines():
        cpu, dump, bits, *features = line.split()
        if cpu not in cpus:
            wrong.append(f"{dump}: cpus.toml has no {cpu}")
            continue
        expected = cpus[cpu] if bits == "64" else cpus[cpu] - OF_MODE
        dumped |= {cpu} if bits == "64" or "x86-64" not in cpus[cpu] else set()
        for title, names in (
            ("lacks", expected - set(features)),
            ("has", set(features) - expected),
        ):
            if names:
                says = f"which {cpu} {'has' if title == 'lacks' else 'lacks'}"
                wrong.append(f"{dump}, {bits} bits: {title} {' '.join(sorted(names))}, {says}")
    wrong += [f"cpus.toml: no dump of {cpu}" for cpu in cpus if cpu not in dumped | NEVER_DUMPED]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
