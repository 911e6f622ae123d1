# SPDX-License-Identifier: MIT
import io

from rich.console import Console, RenderableType

from everycore.measure.bounds import bounds
from everycore.model.protocol import Arithmetic, InstructionCount, Limit
from everycore.report import limit_tables as report

LIMIT = Limit("aesenc", 128, (4.0,) * 5, (2.0,) * 5, runs=True, parts=(1,) * 5)
LOOP = Arithmetic(
    "l", ("ctr",), 256, 128, False, 64, (InstructionCount("aesenc", 56),), (0.5,) * 5, runs=True,
    parts=(1,) * 5,
)  # fmt: skip


def text(shown: RenderableType) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(shown)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_figures_of_a_core_that_something_else_used_are_marked() -> None:
    shared = LOOP.replace(crowded=True)
    tables = [
        report.instructions_table([LIMIT.replace(crowded=True)], ""),
        report.arithmetic_table([shared], ""),
        report.bounds_table(bounds([shared]), ""),
    ]
    for shown, figure in zip(map(text, tables), ("~4.00", "~0.5000", "~0.5000"), strict=True):
        assert figure in shown


def test_figures_of_a_quiet_core_are_not() -> None:
    assert "~" not in text(report.instructions_table([LIMIT], ""))
    assert "~" not in text(report.arithmetic_table([LOOP], ""))
    assert "~0" not in text(report.bounds_table(bounds([LOOP]), ""))


def test_a_quiet_loop_bounds_a_mode_rather_than_a_slower_one_of_a_shared_core() -> None:
    shared = LOOP.replace(cycles_per_byte=(0.8,) * 5, crowded=True)
    (found,) = bounds([shared, LOOP])
    assert (found.cycles_per_byte, found.crowded) == (0.5, False)
