# SPDX-License-Identifier: MIT
"""Time a cell: the samples of one process, on a core that nothing else uses if there is one."""

import json
from dataclasses import dataclass, field

from everycore.matrix.checked_cell import run_program
from everycore.matrix.compiled_cell import CellTools, CompiledCell, FailedCellError
from everycore.measure.quiet import own_width
from everycore.model.cells import Outcome, Result, scatter

SAMPLES = 101  # of some 50 microseconds
BUDGET_MS = 250  # of a process; a slow cell has fewer samples
PATIENCE = 8  # processes, where something else uses the core; each gives up after some 20 ms
NEVER_QUIET = 32  # of them in a row: waiting does not help
DISTURBED = "other programs disturbed all samples; --resume tries it again"


@dataclass(frozen=True, slots=True)
class Timed:
    """Figures of one process."""

    samples: tuple[float, ...]  # core cycles per byte
    counter: str
    sanitizer_hits: int = 0
    width: int = 0  # thousandths of independent additions that the core did in a cycle
    crowded: bool = False  # something else was on the core during most samples

    @property
    def is_disturbed(self) -> bool:
        """Whether another program cost it cycles, or all of its samples."""
        return not self.samples or (self.crowded and scatter(self.samples))

    def added_to(self, result: Result) -> Result:
        """Return a result with the samples of this process, too."""
        return result.replace(
            outcome=Outcome.MEASURED,
            runs=(*result.runs, self.samples),
            shared=(*result.shared, *([len(result.runs)] if self.crowded else [])),
            counter=self.counter,
            sanitizer_hits=self.sanitizer_hits,
        )


@dataclass(slots=True)
class Timer:
    """Times cells one after the other; it learns how fast an idle core is, and which are used."""

    tools: CellTools
    cpus: tuple[int, ...] = (-1,)  # the cores that measure, one at a time, all of a kind
    widths: list[int] = field(default_factory=list)  # of all processes
    turn: int = 0  # of the cores
    crowded: int = 0  # processes in a row in which something else used the core

    def timed(self, compiled: CompiledCell) -> Timed:
        """Return the first of a few processes that nothing else on the core disturbed; else the
        last.

        After one that something did, the next core is tried.
        """
        cell = compiled.resolved.cell
        for _ in range(PATIENCE):
            cpu = self.cpus[self.turn % len(self.cpus)]
            words = [cell.key_bits, cell.n_bytes, SAMPLES, BUDGET_MS, cpu, own_width(self.widths)]
            done = run_program(self.tools, compiled, "bench", words)
            timed = read_bench(done.stdout, cell.n_bytes)
            self.widths.append(timed.width)
            self.turn += timed.is_disturbed
            self.crowded = self.crowded + 1 if timed.is_disturbed else 0
            if not timed.is_disturbed or self.crowded > NEVER_QUIET:
                break
        if not timed.samples:  # no fault of the cell, whose answers are right
            raise FailedCellError(Outcome.SKIPPED, DISTURBED)
        return timed


def read_bench(text: str, n_bytes: int) -> Timed:
    """The line of the driver's verb bench."""
    try:
        line = json.loads(text.strip().splitlines()[-1])
        cycles = line.get("cycles", ())[:SAMPLES]
        samples = tuple(round(float(count) / n_bytes, 4) for count in cycles)
        timed = Timed(
            samples,
            line["counter"],
            int(line["sanitizer_hits"]),
            int(line.get("width", 0)),
            bool(line.get("crowded")),
        )
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):
        shown = text.strip()[:80]
        reason = f"it did not say what it measured: {shown}"
        raise FailedCellError(Outcome.CRASHED, reason) from None
    if timed.counter == "none":
        raise FailedCellError(Outcome.SKIPPED, "no counter works here")
    return timed
