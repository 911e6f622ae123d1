# SPDX-License-Identifier: MIT
"""Group the anomalies of a matrix by cause, the worst first."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from everycore.matrix.anomalies import AnomalyGroup, anomaly_groups, is_work_around
from everycore.matrix.failures import kind_of_reason
from everycore.matrix.neighbours import has_sanitizer
from everycore.model.cells import Anomaly, Kind, Outcome, Result
from everycore.report.page import order
from everycore.report.page.facts import Fact


class Sort(StrEnum):
    """Kinds of what is wrong, in the order of their weight."""

    WRONG = "wrong answer"
    LEAK = "lost constant time"
    CRASHED = "crash"
    TIME_LIMIT = "time limit"
    SLOW = "slow"
    FRAME = "large frame"
    NOT_COMPILED = "not compiled"


_OF_OUTCOME = {
    Outcome.WRONG: Sort.WRONG,
    Outcome.CRASHED: Sort.CRASHED,
    Outcome.TIME_LIMIT: Sort.TIME_LIMIT,
    Outcome.NOT_COMPILED: Sort.NOT_COMPILED,
}
_OF_KIND = {Kind.SLOW: Sort.SLOW, Kind.FRAME: Sort.FRAME, Kind.LEAK: Sort.LEAK}


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of a group, and what is odd about it; None: it failed."""

    fact: Fact
    anomaly: Anomaly | None


@dataclass(frozen=True, slots=True)
class Group:
    """Cells of one family of compilers that have the same cause, the worst first."""

    sort: Sort
    family: str
    repair: tuple[str, ...]
    cases: tuple[Case, ...]
    among: tuple[str, ...]  # toolchains of the family that its subjects have, oldest first
    weight: float = 0.0  # of its heaviest anomaly group
    anomaly_group: AnomalyGroup | None = None  # that one

    @property
    def is_own(self) -> bool:
        """Whether its cells are the user's own; a group never has both kinds."""
        return self.worst.fact.is_own

    @property
    def is_asked_for(self) -> bool:
        """Its flags are more than those of its neighbours: what was asked for is what costs."""
        return all(case.anomaly and is_work_around(case.anomaly) for case in self.cases)

    @property
    def worst(self) -> Case:
        return self.cases[0]

    @property
    def toolchains(self) -> tuple[str, ...]:
        own = {case.fact.cell.toolchain for case in self.cases}
        return tuple(name for name in self.among if name in own)

    @property
    def where(self) -> str:
        """ "clang 22 to 24"."""
        return order.spans(self.toolchains, self.among)

    @property
    def cells(self) -> str:
        """ "38 cells, 12 of them with a sanitizer": of wrong answers, for its checks change the
        code."""
        count = len(self.cases)
        checked = sum(has_sanitizer(case.fact.cell) for case in self.cases)
        cells = f"{count} {'cell' if count == 1 else 'cells'}"
        if self.sort is not Sort.WRONG or not checked:
            return cells
        return f"{cells}, {'all' if checked == count else checked} of them with a sanitizer"

    @property
    def repaired(self) -> Result | None:
        """The first cell whose answers a flag makes right, with that flag, if it was measured."""
        known = explained_wrong(self.cases)
        return known.repaired if known else None

    @property
    def subjects(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(case.fact.panel.subject for case in self.cases))

    @property
    def labels(self) -> tuple[str, ...]:
        """Flag sets, those with the most cells first."""
        return tuple(label for label, _ in Counter(c.fact.label for c in self.cases).most_common())

    @property
    def is_live(self) -> bool:
        """Whether the newest of several versions of the family has it."""
        return len(self.among) > 1 and self.among[-1] in self.toolchains

    @property
    def causes(self) -> tuple[str, ...]:
        """Causes of the worst cell: what appeared in its code, or why it failed."""
        case = self.worst
        if case.anomaly:
            return case.anomaly.causes or ((case.anomaly.why_not,) if case.anomaly.why_not else ())
        reason = (case.fact.result.reason,) if case.fact.result.reason else ()
        known = explained_wrong(self.cases)
        after = (f"wrong after {known.passes[0]}",) if known and known.passes else ()
        return (*reason, *(known.causes if known else ()), *after)


def groups(facts: Sequence[Fact]) -> list[Group]:
    """A cell that is slow for its frame is in the group of what repairs it, once.

    Anomalies of one cause on several subjects are one group, as heavy as the heaviest.
    """
    told = _anomaly_groups(facts)
    among: dict[tuple[str, str, str], set[str]] = {}
    for fact in facts:
        among.setdefault(_series(fact), set()).add(fact.cell.toolchain)
    found: dict[tuple[object, ...], list[Case]] = {}
    for fact in facts:
        for case in _cases(fact):
            found.setdefault((fact.is_own, *_key(case)), []).append(case)
    made = [_group(cases, among, told) for cases in found.values()]
    return sorted(made, key=_weight)


def _cases(fact: Fact) -> Iterable[Case]:
    if fact.result.outcome.is_failure:
        yield Case(fact, None)
        return
    kinds = {anomaly.kind for anomaly in fact.anomalies}
    for anomaly in fact.anomalies:
        if anomaly.kind is Kind.FRAME and Kind.SLOW in kinds:
            continue  # the slow one says both
        yield Case(fact, anomaly)


def sort_of(case: Case) -> Sort:
    if case.anomaly:
        return _OF_KIND[case.anomaly.kind]
    return _OF_OUTCOME[case.fact.result.outcome]


def _key(case: Case) -> tuple[object, ...]:
    family, anomaly = order.family(case.fact.cell.toolchain), case.anomaly
    if anomaly is None:
        reason = kind_of_reason(case.fact.result.reason)
        return (sort_of(case), family, case.fact.panel.title, reason)
    cause = _wordless(anomaly.causes[0]) if anomaly.causes else ""
    if anomaly.repair:
        return (sort_of(case), family, anomaly.repair, cause)
    costs = anomaly.differs_in == "sanitizer"
    return (sort_of(case), family, order.group(case.fact.cell.flags), cause, costs)


def _wordless(text: str) -> str:
    """Without numbers: 64 gathers and 60 gathers are one cause."""
    return re.sub(r"\d+", "#", text)


def explained_wrong(cases: Sequence[Case]) -> Anomaly | None:
    """Return the repair of the first of these cells for which one is known."""
    every = (
        anomaly for case in cases for anomaly in case.fact.anomalies if anomaly.kind is Kind.WRONG
    )
    return next((anomaly for anomaly in every if anomaly.repair), None)


def severity(case: Case) -> float:
    """How many times as bad as it need be."""
    return case.anomaly.ratio if case.anomaly else float("inf")


def _series(fact: Fact) -> tuple[str, str, str]:
    """Identify the series of a cell: versions of a compiler that were measured with another subject
    say nothing."""
    return fact.panel.machine, fact.panel.subject, order.family(fact.cell.toolchain)


def _group(
    cases: list[Case],
    among: Mapping[tuple[str, str, str], set[str]],
    told: Mapping[int, AnomalyGroup],
) -> Group:
    cases = sorted(cases, key=lambda case: (-severity(case), has_sanitizer(case.fact.cell)))
    family = order.family(cases[0].fact.cell.toolchain)
    explained = cases[0].anomaly or explained_wrong(cases)
    repair = explained.repair if explained else ()
    own = [told[id(case.anomaly)] for case in cases if id(case.anomaly) in told]
    measured = {name for case in cases for name in among[_series(case.fact)]}
    anomaly_group = max(own, key=lambda group: group.weight, default=None)
    return Group(
        sort_of(cases[0]),
        family,
        repair,
        tuple(cases),
        tuple(sorted(measured, key=order.toolchain_key)),
        anomaly_group.weight if anomaly_group else 0.0,
        anomaly_group,
    )


def _anomaly_groups(facts: Sequence[Fact]) -> dict[int, AnomalyGroup]:
    """Map the id of each anomaly to its group; a group has one machine and one subject."""
    apart: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        apart.setdefault((fact.panel.machine, fact.panel.subject), []).append(fact)
    found = {}
    for own in apart.values():
        results = {fact.cell: fact.result for fact in own}
        for anomaly_group in anomaly_groups([a for fact in own for a in fact.anomalies], results):
            found.update({id(anomaly): anomaly_group for anomaly in anomaly_group.anomalies})
    return found


def _weight(group: Group) -> tuple[object, ...]:
    return (
        not group.is_own,
        list(Sort).index(group.sort),
        -group.weight,
        -severity(group.worst),
        -len(group.cases),
    )
