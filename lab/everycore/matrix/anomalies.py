# SPDX-License-Identifier: MIT
"""Find cells that are worse than they need be, and group those of one cause."""

import itertools
import math
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from everycore.matrix.neighbours import (
    LIMIT,
    Neighbour,
    Neighbourhood,
    facets,
    family,
    has_sanitizer,
    version,
    without_sanitizer,
)
from everycore.model import stats
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, pooled

FRAME_LIMIT = 1024  # bytes
# The chance of one comparison. A matrix has thousands: what is found is measured again before it is
# reported.
ALARM = 0.01
ABOUT = 1.03  # values within this factor are about the same

# How much less an anomaly matters where something was asked for that costs.
_WEIGHTS = {"toolchain": 1.0, "march": 1.0, "flags": 0.7, "lto": 0.7, "sanitizer": 0.3, "": 0.5}
_GONE = 0.4  # newer versions of the compiler do not have it


def cycles(result: Result) -> float | None:
    """Per byte. Emulated cells have no time: their counts say little of out-of-order cores."""
    return result.cycles_per_byte if result.outcome is Outcome.MEASURED else None


def frame(result: Result) -> float | None:
    """In bytes. Code that fails is no measure of other code."""
    return result.code.frame_bytes if result.code and not result.outcome.is_failure else None


def leaks(result: Result) -> float | None:
    """The number of methods that see two secrets part."""
    if result.constant_time is None or result.outcome.is_failure:
        return None
    return float(sum(verdict.constant is False for verdict in result.verdicts))


def value_of(kind: Kind, result: Result) -> float | None:
    """Return the value of which an anomaly of this kind has too much."""
    return {Kind.SLOW: cycles, Kind.FRAME: frame, Kind.LEAK: leaks}[kind](result)


def value_beside(kind: Kind, result: Result, odd: Result) -> float | None:
    """Return that value of the cell with which an odd cell is compared.

    None also if a method that saw the leak of the odd one has no answer: others may be blind to it.
    """
    value = value_of(kind, result)
    if kind is Kind.LEAK and value == 0.0:
        saw = {verdict.method for verdict in odd.verdicts if verdict.constant is False}
        if not saw <= {verdict.method for verdict in result.verdicts if verdict.constant}:
            return None
    return value


def is_slower(mine: Result, other: Result, limit: float) -> bool:
    """Whether it is slower by more than the factor, with intervals that do not overlap.

    Equal programs look so with a chance of at most ALARM, whatever the factor. Of too few processes
    for that nothing is said.
    """
    own_figure, other_figure = mine.figure, other.figure
    if (
        own_figure is None
        or other_figure is None
        or own_figure.median <= limit * other_figure.median
    ):
        return False
    return stats.is_above(own_figure, other_figure, alarm=ALARM)


def find(results: Mapping[Cell, Result]) -> list[Anomaly]:
    """All anomalies, each with its best neighbour; the heaviest first.

    Cells that are right only because a sanitizer changed their code are left out: they belong to
    the report of the wrong answers.
    """
    one_figure = {
        cell: result for cell, result in pooled(results).items() if not _hides_wrong(cell, results)
    }
    around = Neighbourhood(one_figure)
    found: list[Anomaly] = []
    for result in one_figure.values():
        for look in (_slow, _frame, _leak):
            if anomaly := look(result, around):
                found.append(anomaly)
    return sorted(found, key=_severity, reverse=True)


def _hides_wrong(cell: Cell, results: Mapping[Cell, Result]) -> bool:
    """Whether the cell has a sanitizer, and without it the answers are wrong."""
    plain = results.get(without_sanitizer(cell)) if has_sanitizer(cell) else None
    return plain is not None and plain.outcome is Outcome.WRONG


def _slow(result: Result, around: Neighbourhood) -> Anomaly | None:
    if not cycles(result):
        return None
    odd = [
        neighbour
        for neighbour in around.of(result, cycles)
        if is_slower(result, neighbour.result, neighbour.limit)
    ]
    best = _best(odd, Kind.SLOW)
    return _anomaly(Kind.SLOW, result, best) if best else None


def _frame(result: Result, around: Neighbourhood) -> Anomaly | None:
    mine = frame(result)
    if mine is None or mine <= FRAME_LIMIT:
        return None
    smaller = [n for n in around.of(result, frame) if (frame(n.result) or 0.0) < mine / n.limit]
    return _anomaly(Kind.FRAME, result, _best(smaller, Kind.FRAME))


def _leak(result: Result, around: Neighbourhood) -> Anomaly | None:
    """Only where a neighbour is constant-time: code that never is has not lost it."""
    if not leaks(result):
        return None
    of = partial(value_beside, Kind.LEAK, odd=result)
    best = next((n for n in around.of(result, of) if of(n.result) == 0.0), None)
    return _anomaly(Kind.LEAK, result, best) if best else None


def _best(neighbours: Sequence[Neighbour], kind: Kind) -> Neighbour | None:
    """The plainest of those that are about as good as the best.

    One of which no less was asked says more than a faster one of which less was.
    """
    if not neighbours:
        return None
    strict = min(n.limit for n in neighbours)
    rated = [(value_of(kind, n.result) or 0.0, n) for n in neighbours if n.limit == strict]
    limit = min(value for value, _ in rated) * ABOUT
    near = [(value, n) for value, n in rated if value <= limit]
    return min(near, key=lambda candidate: (len(candidate[1].cell.flags), candidate[0]))[1]


def _anomaly(kind: Kind, result: Result, best: Neighbour | None) -> Anomaly:
    value = value_of(kind, result)
    assert value is not None
    theirs = value_of(kind, best.result) if best else None
    return Anomaly(
        cell=result.cell,
        kind=kind,
        value=value,
        neighbour=best.cell if best else None,
        neighbour_value=theirs,
        ratio=value / (theirs or (FRAME_LIMIT if kind is Kind.FRAME else 1.0)),
        differs_in=best.differs_in if best else "",
        limit=best.limit if best else LIMIT,
    )


def _severity(anomaly: Anomaly) -> float:
    """Return how bad one cell is: 1 is a cell that is 10 % too slow."""
    if anomaly.kind in (Kind.LEAK, Kind.WRONG):
        return 100.0
    size = math.log(max(anomaly.ratio, 1.0)) / math.log(1.1)
    return size * _WEIGHTS.get(anomaly.differs_in, 1.0) * (0.5 if anomaly.kind is Kind.FRAME else 1)


# ---- Stories -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnomalyGroup:
    """Anomalies with one cause: of one compiler, over its versions and sets of flags."""

    anomalies: tuple[Anomaly, ...]  # the worst first
    family: str
    versions: str  # "15-17, 22-24"
    is_live: bool  # the newest version that was measured has it, too
    weight: float

    @property
    def worst(self) -> Anomaly:
        return self.anomalies[0]

    @property
    def flags(self) -> list[tuple[str, ...]]:
        """Without repetitions, those of the worst first."""
        return list(dict.fromkeys(anomaly.cell.flags for anomaly in self.anomalies))

    @property
    def compiler(self) -> str:
        return f"{self.family} {self.versions}".strip()

    @property
    def title(self) -> str:
        """clang 22 -O2 -march=x86-64-v4 on aes_generic: 2.3x; -fno-slp-vectorize repairs it; ..."""
        worst = self.worst
        cell = worst.cell
        place = "" if cell.target == "host" else f" for {cell.target}"
        where = f"{self.compiler} {' '.join(cell.flags)} on {cell.subject} {cell.function}{place}"
        words = [what(worst)]
        if worst.repair:
            words.append(repair_words(worst))
        words += worst.causes[:2]
        return f"{where}: {'; '.join(words)}"


def what(anomaly: Anomaly) -> str:
    """Say in a few words how bad it is."""
    match anomaly.kind:
        case Kind.SLOW:
            return f"{anomaly.ratio:.1f}x" if anomaly.ratio >= 1.95 else f"{anomaly.ratio:.2f}x"
        case Kind.FRAME:
            than = anomaly.neighbour_value
            return f"frame of {anomaly.value:.0f} bytes" + (
                f" instead of {than:.0f}" if than is not None else ""
            )
        case Kind.LEAK:
            return "not constant-time"
        case Kind.WRONG:
            return "wrong answers"


def repair_words(anomaly: Anomaly) -> str:
    """-fno-slp-vectorize repairs it."""
    several = sum(flag != "-mllvm" for flag in anomaly.repair) > 1
    return f"{' '.join(anomaly.repair)} {'together repair' if several else 'repairs'} it"


def command(anomaly: Anomaly, subject: str = "") -> str:
    """Return the command that measures the cell, its neighbour and the repaired cell.

    `subject`: how it is named on the command line, if not by its name.
    """
    cell = anomaly.cell
    cells = [cell]
    cells += [anomaly.neighbour] if anomaly.neighbour else []
    cells += [anomaly.repaired.cell] if anomaly.repaired else []
    words = ["everycore", "matrix", *(["leaks"] if anomaly.kind is Kind.LEAK else [])]
    words += ["--subject", subject or cell.subject, "--function", cell.function]
    for toolchain in dict.fromkeys(shown.toolchain for shown in cells):
        words += ["--toolchain", toolchain]
    for flags in dict.fromkeys(shown.flags for shown in cells):
        words.append(f"--flags={' '.join(flags)}")
    if cell.target != "host":
        words += ["--target", cell.target]
    words += ["--key-bits", str(cell.key_bits), "--bytes", str(cell.n_bytes)]
    return shlex.join(words)


def regressions_command(anomaly: Anomaly) -> str:
    """Return the command that looks for the cause of an anomaly; of a leak, two commands."""
    if anomaly.kind is Kind.LEAK:
        return f"{command(anomaly)}; everycore matrix regressions --resume"
    return command(anomaly).replace("everycore matrix", "everycore matrix regressions", 1)


def anomaly_groups(
    anomalies: Sequence[Anomaly], results: Mapping[Cell, Result]
) -> list[AnomalyGroup]:
    """One for each cause, the heaviest first.

    With a repair, it is the cause: of a subject, all that it repairs is one group. Without, a group
    is the versions of a compiler that have it with the same flags.
    """
    groups: defaultdict[tuple[object, ...], list[Anomaly]] = defaultdict(list)
    for anomaly in anomalies:
        cell = anomaly.cell
        own = family(results[cell]) if cell in results else cell.toolchain
        if anomaly.repair:
            groups[own, anomaly.kind, cell.subject, cell.target, anomaly.repair].append(anomaly)
        else:
            costs = anomaly.differs_in == "sanitizer"
            groups[own, anomaly.kind, cell.replace(toolchain=""), costs].append(anomaly)
    found = [_anomaly_group(str(key[0]), group, results) for key, group in groups.items()]
    return sorted(found, key=lambda anomaly_group: anomaly_group.weight, reverse=True)


def _anomaly_group(
    own: str, group: Sequence[Anomaly], results: Mapping[Cell, Result]
) -> AnomalyGroup:
    worst_first = sorted(group, key=_severity, reverse=True)
    # The versions that were measured as the worst of the cells was: gaps in them are no gaps.
    like = worst_first[0].cell.replace(toolchain="")
    known = {
        _short(result)
        for cell, result in results.items()
        if cell.replace(toolchain="") == like and family(result) == own
    }
    have = {_short(results[a.cell]) for a in group if a.cell in results}
    is_live = bool(have) and max(have) == max(known | have)
    cost = _severity(worst_first[0]) * (1 + math.log2(len(group)) / 8)
    return AnomalyGroup(
        tuple(worst_first),
        own,
        ranges(sorted(known | have), have),
        is_live,
        cost * (1.0 if is_live else _GONE),
    )


def _short(result: Result) -> tuple[int, ...]:
    """The part of a version that names a release: gcc since 5 and clang since 4 have one number."""
    return version(result)[:1]


def ranges(known: Sequence[tuple[int, ...]], have: Iterable[tuple[int, ...]]) -> str:
    """Write versions in their order as ranges: "15-17, 22-24"."""
    wanted = set(have)
    parts = []
    for is_in, run in itertools.groupby(known, lambda known_version: known_version in wanted):
        names = [".".join(map(str, known_version)) for known_version in run]
        if is_in:
            parts.append(names[0] if len(names) == 1 else f"{names[0]}-{names[-1]}")
    return ", ".join(parts)


def is_work_around(anomaly: Anomaly) -> bool:
    """It has flags that its neighbour lacks: what was asked for is what costs."""
    if anomaly.neighbour is None or anomaly.differs_in != "flags":
        return False
    mine, other = facets(anomaly.cell.flags), facets(anomaly.neighbour.flags)
    return set(mine.rest) > set(other.rest)
