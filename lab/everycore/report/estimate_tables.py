# SPDX-License-Identifier: MIT
"""The tables of `everycore estimate`: exact counts, estimates and published figures.

Three columns, and no figure of one in another.
"""

import re
from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from everycore.estimate.core_estimates import (
    BULK,
    Core,
    Figure,
    Hidden,
    OperationEstimate,
    rivals,
    spoken,
)
from everycore.model.run_lines import CoreEstimate, EstimateLine, PublishedFigure
from everycore.report.table_style import plain_table, titled

LEGEND = (
    "i/B: executed instructions per byte, exact. est.: cycles per byte by a model of the core, all"
    " data in the first cache; a range, never a measurement. published: cycles per byte of that"
    " very code, by others."
)


def counts_table(rows: Sequence[OperationEstimate], caption: str) -> Group:
    """Exact counts, by kind of instruction where they were told apart."""
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.classes))
    groups: list[Group] = []
    for title, own in _by_work(rows).items():
        table = _table("i/B", *kinds)
        for row in own:
            shares = [f"{row.classes[kind]:.2f}" if row.classes else "-" for kind in kinds]
            table.add_row(_name(row), length(row.bytes), count(row.instructions_per_byte), *shares)
        groups.append(titled(f"{title}: executed instructions per byte, exact", table, caption))
    return Group(*groups)


def core_table(
    core: Core, rows: Sequence[OperationEstimate], others: Sequence[OperationEstimate], caption: str
) -> Group:
    """One core, a table for each mode: our rows, and those of other people's code behind them."""
    groups: list[Group] = []
    feet: dict[str, None] = {}
    for title, own in _by_work((*rows, *others)).items():
        table = _table("i/B", "est.", "", *(["ratio"] if others else []), "published")
        if others:
            table.add_column("ratio to")
        for row in own:
            found = row.figures.get(core.name)
            words: list[str | Text] = [count(row.instructions_per_byte), *_estimate(found)]
            best = next(iter(rivals(row, others, core.name)), None) if row in rows else None
            words += [f"{best[0]:.2f}x" if best else ""] if others else []
            point = row.published.get(core.name)
            words.append(f"{point.cycles_per_byte:g}" if point else "")
            words += [_name(best[1]) if best else ""] if others else []
            table.add_row(_name(row), length(row.bytes), *words)
            if isinstance(found, Hidden):
                feet[f"hidden: {found.why}"] = None
            elif found:
                feet[f"{'+'.join(row.techniques)}: {found.basis}"] = None
        groups.append(titled(f"{core.title}, {title}: cycles per byte", table))
    feet[LEGEND] = feet[caption] = None
    return Group(*groups, *(Text(foot, style="dim") for foot in feet), Text())


def _by_work(rows: Sequence[OperationEstimate]) -> dict[str, list[OperationEstimate]]:
    found: dict[str, list[OperationEstimate]] = {}
    for row in rows:
        key = "" if row.mode == "ghash" else f", keys of {row.key_bits} bits"
        found.setdefault(row.mode + key, []).append(row)
    return found


def _table(*figures: str) -> Table:
    return plain_table("Kernel", figures=("Bytes", *figures))


def _name(row: OperationEstimate) -> str:
    owner = re.sub(r"-(arm64|arm32)$", "", row.owner)
    return row.kernel if owner == "everycore" else f"{owner} {row.kernel}"


def length(n_bytes: int) -> str:
    return "bulk" if n_bytes == BULK else str(n_bytes)


def count(per_byte: float) -> str:
    return f"{per_byte:.2f}" if per_byte < 10 else f"{per_byte:.1f}"


def _estimate(found: Figure | Hidden | None) -> list[Text]:
    if not isinstance(found, Figure):
        return [Text("hidden" if found else "-", style="dim"), Text("")]
    return [Text(spoken(found.low, found.high)), Text(f"±{found.margin:.0%}")]


def line_of(row: OperationEstimate, others: Sequence[OperationEstimate]) -> EstimateLine:
    """Return a row as it is stored."""
    estimates: dict[str, CoreEstimate] = {}
    for core, found in row.figures.items():
        if isinstance(found, Hidden):
            estimates[core] = CoreEstimate(hidden=found.why, model=found.model)
            continue
        estimates[core] = CoreEstimate(
            low=round(found.low, 4),
            high=round(found.high, 4),
            model=round(found.model, 4),
            margin=round(found.margin, 3),
            calibrated=found.calibrated,
            basis=found.basis,
        )
    ratios = {
        core: {_name(other): round(value, 4) for value, other in rivals(row, others, core)}
        for core in row.figures
    }
    return EstimateLine(
        owner=row.owner,
        kernel=row.kernel,
        mode=row.mode,
        techniques=tuple(row.techniques),
        key_bits=row.key_bits,
        bytes=length(row.bytes) if row.bytes == BULK else row.bytes,
        instructions_per_byte=round(row.instructions_per_byte, 5),
        classes={kind: round(n, 4) for kind, n in row.classes.items()},
        estimates=estimates,
        published={
            core: PublishedFigure(p.cycles_per_byte, p.source) for core, p in row.published.items()
        },
        ratios=None if row in others else ratios,
    )
