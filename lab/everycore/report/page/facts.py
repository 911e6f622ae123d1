# SPDX-License-Identifier: MIT
"""Sort the cells of the matrix into panels of comparable cells.

A panel holds the cells of one function on one machine: compilers down, flags across. Cycles and
counts of instructions are of different panels, or of none.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from everycore.matrix import anomalies
from everycore.model.cells import (
    Anomaly,
    Cell,
    Head,
    Kind,
    Line,
    Outcome,
    Result,
    current_anomalies,
    pooled,
)
from everycore.model.stats import Figure
from everycore.report.page import order

CYCLES = "cycles per byte"
INSTRUCTIONS = "instructions per byte"
FRAME_LIMIT_BYTES = 1024
NOT_LOOKED_INTO = (
    "no cause is known yet; to find it: everycore matrix regressions --resume --out FILE"
)


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the matrix."""

    name: str
    head: Head | None
    lines: tuple[Line, ...]
    host: str = ""  # which one, where sources are of several hosts of one model
    is_own: bool = True  # the user's, not one of those that everycore brings

    @property
    def machine(self) -> str:
        title = self.head.machine.title() if self.head else "unknown machine"
        return title + (f" (host {self.host})" if self.host else "")


@dataclass(frozen=True, slots=True)
class Panel:
    """Properties that all cells of a heat map share."""

    machine: str
    target: str
    subject: str
    function: str
    key_bits: int
    n_bytes: int

    @property
    def title(self) -> str:
        return f"{self.subject} {self.function}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A cell on the page."""

    panel: Panel
    result: Result
    unit: str  # of its panel
    value: float | None = None  # in that unit; of a cell with right answers only
    summary: Figure | None = None  # of cycles, with their interval
    anomalies: tuple[Anomaly, ...] = ()
    is_own: bool = True  # of a source of the user's

    @property
    def cell(self) -> Cell:
        return self.result.cell

    @property
    def label(self) -> str:
        """Its flags, in few words."""
        return self.result.flag_set or " ".join(self.cell.flags) or "no flags"

    @property
    def frame_bytes(self) -> int | None:
        return self.result.code.frame_bytes if self.result.code else None

    @property
    def leaks(self) -> bool | None:
        """Whether a method says that it is not constant-time; None: nobody looked."""
        constant = self.result.constant_time
        return None if constant is None else not constant

    def has_anomaly(self) -> bool:
        """Whether it failed, or is worse than a neighbour."""
        return bool(self.anomalies) or self.result.outcome.is_failure


@dataclass(frozen=True, slots=True)
class Facts:
    """All of the matrix, in the order of the page."""

    facts: tuple[Fact, ...]
    sources: tuple[Source, ...]

    def panels(self) -> dict[Panel, list[Fact]]:
        found: dict[Panel, list[Fact]] = {}
        for fact in self.facts:
            found.setdefault(fact.panel, []).append(fact)
        return found

    def split(self) -> tuple["Facts", "Facts"]:
        """The user's own cells, and those that everycore brings."""
        own = tuple(fact for fact in self.facts if fact.is_own)
        stored = tuple(fact for fact in self.facts if not fact.is_own)
        return replace(self, facts=own), replace(self, facts=stored)

    def toolchains(self) -> dict[str, str]:
        """Names, oldest first in each family, and what the compiler calls itself."""
        found: dict[str, str] = {}
        for fact in self.facts:
            name = fact.cell.toolchain
            found[name] = fact.result.compiler or found.get(name, "")
        return dict(sorted(found.items(), key=lambda item: order.toolchain_key(*item)))

    def flag_sets(self) -> dict[str, list[tuple[str, ...]]]:
        """By name, what they are: a set may be spelled otherwise for another compiler."""
        found: dict[str, list[tuple[str, ...]]] = {}
        for fact in self.facts:
            spelled = found.setdefault(fact.label, [])
            if fact.cell.flags not in spelled:
                spelled.append(fact.cell.flags)
        return dict(sorted(found.items(), key=lambda item: order.flags_key(item[1][0])))


def collect(sources: Sequence[Source]) -> Facts:
    """The last word on each cell of each machine, with what is odd about it."""
    sources = _hosts_apart(sources)
    results: dict[tuple[str, Cell], Result] = {}
    own_results: dict[tuple[str, Cell], bool] = {}
    odd: dict[tuple[str, Cell, Kind], Anomaly] = {}
    for source in sorted(sources, key=lambda source: source.head.date if source.head else ""):
        fresh = {line.cell for line in source.lines if isinstance(line, Result)}
        # An anomaly of an earlier measurement says nothing about this one.
        odd = {k: v for k, v in odd.items() if k[0] != source.machine or k[1] not in fresh}
        for line in source.lines:
            if isinstance(line, Result):
                results[source.machine, line.cell] = line
                own_results[source.machine, line.cell] = source.is_own
        odd |= {
            (source.machine, *key): anomaly
            for key, anomaly in current_anomalies(source.lines).items()
        }
    odd |= {key: anomaly for key, anomaly in _unexplained(results).items() if key not in odd}
    for machine in {machine for machine, _ in results}:
        own_cells = {cell: result for (where, cell), result in results.items() if where == machine}
        results |= {(machine, cell): result for cell, result in pooled(own_cells).items()}
    by_panel: dict[Panel, list[tuple[str, Result]]] = {}
    for (machine, cell), result in results.items():
        by_panel.setdefault(_panel(machine, cell), []).append((machine, result))
    facts = []
    for panel, own in by_panel.items():
        summaries = [result.figure if _is_right(result) else None for _, result in own]
        unit = CYCLES if any(summaries) or not any(map(_is_counted, own)) else INSTRUCTIONS
        for (machine, result), summary in zip(own, summaries, strict=True):
            about = [odd[k] for kind in Kind if (k := (machine, result.cell, kind)) in odd]
            fact = _fact(panel, result, unit, summary, tuple(about))
            facts.append(replace(fact, is_own=own_results[machine, result.cell]))
    own_panels = {fact.panel for fact in facts if fact.is_own}
    facts.sort(key=lambda fact: (fact.panel not in own_panels, *_key(fact)))
    return Facts(tuple(facts), tuple(sources))


def _hosts_apart(sources: Sequence[Source]) -> Sequence[Source]:
    """With the host of each source whose model several hosts have."""
    hosts: dict[str, set[str]] = {}
    for source in sources:
        if source.head and source.head.machine.installation:
            hosts.setdefault(source.machine, set()).add(source.head.machine.installation)
    return [
        replace(source, host=source.head.machine.installation)
        if source.head and len(hosts.get(source.machine, ())) > 1
        else source
        for source in sources
    ]


def _unexplained(
    results: Mapping[tuple[str, Cell], Result],
) -> dict[tuple[str, Cell, Kind], Anomaly]:
    """Find anomalies by the figures alone: nobody has looked for a cause yet."""
    by_machine: dict[str, dict[Cell, Result]] = {}
    for (machine, cell), result in results.items():
        by_machine.setdefault(machine, {})[cell] = result
    return {
        (machine, anomaly.cell, anomaly.kind): anomaly.replace(why_not=NOT_LOOKED_INTO)
        for machine, own in by_machine.items()
        for anomaly in anomalies.find(own)
    }


def _fact(
    panel: Panel,
    result: Result,
    unit: str,
    summary: Figure | None,
    anomalies: tuple[Anomaly, ...],
) -> Fact:
    value = summary.median if summary else None
    if unit == INSTRUCTIONS:
        value, summary = result.instructions_per_byte if _is_right(result) else None, None
    return Fact(panel, result, unit, value, summary, anomalies)


def _is_right(result: Result) -> bool:
    return result.outcome in (Outcome.MEASURED, Outcome.COUNTED)


def _is_counted(pair: tuple[str, Result]) -> bool:
    return pair[1].outcome is Outcome.COUNTED


def _panel(machine: str, cell: Cell) -> Panel:
    return Panel(machine, cell.target, cell.subject, cell.function, cell.key_bits, cell.n_bytes)


def key_words(own: Sequence[Fact]) -> str:
    """Return "256-bit key, ", or nothing for a function of no known mode, which may have none."""
    has_key = any(fact.result.computes for fact in own)
    return f"{own[0].panel.key_bits}-bit key, " if has_key else ""


def _key(fact: Fact) -> tuple[object, ...]:
    panel = fact.panel
    return (
        panel.machine,
        panel.target != "host",
        panel.target,
        panel.subject,
        panel.function,
        panel.key_bits,
        panel.n_bytes,
        order.toolchain_key(fact.cell.toolchain, fact.result.compiler),
        order.flags_key(fact.cell.flags),
    )


def assembly(facts: Facts) -> dict[Panel, list[Fact]]:
    """By panels of compiled code: hand-written assembly that computes the same, the best first."""
    valued = [fact for fact in facts.facts if fact.value is not None and fact.result.computes]
    by_hand = sorted((fact for fact in valued if fact.result.is_assembly), key=_value)
    compiled = {fact.panel: fact for fact in valued if not fact.result.is_assembly}
    return {
        panel: [fact for fact in by_hand if _like(fact) == _like(other)]
        for panel, other in compiled.items()
    }


def _like(fact: Fact) -> tuple[object, ...]:
    panel = replace(fact.panel, subject="", function="")
    return panel, fact.result.computes, fact.unit


# ---- Derived numbers -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Best:
    """The least value of a panel, of its rows and of its columns."""

    of_all: float | None
    of_toolchain: Mapping[str, float]
    of_flags: Mapping[str, float]


def best(facts: Iterable[Fact], of: Callable[[Fact], float | None]) -> Best:
    """Return the best of the cells of one panel, which the others are compared with."""
    rows: dict[str, float] = {}
    columns: dict[str, float] = {}
    for fact in facts:
        value = of(fact)
        if value is not None:
            name, flags = fact.cell.toolchain, fact.label
            rows[name] = min(value, rows.get(name, value))
            columns[flags] = min(value, columns.get(flags, value))
    return Best(min(rows.values(), default=None), rows, columns)


@dataclass(frozen=True, slots=True)
class Glance:
    """A panel in one line."""

    panel: Panel
    unit: str
    cells: int
    with_value: int
    failed: int
    odd: int
    leaking: int | None  # None: nobody looked
    fastest: Fact | None
    slowest: Fact | None  # without sanitizers
    spread: float | None  # slowest / fastest, without sanitizers
    within: float | None  # the same, within the compiler where it is worst
    sanitized: float | None  # the slowest with sanitizers / fastest


def glance(panel: Panel, facts: Sequence[Fact]) -> Glance:
    valued = [fact for fact in facts if fact.value is not None]
    plain = [f for f in valued if order.group(f.cell.flags) != order.SANITIZER]
    sanitized = [f for f in valued if order.group(f.cell.flags) == order.SANITIZER]
    fastest = min(plain or valued, key=_value, default=None)
    slowest = max(plain, key=_value, default=None)
    judged = [fact.leaks for fact in facts if fact.leaks is not None]
    return Glance(
        panel,
        facts[0].unit,
        len(facts),
        len(valued),
        sum(fact.result.outcome.is_failure for fact in facts),
        sum(bool(fact.anomalies) and not fact.result.outcome.is_failure for fact in facts),
        sum(judged) if judged else None,
        fastest,
        slowest,
        _ratio(slowest, fastest),
        _within(plain),
        _ratio(max(sanitized, key=_value, default=None), fastest),
    )


def _value(fact: Fact) -> float:
    return fact.value or 0.0


def _ratio(fact: Fact | None, other: Fact | None) -> float | None:
    return _value(fact) / _value(other) if fact and other and other.value else None


def _within(facts: Sequence[Fact]) -> float | None:
    rows: dict[str, list[float]] = {}
    for fact in facts:
        if fact.value:
            rows.setdefault(fact.cell.toolchain, []).append(fact.value)
    return max((max(own) / min(own) for own in rows.values()), default=None)
