# SPDX-License-Identifier: MIT
"""How much compilers and flags matter to our kernels: a part of docs/evidence/compilers.md."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from everycore.matrix import anomalies, promises
from everycore.matrix.anomalies import regressions_command, what
from everycore.matrix.neighbours import family, version
from everycore.matrix.promises import Kept, cost
from everycore.model.cells import Anomaly, Cell, Kind, Result, pooled
from everycore.report.kernels import markdown_table

PLAIN = ("-O2",)  # what other sets of flags are compared with
MOST_SLOW = 12  # lines of cells that are slower than a neighbour
NEAR = 1.05  # a second process within this factor of the fastest one confirms it
CLEAR = 1.10  # a ratio from which on a function counts as slower

PROMISES = (
    "kernel", "function", "best", "with", "worst", "with", "worst / best",
    "of one compiler", "promised",
)  # fmt: skip
COMPILERS = ("compiler", "functions", "mean", "slowest function", "", "over 1.10")
FLAGS = ("flags", "cells", "mean", "most gained", "", "most lost", "")


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A cell's cycles divided by those of another one of the same function."""

    result: Result
    value: float


def page(results: Mapping[Cell, Result]) -> str:
    """Write the tables of one machine's cells.

    Of each cell the fastest process counts: another program on the core only adds cycles, and on a
    machine that is not quiet it adds them to most processes. One process alone decides nothing: a
    cell is listed as slow if all processes and the fastest ones say so.
    """
    every = pooled(_of_kernels(results))
    found = {cell: _fastest(result) for cell, result in every.items()}
    timed = [result for result in found.values() if promises.is_judged(result)]
    kept, _ = promises.judge(timed, {}, is_uncertain=lambda _: False)
    lone = sum(_is_lone(every[result.cell]) for result in timed)
    return "\n".join(
        [
            _scope(found.values(), timed, lone),
            _best_and_worst(kept),
            _by_compiler(timed),
            _by_flags(timed),
            _slow(_of_kernels(results), found),
        ]
    )


def has_kernels(results: Mapping[Cell, Result]) -> bool:
    """Whether cells are of kernels that promise something of compilers."""
    return any(promises.is_judged(kernel) for kernel in _of_kernels(results).values())


def _fastest(result: Result) -> Result:
    """The same with the fastest of its processes alone."""
    if not result.runs:
        return result
    return result.replace(runs=(min(result.runs, key=statistics.median),), shared=())


def _is_lone(result: Result) -> bool:
    """Whether no second process was about as fast."""
    first, *others = sorted(map(statistics.median, result.runs))
    return not others or others[0] > NEAR * first


def _of_kernels(results: Mapping[Cell, Result]) -> dict[Cell, Result]:
    return {
        cell: result
        for cell, result in results.items()
        if cell.subject in promises.PROMISED and cell.target == "host"
    }


def _scope(every: Iterable[Result], timed: Sequence[Result], lone: int) -> str:
    compilers = sorted({(family(result), version(result)[:1]) for result in timed})
    names = [f"{name} {'.'.join(map(str, number))}" for name, number in compilers]
    sets = dict.fromkeys(" ".join(result.cell.flags) for result in timed)
    failed = sum(result.outcome.is_failure for result in every)
    answers = f"{failed} of them failed" if failed else "all gave right answers"
    return (
        f"{len(timed)} cells were timed; {answers}. {len(names)} compilers: {', '.join(names)}.\n\n"
        f"{len(sets)} sets of flags: {', '.join(f'`{flag_set}`' for flag_set in sets)}.\n\n"
        f"Cells where no second process came within {NEAR - 1:.0%} of the fastest one: {lone}.\n"
    )


def _best_and_worst(kept: Sequence[Kept]) -> str:
    rows = [
        [
            *judged.row,
            f"{cost(judged.best):.2f}",
            _maker(judged.best),
            f"{cost(judged.worst):.2f}",
            _maker(judged.worst),
            f"{judged.ratio:.2f}",
            f"{judged.within:.2f}",
            f"{judged.most[1]:.2f}, {judged.most[0]:.2f}"
            + ("" if judged.steady else " **not kept**"),
        ]
        for judged in kept
    ]
    return (
        "#### The best and the worst cell of each function\n\n"
        "Core cycles per byte. *Of one compiler*: the largest worst / best among the flags of one"
        " compiler.\n*Promised*: the most that worst / best may be over all cells, and of one"
        " compiler.\n\n" + markdown_table(PROMISES, rows, right=(2, 4, 6, 7))
    )


def _by_compiler(timed: Sequence[Result]) -> str:
    """Compare the compilers with the same flags."""
    plain = [result for result in timed if result.cell.flags == PLAIN]
    best: dict[tuple[str, str], float] = {}
    for result in plain:
        best[_function(result)] = min(cost(result), best.get(_function(result), math.inf))
    by_compiler: defaultdict[tuple[str, tuple[int, ...]], list[_Ratio]] = defaultdict(list)
    for result in plain:
        ratio = _Ratio(result, cost(result) / best[_function(result)])
        by_compiler[family(result), version(result)[:1]].append(ratio)
    rows = []
    for (name, number), ratios in sorted(by_compiler.items()):
        worst = max(ratios, key=lambda ratio: ratio.value)
        over = sum(ratio.value > CLEAR for ratio in ratios)
        title = f"{name} {'.'.join(map(str, number))}"
        last = [" ".join(_function(worst.result)), f"{worst.value:.2f}", str(over)]
        rows.append([title, str(len(ratios)), f"{_mean(ratios):.3f}", *last])
    return (
        "#### Each compiler with `-O2`\n\n"
        "Cycles divided by those of the best compiler for the same function, both with `-O2`: the"
        " mean over\nthe functions, the slowest function, and how many functions take more than"
        " 1.10 times as long.\n\n" + markdown_table(COMPILERS, rows, right=(1, 2, 4, 5))
    )


def _by_flags(timed: Sequence[Result]) -> str:
    """Compare sets of flags within a compiler."""
    plain = {
        (result.cell.toolchain, _function(result)): cost(result)
        for result in timed
        if result.cell.flags == PLAIN
    }
    by_flags: defaultdict[tuple[str, ...], list[_Ratio]] = defaultdict(list)
    for result in timed:
        base = plain.get((result.cell.toolchain, _function(result)))
        if base and result.cell.flags != PLAIN:
            by_flags[result.cell.flags].append(_Ratio(result, cost(result) / base))
    rows = []
    for flags, ratios in by_flags.items():
        gained, lost = (pick(ratios, key=lambda ratio: ratio.value) for pick in (min, max))
        words = [f"`{' '.join(flags)}`", str(len(ratios)), f"{_mean(ratios):.3f}"]
        for ratio in (gained, lost):
            name = f"{ratio.result.cell.toolchain}, {' '.join(_function(ratio.result))}"
            words += [name, f"{ratio.value:.2f}"]
        rows.append(words)
    return (
        "#### Each set of flags beside `-O2`\n\n"
        "Cycles divided by those of the same compiler with `-O2`: the mean over compilers and"
        " functions,\nand the cells that gain and lose most.\n\n"
        + markdown_table(FLAGS, rows, right=(1, 2, 4, 6))
    )


def _slow(results: Mapping[Cell, Result], fastest: Mapping[Cell, Result]) -> str:
    """List the cells that a compiler engineer would look at first."""
    found = [anomaly for anomaly in anomalies.find(results) if _is_slow_at_best(anomaly, fastest)]
    groups = anomalies.anomaly_groups(found, results)
    title = "#### Slower than a neighbour\n\n"
    if not groups:
        return f"{title}No cell is odd by the rules of [regressions.md](regressions.md).\n"
    lines = [
        f"* {group.compiler} `{' '.join(group.worst.cell.flags)}` on {group.worst.cell.subject}"
        f" {group.worst.cell.function}: {what(group.worst)}"
        + ("" if group.is_live else "; newer versions do not have it")
        + "\n"
        for group in groups[:MOST_SLOW]
    ]
    more = len(groups) - len(lines)
    rest = f"* {more} more with less weight\n" if more else ""
    return (
        f"{title}By the rules of [regressions.md](regressions.md), the heaviest first; nobody has"
        f" looked for the causes. The first is\nlooked"
        f" into by `{regressions_command(groups[0].worst)}`.\n\n" + "".join(lines) + rest
    )


def _is_slow_at_best(anomaly: Anomaly, fastest: Mapping[Cell, Result]) -> bool:
    """Whether its fastest process is slow beside that of its neighbour, too."""
    if anomaly.kind is not Kind.SLOW or anomaly.neighbour is None:
        return True
    return cost(fastest[anomaly.cell]) > anomaly.limit * cost(fastest[anomaly.neighbour])


def _function(result: Result) -> tuple[str, str]:
    return result.cell.subject, result.cell.function


def _mean(ratios: Sequence[_Ratio]) -> float:
    return math.exp(sum(math.log(ratio.value) for ratio in ratios) / len(ratios))


def _maker(result: Result) -> str:
    return f"{result.cell.toolchain} `{' '.join(result.cell.flags)}`"
