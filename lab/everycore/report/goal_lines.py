# SPDX-License-Identifier: MIT
"""Write the stored lines of tools/goals, for the terminal and the docs."""

from collections.abc import Iterable

from everycore.estimate.core_estimates import BULK, Figure, spoken
from everycore.estimate.goals import Reached
from everycore.model.run_lines import GoalLine
from everycore.report.kernels import markdown_table

HEAD = ("goal", "core", "kernel", "i/B", "its i/B", "ratio to", "ratio", "limit", "est.", "met")
WORDS = {True: "yes", False: "no", None: "?"}


def line_of(reached: Reached) -> GoalLine:
    """Return the stored line, which has all that is shown."""
    row, goal = reached.row, reached.goal
    figure = row.figures.get(reached.core) if row else None
    shown = figure if isinstance(figure, Figure) else None
    return GoalLine(
        goal=goal.title,
        core=reached.core,
        mode=goal.mode,
        bytes="bulk" if goal.bytes == BULK else goal.bytes,
        kernel=row.kernel if row else None,
        instructions_per_byte=round(row.instructions_per_byte, 4) if row else None,
        model=round(figure.model, 4) if figure and figure.model else None,
        low=round(shown.low, 4) if shown else None,
        high=round(shown.high, 4) if shown else None,
        against=reached.rival or None,
        against_instructions_per_byte=(
            round(reached.rival_instructions, 4) if reached.rival_instructions else None
        ),
        ratio=round(reached.ratio, 4) if reached.ratio is not None else None,
        limits={
            name: value
            for name in ("ratio", "instructions", "cycles")
            if (value := getattr(goal, name))
        },
        met=reached.met,
    )


def cells(line: GoalLine) -> list[str]:
    """Return the cells of one stored line, in the order of HEAD."""
    limits = line.limits
    parts = []
    if "instructions" in limits:
        parts.append(f"{limits['instructions']:g} i/B")
    if "ratio" in limits:
        parts.append(f"{limits['ratio']:.2f}x")
    if "cycles" in limits:
        parts.append(f"{limits['cycles']:g} cycles/B")
    size = "" if line.bytes == "bulk" else f", {line.bytes} B"
    return [
        f"{line.goal} ({line.mode}{size})",
        line.core,
        line.kernel or "none yet",
        _number(line.instructions_per_byte),
        _number(line.against_instructions_per_byte),
        (line.against or "").replace("-arm64", ""),
        f"{line.ratio:.2f}x" if line.ratio is not None else "",
        ", ".join(parts),
        spoken(line.low, line.high) if line.low and line.high else "",
        WORDS[line.met],
    ]


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def markdown(lines: Iterable[GoalLine]) -> str:
    return markdown_table(HEAD, [cells(line) for line in lines], right=(3, 4, 6, 8))


def text(line: GoalLine) -> str:
    """Say for the terminal how far one goal is reached on one core."""
    goal, core, kernel, own, its, rival, ratio, limit, estimate, met = cells(line)
    parts = [f"{own} i/B" if own else "", f"{ratio} {rival} ({its} i/B)" if ratio else ""]
    parts.append(f"est. {estimate} cycles/B" if estimate else "")
    found = ", ".join(part for part in parts if part) or "nothing to say"
    return f"{met:3} {core:12} {goal}\n    {kernel}: {found}; to reach: {limit}"
