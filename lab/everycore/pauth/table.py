# SPDX-License-Identifier: MIT
"""What races say: a table for each program. Pure."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Group
from rich.text import Text

from everycore.pauth.counting import Count
from everycore.pauth.programs import Program
from everycore.pauth.race import Samples
from everycore.pauth.ways import IMPDEF, MODES, OFF
from everycore.report.figures import NOISY, NOISY_SPREAD
from everycore.report.tables import plain_table, titled
from everycore.stats import summarise

LEGEND = (
    "s: user time of the whole program, median; ns: time beyond `off` for each instruction that"
    f" computes a code; {NOISY} quartiles more than {NOISY_SPREAD:.0%} apart"
)
SHARES = "share: of samples that lie in functions of pointer authentication; ?: stripped emulator"


@dataclass(frozen=True, slots=True)
class Row:
    """A program run in one way; ratios to other algorithms are within the emulator."""

    program: str
    emulator: str
    algorithm: str
    seconds: float | None  # median; None where no run was timed
    spread: float | None  # None for a single run
    samples: tuple[float, ...]
    ns_per_operation: float | None
    ratio_to_off: float | None
    ratio_to_impdef: float | None
    wrong: str = ""
    share: float | None = None  # of the time that is spent in pointer authentication


@dataclass(frozen=True, slots=True)
class ProgramTable:
    program: Program
    scale: float
    count: Count | None
    rows: tuple[Row, ...]
    is_sampled: bool = False  # shares were looked for

    def lines(self) -> list[dict[str, object]]:
        """For programs."""
        head: dict[str, object] = {
            "type": "pauth-program",
            "program": self.program.name,
            "says": self.program.says,
            "scale": self.scale,
            "computed": self.count.computed if self.count else None,
            "counted_by": self.count.by if self.count else None,
        }
        return [head, *({"type": "pauth", **asdict(row)} for row in self.rows)]


def table_of(
    program: Program, scale: float, every: Sequence[Samples], count: Count | None
) -> ProgramTable:
    medians = {
        (s.way.emulator.name, s.way.label): summary.median
        for s in every
        if not s.wrong and (summary := summarise(s.seconds))
    }
    rows = tuple(_row(program.name, samples, medians, count) for samples in every)
    return ProgramTable(program, scale, count, rows)


def _row(
    program: str, samples: Samples, medians: dict[tuple[str, str], float], count: Count | None
) -> Row:
    emulator, algorithm = samples.way.emulator.name, samples.way.label
    summary = summarise(samples.seconds)
    off = medians.get((emulator, OFF))
    impdef = medians.get((emulator, IMPDEF), medians.get((emulator, f"{IMPDEF} {MODES['qemu']}")))
    own = medians.get((emulator, algorithm))
    cost = None
    if own is not None and off is not None and count and count.computed and algorithm != OFF:
        cost = (own - off) * 1e9 / count.computed
    return Row(
        program,
        emulator,
        algorithm,
        summary.median if summary else None,
        summary.spread if summary and len(samples.seconds) > 1 else None,
        tuple(samples.seconds),
        cost,
        own / off if own is not None and off else None,
        own / impdef if own is not None and impdef else None,
        samples.wrong,
    )


def rich_table(table: ProgramTable, caption: str) -> Group:
    grid = plain_table(gap=2)
    grid.add_column("Emulator", no_wrap=True)
    grid.add_column("PAC", no_wrap=True)
    for column in ("s", "ns", "x off", "x impdef", *(("share",) if table.is_sampled else ())):
        grid.add_column(column, justify="right", no_wrap=True)
    last = ""
    for row in table.rows:
        mark = NOISY if (row.spread or 0) > NOISY_SPREAD else " "
        figures = (
            f"{row.seconds:.3f}{mark}" if row.seconds is not None else "",
            _figure(row.ns_per_operation, 1),
            _figure(row.ratio_to_off, 2),
            _figure(row.ratio_to_impdef, 2),
            *((_percent(row.share),) if table.is_sampled else ()),
        )
        shown = (Text("WRONG", "bold red"), *("",) * 3) if row.wrong else figures
        grid.add_row("" if row.emulator == last else row.emulator, row.algorithm, *shown)
        last = row.emulator
    feet = (_counted(table), SHARES if table.is_sampled else "", caption)
    return titled(f"{table.program.name}: {table.program.says}", grid, *feet)


def _figure(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"


def _counted(table: ProgramTable) -> str:
    if table.count is None:
        return "operations: not counted; --suite bookworm adds an emulator that can"
    return f"{table.count.computed:,} instructions that compute a code; counted by {table.count.by}"
