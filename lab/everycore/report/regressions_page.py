# SPDX-License-Identifier: MIT
"""The findings of stored cells as a page shows them: docs/REGRESSIONS.md."""

from collections import Counter
from collections.abc import Mapping, Sequence

from everycore.matrix import anomalies
from everycore.matrix.anomalies import Story, command, what
from everycore.matrix.failures import FailedCells, group_failures
from everycore.matrix.neighbours import family, version
from everycore.model.cells import Anomaly, Cell, Outcome, Result
from everycore.report.kernels import markdown_table

HEAD = ("", "compiler", "flags", "code", "finding", "repair", "cause", "newer compilers")
MOST_FLAGS = 3  # sets of flags that a row names


def page(results: Mapping[Cell, Result], explained: Sequence[Anomaly]) -> str:
    """Write the page: the scope, wrong answers, a row for each cause, and how each is measured
    again."""
    text = _looked_at(list(results.values()))
    for group in group_failures(results.values()):
        text += f"* {group.title}\n" if _is_wrong(group) else ""
    known = {(one.cell, one.kind) for one in explained}
    others = [one for one in anomalies.find(results) if (one.cell, one.kind) not in known]
    stories = anomalies.stories(list(explained), results)
    if not stories and not others:
        return text + "\nNothing is odd.\n"
    if stories:
        rows = [_row(i, story, results) for i, story in enumerate(stories, 1)]
        text += "\n" + markdown_table(HEAD, rows, right=(0,))
        text += "\nEach is measured again by its command:\n\n"
        text += "".join(
            f"{i}. `{story.worst.command or command(story.worst)}`\n"
            for i, story in enumerate(stories, 1)
        )
    return text + _unexplained(anomalies.stories(others, results))


def _unexplained(stories: Sequence[Story]) -> str:
    """List the anomalies that were measured once and not looked into; the own cost of a sanitizer
    is left out."""
    own = [story for story in stories if story.worst.differs_in != "sanitizer"]
    if not own:
        return ""
    return "\nMeasured once and not looked into; some of these may be noise:\n\n" + "".join(
        f"* {story.compiler} {_flags(story)} on {_code(story)}: {what(story.worst)}\n"
        for story in own
    )


def _is_wrong(group: FailedCells) -> bool:
    return group.first.outcome is Outcome.WRONG


def _looked_at(results: Sequence[Result]) -> str:
    compilers = sorted({(family(one), version(one)[:1]) for one in results if one.compiler})
    names = [f"{name} {'.'.join(map(str, number))}" for name, number in compilers]
    sets = dict.fromkeys(" ".join(one.cell.flags) for one in results)
    outcomes = Counter(one.outcome for one in results)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common())
    text = f"{len(results)} cells: {counts}.\n\n"
    text += f"{len(names)} compilers: {', '.join(names)}.\n\n"
    text += f"{len(sets)} sets of flags: {', '.join(f'`{one}`' for one in sets)}.\n"
    wrong = outcomes[Outcome.WRONG]
    return text + f"\nWrong answers: {wrong} cells.\n" if wrong else text + "\nNo wrong answers.\n"


def _row(number: int, story: Story, results: Mapping[Cell, Result]) -> list[str]:
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
    newer = sorted(
        {
            version(one)[:1]
            for one in results.values()
            if family(one) == story.family and version(one)[:1] > have
        }
    )
    return f"not since {'.'.join(map(str, newer[0]))}" if newer else "have it"
