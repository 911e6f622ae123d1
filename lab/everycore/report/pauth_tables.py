# SPDX-License-Identifier: MIT
"""Make tables of the stored lines of `everycore pauth`.

Without rich: pages are made from it, too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from everycore.environment.decoding import Record
from everycore.model import stats
from everycore.model.run_lines import PauthCompared, PauthFigure, PauthProgram, PauthTime
from everycore.pauth.stored_lines import LEAST_SECONDS
from everycore.report.figures import NOISY
from everycore.report.kernels import markdown_table

WRONG = "WRONG"
THREE_DIGITS = 99.95
TIMES = (
    "s: user time of the whole program, median; ns: time beyond `off` for each instruction that"
    f" computes a code; x: times the time of `off` or `impdef`; {NOISY} an interval of what it"
    f" is made of is wider than {stats.WIDEST:.0%}, or of fewer than {stats.FEWEST} runs;"
    f" nothing is derived of less than {LEAST_SECONDS} s"
)
SHARES = "share: of samples that lie in functions of pointer authentication; ?: stripped emulator"
CYCLES = (
    "core cycles of one block or operation, the median of the rounds' medians; x: times as fast as"
    " QEMU's own function; apart: calls that do not wait for each other; many: all in one call,"
    " beside QEMU's calls apart; key: its schedule"
)


@dataclass(frozen=True, slots=True)
class PauthTable:
    """Everything that a table says, whoever prints it."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    names: int  # columns at the left that hold no figures
    notes: tuple[str, ...]  # of this table
    legend: str  # of all its kind


def command_line(options: Mapping[str, Any]) -> str:
    """Return the command line, from the options that are stored with a run."""
    words = ["everycore", "pauth"]
    for name, value in options.items():
        for word in value if isinstance(value, list) else [value]:
            words += [f"--{name}"] if word is True else [f"--{name}", str(word)]
    return " ".join(words)


def tables(lines: Iterable[Record]) -> list[PauthTable]:
    """Make a table of each program; two of --primitive."""
    heads: dict[str, PauthProgram] = {}
    times: dict[str, list[PauthTime]] = {}
    figures: dict[str, list[PauthFigure]] = {}
    compared = []
    for line in lines:
        match line:
            case PauthProgram():
                heads[line.program] = line
            case PauthTime():
                times.setdefault(line.program, []).append(line)
            case PauthFigure():
                figures.setdefault(line.table, []).append(line)
            case PauthCompared():
                compared.append(_compared(line))
    return [
        *(_program(head, times.get(name, [])) for name, head in heads.items()),
        *(_primitive(title, own, compared) for title, own in figures.items()),
    ]


def markdown(table: PauthTable) -> str:
    """The same for a page."""
    figures = range(table.names, len(table.head))
    notes = "".join(f"\n{note}.\n" for note in table.notes)
    return f"{table.title}\n\n{markdown_table(table.head, table.rows, figures)}{notes}"


# ---- Programs ------------------------------------------------------------------------------------


def _program(head: PauthProgram, rows: Sequence[PauthTime]) -> PauthTable:
    share = ("share",) if head.sampled else ()
    return PauthTable(
        f"{head.program}: {head.says}",
        ("Emulator", "PAC", "s", "ns", "x off", "x impdef", *share),
        tuple((row.emulator, row.algorithm, *_times(row, bool(share))) for row in rows),
        2,
        tuple(note for note in (_counted(head), _done(head, rows)) if note),
        f"{TIMES}; {SHARES}" if share else TIMES,
    )


def _times(row: PauthTime, with_share: bool) -> tuple[str, ...]:
    share = ("" if row.wrong else _percent(row.share),) if with_share else ()
    if row.wrong:
        return (WRONG, "", "", "", *share)
    to_off, to_impdef = row.is_noisy_to_off, row.is_noisy_to_impdef
    return (
        _figure(row.seconds, 3, row.is_noisy),
        _figure(row.ns_per_operation, 1, to_off),
        _figure(row.ratio_to_off, 2, to_off),
        _figure(row.ratio_to_impdef, 2, to_impdef),
        *share,
    )


def _figure(value: float | None, digits: int, is_noisy: bool) -> str:
    return "" if value is None else f"{value:.{digits}f}{NOISY if is_noisy else ''}"


def _percent(value: float | None) -> str:
    return "?" if value is None else f"{value:.1%}"


def _done(head: PauthProgram, rows: Sequence[PauthTime]) -> str:
    """Say what is unusual: the work, and figures of unknown spread."""
    remarks = [f"{head.scale:g} times the usual work"] if head.scale != 1 else []
    if any(len(row.samples) == 1 and not row.wrong for row in rows):
        remarks.append("one run: how far runs differ is not known")
    return "; ".join(remarks)


def _counted(head: PauthProgram) -> str:
    if head.computed is None:
        return "operations: not counted; --suite bookworm adds an emulator that can"
    by = head.counted_by
    return f"{head.computed:,} instructions that compute a code; counted by {by}"


# ---- One code ------------------------------------------------------------------------------------


def _primitive(title: str, figures: Sequence[PauthFigure], notes: Sequence[str]) -> PauthTable:
    operations = dict.fromkeys(figure.operation for figure in figures)
    found = {(figure.who, figure.operation): _cycles(figure) for figure in figures}
    rows = tuple(
        (who, *(found.get((who, operation), "-") for operation in operations))
        for who in dict.fromkeys(figure.who for figure in figures)
    )
    return PauthTable(title, ("", *operations), rows, 1, tuple(notes), CYCLES)


def _cycles(figure: PauthFigure) -> str:
    return _short(figure.cycles) + (f" {_short(figure.ratio)}x" if figure.ratio else "")


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= THREE_DIGITS else f"{value:.1f}"


def _compared(line: PauthCompared) -> str:
    return (
        f"compared, and equal on {line.bytes:,} bytes each: {', '.join(line.equal)}; QEMU's"
        f" functions by {line.compiler} {' '.join(line.flags)}"
    )
