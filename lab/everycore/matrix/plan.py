# SPDX-License-Identifier: MIT
"""Order the cells by how much they tell, and say which are skipped."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from everycore.matrix.flagsets import FlagSet
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.domain import Toolchain

HOST = "host"
USUAL_KEY_BITS = 256
# Needs of a level of the x86-64 psABI, in the words of /proc/cpuinfo (psABI 1.0, table 3.1).
_V3 = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: Mapping[str, frozenset[str]] = {"-march=x86-64-v3": _V3, "-march=x86-64-v4": _V4}


@dataclass(frozen=True, slots=True)
class PlannedFunction:
    """A function of a subject, and the sizes of keys that it takes."""

    subject: str
    function: str
    key_bits: tuple[int, ...] = (128, 192, 256)
    multiple_of: int = 1
    targets: tuple[str, ...] = ()  # where it can be compiled; empty: anywhere
    is_assembly: bool = False  # it is what it is, whatever assembles it: one cell for each target

    @property
    def usual_key_bits(self) -> int:
        """As of AES; of a cipher without such keys the longest that it has."""
        return USUAL_KEY_BITS if USUAL_KEY_BITS in self.key_bits else max(self.key_bits)


@dataclass(frozen=True, slots=True)
class HostCpu:
    """The machine that measures."""

    arch: str  # of `uname -m`
    features: frozenset[str] = field(default_factory=frozenset)  # of /proc/cpuinfo


@dataclass(frozen=True, slots=True)
class Planned:
    """A cell; why it is skipped, if that is known before anything is compiled."""

    cell: Cell
    flag_set: str = ""
    compiler: str = ""
    why_not: str = ""

    def skipped(self, reason: str) -> Result:
        return Result(
            self.cell,
            Outcome.SKIPPED,
            reason=reason,
            compiler=self.compiler,
            flag_set=self.flag_set,
        )


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes that are crossed."""

    functions: tuple[PlannedFunction, ...]
    toolchains: tuple[Toolchain, ...]
    flag_sets: tuple[FlagSet, ...]
    targets: tuple[str, ...] = (HOST,)
    key_bits: tuple[int, ...] = ()  # empty: of each function the size that is usual
    n_bytes: tuple[int, ...] = (4096,)


def plan(axes: Axes, place: HostCpu) -> list[Planned]:
    """All cells, each once, those that tell most first.

    The first are the first flag set of the newest and the oldest compilers on each function; from
    there both lists are gone down together, so that what is cut off at any point is a smaller
    matrix of the same shape. Neighbours in time are seldom of one compiler or one function.
    """
    toolchains = widest_spread_first(axes.toolchains)
    cells: dict[Cell, tuple[tuple[float, int, int], Planned]] = {}
    for target in axes.targets:
        for t, toolchain in enumerate(toolchains):
            for f, flag_set in enumerate(axes.flag_sets):
                rank = (t / math.sqrt(len(toolchains)) + f, f, t)
                for planned in _cells(axes, place, target, toolchain, flag_set):
                    cells.setdefault(planned.cell, (rank, planned))
    found = [planned for _, planned in sorted(cells.values(), key=lambda found: found[0])]
    assembly = {(one.subject, one.function) for one in axes.functions if one.is_assembly}
    return _once(found, assembly)


def _once(planned: Sequence[Planned], assembly: Set[tuple[str, str]]) -> list[Planned]:
    """Keep, for hand-written assembly, the first cell of each target and size that can be had."""
    kept: dict[Cell, Planned] = {}
    for one in sorted(planned, key=lambda one: bool(one.why_not)):
        if (one.cell.subject, one.cell.function) in assembly:
            kept.setdefault(one.cell.replace(toolchain="", flags=()), one)
    chosen = {one.cell for one in kept.values()}
    return [
        one
        for one in planned
        if one.cell in chosen or (one.cell.subject, one.cell.function) not in assembly
    ]


def _cells(
    axes: Axes, place: HostCpu, target: str, toolchain: Toolchain, flag_set: FlagSet
) -> list[Planned]:
    found: list[Planned] = []
    flags = flag_set.flags(toolchain.family)
    why_not = reason_to_skip(place, toolchain, target, flag_set)
    for one in axes.functions:
        for key_bits in axes.key_bits or (one.usual_key_bits,):
            for n_bytes in axes.n_bytes:
                words = flags if flags is not None else flag_set.gcc or flag_set.clang or ()
                cell = Cell(
                    *(one.subject, one.function, toolchain.name, words),
                    target=target,
                    key_bits=key_bits,
                    n_bytes=n_bytes,
                )
                why = _misfit(one, cell) or why_not
                found.append(Planned(cell, flag_set.name, toolchain.title_for(target), why))
    return found


def _misfit(one: PlannedFunction, cell: Cell) -> str:
    if cell.key_bits not in one.key_bits:
        return f"{one.subject} {one.function} takes no keys of {cell.key_bits} bits"
    if cell.n_bytes % one.multiple_of:
        return f"{one.subject} {one.function} takes multiples of {one.multiple_of} bytes"
    if one.targets and cell.target not in one.targets:
        return f"{one.subject} is for {' and '.join(one.targets)}"
    return ""


def reason_to_skip(place: HostCpu, toolchain: Toolchain, target: str, flag_set: FlagSet) -> str:
    """Why flags cannot be tried with a compiler for a target, as far as names tell; or nothing."""
    flags = flag_set.flags(toolchain.family)
    if flags is None:
        other = next(one for one in ("gcc", "clang") if flag_set.flags(one) is not None)
        return f"flags of {other} alone"
    if toolchain.compiler(target) is None:
        return f"{toolchain.name} does not compile for {target}"
    return why_not(place, toolchain, target, flags)


def why_not(place: HostCpu, toolchain: Toolchain, target: str, flags: Sequence[str]) -> str:
    """The same of any flags."""
    said = (_why_not(place, toolchain, target, flag) for flag in flags)
    return next(filter(None, said), "")


def _why_not(place: HostCpu, toolchain: Toolchain, target: str, flag: str) -> str:
    if flag.startswith("-flto") and (target != HOST or toolchain.provider != "host"):
        return "LTO links with the compiler's own linker: for the host and its own compilers"
    if flag == "-march=native":
        return "-march=native is this machine, not the target" * (target != HOST)
    needed = LEVELS.get(flag, frozenset())
    level = flag.removeprefix("-march=")
    if needed and (target != HOST or place.arch not in ("x86_64", "AMD64")):
        return f"{level} is for x86-64, {'this' if target == HOST else target} is not"
    missing = sorted(needed - place.features)
    return f"this CPU is not {level}: no {missing[0]}" if missing else ""


def widest_spread_first(toolchains: Sequence[Toolchain]) -> list[Toolchain]:
    """Families in turn; of each the newest, the oldest, then those that halve the rest."""
    families: dict[str, list[Toolchain]] = {}
    for one in sorted(toolchains, key=lambda one: (one.version, one.name), reverse=True):
        families.setdefault(one.family, []).append(one)
    lists = [_halved(own) for _, own in sorted(families.items())]
    longest = max(map(len, lists), default=0)
    return [own[i] for i in range(longest) for own in lists if i < len(own)]


def _halved(items: Sequence[Toolchain]) -> list[Toolchain]:
    """The first, the last, then the middles of what is between."""
    if len(items) < 3:
        return list(items)
    order, gaps = [0, len(items) - 1], [(0, len(items) - 1)]
    while gaps:
        low, high = gaps.pop(0)
        middle = (low + high) // 2
        if middle > low:
            order.append(middle)
            gaps += [(low, middle), (middle, high)]
    return [items[i] for i in order]
