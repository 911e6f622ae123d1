# SPDX-License-Identifier: MIT
"""Measure the share of an emulator's time that pointer authentication takes, by samples of perf."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.pauth.programs import Program
from everycore.pauth.variants import Variant

SAMPLES_PER_SECOND = "499"
SECONDS = 1800
# How names of QEMU's functions and of ours begin, and how kernels call theirs. What others need as
# well (the search for the sizes of an address, the registers of a CPU) is not among them.
OWN = re.compile(
    r"pauth|pac_|tweak_|rot_cell|qemu_xxhash|helper_(pac|aut|xpac)|evc_"
    r"|(encrypt|decrypt|encrypt_many|set_key|run_any|run_others|tweaks_add)(\.\w+)*$"
)
MOST_UNNAMED = 0.02  # of the samples: else the emulator has no symbols
_LINE = re.compile(r"\s*([0-9.]+)%\s+(\S+(?: \S+)*?)\s+\[([.kgu])\]\s+(\S+)")


def share(context: Context, variant: Variant, program: Program, scale: float) -> float | None:
    """As a fraction; None where the emulator has no symbols."""
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder, "perf.data"))
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", SAMPLES_PER_SECOND, "-o", data]
        _said(context, [*record, "--", *variant.command(program, scale)])
        report = ["perf", "report", "-i", data, "--stdio", "-q", "--no-children"]
        said = _said(context, [*report, "-F", "overhead,dso,symbol"])
    return share_in(said.splitlines(), Path(variant.emulator.argv[-1]).name)


def _said(context: Context, argv: Sequence[str]) -> str:
    try:
        done = context.runner.run(argv, seconds=SECONDS)
    except TimeoutError:
        raise EverycoreError(f"{argv[0]} {argv[1]} took more than {SECONDS} seconds") from None
    if done.code:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise EverycoreError(f"{argv[0]} {argv[1]} failed: {reason}")
    return done.stdout


def share_in(lines: Sequence[str], program: str) -> float | None:
    """Read the share of a program from a report of perf."""
    own = unnamed = 0.0
    for line in lines:
        if not (match := _LINE.match(line)) or match[2] != program:
            continue
        if match[4].startswith("0x"):
            unnamed += float(match[1]) / 100
        elif OWN.match(match[4]):
            own += float(match[1]) / 100
    return None if unnamed > MOST_UNNAMED else own
