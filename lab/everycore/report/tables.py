# SPDX-License-Identifier: MIT
"""Make the tables of the terminal from values, as rich tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from everycore.measure.bounds import Bound, bound
from everycore.model import stats
from everycore.model.protocol import Arithmetic, Bench, Check, Kernel, Mode, Resolved
from everycore.model.selection import cipher, selected_kernel
from everycore.report.figures import (
    NOISY,
    TIMING_WORDS,
    UNCERTAIN,
    Cell,
    cell,
    number,
)

SELECTED = "*"
LIMIT = "CPU's limit"
MUCH_FASTER = 0.95  # of the time of the selected kernel
WIDE_COLUMNS = 110


def plain_table(*columns: str, gap: int = 1) -> Table:
    """The look of all tables: no vertical lines, all that fits in 80 columns."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, gap, 0, 0))
    for column in columns:
        table.add_column(column)
    return table


def titled(title: str, table: Table, *captions: str) -> Group:
    """A table between its title and the lines that say where its contents come from."""
    feet = [Text(caption, style="dim") for caption in captions if caption]
    return Group(Text(title, style="bold"), table, *feet, Text())


class OfPrimitive(Protocol):
    """A record about a kernel of a primitive."""

    @property
    def primitive(self) -> str: ...


class KernelName(OfPrimitive, Protocol):
    """A kernel, as far as its name goes: of a harness, or a line of the registry."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=OfPrimitive)


def by_primitive(lines: Iterable[T]) -> dict[str, list[T]]:
    """Kernels of two primitives may have one name (every primitive has its c_ref)."""
    groups: dict[str, list[T]] = {}
    for line in lines:
        groups.setdefault(line.primitive, []).append(line)
    return groups


# ---- Kernels -----------------------------------------------------------------------------------


def kernels_table(kernels: Sequence[Kernel], arch: str, width: int) -> Group:
    """`everycore list`, on a CPU of that architecture; features by name where the width allows."""
    groups = [
        _kernels_table(own, arch, width >= WIDE_COLUMNS, f"Kernels of {primitive}, best first")
        for primitive, own in by_primitive(kernels).items()
    ]
    return Group(*groups)


def _kernels_table(kernels: Sequence[Kernel], arch: str, features: bool, title: str) -> Group:
    table = plain_table()
    table.add_column("Kernel", no_wrap=True)
    table.add_column("Timing", no_wrap=True)
    table.add_column("Use", no_wrap=True)
    table.add_column("Runs here")
    table.add_column("Needs", ratio=3 if features else None, no_wrap=not features)
    slots_are_known = any(kernel.slots for kernel in kernels)
    if slots_are_known:
        table.add_column("Fused", ratio=2)
    for kernel in kernels:
        table.add_row(
            kernel.name,
            kernel.timing,
            kernel.use,
            runs_here(kernel, arch),
            (" ".join(kernel.needs) or "nothing") if features else kernel.isa,
            *([fused(kernel.slots)] if slots_are_known else []),
        )
    return titled(title, table)


def fused(slots: Sequence[str]) -> str:
    """The operations that a kernel does not leave to composition, both directions as one word."""
    short = [
        slot.removesuffix("_encrypt").removesuffix("_decrypt")
        if {slot.replace("_decrypt", "_encrypt"), slot.replace("_encrypt", "_decrypt")} <= {*slots}
        else slot.replace("cbc_encrypt_many", "many")
        .replace("_encrypt", "-enc")
        .replace("_decrypt", "-dec")
        for slot in slots
    ]
    return " ".join(dict.fromkeys(short))


def runs_here(kernel: Kernel, arch: str) -> Text:
    if kernel.arch not in ("other", arch):
        return Text(f"only on {kernel.arch}", style="red")
    if kernel.runs and not kernel.missing_tuning:
        return Text("yes", style="green")
    if kernel.runs:
        return Text(f"yes, by name only: no {' '.join(kernel.missing_tuning)}", style="yellow")
    return Text(f"no {' '.join(kernel.missing)}" if kernel.missing else "not built", style="red")


# ---- Selection ---------------------------------------------------------------------------------


def modes_table(modes: Sequence[Mode], title: str, caption: str = "") -> Group:
    """`everycore resolve`: algorithm / resolved as."""
    table = plain_table("Algorithm", "Resolved as")
    for mode in modes:
        table.add_row(mode.algorithm, resolved_as(mode))
    return titled(title, table, caption)


def resolved_as(mode: Mode) -> str:
    names = [kernel or "nothing" for kernel in mode.kernels]
    if len(set(names)) == 1:
        return names[0]
    return ", ".join(f"{n} ({u})" for n, u in zip(names, mode.uses, strict=True))


def why_not(skipped_why: str, detail: str) -> str:
    """One reason, in words."""
    match skipped_why:
        case "arch":
            return f"only for {detail}"
        case "feature":
            return f"no {detail}"
        case "timing":
            return TIMING_WORDS.get(detail, detail)
        case "use":
            return f"made for {detail} use"
        case "rank":
            return f"after {detail}"
        case _:
            return f"{skipped_why} {detail}".strip()


def selection_status(kernel: str, resolved: Resolved) -> str:
    """How a kernel stands in one selection: selected, or why not."""
    if kernel == resolved.kernel:
        return "selected"
    for skipped in resolved.skipped:
        if skipped.kernel == kernel:
            return why_not(skipped.why, skipped.detail or "")
    return ""


def selection_table(
    kernels: Sequence[KernelName],
    resolved: Sequence[Resolved],
    title: str,
    caption: str = "",
) -> Group:
    """Every kernel against every use of its primitive: selected, or why not."""
    groups = []
    for primitive, own in by_primitive(kernels).items():
        lines = [line for line in resolved if line.primitive == primitive]
        table = plain_table()
        table.add_column("Kernel", no_wrap=True)
        for line in lines:
            table.add_column(f"{line.use.capitalize()} use", ratio=1)
        for kernel in own:
            cells = [selection_status(kernel.name, line) for line in lines]
            table.add_row(kernel.name, *(_status_text(cell) for cell in cells))
        groups.append(titled(f"{title}: {primitive}", table, caption))
    return Group(*groups)


def _status_text(cell: str) -> Text:
    if cell == "selected":
        return Text(cell, style="bold green")
    return Text(cell, style="dim" if cell.startswith("after ") else "")


# ---- Checks ------------------------------------------------------------------------------------


def checks_table(checks: Sequence[Check], caption: str = "") -> Group:
    """Per kernel: properties passed, failed and skipped, and why the latter."""
    groups = [
        _checks_table(own, f"Properties of each kernel of {primitive}", caption)
        for primitive, own in by_primitive(checks).items()
    ]
    return Group(*groups)


def _checks_table(checks: Sequence[Check], title: str, caption: str) -> Group:
    table = plain_table()
    table.add_column("Kernel", no_wrap=True)
    for name in ("Passed", "Failed", "Skipped", "Cases"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Skipped because")
    for kernel in dict.fromkeys(c.kernel for c in checks):
        own = [c for c in checks if c.kernel == kernel]
        count = {r: sum(c.result == r for c in own) for r in ("pass", "fail", "skip")}
        reasons = dict.fromkeys(c.detail for c in own if c.result == "skip" and c.detail)
        table.add_row(
            kernel,
            Text(str(count["pass"]), style="green" if count["pass"] else ""),
            Text(str(count["fail"]), style="bold red" if count["fail"] else ""),
            Text(str(count["skip"]), style="yellow" if count["skip"] else ""),
            str(sum(c.cases for c in own)),
            "; ".join(reasons),
        )
    return titled(title, table, caption)


@dataclass(frozen=True, slots=True)
class VectorCount:
    """Result of one file of vectors."""

    file: str
    vectors: int
    passed: int
    failed: int
    skipped: int


def vectors_table(counts: Sequence[VectorCount], caption: str = "") -> Group:
    table = plain_table()
    table.add_column("File", no_wrap=True)
    for name in ("Vectors", "Passed", "Failed", "Skipped"):
        table.add_column(name, justify="right")
    for c in counts:
        failed = Text(str(c.failed), style="bold red" if c.failed else "")
        table.add_row(c.file, str(c.vectors), str(c.passed), failed, str(c.skipped))
    return titled("Published vectors, on every kernel that runs here", table, caption)


# ---- Measurements ------------------------------------------------------------------------------


def bench_tables(
    benches: Iterable[Bench],
    modes: Sequence[Mode],
    loops: Sequence[Arithmetic],
    caption: str,
    width: int,
) -> list[Group]:
    """One table per mode: kernels down, message sizes across."""
    groups: dict[tuple[str, str, int, int, str], list[Bench]] = {}
    for bench in benches:
        key = (bench.primitive, bench.mode, bench.key_bits, bench.messages, bench.conditions)
        groups.setdefault(key, []).append(bench)
    return [
        _bench_table(
            primitive,
            mode,
            key_bits,
            messages,
            conditions,
            group,
            modes,
            bound(mode, key_bits, loops),
            caption,
            width,
        )
        for (primitive, mode, key_bits, messages, conditions), group in groups.items()
    ]


def _bench_table(
    primitive: str,
    mode: str,
    key_bits: int,
    messages: int,
    conditions: str,
    group: Sequence[Bench],
    modes: Sequence[Mode],
    limit: Bound | None,
    caption: str,
    width: int,
) -> Group:
    streamed = {(b.kernel, b.bytes): cell(b) for b in group if b.style == "streamed"}
    fenced = {(b.kernel, b.bytes): cell(b) for b in group if b.style == "fenced"}
    sizes = sorted({size for _, size in streamed})
    fenced_sizes = sorted({size for _, size in fenced})
    chosen = selected_kernel(mode, primitive, modes)
    many = f", {messages} messages side by side" if messages > 1 else ""
    per_call = not sizes or sizes == [0]
    what = "cycles per call" if per_call else "cycles per byte"
    table = plain_table(gap=1 if width >= WIDE_COLUMNS else 0)
    table.add_column("Kernel", no_wrap=True)
    for size in sizes:
        table.add_column("call" if per_call else str(size), justify="right", no_wrap=True)
    if sizes and not per_call:
        table.add_column("GB/s", justify="right", no_wrap=True)
    for size in fenced_sizes:
        table.add_column(f"{size}\nalone", justify="right", no_wrap=True)
    best = _best(streamed, per_call), _best(fenced, True)
    for kernel in dict.fromkeys(b.kernel for b in group):
        mark = SELECTED if kernel == chosen else " "
        row = [Text(f"{mark} {kernel}", style="bold" if kernel == chosen else "")]
        row += [_value(streamed.get((kernel, s)), best[0].get(s), per_call) for s in sizes]
        if sizes and not per_call:
            row.append(_speed(streamed.get((kernel, sizes[-1]))))
        row += [_value(fenced.get((kernel, s)), best[1].get(s), True) for s in fenced_sizes]
        table.add_row(*row)
    if limit:
        table.add_row(Text(f"  {LIMIT}", style="dim"), *(_limit(limit, size) for size in sizes))
    title = f"{mode} {cipher(primitive)}-{key_bits}{many}{conditions}: {what}"
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


def _shown(item: Cell | None, per_message: bool) -> float | None:
    if item is None or item.cycles is None:
        return None
    return item.cycles.median if per_message else item.cycles_per_byte


def _best(cells: Mapping[tuple[str, int], Cell], per_message: bool) -> dict[int, float]:
    best: dict[int, float] = {}
    for (_, size), item in cells.items():
        value = _shown(item, per_message)
        if value is not None:
            best[size] = min(value, best.get(size, value))
    return best


def _value(item: Cell | None, best: float | None, per_message: bool) -> Text:
    value = _shown(item, per_message)
    if item is None or item.cycles is None or value is None:
        return Text("-", style="dim")
    noisy = NOISY if item.is_noisy else ""
    style = "bold green" if best is not None and number(value) == number(best) else ""
    return Text(noisy + (f"{value:.0f}" if per_message else number(value)), style=style)


def _speed(item: Cell | None) -> Text:
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
    groups: dict[tuple[str, int, int], dict[str, Cell]] = {}
    for bench in benches:
        if bench.crowded or bench.conditions:
            continue
        if bench.style == "streamed" and (bench.primitive, bench.kernel) in allowed:
            key = (f"{bench.mode}|{bench.primitive}", bench.messages, bench.bytes)
            groups.setdefault(key, {})[bench.kernel] = cell(bench)
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
                text = f"{mode} at {size} bytes{many}: {kernel} takes {ratio:.2f} of the time of"
                found.append((ratio, f"{text} the selected {chosen}"))
    return [text for _, text in sorted(found)]
