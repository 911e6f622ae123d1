# SPDX-License-Identifier: MIT
"""Show what a message costs that comes alone, and what it does to the clock of the work beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rich.console import Group

from everycore.model.protocol import Burst
from everycore.report.table_style import plain_table, titled

NO_MESSAGE = "none"  # the kernel of lines without a message
NOTES = (
    "a kernel of fewer bits per vector for such messages: docs/guides/choosing-a-kernel.md",
    "Samples: the least and the greatest; a core may be in one of several states, not looked why",
)


@dataclass(frozen=True, slots=True)
class BurstCost:
    """The cost of a message to a program that does other work between messages."""

    kernel: str
    bytes: int
    pause_us: int
    ns: float  # of the message, without the reading of the clock
    low: float  # of its samples
    high: float
    mhz: float  # of the work beside it
    clock_lost: float  # to the same work without messages, as a share


def costs(bursts: Sequence[Burst]) -> list[BurstCost]:
    """Return the cost of each kernel at each length and pause."""
    alone = {(b.bytes, b.pause_us): b for b in bursts if b.kernel == NO_MESSAGE}
    found = []
    for burst in bursts:
        none = alone.get((burst.bytes, burst.pause_us))
        if burst.kernel == NO_MESSAGE or none is None or not burst.ns or not none.ns:
            continue
        mhz = median(burst.mhz)
        clock_ns = median(none.ns)
        found.append(
            BurstCost(
                burst.kernel,
                burst.bytes,
                burst.pause_us,
                median(burst.ns) - clock_ns,
                min(burst.ns) - clock_ns,
                max(burst.ns) - clock_ns,
                mhz,
                1 - mhz / median(none.mhz),
            )
        )
    return found


def table(found: Sequence[BurstCost], caption: str) -> Group:
    rows = plain_table("Message", "Kernel", figures=("Pause", "Time", "Samples", "Clock", "Lost"))
    for cost in found:
        rows.add_row(
            f"{cost.bytes} B",
            cost.kernel,
            f"{cost.pause_us} us",
            f"{cost.ns:.0f} ns",
            f"{cost.low:.0f} to {cost.high:.0f}",
            f"{cost.mhz / 1000:.2f} GHz",
            f"{cost.clock_lost:.1%}",
        )
    return titled("Messages of GCM between other work", rows, caption, *NOTES)
