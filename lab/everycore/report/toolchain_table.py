# SPDX-License-Identifier: MIT
"""The table of toolchains."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from everycore.model.domain import Toolchain


@dataclass(frozen=True, slots=True)
class Row:
    """A toolchain as `everycore toolchain list` shows it."""

    toolchain: Toolchain
    n_bytes: int | None  # on the disk; None: not in the cache
    proofs: tuple[tuple[str, str], ...] = ()  # by target, for those that were added

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self.toolchain)
        plain["compilers"] = {t: list(c.command) for t, c in self.toolchain.compilers}
        return {"type": "toolchain", **plain, "bytes": self.n_bytes, "proofs": dict(self.proofs)}


def megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.0f} MB"


def table(rows: Sequence[Row]) -> Table:
    found = Table(box=None, pad_edge=False)
    for title in ("toolchain", "version", "from", "disk", "targets"):
        found.add_column(title, justify="right" if title == "disk" else "left")
    for row in rows:
        one = row.toolchain
        found.add_row(
            one.name,
            ".".join(map(str, one.version)),
            one.origin or one.provider,
            "" if row.n_bytes is None else megabytes(row.n_bytes),
            targets(one),
        )
    return found


def targets(toolchain: Toolchain) -> str:
    """Short: those of qemu without that word; x86 models of the host are the host."""
    host = toolchain.compiler("host")
    names = [t for t, c in toolchain.compilers if t == "host" or c != host]
    return " ".join(name.removeprefix("qemu-") for name in names)
