# SPDX-License-Identifier: MIT
from harness_lines import BENCHES

from everycore.report import figures


def test_three_figures_are_shown() -> None:
    shown = [figures.number(v) for v in (0.1171, 3.5, 22.51, 330.4)]
    assert shown == ["0.117", "3.50", "22.5", "330"]


def test_a_cell_has_cycles_per_byte_and_speed() -> None:
    bench = next(b for b in BENCHES if b.mode == "cbc-enc-many")
    cell = figures.operation_figure(bench)
    assert cell.bytes == 32 * 16384
    assert round(cell.cycles_per_byte or 0, 2) == 0.25
    assert round(cell.gigabytes_per_second or 0) == 16
