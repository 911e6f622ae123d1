# SPDX-License-Identifier: MIT
"""An anomaly as text that can go into a compiler's bug tracker."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everycore.binary.listing import side_by_side
from everycore.matrix.anomalies import FRAME_LIMIT, AnomalyGroup, command, repair_words, what
from everycore.matrix.failures import FailedCells, right_by_sanitizer
from everycore.matrix.neighbours import family, has_sanitizer, version
from everycore.model.cells import Anomaly, Cell, Head, Kind, Listing, Reduced, Result
from everycore.subjects.sweep import shown

WIDTH = 100
MOST_ALSO = 12  # other cells of a group that are listed
MOST_LINES = 60  # of a hot loop
SHORT_CASE = 40  # lines of a test case that are not many
WITH_SANITIZER = "Wrong with a sanitizer as well, whose checks change the code:"


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of the code of a cell, and how it is compiled by hand."""

    title: str = ""  # "Linux 6.1, portable C"
    origin: str = ""  # "Debian's source package linux 6.1.170-3"
    get: tuple[str, ...] = ()  # commands that fetch it
    compile: tuple[str, ...] = ()  # commands that compile it
    subject: str = ""  # how it is named on the command line: "./mine.toml"
    compiler: str = ""  # "clang 22.1.0 (Debian sid, clang-22 1:22.1.0-1)"


def report(
    group: AnomalyGroup,
    results: Mapping[Cell, Result],
    head: Head | None = None,
    source: Source | None = None,
) -> str:
    """All that a maintainer of the compiler asks for first, the title in the first line."""
    worst = group.worst
    source = source or Source()
    parts = [
        group.title,
        "=" * min(len(group.title), WIDTH),
        _facts(group, results, head, source),
        _neighbours(worst, results),
        _cause(worst),
        _also(group, results),
        _code(worst),
        _test_case(worst.reduced) if worst.reduced else "",
        _again(worst, source),
    ]
    return "\n\n".join(part for part in (_joined(parts[:2]), *parts[2:]) if part) + "\n"


def miscompilation(
    group: FailedCells,
    why: Mapping[Cell, Anomaly],
    head: Head | None = None,
    source: Source | None = None,
    results: Mapping[Cell, Result] | None = None,
) -> str:
    """Cells with wrong answers of one function: the compiler is wrong, or the code has undefined
    behaviour. `why`: what makes the answers right. `results`: all cells of the run."""
    result = group.first
    cell, source = result.cell, source or Source()
    anomaly = why.get(cell) or Anomaly(cell, Kind.WRONG, 0.0, None, None, 1.0)
    title = f"{group.compilers} {' '.join(cell.flags)} on {cell.subject} "
    title += f"{cell.function}: wrong answers"
    if anomaly.repair:
        title += f"; {repair_words(anomaly)}"
    rows = [
        ("compiler", source.compiler or result.compiler or cell.toolchain),
        ("flags", " ".join(cell.flags)),
        ("code", source.title or cell.subject),
        ("source", source.origin),
        ("machine", head.machine.title() if head else ""),
        ("answer", result.reason),
        ("input", shown(result.given) if result.given else ""),
    ]
    parts = [
        title + "\n" + "=" * min(len(title), WIDTH),
        _rows(rows),
        _cause_of_wrong(group, why, anomaly),
        _beside_wrong(group, anomaly, results or {}),
        _others("The same elsewhere:", group, why, sanitized=False),
        _others(WITH_SANITIZER, group, why, sanitized=True),
        _right_by_sanitizer(group, results or {}),
        _test_case(anomaly.reduced) if anomaly.reduced else "",
        _again(anomaly, source),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _cause_of_wrong(group: FailedCells, why: Mapping[Cell, Anomaly], anomaly: Anomaly) -> str:
    sentences = []
    if anomaly.repair:
        like = [
            result.cell for result in group.results if _repair(why, result.cell) == anomaly.repair
        ]
        words, count = " ".join(anomaly.repair), f"{len(like)} of {len(group.results)} cells"
        sentences.append(f"{words} makes the answers of {count} right.")
    elif anomaly.why_not:
        sentences.append(f"No repair was found: {anomaly.why_not}.")
    if anomaly.causes:
        sentences.append(f"Most likely {anomaly.causes[0]}, and the compiler is not to blame.")
    if anomaly.passes:
        sentences.append(f"Answers are right before, and wrong after the pass {anomaly.passes[0]}.")
    return "\n".join(textwrap.fill(sentence, WIDTH) for sentence in sentences)


def _repair(why: Mapping[Cell, Anomaly], cell: Cell) -> tuple[str, ...]:
    return why[cell].repair if cell in why else ()


def _beside_wrong(group: FailedCells, anomaly: Anomaly, results: Mapping[Cell, Result]) -> str:
    """The wrong cell, the repaired one, and the best one that is right with other flags."""
    cell, rows = group.first.cell, []
    if anomaly.repaired:
        repaired = anomaly.repaired
        rows.append(_row("repaired", repaired.cell, {repaired.cell: repaired}))
    right = [
        (result.figure.median, other)
        for other, result in results.items()
        if other.replace(flags=cell.flags) == cell and result.figure and not has_sanitizer(other)
    ]
    rows += [_row("best right cell", min(right)[1], results)] if right else []
    if not rows:
        return ""
    this = _row("this", cell, {cell: group.first})
    return _table([(*this[:2], "WRONG", *this[3:]), *rows])


def _others(title: str, group: FailedCells, why: Mapping[Cell, Anomaly], sanitized: bool) -> str:
    """The other cells with or without a sanitizer, each with what makes its answers right, if that
    is known."""
    lines = []
    for result in group.results[1:]:
        if has_sanitizer(result.cell) is sanitized:
            compiler = result.compiler or result.cell.toolchain
            lines.append(
                f"  {compiler} {' '.join(result.cell.flags)}{_made_right(why, result.cell)}"
            )
    return _listed(title, lines)


def _by_version(result: Result) -> tuple[object, ...]:
    return family(result), version(result), result.cell


def _listed(title: str, lines: Sequence[str]) -> str:
    """A heading and lines, of which the last may be counted only; nothing if there are none."""
    if not lines:
        return ""
    more = [f"  and {len(lines) - MOST_ALSO} more"] if len(lines) > MOST_ALSO else []
    return "\n".join([title, *lines[:MOST_ALSO], *more])


def _made_right(why: Mapping[Cell, Anomaly], cell: Cell) -> str:
    """ " (right with -fno-strict-aliasing: 31.20 cycles/byte)" """
    if not (repair := " ".join(_repair(why, cell))):
        return ""
    repaired = why[cell].repaired
    cycles = repaired.cycles_per_byte if repaired else None
    return f" (right with {repair}{f': {cycles:.2f} cycles/byte' if cycles else ''})"


def _right_by_sanitizer(group: FailedCells, results: Mapping[Cell, Result]) -> str:
    """The cells whose answers only a sanitizer makes right."""
    lines = [
        f"  {result.compiler or result.cell.toolchain} {' '.join(result.cell.flags)}"
        for result in sorted(right_by_sanitizer(group, results), key=_by_version)
    ]
    title = "Right with a sanitizer, whose checks change the code, and wrong without it:"
    return _listed(title, lines)


def _joined(lines: Sequence[str]) -> str:
    return "\n".join(lines)


def _facts(
    group: AnomalyGroup, results: Mapping[Cell, Result], head: Head | None, source: Source
) -> str:
    cell = group.worst.cell
    known = results.get(cell)
    of = f"{source.title or cell.subject}: {cell.function}"
    of += f", keys of {cell.key_bits} bits" if known and known.computes else ""
    rows = [
        ("compiler", source.compiler or (known.compiler if known else "") or cell.toolchain),
        (
            "versions",
            f"{group.compiler}{'' if group.is_live else ', not in newer ones'}",
        ),
        ("flags", " ".join(cell.flags)),
        ("code", f"{of}, {cell.n_bytes} bytes a call"),
        ("source", source.origin),
    ]
    if cell.target != "host":
        rows.append(("target", cell.target))
    if head:
        rows.append(("machine", head.machine.title()))
        rows.append(("cycles", f"of the core, by {head.counter}" if head.counter else ""))
        rows.append(("everycore", f"{head.everycore} ({head.revision})".strip()))
    return _rows(rows)


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{name + ':':<11}{words}" for name, words in rows if words)


# ---- The neighbours ------------------------------------------------------------------------------

# Processes: how many, and the chance that the interval between them holds the true median.
_COLUMNS = ("cycles/byte", "interval", "processes", "frame", "instructions")


def _neighbours(anomaly: Anomaly, results: Mapping[Cell, Result]) -> str:
    """The anomaly, the neighbours that differ from it in one thing, and the repaired cell."""
    rows = [_row("this", anomaly.cell, results)]
    seen = {anomaly.cell}
    for name, other in (
        ("best neighbour", anomaly.neighbour),
        *_versions(anomaly.cell, results),
    ):
        if other and other not in seen:
            seen.add(other)
            rows.append(_row(name, other, results))
    if anomaly.repaired:
        repaired = anomaly.repaired
        rows.append(_row("repaired", repaired.cell, {repaired.cell: repaired}))
    return _table(rows)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Lay out rows of `_row` below their headings."""
    widths = [
        max(len(row[i]) for row in [*rows, ("", "", *_COLUMNS)]) for i in range(2 + len(_COLUMNS))
    ]
    head = "  ".join(
        text.ljust(width) if i < 2 else text.rjust(width)
        for i, (text, width) in enumerate(zip(("", "", *_COLUMNS), widths, strict=True))
    )
    lines = [
        "  ".join(
            text.ljust(width) if i < 2 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join([head.rstrip(), *lines])


def _versions(cell: Cell, results: Mapping[Cell, Result]) -> list[tuple[str, Cell]]:
    """The version before and the one after it."""
    if cell not in results:
        return []
    like = cell.replace(toolchain="")
    own = family(results[cell])
    series = sorted(
        (version(result), other.toolchain, other)
        for other, result in results.items()
        if other.replace(toolchain="") == like and family(result) == own
    )
    place = next(i for i, entry in enumerate(series) if entry[2] == cell)
    found = []
    if place > 0:
        found.append(("version before", series[place - 1][2]))
    if place + 1 < len(series):
        found.append(("version after", series[place + 1][2]))
    return found


def _row(name: str, cell: Cell, results: Mapping[Cell, Result]) -> tuple[str, ...]:
    result = results.get(cell)
    figure = result.figure if result else None
    code = result.code if result else None
    compiler = (result.compiler if result else "") or cell.toolchain
    return (
        name,
        f"{compiler} {' '.join(cell.flags)}",
        f"{figure.median:.2f}" if figure else "-",
        f"{figure.low:.2f} to {figure.high:.2f}" if figure else "-",
        f"{figure.processes} ({figure.level:.0%})" if figure else "-",
        f"{code.frame_bytes}" if code and code.frame_bytes is not None else "-",
        f"{code.instructions}" if code else "-",
    )


# ---- The cause -----------------------------------------------------------------------------------


def _cause(anomaly: Anomaly) -> str:
    sentences = [_odd(anomaly)]
    if anomaly.repair:
        sentences.append(f"{repair_words(anomaly)} ({anomaly.tried} compilations tried).")
    elif anomaly.why_not:
        sentences.append(f"No repair was found: {anomaly.why_not}.")
    if anomaly.passes:
        sentences.append(f"The code is good before, and bad after the pass {anomaly.passes[0]}.")
    if anomaly.causes:
        sentences.append(f"What appears in the code: {'; '.join(anomaly.causes)}.")
    return "\n".join(textwrap.fill(sentence, WIDTH) for sentence in sentences)


def _odd(anomaly: Anomaly) -> str:
    match anomaly.kind:
        case Kind.SLOW:
            return f"It takes {what(anomaly)} the cycles of its best neighbour."
        case Kind.FRAME:
            return f"Its largest stack frame has {anomaly.value:.0f} bytes; {FRAME_LIMIT} are many."
        case Kind.LEAK:
            return "Its memory accesses or branches depend on secrets; those of a neighbour do not."
        case Kind.WRONG:
            return "Its answers are wrong."


def _also(group: AnomalyGroup, results: Mapping[Cell, Result]) -> str:
    lines = []
    for anomaly in group.anomalies[1:]:
        result = results.get(anomaly.cell)
        compiler = (result.compiler if result else "") or anomaly.cell.toolchain
        repaired = _repaired_words(anomaly)
        flags = " ".join(anomaly.cell.flags)
        lines.append(f"  {compiler} {flags} on {anomaly.cell.function}: {what(anomaly)}{repaired}")
    return _listed("The same elsewhere:", lines)


def _repaired_words(anomaly: Anomaly) -> str:
    if anomaly.repaired is None or anomaly.kind is not Kind.SLOW:
        return ""
    cycles = anomaly.repaired.cycles_per_byte
    return f" ({anomaly.value:.2f} cycles/byte, {cycles:.2f} repaired)" if cycles else ""


# ---- The code, and how to see it again -----------------------------------------------------------


def _code(anomaly: Anomaly) -> str:
    before, after = anomaly.before, anomaly.after
    if before and after and before.lines and after.lines:
        return f"The hot loop, as it is and repaired:\n\n{side_by_side(before, after)}"
    if before and before.lines:
        return _listing(before)
    return ""


def _listing(listing: Listing) -> str:
    lines = [f"    {line}" for line in listing.lines[:MOST_LINES]]
    if len(listing.lines) > MOST_LINES:
        lines.append(f"    ... {len(listing.lines) - MOST_LINES} more lines")
    return "\n".join([f"The hot loop of {listing.symbol}:", *lines])


def _again(anomaly: Anomaly, source: Source) -> str:
    again = command(anomaly, source.subject)
    parts = [f"To see it again:\n\n    {again}"]
    if source.compile:
        lines = [*source.get, *source.compile]
        parts.append("\n".join(["Without everycore:", "", *(f"    {line}" for line in lines)]))
    return "\n\n".join(parts)


def _test_case(reduced: Reduced) -> str:
    """A test case as a part of a report."""
    if not reduced.source:
        return f"There is no test case: {reduced.why_not}."
    notes = list(reduced.notes)
    stopped = reduced.why_not or "the time for cvise ended"
    if reduced.n_lines > SHORT_CASE:
        end = "cvise found no smaller one" if reduced.is_final else stopped
        notes.insert(0, f"it has {reduced.n_lines} lines, more than {SHORT_CASE}: {end}")
    elif not reduced.is_final:
        notes.insert(0, f"{stopped}; --resume may find a smaller one")
    lines = ["A test case, case.c:", ""]
    lines += [f"    {line}" if line else "" for line in reduced.source.splitlines()]
    lines += ["", f"    $ {reduced.bad}", f"    # {reduced.bad_shows}"]
    lines += [f"    $ {reduced.good}", f"    # {reduced.good_shows}"]
    lines += ["", *(f"{note[0].upper()}{note[1:]}." for note in notes)] if notes else []
    return "\n".join(lines)
