# SPDX-License-Identifier: MIT
"""The findings of stored cells as a page shows them: docs/REGRESSIONS.md."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from everycore.matrix import anomalies
from everycore.matrix.anomalies import Story, command, what
from everycore.matrix.failures import FailedCells, group_failures
from everycore.matrix.neighbours import family, version
from everycore.model.cells import Anomaly, Cell, Kind, Outcome, Result, is_one_program
from everycore.report.kernels import markdown_table

HEAD = ("", "compiler", "flags", "code", "finding", "repair", "cause", "newer compilers", "found")
MOST_FLAGS = 3  # sets of flags that a row names
HERE = "here"
COMMAND = "everycore matrix "  # what a command of a cell begins with


@dataclass(frozen=True, slots=True)
class Machine:
    """The cells of one machine, and its findings on them."""

    name: str  # the folder of results/
    results: Mapping[Cell, Result]
    explained: Sequence[Anomaly]


def page(machine: Machine, others: Sequence[Machine] = ()) -> str:
    """Write the page: the scope, wrong answers, a row for each cause, and how each is measured
    again.

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
        table = [_row(i, story, results, where) for i, (where, story) in enumerate(rows, 1)]
        text += "\n" + markdown_table(HEAD, table, right=(0,))
        text += "\nEach is measured again by its command:\n\n"
        text += "".join(
            f"{i}. `{story.worst.command or command(story.worst)}`\n"
            for i, (_, story) in enumerate(rows, 1)
        )
    return text + _unexplained(anomalies.stories(left, results))


def _found(
    machine: Machine, others: Sequence[Machine]
) -> tuple[list[tuple[str, Story]], list[Anomaly]]:
    """The known causes, each with where it was found; and anomalies without a known cause."""
    results = machine.results
    known = {(one.cell, one.kind) for one in machine.explained}
    left = [one for one in anomalies.find(results) if (one.cell, one.kind) not in known]
    rows = [(HERE, story) for story in anomalies.stories(list(machine.explained), results)]
    for other in (machine, *others):
        same = [one for one in (_as_found(anomaly, results, other) for anomaly in left) if one]
        where = HERE if other is machine else f"on {other.name}"
        rows += [(where, story) for story in anomalies.stories(same, results)]
        taken = {(one.cell, one.kind) for one in same}
        left = [one for one in left if (one.cell, one.kind) not in taken]
    return rows, left


def summary(machine: Machine, others: Sequence[Machine] = ()) -> tuple[str, ...]:
    """Count in a row of a table what `page` lists."""
    rows, left = _found(machine, others)
    results = list(machine.results.values())
    live = sum(story.is_live for _, story in rows)
    return (
        machine.name,
        str(len(_compilers(results))),
        str(sum(one.outcome is Outcome.MEASURED for one in results)),
        str(sum(one.outcome is Outcome.WRONG for one in results)),
        str(len(rows)),
        str(live),
        str(len(_own(anomalies.stories(left, machine.results)))),
    )


SUMMARY = (
    *("machine", "compilers", "cells timed", "wrong answers", "causes known"),
    *("of these in the newest compiler", "findings not looked into"),
)


def _as_found(anomaly: Anomaly, results: Mapping[Cell, Result], other: Machine) -> Anomaly | None:
    """The anomaly with the cause that a machine found for the same code, if it has one."""
    mine = results[anomaly.cell]
    for theirs in other.explained:
        known = other.results.get(theirs.cell)
        if known and is_one_program(mine, known) and _is_cause(theirs, anomaly):
            repaired = theirs.repaired
            if repaired:  # the command is for this machine's compiler and flags
                cell = replace(anomaly.cell, flags=(*anomaly.cell.flags, *theirs.repair))
                repaired = replace(repaired, cell=cell)
            return replace(
                anomaly,
                repair=theirs.repair,
                repaired=repaired,
                causes=theirs.causes,
                passes=theirs.passes,
                why_not=theirs.why_not,
            )
    return None


def _is_cause(found: Anomaly, anomaly: Anomaly) -> bool:
    """Whether it is the same finding, or code that is slow by a frame that its repair shrinks."""
    if found.kind is anomaly.kind:
        return True
    frame = anomalies.frame(found.repaired) if found.repaired else None
    return anomaly.kind is Kind.FRAME and frame is not None and frame <= anomalies.FRAME_LIMIT


def _unexplained(stories: Sequence[Story]) -> str:
    """List the anomalies that were measured once and not looked into; the own cost of a sanitizer
    is left out."""
    own = _own(stories)
    if not own:
        return ""
    text = "\nMeasured once and not looked into; some of these may be noise. Each is looked into by"
    text += " `everycore matrix --regressions` with these options:\n\n"
    return text + "".join(
        f"* {story.compiler} {_flags(story)} on {_code(story)}: {what(story.worst)};"
        f" `{command(story.worst).removeprefix(COMMAND)}`\n"
        for story in own
    )


def _own(stories: Sequence[Story]) -> list[Story]:
    return [story for story in stories if story.worst.differs_in != "sanitizer"]


def _is_wrong(group: FailedCells) -> bool:
    return group.first.outcome is Outcome.WRONG


def _looked_at(results: Sequence[Result]) -> str:
    compilers = sorted(_compilers(results))
    names = [f"{name} {'.'.join(map(str, number))}" for name, number in compilers]
    sets = dict.fromkeys(" ".join(one.cell.flags) for one in results)
    outcomes = Counter(one.outcome for one in results)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common())
    text = f"{len(results)} cells: {counts}.\n\n"
    text += f"{len(names)} compilers: {', '.join(names)}.\n\n"
    text += f"{len(sets)} sets of flags: {', '.join(f'`{one}`' for one in sets)}.\n"
    wrong = outcomes[Outcome.WRONG]
    return text + f"\nWrong answers: {wrong} cells.\n" if wrong else text + "\nNo wrong answers.\n"


def _compilers(results: Sequence[Result]) -> set[tuple[str, tuple[int, ...]]]:
    """The compilers of cells that were not skipped."""
    every = [one for one in results if one.compiler and one.outcome is not Outcome.SKIPPED]
    return {(family(one), version(one)[:1]) for one in every}


def _row(number: int, story: Story, results: Mapping[Cell, Result], where: str) -> list[str]:
    worst = story.worst
    repair = f"`{' '.join(worst.repair)}`" if worst.repair else f"none: {worst.why_not}"
    cause = [f"pass {worst.passes[0]}"] if worst.passes else []
    return [
        str(number),
        story.compiler,
        _flags(story),
        _code(story),
        what(worst),
        repair,
        "; ".join([*cause, *worst.causes[:2]]) or "?",
        _newer(story, results),
        where,
    ]


def _flags(story: Story) -> str:
    flags = [f"`{' '.join(one)}`" for one in story.flags]
    more = [f"{len(flags) - MOST_FLAGS} more"] if len(flags) > MOST_FLAGS else []
    return ", ".join([*flags[:MOST_FLAGS], *more])


def _code(story: Story) -> str:
    names = dict.fromkeys(f"{one.cell.subject} {one.cell.function}" for one in story.anomalies)
    return ", ".join(names)


def _newer(story: Story, results: Mapping[Cell, Result]) -> str:
    """Whether newer versions of the compiler have it, as far as they were measured."""
    if story.is_live:
        return "have it"
    have = max(version(results[one.cell])[:1] for one in story.anomalies if one.cell in results)
    alike = {replace(one.cell, toolchain="") for one in story.anomalies}
    newer = sorted(
        {
            version(one)[:1]
            for one in results.values()
            if family(one) == story.family
            and version(one)[:1] > have
            and one.outcome is Outcome.MEASURED
            and replace(one.cell, toolchain="") in alike
        }
    )
    return f"not since {'.'.join(map(str, newer[0]))}" if newer else "none measured"
