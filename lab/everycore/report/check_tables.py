# SPDX-License-Identifier: MIT
"""Make the tables of `everycore check`: properties and published vectors that kernels passed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from everycore.model.protocol import Check
from everycore.report.by_primitive import by_primitive
from everycore.report.table_style import plain_table, titled


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
