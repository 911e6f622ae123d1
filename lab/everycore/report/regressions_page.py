# SPDX-License-Identifier: MIT
"""The findings of stored cells as a page shows them: docs/evidence/regressions.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everycore.matrix import anomalies
from everycore.matrix.anomalies import AnomalyGroup, ranges, what
from everycore.matrix.failures import FailedCells, group_failures
from everycore.matrix.neighbours import family, version
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, is_one_program
from everycore.report.kernels import markdown_table

HEAD = ("", "compiler", "flags", "code", "finding", "repair", "cause", "newer compilers", "found")
MOST_FLAGS = 3  # sets of flags that a row names
HERE = "here"
BY_FLAGS = "by the same flags"
MOST_ROWS = 12  # causes that a page lists
MOST_OPEN = 5  # findings without a cause that a page lists


@dataclass(frozen=True, slots=True)
class Machine:
    """The cells of one machine, and its findings on them."""

    name: str  # the folder of results/
    results: Mapping[Cell, Result]
    explained: Sequence[Anomaly]


@dataclass(frozen=True, slots=True)
class Regression:
    """Stories with one cause, of one or several functions: a row of the page."""

    where: str  # the machine that found the cause
    groups: tuple[AnomalyGroup, ...]  # the worst first

    @property
    def worst(self) -> AnomalyGroup:
        return self.groups[0]


def page(machine: Machine, others: Sequence[Machine] = ()) -> str:
    """Write the page: the scope, wrong answers, a row for each of the heaviest causes.

    `others`: machines whose causes count here as well, where the code is the same to the byte.
    """
    results = machine.results
    text = _looked_at(list(results.values()))
    for group in group_failures(results.values()):
        text += f"* {group.title}\n" if _is_wrong(group) else ""
    rows, left = _found(machine, others)
    if not rows and not left:
        return text + "\nNothing is odd.\n"
    if rows:
        table = [_row(i, finding, results) for i, finding in enumerate(rows[:MOST_ROWS], 1)]
        text += "\n" + markdown_table(HEAD, table, right=(0,))
        lighter = len(rows) - len(table)
        text += f"\n{lighter} lighter causes are left out.\n" if lighter > 0 else ""
    return text + _unexplained(anomalies.anomaly_groups(left, results))


def _found(machine: Machine, others: Sequence[Machine]) -> tuple[list[Regression], list[Anomaly]]:
    """The known causes, each with where it was found; and anomalies without a known cause."""
    results = machine.results
    known = {(anomaly.cell, anomaly.kind) for anomaly in machine.explained}
    left = [
        anomaly for anomaly in anomalies.find(results) if (anomaly.cell, anomaly.kind) not in known
    ]
    rows = _findings(HERE, list(machine.explained), results)
    for look in (_of_same_code, _of_same_flags):
        for other in (machine, *others):
            same = [match for match in (look(anomaly, results, other) for anomaly in left) if match]
            where = HERE if other is machine else f"on {other.name}"
            where += f", {BY_FLAGS}" if look is _of_same_flags else ""
            rows += _findings(where, same, results)
            taken = {(anomaly.cell, anomaly.kind) for anomaly in same}
            left = [anomaly for anomaly in left if (anomaly.cell, anomaly.kind) not in taken]
    return rows, left


def _findings(
    where: str, found: Sequence[Anomaly], results: Mapping[Cell, Result]
) -> list[Regression]:
    """One for each cause, the heaviest first: what one flag repairs in several functions is one."""
    with_gathers = [finding for finding in found if _has_gathers(finding)]
    others = [finding for finding in found if not _has_gathers(finding)]
    causes: dict[tuple[object, ...], list[AnomalyGroup]] = {}
    for part in (with_gathers, others):
        for group in anomalies.anomaly_groups(part, results):
            worst = group.worst
            own = (worst.repair, part is others) if worst.repair else (worst.cell,)
            key = (group.family, worst.kind, worst.cell.target, *own)
            causes.setdefault(key, []).append(group)
    made = [Regression(where, tuple(own)) for own in causes.values()]
    return sorted(made, key=lambda finding: max(s.weight for s in finding.groups), reverse=True)


def _has_gathers(anomaly: Anomaly) -> bool:
    """Whether gathers appeared in its code: one flag repairs them and other vector code."""
    return any("gather" in cause for cause in anomaly.causes)


def summary(machine: Machine, others: Sequence[Machine] = ()) -> tuple[str, ...]:
    """Count in a row of a table what `page` lists."""
    rows, left = _found(machine, others)
    results = list(machine.results.values())
    live = sum(_is_live(finding) for finding in rows)
    return (
        machine.name,
        str(len(_compilers(results))),
        str(sum(result.outcome is Outcome.MEASURED for result in results)),
        str(sum(result.outcome is Outcome.WRONG for result in results)),
        str(len(rows)),
        str(live),
        str(len(_own(anomalies.anomaly_groups(left, machine.results)))),
    )


SUMMARY = (
    "machine",
    "compilers",
    "cells timed",
    "wrong answers",
    "causes known",
    "of these in the newest compiler",
    "findings not looked into",
)


def _of_same_code(
    anomaly: Anomaly, results: Mapping[Cell, Result], other: Machine
) -> Anomaly | None:
    """The anomaly with the cause that a machine found for the same code, if it has one."""
    mine = results[anomaly.cell]
    for theirs in other.explained:
        known = other.results.get(theirs.cell)
        if known and is_one_program(mine, known) and _is_cause(theirs, anomaly):
            return _with_cause(anomaly, theirs)
    return None


def _of_same_flags(
    anomaly: Anomaly, results: Mapping[Cell, Result], other: Machine
) -> Anomaly | None:
    """The anomaly with the repair that a machine found for the same function and flags by this
    version of the compiler, or by an older and a newer one."""
    mine = results[anomaly.cell]
    like = anomaly.cell.replace(toolchain="")
    versions: dict[tuple[str, ...], list[tuple[int, Anomaly]]] = {}
    for theirs in other.explained:
        known = other.results.get(theirs.cell)
        is_like = theirs.kind is anomaly.kind and theirs.cell.replace(toolchain="") == like
        if known and theirs.repair and is_like and family(known) == family(mine):
            versions.setdefault(theirs.repair, []).append((_release(known), theirs))
    for found in versions.values():
        release = _release(mine)
        older = [explained for at, explained in found if at <= release]
        newer = [explained for at, explained in found if at >= release]
        if older and newer:
            return _with_cause(anomaly, newer[0])
    return None


def _release(result: Result) -> int:
    return (*version(result), 0)[0]


def _with_cause(anomaly: Anomaly, theirs: Anomaly) -> Anomaly:
    """The anomaly with the cause of another one."""
    repaired = theirs.repaired
    if repaired:  # the command is for this machine's compiler and flags
        cell = anomaly.cell.replace(flags=(*anomaly.cell.flags, *theirs.repair))
        repaired = repaired.replace(cell=cell)
    return anomaly.replace(
        repair=theirs.repair,
        repaired=repaired,
        causes=theirs.causes,
        passes=theirs.passes,
        why_not=theirs.why_not,
    )


def _is_cause(found: Anomaly, anomaly: Anomaly) -> bool:
    """Whether it is the same finding, or code that is slow by a frame that its repair shrinks."""
    if found.kind is anomaly.kind:
        return True
    frame = anomalies.frame(found.repaired) if found.repaired else None
    return anomaly.kind is Kind.FRAME and frame is not None and frame <= anomalies.FRAME_LIMIT


def _unexplained(groups: Sequence[AnomalyGroup]) -> str:
    """Name the heaviest of the anomalies that were measured once and not looked into; the own cost
    of a sanitizer is left out."""
    own = _own(groups)
    if not own:
        return ""
    text = f"\nMeasured once and not looked into: {len(own)}; some may be noise. The heaviest:\n\n"
    return text + "".join(
        f"* {group.compiler} {_flags(group)} on {_code(group)}: {what(group.worst)}\n"
        for group in own[:MOST_OPEN]
    )


def _own(groups: Sequence[AnomalyGroup]) -> list[AnomalyGroup]:
    return [group for group in groups if group.worst.differs_in != "sanitizer"]


def _is_wrong(group: FailedCells) -> bool:
    return group.first.outcome is Outcome.WRONG


def _looked_at(results: Sequence[Result]) -> str:
    compilers = sorted(_compilers(results))
    names = [f"{name} {'.'.join(map(str, number))}" for name, number in compilers]
    sets = dict.fromkeys(" ".join(result.cell.flags) for result in results)
    outcomes = Counter(result.outcome for result in results)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common())
    text = f"{len(results)} cells: {counts}.\n\n"
    text += f"{len(names)} compilers: {', '.join(names)}.\n\n"
    text += f"{len(sets)} sets of flags: {', '.join(f'`{flag_set}`' for flag_set in sets)}.\n"
    wrong = outcomes[Outcome.WRONG]
    return text + f"\nWrong answers: {wrong} cells.\n" if wrong else text + "\nNo wrong answers.\n"


def _compilers(results: Sequence[Result]) -> set[tuple[str, tuple[int, ...]]]:
    """The compilers of cells that were not skipped."""
    every = [
        result for result in results if result.compiler and result.outcome is not Outcome.SKIPPED
    ]
    return {(family(result), version(result)[:1]) for result in every}


def _row(number: int, finding: Regression, results: Mapping[Cell, Result]) -> list[str]:
    worst = finding.worst.worst
    repair = f"`{' '.join(worst.repair)}`" if worst.repair else f"none: {worst.why_not}"
    cause = [f"pass {worst.passes[0]}"] if worst.passes else []
    several = len(finding.groups) > 1 and worst.kind is Kind.SLOW
    largest = max((group.worst for group in finding.groups), key=lambda anomaly: anomaly.ratio)
    return [
        str(number),
        _compiler(finding, results),
        _flags(*finding.groups),
        _codes(finding),
        f"up to {what(largest)}" if several else what(worst),
        repair,
        "; ".join([*cause, *worst.causes[:2]]) or "?",
        _newer(finding, results),
        finding.where,
    ]


def _compiler(finding: Regression, results: Mapping[Cell, Result]) -> str:
    """clang 9-12: the versions of all its groups."""
    names = {group.compiler for group in finding.groups}
    if len(names) == 1:
        return finding.worst.compiler
    own = finding.worst.family
    measured = [result for result in results.values() if result.outcome is Outcome.MEASURED]
    known = {version(result)[:1] for result in measured if family(result) == own} - {()}
    cells = [anomaly.cell for group in finding.groups for anomaly in group.anomalies]
    have = {version(results[cell])[:1] for cell in cells if cell in results}
    return f"{own} {ranges(sorted(known | have), have)}".strip()


def _codes(finding: Regression) -> str:
    """The functions; of several each with its versions and how bad it is."""
    if len(finding.groups) == 1:
        return _code(finding.worst)
    return ", ".join(
        f"{_code(group)} ({group.versions}: {what(group.worst)})" for group in finding.groups
    )


def _flags(*groups: AnomalyGroup) -> str:
    sets = dict.fromkeys(flag for group in groups for flag in group.flags)
    flags = [f"`{' '.join(flag_set)}`" for flag_set in sets]
    more = [f"{len(flags) - MOST_FLAGS} more"] if len(flags) > MOST_FLAGS else []
    return ", ".join([*flags[:MOST_FLAGS], *more])


def _code(group: AnomalyGroup) -> str:
    """The subject and its functions: of a group there is one subject."""
    names = dict.fromkeys(anomaly.cell.function for anomaly in group.anomalies)
    return f"{group.worst.cell.subject} {' and '.join(names)}"


def _is_live(finding: Regression) -> bool:
    return any(group.is_live for group in finding.groups)


def _newer(finding: Regression, results: Mapping[Cell, Result]) -> str:
    """Whether newer versions of the compiler have it, as far as they were measured."""
    if _is_live(finding):
        return "have it"
    every = [anomaly for group in finding.groups for anomaly in group.anomalies]
    have = max(version(results[anomaly.cell])[:1] for anomaly in every if anomaly.cell in results)
    alike = {anomaly.cell.replace(toolchain="") for anomaly in every}
    newer = sorted(
        {
            version(result)[:1]
            for result in results.values()
            if family(result) == finding.worst.family
            and version(result)[:1] > have
            and result.outcome is Outcome.MEASURED
            and result.cell.replace(toolchain="") in alike
        }
    )
    return f"not since {'.'.join(map(str, newer[0]))}" if newer else "none measured"
