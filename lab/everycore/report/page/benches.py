# SPDX-License-Identifier: MIT
"""Tables of stored runs of bench, peers, limits, goals, estimate and pauth, for the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everycore.environment.decoding import Record
from everycore.measure.bounds import bounds
from everycore.model.protocol import Arithmetic, Bench, Failure, Limit
from everycore.model.run_lines import EstimateLine, GoalLine
from everycore.model.selection import algorithm, unit_of
from everycore.report import goal_lines, messages, peer_comparison
from everycore.report import limit_tables as limit_texts
from everycore.report import pauth_tables as pauth
from everycore.report.figures import NOISY, number, operation_figure
from everycore.report.page import colours

# Steps for peers and kernels: they are further apart than compilers.
STEPS = (1.05, 1.5, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A cell of a table: what is shown, what it is sorted by, how far from the best."""

    shown: str
    sort: float | str = ""
    step: int | None = None  # of heat
    remark: str = ""  # when pointed at


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the page."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    feet: tuple[tuple[Entry, ...], ...] = ()
    note: str = ""


def bench_tables(records: Sequence[Record]) -> list[Table]:
    """A table per mode: kernels down, message sizes across."""
    groups: dict[tuple[object, ...], dict[str, dict[int, Bench]]] = {}
    for record in records:
        if isinstance(b := record, Bench) and b.cycles and not b.peer:
            key = (b.primitive, b.mode + b.conditions, b.key_bits, b.messages, b.style)
            groups.setdefault(key, {}).setdefault(b.kernel, {})[b.bytes] = b
    return [_bench_table(kernels) for kernels in groups.values()]


def _bench_table(kernels: Mapping[str, Mapping[int, Bench]]) -> Table:
    first = next(bench for own in kernels.values() for bench in own.values())
    sizes = sorted({size for own in kernels.values() for size in own})
    per_call = sizes == [0] or first.style == "fenced"
    values = {
        (name, size): _figure(bench, per_call)
        for name, own in kernels.items()
        for size, bench in own.items()
    }
    least = {s: min(v for (_, size), v in values.items() if size == s) for s in sizes}
    rows = []
    for name, own in kernels.items():
        entries = [Entry(name, name)]
        for size in sizes:
            value = values.get((name, size))
            if value is None:
                entries.append(Entry("-"))
                continue
            entries.append(_entry(own[size], value, least[size]))
        rows.append(tuple(entries))
    unit = "cycles per call, alone" if per_call else f"cycles per {unit_of(first.mode)}"
    short = " B" if unit_of(first.mode) == "byte" else f" {unit_of(first.mode)}s"
    many = f", {first.messages} messages side by side" if first.messages > 1 else ""
    operation = algorithm(first.mode + first.conditions, first.primitive, first.key_bits)
    return Table(
        f"{operation}{many}: {unit}",
        ("kernel", *("call" if size == 0 else f"{size}{short}" for size in sizes)),
        tuple(rows),
    )


def _figure(bench: Bench, per_call: bool) -> float:
    found = operation_figure(bench)
    assert found.cycles is not None  # of a bench with samples
    return found.cycles.median if per_call else found.cycles_per_byte or found.cycles.median


def _entry(bench: Bench, value: float, least: float) -> Entry:
    found = operation_figure(bench)
    assert found.cycles is not None
    speed = found.gigabytes_per_second
    remark = (
        f"{found.cycles.low:.5g} to {found.cycles.high:.5g} cycles ({found.cycles.interval})"
        + (f", {number(speed)} GB/s" if speed and unit_of(bench.mode) == "byte" else "")
    )
    if bench.crowded:
        remark += ", on a core that something else used too"
    step = colours.step(value / least, STEPS) if least else None
    return Entry((NOISY if found.is_noisy else "") + number(value), value, step, remark)


def peer_tables(records: Sequence[Record], since: Mapping[str, str]) -> list[Table]:
    """Our kernels and other libraries, with the lines that say how they stand."""
    lines = list(records)
    loops = [line for line in lines if isinstance(line, Arithmetic)]
    failures = [line for line in lines if isinstance(line, Failure)]
    benches = peer_comparison.without_wrong((x for x in lines if isinstance(x, Bench)), failures)
    return [_peer_table(table) for table in peer_comparison.peer_tables(benches, loops, since)]


def _peer_table(table: peer_comparison.PeerTable) -> Table:
    columns = range(len(table.sizes))
    least = [
        min((v for row in table.rows if (v := row.values[i]) is not None), default=None)
        for i in columns
    ]
    rows = []
    for row in table.rows:
        mark = f"{peer_comparison.OLDER} " if row.is_older else ""
        entries = [Entry(mark + row.name, row.name)]
        for i in columns:
            value, low = row.values[i], least[i]
            step = colours.step(value / low, STEPS) if value is not None and low else None
            sort = value if value is not None else ""
            entries.append(Entry(peer_comparison.figure(row, i), sort, step))
        rows.append(tuple(entries))
    feet = tuple(
        (Entry(name), *(Entry(peer_comparison.foot(name, value)) for value in values))
        for name, values in table.feet()
    )
    note = f"limit: {table.limit.source}" if table.limit else ""
    head = ("", *(f"{size} B" for size in table.sizes))
    return Table(table.title(), head, tuple(rows), feet, note)


def goal_table(records: Sequence[Record]) -> Table | None:
    """Make the table of goals: counts and estimates, no measurements."""
    found = [line for line in records if isinstance(line, GoalLine)]
    if not found:
        return None
    rows = tuple(tuple(Entry(text, _sortable(text)) for text in goal_lines.cells(o)) for o in found)
    return Table("Goals: exact counts, and estimates as ranges", goal_lines.HEAD, rows)


def estimate_table(records: Sequence[Record]) -> Table | None:
    """Make the table of `everycore estimate`: counts and estimates, no measurements."""
    found = [line for line in records if isinstance(line, EstimateLine)]
    if not found:
        return None
    head, cells = messages.estimate_cells(found)
    rows = tuple(tuple(Entry(text, _sortable(text)) for text in row) for row in cells)
    return Table("Estimates: exact counts, and ranges by models of cores", tuple(head), rows)


def pauth_tables(records: Sequence[Record]) -> list[Table]:
    """Make the tables of `everycore pauth`: the cost of emulators, as on the terminal."""
    found = pauth.tables(records)
    return [
        Table(
            table.title,
            table.head,
            tuple(tuple(Entry(text, _sortable(text)) for text in row) for row in table.rows),
            note="; ".join((*table.notes, table.legend)),
        )
        for table in found
    ]


def limit_tables(records: Sequence[Record]) -> list[Table]:
    """Make the tables of `everycore limits`: instructions, and what they leave of each mode."""
    lines = list(records)
    instructions = tuple(
        (
            Entry(line.instruction),
            Entry(str(line.width_bits), line.width_bits),
            *(
                Entry(text, _sortable(text))
                for text in (
                    limit_texts.figure_text(line.latency_cycles, 2, line).plain,
                    limit_texts.figure_text(line.per_cycle, 2, line).plain,
                )
            ),
            Entry(line.why),
        )
        for line in lines
        if isinstance(line, Limit)
    )
    costs = tuple(
        (
            Entry(bound.mode),
            Entry(str(bound.key_bits or "any"), bound.key_bits),
            Entry(
                f"{NOISY if bound.crowded else ''}{bound.cycles_per_byte:.4f}",
                bound.cycles_per_byte,
            ),
            Entry(bound.source),
        )
        for bound in bounds(lines)
    )
    found = [
        Table(
            "What this CPU can do: latency in cycles, and how many per cycle",
            ("instruction", "bits", "latency", "per cycle", ""),
            instructions,
        ),
        Table(
            "Bounds: cycles per byte that no kernel of the mode can go below",
            ("mode", "key bits", "cycles/B", "source"),
            costs,
            note=limit_texts.LEGEND,
        ),
    ]
    return [table for table in found if table.rows]


def _sortable(text: str) -> float | str:
    """By the first number, if it begins with one."""
    try:
        return float(text.partition(" ")[0].rstrip(f"x%{NOISY}"))
    except ValueError:
        return text
