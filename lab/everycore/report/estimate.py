# SPDX-License-Identifier: MIT
"""The tables of `everycore estimate`: exact counts, estimates and published figures. Pure.

Three columns, and no figure of one in another.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from everycore.estimates import BULK, Core, Figure, Hidden, Row, ratio, spoken
from everycore.report.tables import plain_table, titled

LEGEND = (
    "i/B: executed instructions per byte, exact. est.: cycles per byte by a model of the core, all"
    " data in the first cache; a range, never a measurement. published: cycles per byte of that"
    " very code, by others."
)


def counts_table(rows: Sequence[Row], caption: str) -> Group:
    """Exact counts, by kind of instruction where they were told apart."""
    table = _table(rows)
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.classes))
    table.add_column("i/B", justify="right", no_wrap=True)
    for kind in kinds:
        table.add_column(kind, justify="right", no_wrap=True)
    for row in rows:
        shares = [f"{row.classes[kind]:.2f}" if row.classes else "-" for kind in kinds]
        table.add_row(*_names(row), count(row.instructions_per_byte), *shares)
    return titled("Executed instructions per byte, exact", table, caption)


def core_table(core: Core, rows: Sequence[Row], others: Sequence[Row], caption: str) -> Group:
    """One core: all rows, those of other people's code behind ours."""
    table = _table(rows)
    for name in ("i/B", "est.", "error", *(["ratio"] if others else []), "published"):
        table.add_column(name, justify="right", no_wrap=True)
    feet: dict[str, None] = {}
    for row in (*rows, *others):
        found = row.figures.get(core.name)
        words: list[str | Text] = [count(row.instructions_per_byte), *_estimate(found)]
        if others:
            words.append(_ratios(row, others, core.name))
        point = row.published.get(core.name)
        words.append(two_digits_or_more(point.cycles_per_byte) if point else "")
        table.add_row(*_names(row), *words)
        if isinstance(found, Hidden):
            feet[f"hidden: {row.kernel} {row.mode}: {found.why}"] = None
        elif found:
            feet[f"{'+'.join(row.techniques)}: {found.basis}"] = None
    return titled(f"{core.title}: cycles per byte", table, *feet, LEGEND, caption)


def _table(rows: Sequence[Row]) -> Table:
    del rows
    table = plain_table()
    table.add_column("Kernel", no_wrap=True)
    table.add_column("Mode", no_wrap=True)
    table.add_column("Key", justify="right", no_wrap=True)
    table.add_column("Bytes", justify="right", no_wrap=True)
    return table


def _names(row: Row) -> list[str]:
    kernel = row.kernel if row.owner == "everycore" else f"{row.owner} {row.kernel}"
    return [kernel, row.mode, str(row.key_bits), length(row.bytes)]


def length(n_bytes: int) -> str:
    return "bulk" if n_bytes == BULK else str(n_bytes)


def count(per_byte: float) -> str:
    return f"{per_byte:.2f}" if per_byte < 10 else f"{per_byte:.1f}"


def two_digits_or_more(value: float) -> str:
    """As published: no rounding, no zeros at the end."""
    return f"{value:g}"


def _estimate(found: Figure | Hidden | None) -> list[Text]:
    if not isinstance(found, Figure):
        return [Text("hidden" if found else "-", style="dim"), Text("")]
    return [Text(spoken(found.low, found.high)), Text(f"±{found.margin:.0%}")]


def _ratios(row: Row, others: Sequence[Row], core: str) -> str:
    """To the fastest of other people's code for the same work."""
    found = best_of(row, others, core)
    return f"{found[0]:.2f}x" if found and row not in others else ""


def best_of(row: Row, others: Sequence[Row], core: str) -> tuple[float, Row] | None:
    same = [o for o in others if _work(o) == _work(row)]
    ratios = [(r, o) for o in same if (r := ratio(row, o, core)) is not None]
    return max(ratios, key=lambda pair: pair[0], default=None)


def _work(row: Row) -> tuple[str, int, int]:
    return row.mode, row.key_bits, row.bytes


def json_line(row: Row, others: Sequence[Row]) -> dict[str, Any]:
    """A row for programs."""
    estimates: dict[str, Mapping[str, Any]] = {}
    for core, found in row.figures.items():
        if isinstance(found, Hidden):
            estimates[core] = {"hidden": found.why, "model": found.model}
            continue
        estimates[core] = {
            "low": round(found.low, 4),
            "high": round(found.high, 4),
            "model": round(found.model, 4),
            "margin": round(found.margin, 3),
            "calibrated": found.calibrated,
            "basis": found.basis,
        }
    line: dict[str, Any] = {
        "type": "estimate",
        "owner": row.owner,
        "kernel": row.kernel,
        "mode": row.mode,
        "key_bits": row.key_bits,
        "bytes": length(row.bytes) if row.bytes == BULK else row.bytes,
        "instructions_per_byte": round(row.instructions_per_byte, 5),
        "classes": {kind: round(n, 4) for kind, n in row.classes.items()},
        "estimates": estimates,
        "published": {
            core: {"cycles_per_byte": p.cycles_per_byte, "source": p.source}
            for core, p in row.published.items()
        },
    }
    if row not in others:
        line["ratios"] = {
            core: {
                f"{o.owner} {o.kernel}": round(r, 4)
                for o in others
                if _work(o) == _work(row) and (r := ratio(row, o, core)) is not None
            }
            for core in row.figures
        }
    return line
