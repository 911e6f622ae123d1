# SPDX-License-Identifier: MIT
"""Compilers as bisections see them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from matrix.cells import judged, measured

from everycore.matrix.bisect import Stage
from everycore.model.cells import Anomaly, Cell, Code, Kind, Listing, Outcome, Result


@dataclass
class FakeBench:
    """A compiler whose flags cost what `cycles` says; every flag that does so changes the code."""

    cycles: Callable[[Cell], float | None]  # None: the answers are wrong
    switches: Sequence[str] = ()
    frames: Callable[[Cell], int] = lambda _: 64
    is_constant: Callable[[Cell], bool] = lambda _: True
    compiled: list[Cell] = field(default_factory=list)
    ran: list[Cell] = field(default_factory=list)
    listings: Mapping[Cell, Listing] = field(default_factory=dict)

    def code(self, cells: Sequence[Cell]) -> list[Result]:
        self.compiled += cells
        return [self._result(cell) for cell in cells]

    def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
        del kind, processes
        self.ran += cells
        return [self._result(cell) for cell in cells]

    def stages(self, anomaly: Anomaly) -> Sequence[Stage]:
        del anomaly
        return [Stage("all", tuple((switch,) for switch in self.switches))]

    def listing(self, cell: Cell) -> Listing | None:
        return self.listings.get(cell)

    def passes(self, cell: Cell, is_bad: Callable[[Code], bool]) -> tuple[str, ...]:
        del cell, is_bad
        return ("SLPVectorizerPass on f",)

    def _result(self, where: Cell) -> Result:
        cycles = self.cycles(where)
        if cycles is None:
            return Result(where, Outcome.WRONG)
        result = measured(where, cycles, frame=self.frames(where))
        verdicts = judged(where, self.is_constant(where)).verdicts
        digest = f"{cycles} {self.frames(where)} {self.is_constant(where)}"
        return result.replace(digest=digest, verdicts=verdicts)
