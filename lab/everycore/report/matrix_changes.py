# SPDX-License-Identifier: MIT
"""Compare two stored matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import asdict
from rich.console import Group
from rich.text import Text

from everycore.model.cells import Cell, Result
from everycore.report.matrix_tables import SHORT, value
from everycore.report.table_style import plain_table, titled

SAME_CODE = "="
LEGEND = f"{SAME_CODE}: the code is the same to the byte, so the program did not change."


@dataclass(frozen=True, slots=True)
class CellPair:
    """A cell of two matrices."""

    cell: Cell
    before: Result
    after: Result

    @property
    def ratio(self) -> float | None:
        """The ratio of the figures; None if one of the two has none, or of another kind."""
        first, second = value(self.before), value(self.after)
        if self.before.outcome is not self.after.outcome or not first or second is None:
            return None
        return second / first

    @property
    def is_same_code(self) -> bool:
        return bool(self.before.digest) and self.before.digest == self.after.digest

    def differs(self, share: float) -> bool:
        """The cell ends otherwise, or its figure is further away than a share of it."""
        if self.before.outcome is not self.after.outcome:
            return True
        ratio = self.ratio
        return ratio is not None and not 1 / (1 + share) <= ratio <= 1 + share

    def as_object(self) -> dict[str, Any]:
        return {
            "cell": asdict(self.cell),
            "before": value(self.before),
            "after": value(self.after),
            "ratio": self.ratio,
            "outcomes": [self.before.outcome, self.after.outcome],
            "same_code": self.is_same_code,
        }


def compare_stored(before: Mapping[Cell, Result], after: Mapping[Cell, Result]) -> list[CellPair]:
    """The cells that both have."""
    return [
        CellPair(cell, before[cell], result) for cell, result in after.items() if cell in before
    ]


def table(found: Sequence[CellPair], title: str, *captions: str) -> Group:
    """Cells that end otherwise first, then by ratio."""
    heads = ("Before", "After", "Ratio")
    grid = plain_table("Subject", "Function", "Compiler", "Flags", figures=heads)
    for pair in sorted(
        found, key=lambda pair: (pair.ratio is not None, -(pair.ratio or 0), pair.cell)
    ):
        cell = pair.cell
        ratio = f"{pair.ratio:.3f}" if pair.ratio is not None else "-"
        grid.add_row(
            cell.subject,
            cell.function + ("" if cell.target == "host" else f" for {cell.target}"),
            cell.toolchain,
            pair.after.flag_set or " ".join(cell.flags),
            _shown(pair.before),
            _shown(pair.after),
            Text(ratio + (SAME_CODE if pair.is_same_code else "")),
        )
    return titled(title, grid, LEGEND, *captions)


def _shown(result: Result) -> str:
    figure = value(result)
    return f"{figure:.2f}" if figure is not None else SHORT.get(result.outcome, "?")
