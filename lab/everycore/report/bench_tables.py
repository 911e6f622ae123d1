# SPDX-License-Identifier: MIT
"""Make the tables of `everycore bench`: kernels down, message sizes across."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group
from rich.text import Text

from everycore.measure.bounds import Bound, bound
from everycore.model.protocol import Arithmetic, Bench, Mode
from everycore.model.selection import algorithm, selected_kernel, unit_of
from everycore.report.figures import NOISY, UNCERTAIN, OperationFigure, number, operation_figure
from everycore.report.table_style import WIDE_COLUMNS, plain_table, titled

SELECTED = "*"
LIMIT = "CPU's limit"


def bench_tables(
    benches: Iterable[Bench],
    modes: Sequence[Mode],
    loops: Sequence[Arithmetic],
    caption: str,
    width: int,
) -> list[Group]:
    """One table per mode: kernels down, message sizes across."""
    groups: dict[tuple[object, ...], list[Bench]] = {}
    for bench in benches:
        key = (bench.primitive, bench.mode, bench.key_bits, bench.messages, bench.conditions)
        groups.setdefault(key, []).append(bench)
    return [_bench_table(group, modes, loops, caption, width) for group in groups.values()]


def _bench_table(
    group: Sequence[Bench],
    modes: Sequence[Mode],
    loops: Sequence[Arithmetic],
    caption: str,
    width: int,
) -> Group:
    first = group[0]
    limit = bound(first.mode, first.key_bits, loops)
    streamed = {(b.kernel, b.bytes): operation_figure(b) for b in group if b.style == "streamed"}
    fenced = {(b.kernel, b.bytes): operation_figure(b) for b in group if b.style == "fenced"}
    sizes = sorted({size for _, size in streamed})
    fenced_sizes = sorted({size for _, size in fenced})
    chosen = selected_kernel(first.mode, first.primitive, modes)
    many = f", {first.messages} messages side by side" if first.messages > 1 else ""
    per_call = not sizes or sizes == [0]
    unit = unit_of(first.mode)
    what = "cycles per call" if per_call else f"cycles per {unit}"
    table = plain_table(gap=1 if width >= WIDE_COLUMNS else 0)
    table.add_column("Kernel", no_wrap=True)
    for size in sizes:
        table.add_column("call" if per_call else str(size), justify="right", no_wrap=True)
    has_speed = bool(sizes) and not per_call and unit == "byte"
    if has_speed:
        table.add_column("GB/s", justify="right", no_wrap=True)
    for size in fenced_sizes:
        table.add_column(f"{size}\nalone", justify="right", no_wrap=True)
    best = _best(streamed, per_call), _best(fenced, True)
    for kernel in dict.fromkeys(b.kernel for b in group):
        mark = SELECTED if kernel == chosen else " "
        row = [Text(f"{mark} {kernel}", style="bold" if kernel == chosen else "")]
        row += [_value(streamed.get((kernel, s)), best[0].get(s), per_call) for s in sizes]
        if has_speed:
            row.append(_speed(streamed.get((kernel, sizes[-1]))))
        row += [_value(fenced.get((kernel, s)), best[1].get(s), True) for s in fenced_sizes]
        table.add_row(*row)
    if limit:
        table.add_row(Text(f"  {LIMIT}", style="dim"), *(_limit(limit, size) for size in sizes))
    operation = algorithm(first.mode, first.primitive, first.key_bits)
    title = f"{operation}{many}{first.conditions}: {what}"
    return titled(title, table, *partner_notes(group), limit_note(limit, best[0]), caption)


def _limit(limit: Bound, size: int) -> Text:
    noisy = NOISY if limit.crowded else ""
    shown = noisy + number(limit.cycles_per_byte) if limit.holds(size) else "-"
    return Text(shown, style="dim")


def limit_note(limit: Bound | None, best: Mapping[int, float]) -> str:
    """Explain the limit, and how far the best figure of the longest message is from it."""
    if limit is None:
        return ""
    size = max(best, default=0)
    far = ""
    if size and limit.holds(size):
        far = (
            f"; the best at {size} bytes takes {best[size] / limit.cycles_per_byte:.2f} times that"
        )
    return f"{LIMIT}: {limit.source}{far}"


def partner_notes(group: Iterable[Bench]) -> list[str]:
    """Name the rows that are not the work of their kernel alone: CCM and XTS hold keys of two
    uses."""
    helped: dict[str, list[str]] = {}
    for bench in group:
        rows = helped.setdefault(bench.partner, [])
        if bench.kernel not in rows:
            rows.append(bench.kernel)
    return [
        f"together with {partner} for the other key: {', '.join(rows)}"
        for partner, rows in helped.items()
        if partner
    ]


def _shown(item: OperationFigure | None, per_message: bool) -> float | None:
    if item is None or item.cycles is None:
        return None
    return item.cycles.median if per_message else item.cycles_per_byte


def _best(cells: Mapping[tuple[str, int], OperationFigure], per_message: bool) -> dict[int, float]:
    best: dict[int, float] = {}
    for (_, size), item in cells.items():
        value = _shown(item, per_message)
        if value is not None:
            best[size] = min(value, best.get(size, value))
    return best


def _value(item: OperationFigure | None, best: float | None, per_message: bool) -> Text:
    value = _shown(item, per_message)
    if item is None or item.cycles is None or value is None:
        return Text("-", style="dim")
    noisy = NOISY if item.is_noisy else ""
    style = "bold green" if best is not None and number(value) == number(best) else ""
    return Text(noisy + (f"{value:.0f}" if per_message else number(value)), style=style)


def _speed(item: OperationFigure | None) -> Text:
    if item is None or item.gigabytes_per_second is None:
        return Text("-", style="dim")
    return Text(number(item.gigabytes_per_second))


def bench_legend(fence_cycles: float) -> str:
    parts = [
        f"{SELECTED} selected here",
        "bold: best",
        UNCERTAIN,
        "GB/s: largest size, 10^9 bytes",
    ]
    if fence_cycles:
        parts.append(
            f"alone: cycles per message, one at a time, {fence_cycles:.0f} cycles of fence included"
        )
    return "; ".join(parts)
