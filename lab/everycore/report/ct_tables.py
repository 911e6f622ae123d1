# SPDX-License-Identifier: MIT
"""`everycore ct` as tables made from values."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from everycore.ct.verdicts import Conclusion, Verdict, count, of_kernels
from everycore.model.protocol import CtOperation
from everycore.report.table_style import plain_table, titled

STYLES = {"pass": "green", "FAIL": "bold red", "FAIL, rightly": "green", "not here": "yellow"}

FEW_NAMES = 4


def ct_tables(
    operations: Sequence[CtOperation],
    verdicts: Sequence[Verdict],
    methods: Sequence[str],
    caption: str,
) -> list[Group]:
    """One table per primitive: kernels down, with the operations on which all methods agree."""
    groups: list[Group] = []
    for primitive in dict.fromkeys(o.primitive for o in operations):
        table = plain_table()
        table.add_column("Kernel", no_wrap=True)
        table.add_column("Promises", no_wrap=True)
        table.add_column("Operations", ratio=1, overflow="fold")
        for method in methods:
            table.add_column(method.capitalize(), no_wrap=True)
        reasons: dict[str, None] = {}
        for own in of_kernels(o for o in operations if o.primitive == primitive):
            found = [v for v in verdicts if v.operation in own]
            reasons |= dict.fromkeys(
                f"not here: {own[0].kernel} by {v.method}: {v.detail}"
                for v in found
                if v.result == "impossible"
            )
            for names, cells in _rows(own, found, methods):
                texts = (Text(c, style=STYLES.get(c, "")) for c in cells)
                table.add_row(own[0].kernel, own[0].timing, names, *texts)
            reasons |= dict.fromkeys(
                f"timing, reported: {own[0].kernel} {v.operation.operation}: {v.detail}"
                for v in found
                if (v.method, v.result, own[0].timing) == ("timing", "fail", "ct")
            )
        groups.append(titled(f"Constant time: {primitive}", table, *reasons, caption))
    return groups


def _rows(
    operations: Sequence[CtOperation], verdicts: Sequence[Verdict], methods: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """The operations of a kernel by what the gating methods say, and a cell for each method."""
    rows: dict[tuple[str, ...], list[str]] = {}
    names = dict.fromkeys(o.operation or "" for o in operations)
    for name in names:
        own = [v for v in verdicts if (v.operation.operation or "") == name]
        cells = (_cell(own, m) for m in methods if m != "timing")
        rows.setdefault(tuple(cells), []).append(name)
    most = max(rows.values(), key=len)
    return [
        (
            _named(group, len(names)) if group is most else ", ".join(group),
            [*cells, *(_t(verdicts, group) for m in methods if m == "timing")],
        )
        for cells, group in rows.items()
    ]


def _named(group: Sequence[str], all_names: int) -> str:
    """The largest group: the others have their names."""
    if len(group) <= FEW_NAMES:
        return ", ".join(group)
    return f"all {len(group)}" if len(group) == all_names else f"the other {len(group)}"


def _cell(verdicts: Sequence[Verdict], method: str) -> str:
    """One word for all key sizes."""
    own = [v for v in verdicts if v.method == method]
    results = {v.result for v in own}
    if "fail" in results:
        return "FAIL" if own[0].operation.timing == "ct" else "FAIL, rightly"
    if results == {"pass", "impossible"}:
        return "pass in part"  # some key sizes could not be looked at
    if "pass" in results:
        return "pass"
    return "not here" if results else ""


def _t(verdicts: Sequence[Verdict], names: Sequence[str]) -> str:
    own = [v for v in verdicts if v.method == "timing" and v.operation.operation in names]
    if not own:
        return ""
    worst = max(own, key=lambda v: v.t)
    if worst.result == "impossible":
        return "not here"
    return f"|t| {'<=' if len(own) > 1 else '='} {worst.t:.1f}"


def summary(conclusions: Sequence[Conclusion]) -> str:
    if not conclusions:
        return "timing is reported and decides nothing"
    return ", ".join(f"{n} {word}" for word, n in count(conclusions).items())
