# SPDX-License-Identifier: MIT
"""Make the tables of `everycore resolve`: which kernel is selected, and why not the others."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from everycore.model.protocol import TIMING_WORDS, Mode, Resolved
from everycore.report.by_primitive import KernelName, by_primitive
from everycore.report.table_style import plain_table, titled


def modes_table(modes: Sequence[Mode], title: str, caption: str = "") -> Group:
    """`everycore resolve`: algorithm / resolved as."""
    table = plain_table("Algorithm", "Resolved as")
    for mode in modes:
        table.add_row(mode.algorithm, resolved_as(mode))
    return titled(title, table, caption)


def resolved_as(mode: Mode) -> str:
    names = [kernel or "nothing" for kernel in mode.kernels]
    if len(set(names)) == 1:
        return names[0]
    return ", ".join(f"{n} ({u})" for n, u in zip(names, mode.uses, strict=True))


def why_not(skipped_why: str, detail: str) -> str:
    """One reason, in words."""
    match skipped_why:
        case "arch":
            return f"only for {detail}"
        case "feature":
            return f"no {detail}"
        case "timing":
            return TIMING_WORDS.get(detail, detail)
        case "use":
            return f"made for {detail} use"
        case "rank":
            return f"after {detail}"
        case _:
            return f"{skipped_why} {detail}".strip()


def selection_status(kernel: str, resolved: Resolved) -> str:
    """How a kernel stands in one selection: selected, or why not."""
    if kernel == resolved.kernel:
        return "selected"
    for skipped in resolved.skipped:
        if skipped.kernel == kernel:
            return why_not(skipped.why, skipped.detail or "")
    return ""


def selection_table(
    kernels: Sequence[KernelName],
    resolved: Sequence[Resolved],
    title: str,
    caption: str = "",
) -> Group:
    """Each kernel against each use of its primitive: selected, or why not. Kernels of other
    architectures are left out."""
    foreign = {s.kernel for line in resolved for s in line.skipped if s.why == "arch"}
    groups = []
    native = [kernel for kernel in kernels if kernel.name not in foreign]
    for primitive, own in by_primitive(native).items():
        lines = [line for line in resolved if line.primitive == primitive]
        table = plain_table()
        table.add_column("Kernel", no_wrap=True)
        for line in lines:
            table.add_column(f"{line.use.capitalize()} use", ratio=1)
        for kernel in own:
            cells = [selection_status(kernel.name, line) for line in lines]
            table.add_row(kernel.name, *(_status_text(cell) for cell in cells))
        groups.append(titled(f"{title}: {primitive}", table, caption))
    return Group(*groups)


def _status_text(cell: str) -> Text:
    if cell == "selected":
        return Text(cell, style="bold green")
    return Text(cell, style="dim" if cell.startswith("after ") else "")
