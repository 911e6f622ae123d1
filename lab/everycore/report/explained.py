# SPDX-License-Identifier: MIT
"""The tables and sentences of `everycore profile` and `everycore doctor`."""

from collections.abc import Iterable, Sequence

from rich.console import Group

from everycore.explain.explanation import Explanation, Row
from everycore.explain.potential import Potential
from everycore.explain.regions import Profile
from everycore.explain.trial import NOT_TRIED, Trial
from everycore.report.figures import number
from everycore.report.tables import plain_table, titled

Line = tuple[float, str, str, str, str]  # share, primitive, implementation, library, callers
PROFILE_COLUMNS = ("Share", "Computes", "By", "In", "Called through")
_LEAST_CRYPTO = 1.0  # per cent of user code


def profile_lines(answer: Explanation) -> list[Line]:
    return [(r.share, r.computes, r.implementation, r.library, r.called) for r in answer.rows]


def profile_title(answer: Explanation) -> str:
    return f"Cryptography: {answer.crypto:.0f} % of the time of user code"


def profile_caption(found: Profile, answer: Explanation) -> str:
    if found.counts_instructions:
        return (
            f"{found.executed:,} instructions of the guest, counted by {found.method}; shares are"
            " of these"
        )
    return (
        f"{answer.samples} samples in {found.seconds:.1f} s by {found.method};"
        f" shares are of user code, {answer.kernel:.0f} % of all samples were in the kernel"
    )


def profile_table(rows: Iterable[Line], title: str, caption: str) -> Group:
    """Each row a part of the time of user code."""
    first, *others = PROFILE_COLUMNS
    table = plain_table(first)
    for name in others:
        table.add_column(name, overflow="fold")
    for share, computes, implementation, library, called in rows:
        table.add_row(f"{share:.0f} %", computes, implementation, library, called)
    return titled(title, table, caption)


def sentences(
    answer: Explanation, trials: Sequence[Trial], could: Sequence[Potential]
) -> list[str]:
    """Say what the CPU could do, why the program is slow, and what would cure it."""
    said: dict[str, Row] = {}
    for row in answer.rows:
        if row.remedy:
            said.setdefault(row.remedy.says, row)
    measured = {one.remedy: one for one in trials}
    lines = [_potential(one) for one in could]
    for says, row in said.items():
        assert row.remedy is not None
        lines.append(f"Why: {says} ({row.share:.0f} % of the time).")
        lines.append(f"Remedy: {row.remedy.remedy}.{_gain(measured.get(row.remedy.remedy))}")
    if not said and answer.crypto >= _LEAST_CRYPTO:
        lines.append("Why: none of the causes of slowness that everycore knows fits here.")
    lines += [f"Note: {note}." for note in answer.notes]
    return lines


def _potential(one: Potential) -> str:
    """`AES-256-GCM: this program takes 1.2 cycles per byte, ...`."""
    parts = []
    if one.taken is not None:
        parts.append(f"this program takes {number(one.taken)} cycles per byte")
    if one.limit is not None:
        parts.append(f"this CPU's limit is {number(one.limit)}")
    if one.everycore is not None:
        parts.append(f"everycore takes {number(one.everycore)}")
    unit = "" if one.taken is not None else " cycles per byte"
    return f"{one.title}: {', '.join(parts)}{unit} (keys of 256 bits, {one.source})."


def _gain(one: Trial | None) -> str:
    if one is None:
        return " Not tried (--try does it)."
    if one.by == NOT_TRIED:
        return f" Not tried: {one.by}."
    tried = f" Tried{f' {one.change}' if one.change else ''}:"
    if one.gain is None:
        return f"{tried} {one.by}."
    if one.gain < 1.0:
        return f"{tried} it is slower with it, {one.gain:.2f} times as fast ({one.by})."
    return f"{tried} {one.gain:.2f} times as fast ({one.by})."


def plain_rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Group:
    """A table of texts."""
    table = plain_table()
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return titled(title, table)
