# SPDX-License-Identifier: MIT
"""Goals, and whether rows of estimates reach them. Pure but for the reading of goals.toml."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.toml_tables import expect, read_toml, required_of, shape_of
from everycore.estimate.core_estimates import BULK, Figure, Hidden, OperationEstimate, ratio
from everycore.model.domain import RegistryLine

FILE = "goals.toml"
PLUS = " + "


@dataclass(frozen=True, slots=True)
class Goal:
    """One table of goals.toml."""

    title: str
    mode: str
    kernels: tuple[str, ...]
    cores: tuple[str, ...] = ()
    bytes: int = BULK
    against: tuple[str, ...] = ()
    ratio: float = 0.0  # 0: none
    instructions: float = 0.0
    cycles: float = 0.0

    @property
    def primitive(self) -> str:
        return "ghash" if self.mode == "ghash" else "gcm" if self.mode[:3] == "gcm" else "aes"

    @property
    def functions(self) -> list[tuple[str, str]]:
        """Subject and function of all that it is compared with."""
        names = [part for text in self.against for part in text.split(PLUS)]
        return [(subject, name) for subject, name in (n.split() for n in names)]


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a goal is reached on a core by the kernel that is the best there."""

    goal: Goal
    core: str  # "": a goal in instructions alone
    row: OperationEstimate | None  # of the kernel; None: there is none yet
    rival: str = ""
    ratio: float | None = None
    rival_instructions: float | None = None

    @property
    def verdicts(self) -> list[bool | None]:
        """Return the verdict on each limit; None: nothing can be said."""
        found: list[bool | None] = []
        row = self.row
        if self.goal.instructions:
            within = row.instructions_per_byte <= self.goal.instructions + 5e-3 if row else None
            found.append(within)
        if self.goal.ratio:
            found.append(None if self.ratio is None else self.ratio <= self.goal.ratio + 5e-3)
        if self.goal.cycles:
            figure = row.figures.get(self.core) if row else None
            cycles = figure.center if isinstance(figure, Figure) else None
            found.append(None if cycles is None else cycles <= self.goal.cycles)
        return found

    @property
    def met(self) -> bool | None:
        verdicts = self.verdicts
        if False in verdicts:
            return False
        return None if None in verdicts else True


def load(folder: Path) -> list[Goal]:
    tables = read_toml(folder / FILE).get("goal")
    if not tables:
        raise EverycoreError(f"{FILE} has no goals")
    return [_goal(number, table) for number, table in enumerate(tables, 1)]


def _goal(number: int, table: dict[str, Any]) -> Goal:
    where = f"{FILE}: goal {number}"
    goal = Goal(**expect(where, table, shape_of(Goal), required_of(Goal)))
    if not (goal.ratio or goal.instructions or goal.cycles):
        raise EverycoreError(f"{where} has no limit", "one of ratio, instructions, cycles")
    if goal.ratio and not (goal.against and goal.cores):
        raise EverycoreError(f"{where}: a ratio is on cores, against functions of subjects")
    if any(len(part.split()) != 2 for text in goal.against for part in text.split(PLUS)):
        raise EverycoreError(f"{where}: 'against' wants SUBJECT FUNCTION")
    return goal


def titled(every: Sequence[Goal], texts: Sequence[str]) -> list[Goal]:
    """Return the goals with one of the texts in their title; without texts all."""
    titles = dict.fromkeys(goal.title for goal in every)
    for text in texts:
        if not any(text.lower() in title.lower() for title in titles):
            raise unknown_name("goal", text, titles)
    return [g for g in every if not texts or any(t.lower() in g.title.lower() for t in texts)]


def candidates(goal: Goal, lines: Sequence[RegistryLine]) -> list[str]:
    """Our kernels that may reach it, by name; pairs of GCM among them."""
    found: list[str] = []
    for pattern in goal.kernels:
        if "+" in pattern:
            aes, _, ghash = pattern.partition("+")
            found += [
                f"{a}+{g}" for a in _named("aes", aes, lines) for g in _named("ghash", ghash, lines)
            ]
        else:
            found += _named(goal.primitive, pattern, lines)
    return list(dict.fromkeys(found))


def _named(primitive: str, pattern: str, lines: Iterable[RegistryLine]) -> list[str]:
    return [x.name for x in lines if x.primitive == primitive and re.fullmatch(pattern, x.name)]


def reach(
    goal: Goal,
    own: Sequence[OperationEstimate],
    find: Callable[[str, str], OperationEstimate | None],
) -> list[Reached]:
    """On each core; `find` gives the row of a subject's function."""
    rivals: list[tuple[str, list[OperationEstimate]]] = []
    for text in goal.against:
        parts = [find(*part.split()) for part in text.split(PLUS)]
        if all(parts):
            rivals.append((text, [part for part in parts if part]))
    if not goal.cores:
        best = min(own, key=lambda row: row.instructions_per_byte, default=None)
        return [_against(goal, "", best, rivals)]
    return [_against(goal, core, _best(own, core), rivals) for core in goal.cores]


def _best(own: Sequence[OperationEstimate], core: str) -> OperationEstimate | None:
    """The fastest by the model, of equal ones that of fewer instructions; none without a model."""
    modelled = [(f.model, row) for row in own if (f := row.figures.get(core)) and f.model]
    if not modelled:
        return next(iter(own), None)
    return min(modelled, key=lambda pair: (round(pair[0], 3), pair[1].instructions_per_byte))[1]


def _against(
    goal: Goal,
    core: str,
    row: OperationEstimate | None,
    rivals: Sequence[tuple[str, list[OperationEstimate]]],
) -> Reached:
    if row is None or not rivals:
        return Reached(goal, core, row)
    found = [(_ratio(row, parts, core), text, parts) for text, parts in rivals]
    compared = [(value, text, parts) for value, text, parts in found if value is not None]
    if not compared:
        text, parts = rivals[0]
        return Reached(goal, core, row, text, None, _instructions(parts))
    value, text, parts = max(compared, key=lambda comparison: comparison[0])
    return Reached(goal, core, row, text, value, _instructions(parts))


def _instructions(parts: Sequence[OperationEstimate]) -> float:
    return sum(part.instructions_per_byte for part in parts)


def _ratio(row: OperationEstimate, parts: Sequence[OperationEstimate], core: str) -> float | None:
    if not core:
        return None
    if len(parts) == 1:
        return ratio(row, parts[0], core)
    both = summed(parts, core)
    return ratio(row, both, core) if both else None


def summed(parts: Sequence[OperationEstimate], core: str) -> OperationEstimate | None:
    """One after the other, on one core."""
    figures = [part.figures.get(core) for part in parts]
    models = [figure.model for figure in figures if figure and figure.model]
    if len(models) < len(parts):
        return None
    shown = [figure for figure in figures if isinstance(figure, Figure)]
    total: Figure | Hidden = Hidden("a sum", sum(models))
    if len(shown) == len(parts):
        center = sum(figure.center for figure in shown)
        margin = sum(figure.margin * figure.center for figure in shown) / center
        total = Figure(sum(models), center, margin, "; ".join(f.basis for f in shown))
    return replace(
        parts[0],
        kernel=PLUS.join(part.kernel for part in parts),
        techniques=tuple(dict.fromkeys(t for part in parts for t in part.techniques)),
        instructions_per_byte=_instructions(parts),
        classes={},
        figures={core: total},
        published={},
    )
