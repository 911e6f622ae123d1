# SPDX-License-Identifier: MIT
"""The times that programs of the matrix may take, and those that a user gives."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from everycore.environment.errors import EverycoreError

REDUCTION_SECONDS = 600.0  # of one test case, by default
_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: what takes longer is ended, and the cell says so."""

    compile: float = 60.0
    run: float = 10.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Counts down the time that a run was given."""

    now: Callable[[], float]  # seconds
    end: float = float("inf")

    def has_time(self) -> bool:
        return self.now() < self.end

    def allows(self, cells: int, seconds_each: float, pending: float) -> int:
        """How many of the cells there is time for, beside what is begun."""
        left = max(0.0, self.end - self.now() - pending)
        return cells if left >= cells * seconds_each else int(left / seconds_each)


def duration(text: str) -> float:
    """Return seconds: "90", "90s", "10m", "1.5h"."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found or not float(found[1]):
        raise EverycoreError(f"'{text}' is no time", "such as 90s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]
