# SPDX-License-Identifier: MIT
"""From the results of a board to points of the calibration: measured.toml."""

import json
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.estimate.core_estimates import Core, Point, techniques
from everycore.estimate.data import ADDED
from everycore.measure.processes import of_each
from everycore.model import stats
from everycore.model.protocol import Bench
from everycore.store.run_files import Results

OURS = "everycore"
KEY_BITS = 128
LONG_BYTES = 4096  # from here on a message is long
# Values of `uname -m` on a core of this architecture; macOS has a word of its own.
MACHINES = {"a64": ("aarch64", "arm64"), "a32": ("arm", "aarch64")}
HEAD = (
    "# SPDX-License-Identifier: MIT\n"
    "# Points that boards have added: everycore estimate --calibrate-from FILE\n"
)


def function(kernel: str, mode: str) -> str:
    """Return how a point of the calibration names the kernel and mode that were measured."""
    return f"{kernel}/{mode}"


def points_of(results: Results, core: Core, modes: Iterable[str]) -> list[Point]:
    """Each kernel and mode at its longest message."""
    made_on = results.run.machine.architecture
    if made_on and not made_on.startswith(MACHINES[core.arch]):
        raise EverycoreError(f"{results.path} is of {made_on}, and a {core.title} is not")
    known = set(modes)
    longest: dict[str, Bench] = {}
    for bench in results.figures():
        fits = bench.key_bits == KEY_BITS or bench.primitive == "ghash"
        if bench.peer or bench.mode not in known or bench.bytes < LONG_BYTES or not fits:
            continue
        if bench.messages != 1 or bench.style != "streamed" or not bench.cycles or bench.crowded:
            continue
        if bench.conditions:
            continue
        name = function(bench.kernel, bench.mode)
        if name not in longest or bench.bytes > longest[name].bytes:
            longest[name] = bench
    points = [_point(results, core, name, bench) for name, bench in longest.items()]
    if not points:
        raise EverycoreError(
            f"{results.path} measures no long message with a key of {KEY_BITS} bits in cycles",
            f"everycore bench --target TOML --key-bits {KEY_BITS} --bytes 16384 --out FILE there",
        )
    return points


def _point(results: Results, core: Core, name: str, bench: Bench) -> Point:
    run = results.run
    cycles = stats.figure(of_each(bench.cycles, bench.parts))
    assert cycles is not None
    return Point(
        core=core.name,
        subject=OURS,
        function=name,
        mode=bench.mode,
        techniques=techniques(bench.primitive, bench.kernel),
        cycles_per_byte=round(cycles.median / bench.bytes, 4),
        source=f"measured on {run.machine.title()}",
        note=f"commit {run.revision}, {run.compiler} {' '.join(run.flags)}, {bench.counter}",
    )


def add(folder: Path, old: Iterable[Point], new: Iterable[Point]) -> None:
    """Write those of `old` that `new` does not replace, and `new`."""
    kept = {point.key: point for point in old if point.subject == OURS}
    kept |= {point.key: point for point in new}
    text = HEAD + "".join(map(_table, sorted(kept.values(), key=lambda point: point.key)))
    (folder / ADDED).write_text(text, encoding="utf-8")


def _table(point: Point) -> str:
    values = {field.name: (getattr(point, field.name), field.default) for field in fields(point)}
    lines = [f"{k} = {json.dumps(own)}\n" for k, (own, usual) in values.items() if own != usual]
    return "\n[[point]]\n" + "".join(lines)
