# SPDX-License-Identifier: MIT
"""The tables of `everycore limits`."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from everycore.measure.bounds import Bound, source
from everycore.model.protocol import Arithmetic, Limit
from everycore.report.figures import NOISY, UNCERTAIN, figure_of
from everycore.report.table_style import plain_table, titled

LEGEND = (
    "A bound is arithmetic: the best measured loop of what the mode cannot do without."
    " Loads, counters, reductions and the ends of messages come on top."
    f" {UNCERTAIN}."
)


def instructions_table(limits: Sequence[Limit], caption: str) -> Group:
    """Latency and throughput, or what the CPU lacks."""
    table = plain_table("Instruction", figures=("Bits", "Latency", "Per cycle"))
    table.add_column("")
    for limit in limits:
        table.add_row(
            limit.instruction,
            str(limit.width_bits),
            figure_text(limit.latency_cycles, 2, limit),
            figure_text(limit.per_cycle, 2, limit),
            Text(limit.why, style="dim"),
        )
    return titled("What this CPU can do: latency in cycles, and how many per cycle", table, caption)


def arithmetic_table(loops: Sequence[Arithmetic], caption: str) -> Group:
    """Every loop that could bound a mode."""
    table = _cost_table("Loop", "Key")
    for loop in loops:
        table.add_row(
            loop.name,
            str(loop.key_bits or "any"),
            figure_text(loop.cycles_per_byte, 4, loop),
            source(loop) if not loop.why else Text(loop.why, style="dim"),
        )
    return titled("Arithmetic: cycles per byte", table, caption)


def bounds_table(bounds: Sequence[Bound], caption: str) -> Group:
    """The bound of each mode and key size, modes of one bound in one row."""
    table = _cost_table("Modes", "Key")
    rows: dict[tuple[int, str, str], list[str]] = {}
    for bound in bounds:
        shown = f"{NOISY if bound.crowded else ''}{bound.cycles_per_byte:.4f}"
        rows.setdefault((bound.key_bits, shown, bound.source), []).append(bound.mode)
    for (key_bits, shown, text), modes in rows.items():
        table.add_row(" ".join(modes), str(key_bits or "any"), shown, text)
    return titled("Bounds of the modes: cycles per byte", table, LEGEND, caption)


def _cost_table(*columns: str) -> Table:
    table = plain_table(*columns, figures=["Cycles/B"])
    table.add_column("From")
    return table


def figure_text(samples: Sequence[float], digits: int, line: Limit | Arithmetic) -> Text:
    figure = figure_of(samples, line.parts)
    if figure is None:
        return Text("-", style="dim")
    noisy = NOISY if figure.is_uncertain or line.crowded else ""
    return Text(f"{noisy}{figure.median:.{digits}f}")
