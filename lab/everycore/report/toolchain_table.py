# SPDX-License-Identifier: MIT
"""The table of toolchains."""

from collections.abc import Sequence

from rich.table import Table

from everycore.compile.toolchains.add import ListedToolchain
from everycore.model.domain import Toolchain


def megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.0f} MB"


def table(rows: Sequence[ListedToolchain]) -> Table:
    found = Table(box=None, pad_edge=False)
    for title in ("toolchain", "version", "from", "disk", "targets"):
        found.add_column(title, justify="right" if title == "disk" else "left")
    for row in rows:
        toolchain = row.toolchain
        found.add_row(
            toolchain.name,
            ".".join(map(str, toolchain.version)),
            toolchain.origin or toolchain.provider,
            "" if row.n_bytes is None else megabytes(row.n_bytes),
            targets(toolchain),
        )
    return found


def targets(toolchain: Toolchain) -> str:
    """Short: those of qemu without that word; x86 models of the host are the host."""
    host = toolchain.compiler("host")
    names = [t for t, c in toolchain.compilers if t == "host" or c != host]
    return " ".join(name.removeprefix("qemu-") for name in names)
