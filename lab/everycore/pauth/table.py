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
from everycore.stats import Summary, summarise

LEAST_SECONDS = 0.1  # ten ticks of a slow clock of user time: below, nothing is derived
LEGEND = (
    "s: user time of the whole program, median; ns: time beyond `off` for each instruction that"
    f" computes a code; x: times the time of `off` or `impdef`; {NOISY} quartiles of what it is"
    f" made of more than {NOISY_SPREAD:.0%} apart; nothing is derived of less than"
    f" {LEAST_SECONDS} s"
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
    is_noisy: bool = False  # the median
    is_noisy_to_off: bool = False  # what is made of this median and that of `off`
    is_noisy_to_impdef: bool = False


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
            "scale": self.program.scale_of(self.scale),
            "work": self.program.work_of(self.scale),
            "computed": self.count.computed if self.count else None,
            "counted_by": self.count.by if self.count else None,
        }
        return [head, *({"type": "pauth", **asdict(row)} for row in self.rows)]


def table_of(
    program: Program, scale: float, every: Sequence[Samples], count: Count | None
) -> ProgramTable:
    found = {
        (s.way.emulator.name, s.way.label): summary
        for s in every
        if not s.wrong and (summary := summarise(s.seconds))
    }
    rows = tuple(_row(program.name, samples, found, count) for samples in every)
    return ProgramTable(program, scale, count, rows)


def _row(
    program: str, samples: Samples, found: dict[tuple[str, str], Summary], count: Count | None
) -> Row:
    emulator, algorithm = samples.way.emulator.name, samples.way.label
    summary = summarise(samples.seconds)
    off = found.get((emulator, OFF))
    impdef = found.get((emulator, IMPDEF), found.get((emulator, f"{IMPDEF} {MODES['qemu']}")))
    own = found.get((emulator, algorithm))
    ratio, cost = _ratio(own, off), None
    if ratio is not None and own and off and count and count.computed and algorithm != OFF:
        cost = (own.median - off.median) * 1e9 / count.computed
    return Row(
        program,
        emulator,
        algorithm,
        summary.median if summary else None,
        summary.spread if summary and len(samples.seconds) > 1 else None,
        tuple(samples.seconds),
        cost,
        ratio,
        _ratio(own, impdef),
        samples.wrong,
        is_noisy=_is_noisy(own),
        is_noisy_to_off=_is_noisy(own, off),
        is_noisy_to_impdef=_is_noisy(own, impdef),
    )


def _ratio(own: Summary | None, other: Summary | None) -> float | None:
    if own is None or other is None or min(own.median, other.median) < LEAST_SECONDS:
        return None
    return own.median / other.median


def _is_noisy(*summaries: Summary | None) -> bool:
    return any(one is not None and one.spread > NOISY_SPREAD for one in summaries)


def rich_table(table: ProgramTable, caption: str) -> Group:
    grid = plain_table(gap=2)
    grid.add_column("Emulator", no_wrap=True)
    grid.add_column("PAC", no_wrap=True)
    for column in ("s", "ns", "x off", "x impdef", *(("share",) if table.is_sampled else ())):
        grid.add_column(column, justify="right", no_wrap=True)
    last = ""
    for row in table.rows:
        figures = (
            _figure(row.seconds, 3, row.is_noisy),
            _figure(row.ns_per_operation, 1, row.is_noisy_to_off),
            _figure(row.ratio_to_off, 2, row.is_noisy_to_off),
            _figure(row.ratio_to_impdef, 2, row.is_noisy_to_impdef),
            *((_percent(row.share),) if table.is_sampled else ()),
        )
        shown = (Text("WRONG", "bold red"), *("",) * 3) if row.wrong else figures
        grid.add_row("" if row.emulator == last else row.emulator, row.algorithm, *shown)
        last = row.emulator
    feet = (_counted(table), _done(table), SHARES if table.is_sampled else "", caption)
    return titled(f"{table.program.name}: {table.program.says}", grid, *feet)


def _figure(value: float | None, digits: int, is_noisy: bool) -> str:
    return "" if value is None else f"{value:.{digits}f}{NOISY if is_noisy else ' '}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"


def _done(table: ProgramTable) -> str:
    """What is not as usual: the work, and figures whose spread nobody knows."""
    scale = table.program.scale_of(table.scale)
    said = [f"{scale:g} times the usual work"] if scale != 1 else []
    if any(len(row.samples) == 1 and not row.wrong for row in table.rows):
        said.append("one run: how far runs differ is not known")
    return "; ".join(said)


def _counted(table: ProgramTable) -> str:
    if table.count is None:
        return "operations: not counted; --suite bookworm adds an emulator that can"
    return f"{table.count.computed:,} instructions that compute a code; counted by {table.count.by}"
