# SPDX-License-Identifier: MIT
"""Order the cells by how much they tell, and say which are skipped."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from everycore.matrix.flagsets import FlagSet
from everycore.matrix.resolved_cell import HostCpu, ResolvedCell, misfit, no_compiler, why_not
from everycore.model.cells import Cell
from everycore.model.domain import Target, Toolchain
from everycore.subjects import Function, Subject

USUAL_KEY_BITS = 256


@dataclass(frozen=True, slots=True)
class Axes:
    """The axes that are crossed."""

    functions: tuple[tuple[Subject, Function], ...]
    toolchains: tuple[Toolchain, ...]
    flag_sets: tuple[FlagSet, ...]
    targets: tuple[Target, ...]
    key_bits: tuple[int, ...] = ()  # empty: of each function the size that is usual
    n_bytes: tuple[int, ...] = (4096,)


def plan(axes: Axes, host_cpu: HostCpu) -> list[ResolvedCell]:
    """Return all cells, each once, the most informative ones first.

    The first are the first flag set of the newest and the oldest compilers on each function; from
    there both lists are gone down together, so that what is cut off at any point is a smaller
    matrix of the same shape. Neighbours in time are seldom of one compiler or one function.
    """
    toolchains = widest_spread_first(axes.toolchains)
    cells: dict[Cell, tuple[tuple[float, int, int], ResolvedCell]] = {}
    for target in axes.targets:
        for t, toolchain in enumerate(toolchains):
            for f, flag_set in enumerate(axes.flag_sets):
                rank = (t / math.sqrt(len(toolchains)) + f, f, t)
                for resolved in _cells(axes, host_cpu, target, toolchain, flag_set):
                    cells.setdefault(resolved.cell, (rank, resolved))
    found = [resolved for _, resolved in sorted(cells.values(), key=lambda found: found[0])]
    return _assembly_once(found)


def _assembly_once(planned: Sequence[ResolvedCell]) -> list[ResolvedCell]:
    """Keep, for hand-written assembly, the first cell of each target and size that can be had: it
    is what it is, whatever assembles it."""
    kept: dict[Cell, ResolvedCell] = {}
    for resolved in sorted(planned, key=lambda cell: bool(cell.why_not)):
        if resolved.subject.is_assembly:
            kept.setdefault(resolved.cell.replace(toolchain="", flags=()), resolved)
    chosen = {resolved.cell for resolved in kept.values()}
    return [
        resolved
        for resolved in planned
        if resolved.cell in chosen or not resolved.subject.is_assembly
    ]


def _cells(
    axes: Axes, host_cpu: HostCpu, target: Target, toolchain: Toolchain, flag_set: FlagSet
) -> list[ResolvedCell]:
    found: list[ResolvedCell] = []
    flags = flag_set.flags(toolchain.family)
    words = flags if flags is not None else flag_set.gcc or flag_set.clang or ()
    refused = reason_to_skip(host_cpu, toolchain, target.name, flag_set)
    for subject, function in axes.functions:
        for key_bits in axes.key_bits or (usual_key_bits(function),):
            for n_bytes in axes.n_bytes:
                cell = Cell(
                    subject.name,
                    function.name,
                    toolchain.name,
                    words,
                    target=target.name,
                    key_bits=key_bits,
                    n_bytes=n_bytes,
                )
                why = misfit(subject, function, cell) or refused
                found.append(
                    ResolvedCell(cell, subject, function, toolchain, target, flag_set.name, why)
                )
    return found


def usual_key_bits(function: Function) -> int:
    """As of AES; of a cipher without such keys the longest that it has."""
    return USUAL_KEY_BITS if USUAL_KEY_BITS in function.key_bits else max(function.key_bits)


def reason_to_skip(host_cpu: HostCpu, toolchain: Toolchain, target: str, flag_set: FlagSet) -> str:
    """Why a set of flags cannot be tried with a toolchain for a target, as far as names tell."""
    flags = flag_set.flags(toolchain.family)
    if flags is None:
        other = next(family for family in ("gcc", "clang") if flag_set.flags(family) is not None)
        return f"flags of {other} alone"
    return no_compiler(toolchain, target) or why_not(host_cpu, toolchain, target, flags)


def widest_spread_first(toolchains: Sequence[Toolchain]) -> list[Toolchain]:
    """Families in turn; of each the newest, the oldest, then those that halve the rest."""
    families: dict[str, list[Toolchain]] = {}
    for toolchain in sorted(
        toolchains, key=lambda candidate: (candidate.version, candidate.name), reverse=True
    ):
        families.setdefault(toolchain.family, []).append(toolchain)
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
