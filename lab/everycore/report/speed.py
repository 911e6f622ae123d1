# SPDX-License-Identifier: MIT
"""Make a table of operations a second, in the layout of `openssl speed`: times, then rates."""

from collections.abc import Sequence
from statistics import median

from rich.console import Group

from everycore.model.protocol import Bench
from everycore.report.table_style import plain_table, titled

# Title, the name of a column, and the operations of one call.
MODES = {
    "mont-mul": ("bn", "product", 1),
    "mont-sqr": ("bn", "square", 1),
    "exp": ("bn", "power", 1),
    "rsa-private": ("rsa", "sign", 1),
    "rsa-private-batch": ("rsa", "8 signs", 8),
    "rsa-public": ("rsa", "verify", 1),
    "dh-public": ("dh", "public value", 1),
    "prime-test": ("prime", "test", 1),
    "prime-check": ("prime", "check", 1),
}


def seconds_of(line: Bench) -> float | None:
    """Return the median time of one operation; None: no sample is left."""
    return median(line.ns) / 1e9 / MODES[line.mode][2] if line.ns else None


def decimals(seconds: float) -> int:
    """Return how many places microseconds have: two for products, which may take less than one."""
    return 2 if seconds < 10e-6 else 1


def speed_table(benches: Sequence[Bench], caption: str) -> Group:
    """Return a row for each length and kernel: microseconds of each operation, then how many there
    are in a second. A prime has half of the bits.
    """
    lines = [line for line in benches if line.mode in MODES and line.style == "streamed"]
    names = list(
        dict.fromkeys(MODES[mode][1] for mode in MODES if any(o.mode == mode for o in lines))
    )
    table = plain_table("Bits", "Kernel", *names, *(f"{name}/s" for name in names))
    for column in table.columns[2:]:
        column.justify = "right"
    rows: dict[tuple[str, int, str], dict[str, float | None]] = {}
    for line in lines:
        layer, name, _ = MODES[line.mode]
        bits = 8 * line.bytes // (2 if layer == "prime" else 1)
        rows.setdefault((layer, bits, line.kernel), {})[name] = seconds_of(line)
    for (layer, bits, kernel), times in sorted(rows.items(), key=lambda row: row[0][:2]):
        found = [times.get(name) for name in names]
        table.add_row(
            f"{layer} {bits}",
            kernel,
            *(f"{time * 1e6:.{decimals(time)}f} us" if time else "-" for time in found),
            *(f"{1 / time:.1f}" if time else "-" for time in found),
        )
    return titled("Operations a second", table, caption)
