# SPDX-License-Identifier: MIT
"""Find the switch of the compiler that makes wrong answers right, and the pass after which they are
wrong."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from everycore.matrix.bisect import (
    AT_ONCE,
    MOST_TRIED,
    PROCESSES,
    CodeTrials,
    Stage,
    Switch,
    ddmin,
    with_switches,
)
from everycore.matrix.failures import FailedCells, group_failures, merge
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result

# Each gives undefined or implementation-defined behaviour of C a meaning: that code whose answers
# they make right most likely relies on it, and the compiler is not to blame.
MEANINGS: tuple[Switch, ...] = (
    ("-fno-strict-aliasing",),
    ("-fwrapv",),
    ("-fno-delete-null-pointer-checks",),
    ("-ftrivial-auto-var-init=zero",),
)
_BEHAVIOUR = {
    "-fno-strict-aliasing": "the code accesses an object through a pointer of another type",
    "-fwrapv": "the code relies on signed integers that wrap around",
    "-fno-delete-null-pointer-checks": "the code dereferences a pointer that may be null",
    "-ftrivial-auto-var-init=zero": "the code reads a variable that was not set",
}
LEVELS: tuple[Switch, ...] = (("-O1",), ("-O0",))


class AnswerTrials(CodeTrials, Protocol):
    """Trials of programs that check answers."""

    def are_right(self, cells: Sequence[Cell]) -> list[bool | None]:
        """Compile and check each cell; None: it gave no answers."""
        ...

    def wrong_after(self, cell: Cell) -> tuple[str, ...]:
        """The pass after which answers are wrong, if the compiler can be stopped after each."""
        ...


Asked = tuple[Cell, tuple[Switch, ...]]  # a cell, and repairs of others like it


def explain_wrong(
    trials: AnswerTrials,
    results: Sequence[Result],
    stored: Sequence[Anomaly] = (),
    has_time: Callable[[], bool] = lambda: True,
    elsewhere: Callable[[Sequence[Asked]], Iterable[Anomaly]] = lambda _: (),
) -> dict[Cell, Anomaly]:
    """For each cell with wrong answers what makes them right; cells for which no time was left have
    no entry.

    A repair that was found for one cell of a group is tried with the others before all else.
    `elsewhere` explains cells on other hosts: first one of each group, then those that its repair
    may serve. Cells for which it has no answer are explained here.
    """
    known = {anomaly.cell: anomaly for anomaly in stored if anomaly.kind is Kind.WRONG}
    groups = [group for group in group_failures(results) if group.first.outcome is Outcome.WRONG]
    hopeless: set[Cell] = set()
    for cells_of in (_firsts, _others):
        asked = [cell_to_explain for group in groups for cell_to_explain in cells_of(group, known)]
        for anomaly in elsewhere(asked) if asked else ():
            known[anomaly.cell] = anomaly
            hopeless |= {anomaly.cell} if not anomaly.repair else set()
    found: dict[Cell, Anomaly] = {}
    for group in groups:
        if any(result.cell in hopeless for result in group.results):
            _leave_out(group, known)
        _explain_group(trials, group, known, found, has_time)
    return found


def with_figures(
    trials: AnswerTrials,
    why: Mapping[Cell, Anomaly],
    has_time: Callable[[], bool] = lambda: True,
) -> dict[Cell, Anomaly]:
    """The same repairs, each with the repaired cell measured; equal code of a compiler is timed
    once.

    Those for which no time was left, and those whose repaired cell was not measured, are as before.
    """
    found = dict(why)
    left = [anomaly for anomaly in why.values() if anomaly.repair and anomaly.repaired is None]
    cells = [with_switches(anomaly.cell, [anomaly.repair]) for anomaly in left]
    programs: dict[tuple[Cell, str], list[tuple[Anomaly, Cell]]] = {}
    for anomaly, cell, made in zip(left, cells, trials.code(cells) if left else (), strict=True):
        program = (cell.replace(flags=()), made.digest or cell.key)
        programs.setdefault(program, []).append((anomaly, cell))
    every = list(programs.values())
    for start in range(0, len(every), AT_ONCE):
        if not has_time():
            break
        some = every[start : start + AT_ONCE]
        timed = trials.measure([own[0][1] for own in some], Kind.SLOW, PROCESSES)
        for own, result in zip(some, timed, strict=True):
            if result.outcome in (Outcome.MEASURED, Outcome.COUNTED):
                for anomaly, cell in own:
                    found[anomaly.cell] = anomaly.replace(repaired=result.replace(cell=cell))
    return found


def reported(groups: Sequence[FailedCells], why: Mapping[Cell, Anomaly]) -> list[FailedCells]:
    """The groups with wrong answers that have a report each: one for each bug.

    If the code is to blame, the families of compilers that show it are one group.
    """
    bugs: dict[tuple[object, ...], list[FailedCells]] = {}
    for group in groups:
        cell = group.first.cell
        repair = why[cell].repair if cell in why else ()
        own = repair if repair in MEANINGS else (id(group),)
        if group.first.outcome is Outcome.WRONG:
            bugs.setdefault((cell.subject, cell.function, cell.target, own), []).append(group)
    return [merge(own) for own in bugs.values()]


def explain_cell(trials: AnswerTrials, cell: Cell, repairs: Sequence[Switch]) -> Anomaly:
    """Find what makes the wrong answers of one cell right: one of some repairs, or the smallest set
    of switches."""
    for repair in repairs:
        if trials.are_right([with_switches(cell, [repair])])[0]:
            return _repaired(cell, repair)
    return _explain(trials, cell, lambda: True)


def _repairs(group: FailedCells, known: Mapping[Cell, Anomaly]) -> tuple[Switch, ...]:
    own = [known[result.cell] for result in group.results if result.cell in known]
    return tuple(dict.fromkeys(anomaly.repair for anomaly in own if anomaly.repair))


def _firsts(group: FailedCells, known: Mapping[Cell, Anomaly]) -> list[Asked]:
    """The first cell of a group of which nothing is known."""
    is_known = any(result.cell in known for result in group.results)
    return [] if is_known else [(group.first.cell, ())]


def _others(group: FailedCells, known: Mapping[Cell, Anomaly]) -> list[Asked]:
    """The cells that the repairs of their group may serve."""
    repairs = _repairs(group, known)
    left = [result.cell for result in group.results if result.cell not in known]
    return [(cell, repairs) for cell in left if repairs]


def _leave_out(group: FailedCells, known: dict[Cell, Anomaly]) -> None:
    """Without a repair for one of them, others like it would take as long, and find as little."""
    if not _repairs(group, known):
        tried = next(result.cell for result in group.results if result.cell in known)
        for result in group.results:
            if result.cell not in known:
                known[result.cell] = _not_tried(result.cell, tried)


def _explain_group(
    trials: AnswerTrials,
    group: FailedCells,
    known: Mapping[Cell, Anomaly],
    found: dict[Cell, Anomaly],
    has_time: Callable[[], bool],
) -> None:
    left = []
    for result in group.results:
        if result.cell in known:
            found[result.cell] = known[result.cell]
        else:
            left.append(result.cell)
    repairs = list(dict.fromkeys(anomaly.repair for anomaly in found.values() if anomaly.repair))
    while left and has_time():
        for repair in repairs:
            cells = [with_switches(cell, [repair]) for cell in left]
            for cell, is_right in zip(list(left), trials.are_right(cells), strict=True):
                if is_right:
                    found[cell] = _repaired(cell, repair)
                    left.remove(cell)
        if not left:
            return
        first = _explain(trials, left.pop(0), has_time)
        found[first.cell] = first
        if not first.repair:  # others like it would take as long, and find as little
            found.update({cell: _not_tried(cell, first.cell) for cell in left})
            return
        repairs = [first.repair]


def _explain(trials: AnswerTrials, cell: Cell, has_time: Callable[[], bool]) -> Anomaly:
    """The smallest set of switches that makes the answers of a cell right, and the pass."""
    wrong = wrong_answers(cell)
    tried = 0

    def are_right(sets: Sequence[Sequence[Switch]]) -> list[bool]:
        nonlocal tried
        tried += len(sets)
        found = trials.are_right([with_switches(cell, switches) for switches in sets])
        return [is_right is True for is_right in found]

    (again,) = trials.are_right([cell])
    if again is not False:
        what = "its answers were right" if again else "it gave no answers"
        return wrong.replace(why_not=f"{what} when it was checked again")
    for switches in _sets(trials.stages(wrong)):
        if not has_time() or tried >= MOST_TRIED:
            return wrong.replace(tried=tried, why_not="no time was left to try all switches")
        for start in range(0, len(switches), AT_ONCE):
            some = switches[start : start + AT_ONCE]
            if True in (right := are_right([[switch] for switch in some])):
                repair: Sequence[Switch] = [some[right.index(True)]]
                return _explained(trials, cell, repair, tried)
        if len(switches) > 1 and are_right([switches])[0]:
            repair = ddmin(switches, lambda some: are_right([some])[0])
            return _explained(trials, cell, repair, tried)
    return wrong.replace(tried=tried, why_not="no switch of the compiler makes its answers right")


def _sets(stages: Sequence[Stage]) -> Iterator[tuple[Switch, ...]]:
    yield MEANINGS
    yield from (stage.switches for stage in stages)
    yield LEVELS


def _explained(trials: AnswerTrials, cell: Cell, repair: Sequence[Switch], tried: int) -> Anomaly:
    words = tuple(word for switch in repair for word in switch)
    return _repaired(cell, words).replace(tried=tried, passes=trials.wrong_after(cell))


def _repaired(cell: Cell, repair: tuple[str, ...]) -> Anomaly:
    behaviour = [_BEHAVIOUR[flag] for flag in repair if flag in _BEHAVIOUR]
    return wrong_answers(cell).replace(repair=repair, causes=tuple(behaviour))


def _not_tried(cell: Cell, tried: Cell) -> Anomaly:
    return wrong_answers(cell).replace(why_not=f"no more was tried than for {tried.title}")


def wrong_answers(cell: Cell) -> Anomaly:
    """The anomaly of a cell with wrong answers, before anything is known of its cause."""
    return Anomaly(cell, Kind.WRONG, 0.0, None, None, 1.0)
