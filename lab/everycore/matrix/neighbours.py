# SPDX-License-Identifier: MIT
"""Find the cells that show how fast another one could be.

Neighbours differ in one thing: the compiler's version, the flags, or -march. A cell is held against
those of which no more was asked: -O3 against -O1, but not the other way round.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everycore.model.cells import Cell, Result

# A cell is an anomaly if it is slower than the best neighbour by more than this factor.
LIMIT = 1.10
# The same where less was asked of the cell: -O1 beside -O2, a sanitizer beside none.
LIMIT_OF_LESS = 2.0
# Versions whose values lie closer together than this did not change it.
PLATEAU = 0.05

Value = Callable[[Result], float | None]  # lower is better

_LEVELS = {"-O0": 0, "-O1": 1, "-Og": 1, "-Os": 1, "-Oz": 1, "-O2": 2, "-O3": 3, "-Ofast": 3}
_MARCHES = {"": 0, "x86-64": 0, "x86-64-v2": 1, "x86-64-v3": 2, "x86-64-v4": 3}
_ANY_MARCH = 4  # native, and cores by name


@dataclass(frozen=True, slots=True)
class Facets:
    """The flags of a cell, by what they are about."""

    level: str  # "-O2"; the last one counts
    march: tuple[str, ...]  # -march, -mcpu, and what else adds instructions
    sanitizer: tuple[str, ...]
    lto: bool
    rest: tuple[str, ...]

    @property
    def level_rank(self) -> int:
        return _LEVELS.get(self.level, 2)

    @property
    def march_rank(self) -> int:
        if len(self.march) > 1:
            return _ANY_MARCH
        name = self.march[0].split("=")[-1] if self.march else ""
        return _MARCHES.get(name, _ANY_MARCH)


def facets(flags: Sequence[str]) -> Facets:
    level, lto = "-O0", False
    march: dict[str, None] = {}
    sanitizer: list[str] = []
    rest: list[str] = []
    for flag in flags:
        if re.fullmatch(r"-O([0-3sgz]|fast)?", flag):
            level = "-O1" if flag == "-O" else flag
        elif re.match(r"-f(no-)?sanitize", flag):
            sanitizer.append(flag)
        elif flag == "-fno-lto" or re.match(r"-flto\b", flag):
            lto = flag != "-fno-lto"
        elif re.match(r"-m(arch|cpu)=", flag):
            march = {other: None for other in march if not re.match(r"-m(arch|cpu)=", other)}
            march[flag] = None
        elif re.match(r"-m(?!no-|tune=|prefer-|llvm)", flag):
            march[flag] = None
        else:
            rest.append(flag)
    return Facets(level, tuple(march), tuple(sorted(sanitizer)), lto, tuple(rest))


def has_sanitizer(cell: Cell) -> bool:
    """Whether checks of a sanitizer are in its code."""
    return bool(facets(cell.flags).sanitizer)


def without_sanitizer(cell: Cell) -> Cell:
    """The cell with the same flags but for those of sanitizers."""
    checks = facets(cell.flags).sanitizer
    return cell.replace(flags=tuple(flag for flag in cell.flags if flag not in checks))


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A cell that another is held against."""

    result: Result
    differs_in: str  # "toolchain", "flags", "march", "lto" or "sanitizer"
    limit: float  # what is more than this factor slower is odd

    @property
    def cell(self) -> Cell:
        return self.result.cell


def family(result: Result) -> str:
    return _version_of(result)[0]


def version(result: Result) -> tuple[int, ...]:
    """(12, 2, 0); of a toolchain whose compiler is not known, what its name says."""
    return _version_of(result)[1]


def _version_of(result: Result) -> tuple[str, tuple[int, ...]]:
    return _version_in(result.compiler, result.cell.toolchain)


@functools.cache
def _version_in(compiler: str, toolchain: str) -> tuple[str, tuple[int, ...]]:
    for text in (compiler, toolchain):
        if found := re.match(r"([A-Za-z]+)[ -]?v?(\d+(?:\.\d+)*)", text):
            return found[1].lower(), tuple(map(int, found[2].split(".")))
    return toolchain, ()


class Neighbourhood:
    """The cells that were looked at, and who is whose neighbour."""

    def __init__(self, results: Mapping[Cell, Result]) -> None:
        self._facets = {flags: facets(flags) for flags in {cell.flags for cell in results}}
        # All that is the same but for the toolchain, and but for the flags.
        self._versions: defaultdict[Cell, list[Result]] = defaultdict(list)
        self._flags: defaultdict[Cell, list[Result]] = defaultdict(list)
        for cell, result in results.items():
            self._versions[cell.replace(toolchain="")].append(result)
            self._flags[cell.replace(flags=())].append(result)
        for found in self._versions.values():
            found.sort(key=lambda result: (version(result), result.cell.toolchain))

    def series(self, result: Result) -> list[Result]:
        """All versions of its compiler with its flags, oldest first."""
        found = self._versions[result.cell.replace(toolchain="")]
        return [other for other in found if family(other) == family(result)]

    def of(self, result: Result, value: Value) -> Iterator[Neighbour]:
        """Those with a value that may be compared with that of `result`."""
        mine = value(result)
        if mine is None:
            return
        series = [other for other in self.series(result) if value(other) is not None]
        place = next(i for i, other in enumerate(series) if other.cell == result.cell)
        for side in (series[place + 1 :], series[:place][::-1]):
            for other in side:  # the nearest version that does otherwise
                theirs = value(other)
                assert theirs is not None
                if abs(theirs - mine) > PLATEAU * mine:
                    yield Neighbour(other, "toolchain", LIMIT)
                    break
        for other in self._flags[result.cell.replace(flags=())]:
            if other.cell != result.cell and value(other) is not None:
                found = self._fair(self._facets[result.cell.flags], self._facets[other.cell.flags])
                if found:
                    yield Neighbour(other, *found)

    @staticmethod
    def _fair(mine: Facets, other: Facets) -> tuple[str, float] | None:
        """Return the one difference of two cells, and the factor from which on it is odd; None if
        they differ in more."""
        differences = [
            name
            for name in ("level", "march", "sanitizer", "lto", "rest")
            if getattr(mine, name) != getattr(other, name)
        ]
        match differences:
            case ["level"]:
                return _fair_level(mine.level_rank, other.level_rank)
            case ["march"]:
                is_fair = mine.march_rank >= other.march_rank
            case ["lto"]:
                is_fair = mine.lto
            case ["sanitizer"] if not other.sanitizer:
                return "sanitizer", LIMIT_OF_LESS
            case ["rest"]:
                return "flags", LIMIT
            case _:
                is_fair = False
        return (differences[0], LIMIT) if is_fair else None


def _fair_level(mine: int, other: int) -> tuple[str, float] | None:
    """-Os and -O1 want different things, and without optimisation nothing is odd."""
    if mine in (other, 0):
        return None
    return "flags", LIMIT if mine > other else LIMIT_OF_LESS
