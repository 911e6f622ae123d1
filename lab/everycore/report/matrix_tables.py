# SPDX-License-Identifier: MIT
"""Cells as tables: one for each function, compilers down and flags across."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from rich.console import Group
from rich.text import Text

from everycore.matrix.failures import FailedCells, group_failures
from everycore.matrix.flagsets import FLAG_SETS
from everycore.model.cells import Anomaly, Cell, Outcome, Result, is_one_program, pooled
from everycore.report.figures import NOISY, UNCERTAIN
from everycore.report.table_style import plain_table, titled

WIDE_FRAME_BYTES = 1024
ODD, BAD = 1.10, 1.5  # times the best cell of the table
SHORT = {
    Outcome.WRONG: "WRONG",
    Outcome.NOT_COMPILED: "refused",
    Outcome.CRASHED: "crash",
    Outcome.TIME_LIMIT: "limit",
    Outcome.SKIPPED: "-",
}
MEASURED = (
    "Core cycles per byte: the median of process medians. = O2: the same code, one figure for both."
)
COUNTED = "Emulated: exact instructions per byte of one call, no time."
ESTIMATED = "Estimated cycles per byte, by a model that measurements calibrated: no time."
LEGEND = f"!: a frame over {WIDE_FRAME_BYTES} bytes. {UNCERTAIN}. -: skipped."
HOW_TO_EXPLAIN = (
    "To find the flag that makes the answers right: everycore matrix regressions --resume"
)
REPAIRED = "Below WRONG, in parentheses: the cell with the flag that makes its answers right, {0}."
ASSEMBLY = "Hand-written assembly has one figure, whatever the flags are."
FIRST_COLUMN = 12
NAMES = [flag_set.name for flag_set in FLAG_SETS]


def tables(
    results: Sequence[Result],
    width: int,
    source: str = "",
    why: Mapping[Cell, Anomaly] | None = None,
) -> Iterator[Group]:
    """Yield failures first, then a table for each function and target, then why cells were
    skipped.

    `why`: what makes wrong answers right, as far as it is known.
    """
    why = why or {}
    if any(result.outcome.is_failure for result in results):
        yield failures(results)
    if any(result.outcome is Outcome.WRONG and result.cell not in why for result in results):
        yield Group(Text(HOW_TO_EXPLAIN), Text())
    groups: dict[tuple[object, ...], list[Result]] = {}
    results = list(pooled({result.cell: result for result in results}).values())
    for result in results:
        cell = result.cell
        key = (cell.subject, cell.function, cell.target, cell.key_bits, cell.n_bytes)
        groups.setdefault(key, []).append(result)
    beside = {group: _references(own, results) for group, own in groups.items()}
    references = {result.cell for found in beside.values() for result in found}
    for group, own in sorted(groups.items(), key=lambda item: item[0]):
        if not {result.cell for result in own} <= references:
            yield from _function(own, width, source, beside[group], why)
    if skipped := [result for result in results if result.outcome is Outcome.SKIPPED]:
        yield skips(skipped)


def _references(own: Sequence[Result], results: Sequence[Result]) -> list[Result]:
    """Hand-written assembly that computes the same as these cells of compilers."""
    made = [
        result
        for result in own
        if value(result) is not None and not result.is_assembly and result.computes
    ]
    wanted = {(o.computes, o.cell.target, o.cell.key_bits, o.cell.n_bytes) for o in made}
    found = [
        result
        for result in results
        if result.is_assembly
        and value(result) is not None
        and (result.computes, result.cell.target, result.cell.key_bits, result.cell.n_bytes)
        in wanted
    ]
    return sorted(found, key=lambda result: value(result) or 0.0)


def troubles(results: Sequence[Result]) -> Iterator[Group]:
    """Yield failures, and why cells were skipped: for runs that print no table."""
    if any(result.outcome.is_failure for result in results):
        yield failures(results)
    if skipped := [result for result in results if result.outcome is Outcome.SKIPPED]:
        yield skips(skipped)


def failures(results: Sequence[Result]) -> Group:
    """A line for the cells that failed in one way; wrong answers before all others."""
    groups = group_failures(results)
    lines = [Text(_one_or_many(group), style="bold red") for group in groups]
    return Group(*lines, Text())


def _one_or_many(group: FailedCells) -> str:
    first = group.first
    if len(group.results) > 1:
        return group.title
    return f"{first.outcome.upper()}: {first.cell.title}: {first.reason}"


def skips(results: Sequence[Result]) -> Group:
    """Each reason once; the names in it may differ."""
    counts = Counter(result.reason for result in results)
    lines = [Text(f"Skipped, {sum(counts.values())} cells:")]
    lines += [Text(f"  {count:4} {reason}", style="dim") for reason, count in counts.most_common()]
    return Group(*lines, Text())


def _function(
    results: Sequence[Result],
    width: int,
    source: str,
    beside: Sequence[Result],
    why: Mapping[Cell, Anomaly],
) -> Iterator[Group]:
    cell = results[0].cell
    best = min((v for result in results if (v := value(result)) is not None), default=None)
    if best is None:
        return
    emulated = cell.target != "host"
    key = f"{cell.key_bits}-bit key, " if any(result.computes for result in results) else ""
    title = f"{cell.subject} {cell.function}, {key}{cell.n_bytes} bytes"
    title += f" for {cell.target}" if emulated else ""
    by_hand = [ASSEMBLY] if beside or results[0].is_assembly else []
    repairs = dict.fromkeys(
        " ".join(why[result.cell].repair) for result in results if result.cell in why
    )
    repaired = [REPAIRED.format(" or ".join(filter(None, repairs)))] if any(repairs) else []
    said = (COUNTED if emulated else MEASURED, LEGEND, *repaired, *by_hand, source)
    yield from _tables(results, width, title, said, lambda result: shown(result, best, why), beside)
    for core in sorted({core for result in results for core in result.estimates or ()}):
        caption = f"{title}: {core}"
        show = partial(estimated, core)
        yield from _tables(results, width, caption, (ESTIMATED, source), show)


def _tables(
    results: Sequence[Result],
    width: int,
    title: str,
    said: Sequence[str],
    show: Callable[[Result | None], Text],
    beside: Sequence[Result] = (),
) -> Iterator[Group]:
    tried = [result for result in results if result.outcome is not Outcome.SKIPPED]
    found = dict.fromkeys(map(title_of_flags, tried))
    flags = sorted(found, key=lambda name: NAMES.index(name) if name in NAMES else len(NAMES))
    known = {(result.cell.toolchain, title_of_flags(result)): result for result in results}
    names = [len(name) for result in beside for name in (result.cell.subject, result.cell.function)]
    parts = list(_fitting(flags, width, max(FIRST_COLUMN, *names) if names else FIRST_COLUMN))
    for number, part in enumerate(parts, 1):
        table = plain_table("Compiler", figures=map(heading, part))
        for toolchain in sorted({result.cell.toolchain for result in tried}, key=version_order):
            own = [known.get((toolchain, name)) for name in flags]
            texts = [_equal(own, i) or show(result) for i, result in enumerate(own)]
            table.add_row(toolchain, *texts[flags.index(part[0]) :][: len(part)])
        for result in beside:
            cell = result.cell
            table.add_row(f"assembly,\n{cell.subject}\n{cell.function}", show(result))
        yield titled(title, table, *(said if number == len(parts) else ()))


def _fitting(flags: Sequence[str], width: int, first: int) -> Iterator[list[str]]:
    """As many columns as a line has room for beside the first."""
    part: list[str] = []
    room = width - first
    for name in flags:
        needed = max(8, *map(len, heading(name).split("\n"))) + 1
        if part and needed > room:
            yield part
            part, room = [], width - first
        part.append(name)
        room -= needed
    if part:
        yield part


def title_of_flags(result: Result) -> str:
    return result.flag_set or " ".join(result.cell.flags)


def heading(flags: str) -> str:
    return re.sub(r"\s", "\n", flags.replace("+", "\n+"))


def version_order(toolchain: str) -> tuple[str, list[int], str]:
    family = re.match(r"[a-z]*", toolchain)
    return (family[0] if family else ""), [int(n) for n in re.findall(r"\d+", toolchain)], toolchain


def value(result: Result) -> float | None:
    """Cycles per byte; of emulated cells instructions per byte."""
    if result.outcome is Outcome.COUNTED:
        return result.instructions_per_byte
    return result.cycles_per_byte


def shown(result: Result | None, best: float, why: Mapping[Cell, Anomaly] | None = None) -> Text:
    """The figure of a cell, or why it has none; below WRONG the figure of the repaired cell."""
    if result is None:
        return Text("")
    figure = value(result)
    if figure is None:
        text = Text(SHORT.get(result.outcome, "?"), style="bold red" * result.outcome.is_failure)
        return text.append(_repaired(result, why or {}), style="not bold default")
    frame = result.code.frame_bytes if result.code else None
    wide = frame is not None and frame > WIDE_FRAME_BYTES
    style = "red" if figure > BAD * best else "yellow" if figure > ODD * best else ""
    return Text(
        f"{NOISY if result.is_uncertain else ''}{figure:.2f}{'!' if wide else ''}", style=style
    )


def _repaired(result: Result, why: Mapping[Cell, Anomaly]) -> str:
    """The figure of the cell that gives right answers instead of this one."""
    known = why.get(result.cell)
    repaired = value(known.repaired) if known and known.repaired else None
    return f"\n({repaired:.2f})" if repaired is not None else ""


def _equal(row: Sequence[Result | None], place: int) -> Text | None:
    """Say that a cell is the same program as an earlier one of its row."""
    own = row[place]
    for other in row[:place] if own and own.runs else ():
        if other and own and is_one_program(own, other):
            return Text(heading(f"= {title_of_flags(other)}").replace("=\n", "= "), style="dim")
    return None


def estimated(core: str, result: Result | None) -> Text:
    """A range, which no time is."""
    if result is None or core not in (result.estimates or {}):
        return Text("-" if result else "")
    assert result.estimates is not None
    low, high = result.estimates[core]
    return Text(f"{low:.0f}-{high:.0f}")


def plan_line(cell: Cell, why_not: str) -> str:
    return f"{cell.title}{f': skipped, {why_not}' if why_not else ''}"
