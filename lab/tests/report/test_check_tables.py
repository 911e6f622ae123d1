# SPDX-License-Identifier: MIT
from harness_lines import lines, render

from everycore.model import protocol
from everycore.report import check_tables


def test_checks_are_counted_per_kernel() -> None:
    checks = [line for line in lines("check_failed") if isinstance(line, protocol.Check)]
    text = render(check_tables.checks_table(checks)).splitlines()
    aesni = next(line for line in text if line.startswith("x86_aesni"))
    assert aesni.split() == ["x86_aesni", "2", "0", "0", "4156"]
    assert any("needs gfni" in line for line in text)
