# SPDX-License-Identifier: MIT
"""Say in sentences what figures of `everycore bench` lack, and what beats the selected kernel."""

from collections.abc import Iterable, Sequence

from everycore.model import stats
from everycore.model.protocol import Bench, Mode
from everycore.model.selection import selected_kernel, unit_of
from everycore.report.figures import OperationFigure, operation_figure

MUCH_FASTER = 0.95  # of the time of the selected kernel


def unmeasured_notes(benches: Iterable[Bench]) -> list[str]:
    """Name the operations without a figure, and why."""
    reasons: dict[str, dict[str, None]] = {}
    for bench in benches:
        if bench.why:
            reasons.setdefault(bench.why, {})[f"{bench.kernel} {bench.mode}"] = None
    return [f"{why}: {', '.join(what)}" for why, what in reasons.items()]


def dropped_note(benches: Sequence[Bench]) -> str:
    """How much was measured in vain, and where most: a figure of the calm moments only says so."""
    dropped, kept = sum(b.dropped for b in benches), sum(len(b.cycles) for b in benches)
    if not dropped:
        return ""
    worst = max(benches, key=lambda b: b.dropped / (b.dropped + len(b.cycles) or 1))
    tried = worst.dropped + len(worst.cycles)
    return (
        f"{dropped} of {dropped + kept} samples dropped (the clock changed or another program ran);"
        f" most of {worst.kernel} {worst.mode} at {worst.bytes} bytes: {worst.dropped} of {tried}"
    )


def order_notes(
    benches: Sequence[Bench], modes: Sequence[Mode], allowed: set[tuple[str, str]]
) -> list[str]:
    """Name the uses in which a kernel that selection might have taken beats the one it took by more
    than 5 %; the largest difference first.

    `allowed` are primitives and names. Figures of a core that something else used do not count. The
    whole interval of the one is below 95 % of that of the other: a kernel that is not so much
    faster looks so with a chance of at most stats.ALARM.
    """
    found: list[tuple[float, str]] = []
    groups: dict[tuple[str, int, int], dict[str, OperationFigure]] = {}
    for bench in benches:
        if bench.crowded or bench.conditions:
            continue
        if bench.style == "streamed" and (bench.primitive, bench.kernel) in allowed:
            key = (f"{bench.mode}|{bench.primitive}", bench.messages, bench.bytes)
            groups.setdefault(key, {})[bench.kernel] = operation_figure(bench)
    for (name, messages, size), cells in groups.items():
        mode, _, primitive = name.partition("|")
        chosen = selected_kernel(mode, primitive, modes)
        mine = cells[chosen].cycles if chosen in cells else None
        for kernel, other in cells.items():
            if kernel == chosen or not mine or not other.cycles:
                continue
            if stats.is_above(mine, other.cycles, 1 / MUCH_FASTER):
                ratio = other.cycles.median / mine.median
                many = f" x {messages}" if messages > 1 else ""
                where = f"{mode} at {size} {unit_of(mode)}s{many}"
                text = f"{where}: {kernel} takes {ratio:.2f} of the time of the selected {chosen}"
                found.append((ratio, text))
    return [text for _, text in sorted(found)]
