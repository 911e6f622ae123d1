# SPDX-License-Identifier: MIT
"""The first table of `everycore bench`: what the selected kernels cost, one line a mode."""

from collections.abc import Iterable, Sequence

from rich.console import Group
from rich.text import Text

from everycore.measure.bounds import bound
from everycore.model.protocol import Arithmetic, Bench, Mode
from everycore.model.selection import algorithm, selected_kernel, unit_of
from everycore.report.bench_tables import LIMIT
from everycore.report.figures import NOISY, UNCERTAIN, number, operation_figure
from everycore.report.table_style import plain_table, titled

MOST = 6  # lines
# The modes to show if more were measured.
FIRST = ("gcm-seal", "ctr", "xts-enc", "ccm-seal", "cbc-enc", "cbc-dec")


def selected_figures(benches: Iterable[Bench], modes: Sequence[Mode]) -> list[Bench]:
    """Return the figure of the selected kernel of each mode, at the longest message; at most
    six."""
    longest: dict[str, Bench] = {}
    for bench in benches:
        chosen = selected_kernel(bench.mode, bench.primitive, modes)
        if bench.kernel != chosen or bench.style != "streamed" or bench.messages > 1:
            continue
        if bench.conditions:
            continue
        if bench.mode not in longest or bench.bytes > longest[bench.mode].bytes:
            longest[bench.mode] = bench
    names = list(longest)
    if len(names) > MOST:
        names = [name for name in FIRST if name in longest][:MOST]
    return [longest[name] for name in names]


def first_figures(benches: Iterable[Bench], modes: Sequence[Mode], processes: int) -> list[str]:
    """Say what the first of several processes has measured of a mode, while the others go on."""
    return [
        f"{_algorithm(bench)}: {bench.kernel}"
        f" {number(cost)} cycles per {unit_of(bench.mode)} at {bench.bytes} {unit_of(bench.mode)}s"
        f" (the first of {processes} processes)"
        for bench in selected_figures(benches, modes)
        if (cost := operation_figure(bench).cycles_per_byte)
    ]


def _algorithm(bench: Bench) -> str:
    return algorithm(bench.mode, bench.primitive, bench.key_bits)


def headline(
    figures: Sequence[Bench], loops: Sequence[Arithmetic], caption: str, advice: str
) -> Group:
    """The table of these figures; `advice`: how to see more."""
    heads = ("Bytes", "Cycles/byte", "GB/s", "Of the limit")
    table = plain_table("Mode", "Selected kernel", figures=heads)
    for bench in figures:
        item = operation_figure(bench)
        mark = NOISY if item.is_noisy else ""
        cost = item.cycles_per_byte
        speed = item.gigabytes_per_second
        each = "" if unit_of(bench.mode) == "byte" else f" {unit_of(bench.mode)}s"
        limit = bound(bench.mode, bench.key_bits, loops)
        share = ""
        if limit and cost and limit.holds(bench.bytes):
            share = f"{mark}{100 * limit.cycles_per_byte / cost:.0f} %"
        table.add_row(
            _algorithm(bench),
            bench.kernel,
            f"{bench.bytes}{each}",
            Text(mark + number(cost), style="bold") if cost else Text("-", style="dim"),
            number(speed) if speed and not each else "-",
            share or "-",
        )
    has_limits = any(bound(bench.mode, bench.key_bits, loops) for bench in figures)
    notes = [f"{LIMIT}: what its AES and multiplication units can do at best"] * has_limits
    if any(unit_of(bench.mode) != "byte" for bench in figures):
        notes.append("PBKDF2: iterations instead of bytes, and cycles of one iteration")
    if any(operation_figure(bench).is_noisy for bench in figures):
        notes.append(UNCERTAIN)
    return titled("What the selected kernels cost here", table, *notes, caption, advice)
