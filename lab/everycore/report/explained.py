# SPDX-License-Identifier: MIT
"""The tables and sentences of `everycore profile` and `everycore doctor`."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Group

from everycore.explain.explanation import Explanation, ProfileLine
from everycore.explain.probe import PER_BYTE, PRIMITIVES
from everycore.explain.probing import Probed, best_rates
from everycore.explain.regions import Profile
from everycore.explain.trial import Trial
from everycore.report.figures import number
from everycore.report.potential import Potential
from everycore.report.table_style import plain_table, titled
from everycore.run.own_speeds import LIMIT, NAME, OwnSpeeds

Line = tuple[float, str, str, str, str]  # share, primitive, implementation, library, callers
SPEEDS = (
    "Speed of long messages, and of operations",
    ("Operation", "By", "Speed", "Cycles/B", "Of the best", "Code that ran"),
)
PROFILE_COLUMNS = ("Share", "Computes", "By", "In", "Called through")
_OF_BIG_NUMBERS = ("rsa2048", "ffdh2048")  # what contrib/openssl/patch-openssl speeds up
_LEAST_CRYPTO = 1.0  # per cent of user code
_LEAST_WORTH = 5.0  # per cent of the time: a cure of less is not worth a sentence


def profile_lines(answer: Explanation) -> list[Line]:
    return [(r.share, r.computes, r.implementation, r.library, r.called) for r in answer.rows]


def profile_title(found: Profile, answer: Explanation) -> str:
    of_what = "guest's instructions" if found.counts_instructions else "time of user code"
    return f"Cryptography: {answer.crypto:.0f} % of the {of_what}"


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
    said: dict[str, ProfileLine] = {}
    shares: Counter[str] = Counter()
    for row in answer.rows:
        if row.remedy:
            said.setdefault(row.remedy.says, row)
            shares[row.remedy.says] += row.share  # type: ignore[assignment]
    said = {says: row for says, row in said.items() if shares[says] >= _LEAST_WORTH}
    measured = {trial.remedy: trial for trial in trials}
    lines = [_potential(potential) for potential in could]
    for says, row in said.items():
        assert row.remedy is not None
        lines.append(f"Why: {says} ({shares[says]:.0f} % of the time).")
        lines.append(f"Remedy: {row.remedy.remedy}.{_gain(measured.get(row.remedy.remedy))}")
    if not said and answer.crypto >= _LEAST_CRYPTO:
        which = "could be looked at" if answer.unread else "everycore knows"
        lines.append(f"Why: none of the causes of slowness that {which} fits here.")
    lines += [f"Note: {note}." for note in answer.notes]
    return lines


def _potential(potential: Potential) -> str:
    """`AES-256-GCM: this program takes 1.2 cycles per byte, ...`."""
    parts = []
    if potential.taken is not None:
        parts.append(f"this program takes {number(potential.taken)} cycles per byte")
    if potential.limit is not None:
        parts.append(f"this CPU's limit is {number(potential.limit)}")
    if potential.everycore is not None:
        parts.append(f"everycore takes {number(potential.everycore)}")
    unit = "" if potential.taken is not None else " cycles per byte"
    return f"{potential.title}: {', '.join(parts)}{unit} (keys of 256 bits, {potential.source})."


def _gain(trial: Trial | None) -> str:
    if trial is None:
        return " Not tried (--try does it)."
    if not trial.is_tried:
        return f" Not tried: {trial.by}."
    tried = f" Tried{f' {trial.change}' if trial.change else ''}:"
    if trial.gain is None:
        return f"{tried} {trial.by}."
    if trial.gain < 1.0:
        return f"{tried} it is slower with it, {trial.gain:.2f} times as fast ({trial.by})."
    return f"{tried} {trial.gain:.2f} times as fast ({trial.by})."


def plain_rows(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Group:
    """A table of texts."""
    table = plain_table()
    for name in columns:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return titled(title, table)


def speed_rows(probed: Sequence[Probed], own: OwnSpeeds) -> list[tuple[str, ...]]:
    """Rows of SPEEDS: each operation's libraries beside our kernels and the CPU's limit.

    The best is the fastest of the libraries and our kernels.
    """
    rows: list[tuple[str, ...]] = []
    measured = [speed for speed in probed if not speed.error]
    best = best_rates(measured)
    failed = [speed for speed in probed if speed.error and speed.is_available]
    for operation in sorted({speed.operation for speed in probed} | set(own.rates)):
        rates = [
            (speed.rate, speed.library, speed.code)
            for speed in measured
            if speed.operation == operation
        ]
        top = max(best[operation].rate if operation in best else 0.0, own.rates.get(operation, 0.0))
        if operation in own.rates:
            rates.append((own.rates[operation], NAME, "the selected kernel"))
        if limit := own.limit_rate(operation):
            rates.append((limit, LIMIT, ""))
        for rate, name, code in sorted(rates, key=lambda row: (-row[0], row[1])):
            share = f"{rate / top:.0%}" if name != LIMIT else ""
            cycles = own.cycles_per_byte(rate) if operation in PER_BYTE else 0.0
            shown = number(cycles) if cycles else ""
            rows.append((operation, name, _speed(operation, rate), shown, share, code))
        for speed in failed:
            if speed.operation == operation:
                rows.append((operation, speed.library, speed.error, "", "", ""))
    return rows


def _speed(operation: str, rate: float) -> str:
    return f"{rate / 1e9:.2f} GB/s" if operation in PER_BYTE else f"{rate:,.0f} per second"


def slow_sentence(item: Probed, times: float, probed: Sequence[Probed], own: OwnSpeeds) -> str:
    """Say that a library is too slow, beside whom, and what would cure it."""
    best = best_rates(probed)[item.operation]
    is_ours = own.rates.get(item.operation, 0.0) > best.rate
    remedy = f"let its users take {best.library}"
    if is_ours:
        remedy = "see docs/guides/using.md for the kernels of everycore"
        if item.library == "OpenSSL":
            remedy = _remedy_of_openssl(item.operation)
    return (
        f"Slow: {item.library} {item.operation} takes {times:.1f} times as long here as"
        f" {NAME if is_ours else best.library}, and running processes use it. Remedy: {remedy}."
    )


def _remedy_of_openssl(operation: str) -> str:
    """Return the remedy beside our kernels: the provider has AES alone, the patch big numbers."""
    if "AES" in PRIMITIVES.get(operation, ()):
        return "a newer OpenSSL, or the provider of everycore (docs/guides/adopt.md)"
    if operation in _OF_BIG_NUMBERS:
        return "none in OpenSSL; contrib/openssl/patch-openssl helps builds without assembly alone"
    return "none in OpenSSL"
