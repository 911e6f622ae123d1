# SPDX-License-Identifier: MIT
"""Make the table of `everycore list`: the kernels, and which of them run here."""

from collections.abc import Sequence

from rich.console import Group
from rich.text import Text

from everycore.model.protocol import Kernel
from everycore.report.by_primitive import by_primitive
from everycore.report.table_style import WIDE_COLUMNS, plain_table, titled


def kernels_table(kernels: Sequence[Kernel], arch: str, width: int) -> Group:
    """`everycore list`, on a CPU of that architecture; features by name where the width allows."""
    groups = [
        _kernels_table(own, arch, width >= WIDE_COLUMNS, f"Kernels of {primitive}, best first")
        for primitive, own in by_primitive(kernels).items()
    ]
    return Group(*groups)


def _kernels_table(kernels: Sequence[Kernel], arch: str, features: bool, title: str) -> Group:
    table = plain_table()
    table.add_column("Kernel", no_wrap=True)
    table.add_column("Timing", no_wrap=True)
    table.add_column("Use", no_wrap=True)
    table.add_column("Runs here")
    table.add_column("Needs", ratio=3 if features else None, no_wrap=not features)
    slots_are_known = any(kernel.slots for kernel in kernels)
    if slots_are_known:
        table.add_column("Fused", ratio=2)
    for kernel in kernels:
        table.add_row(
            kernel.name,
            kernel.timing,
            kernel.use,
            runs_here(kernel, arch),
            (" ".join(kernel.needs) or "nothing") if features else kernel.isa,
            *([fused(kernel.slots)] if slots_are_known else []),
        )
    return titled(title, table)


def fused(slots: Sequence[str]) -> str:
    """The operations that a kernel does not leave to composition, both directions as one word."""
    short = [
        slot.removesuffix("_encrypt").removesuffix("_decrypt")
        if {slot.replace("_decrypt", "_encrypt"), slot.replace("_encrypt", "_decrypt")} <= {*slots}
        else slot.replace("cbc_encrypt_many", "many")
        .replace("_encrypt", "-enc")
        .replace("_decrypt", "-dec")
        for slot in slots
    ]
    return " ".join(dict.fromkeys(short))


def runs_here(kernel: Kernel, arch: str) -> Text:
    if kernel.arch not in ("other", arch):
        return Text(f"only on {kernel.arch}", style="red")
    if kernel.runs and not kernel.missing_tuning:
        return Text("yes", style="green")
    if kernel.runs:
        return Text(f"yes, by name only: no {' '.join(kernel.missing_tuning)}", style="yellow")
    return Text(f"no {' '.join(kernel.missing)}" if kernel.missing else "not built", style="red")
