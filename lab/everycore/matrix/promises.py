# SPDX-License-Identifier: MIT
"""Hold cells of the matrix against what our portable kernels promise of compilers.

The worst cell of a kernel may be so much slower than its best one, within a compiler and over all.
That says something only where the best cell is as fast as the docs say that the kernel is.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everycore.measure.processes import of_each
from everycore.model import stats
from everycore.model.cells import Cell, Head, Result, is_same
from everycore.store.run_files import Results

# kernel: (worst / best within one compiler, over all of them)
LOOK_UPS, SLICES = (1.15, 1.15), (1.25, 1.5)
PROMISED = {
    "c_ttable4": LOOK_UPS,
    "c_ttable1": LOOK_UPS,
    "c_fixedtime": LOOK_UPS,
    "c_table4": LOOK_UPS,
    "c_table8": LOOK_UPS,
    "c_bitslice64": SLICES,
    "c_fixslice32": SLICES,
    "c_ctmul64": SLICES,
    "c_ctmul32": SLICES,
}
NAMES_OF_BENCH = {"qarma5-blocks": "qarma5-many"}  # mode: function
AS_FAST = 1.05  # the best cell: at most this times the figure of the docs

Row = tuple[str, str]  # kernel, function
Speed = tuple[str, str, int, int]  # kernel, mode, bits of the key, bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """One function of a kernel over all cells that were measured, of one size of message."""

    row: Row
    best: Result
    worst: Result
    cells: int
    within: float  # worst / best of the compiler where that is most
    docs: float | None = None  # cycles per byte in the docs, on this machine

    @property
    def ratio(self) -> float:
        return cost(self.worst) / cost(self.best)

    @property
    def most(self) -> tuple[float, float]:
        return PROMISED[self.row[0]]

    @property
    def steady(self) -> bool:
        return self.within <= self.most[0] and self.ratio <= self.most[1]

    @property
    def fast(self) -> bool | None:
        """None: the docs have no figure of this machine to hold it against."""
        return None if self.docs is None else cost(self.best) <= self.docs * AS_FAST


def cost(result: Result) -> float:
    """Cycles per byte of a cell that was measured."""
    found = result.cycles_per_byte
    assert found is not None
    return found


def is_judged(result: Result) -> bool:
    """Was it timed, and without sanitizers, of which nothing is promised?"""
    return bool(result.cycles_per_byte) and "-fsanitize" not in " ".join(result.cell.flags)


def judge(
    results: Iterable[Result],
    docs: Mapping[Speed, float],
    is_uncertain: Callable[[Result], bool] = lambda result: result.is_uncertain,
) -> tuple[list[Kept], list[str]]:
    """Return the kept promises, and the other faults: cells that failed, kernels that are missing.

    Of a cell that was measured several times the lowest figure counts, or the last one, if it is of
    another compiler or kernel now. What disturbed a cell in every process added cycles: it may be
    within the promise all the same; where it is not, nobody knows.
    """
    by_row: dict[tuple[Row, int, int], dict[Cell, Result]] = defaultdict(dict)
    wrong = []
    for result in results:
        cell = result.cell
        if cell.subject not in PROMISED or cell.target != "host":
            continue
        if result.outcome.is_failure:
            wrong.append(f"{cell.title}: {result.outcome}: {result.reason}")
        elif is_judged(result):
            own = by_row[(cell.subject, cell.function), cell.key_bits, cell.n_bytes]
            before = own.get(cell, result)
            of_other = (
                not is_same(before.contents, result.contents) or before.compiler != result.compiler
            )
            own[cell] = result if of_other else min(before, result, key=cost)
    here = {row[0] for row, _, _ in by_row}
    wrong += [f"{name} was not measured" for name in sorted({*PROMISED} - here)]
    kept = []
    for (row, key_bits, n_bytes), cells in sorted(by_row.items(), key=lambda item: item[0]):
        found = [*cells.values()]
        unknown = [
            result
            for result in found
            if is_uncertain(result) and not _is_within(row, result, found)
        ]
        wrong += [f"{result.cell.title}: uncertain, and above the promise" for result in unknown]
        known = [result for result in found if result not in unknown]
        kept.append(_kept(row, known, docs.get((*row, key_bits, n_bytes))))
    return kept, wrong


def _is_within(row: Row, result: Result, results: Sequence[Result]) -> bool:
    """A cell that is within the promise keeps it beside any other."""
    within, most = PROMISED[row[0]]
    own = [compared for compared in results if compared.cell.toolchain == result.cell.toolchain]
    return cost(result) <= min(within * min(map(cost, own)), most * min(map(cost, results)))


def _kept(row: Row, results: Sequence[Result], docs: float | None) -> Kept:
    by_compiler = defaultdict(list)
    for result in results:
        by_compiler[result.cell.toolchain].append(cost(result))
    within = max(max(values) / min(values) for values in by_compiler.values())
    return Kept(row, min(results, key=cost), max(results, key=cost), len(results), within, docs)


def figures(stored: Iterable[Results], head: Head) -> dict[Speed, float]:
    """Cycles per byte in results that the docs are made of: of this machine, the newest first."""
    found: dict[Speed, float] = {}
    for result_file in sorted(stored, key=lambda results: results.run.date, reverse=True):
        if result_file.run.command == "bench" and _comparable(result_file, head):
            for speed, cycles in _figures(result_file):
                found.setdefault(speed, cycles)
    return found


def _comparable(result_file: Results, head: Head) -> bool:
    return (
        result_file.run.machine.title() == head.machine.title()
        and result_file.run.counter == head.counter
    )


def _figures(result_file: Results) -> Iterator[tuple[Speed, float]]:
    """GHASH is the same under AES keys of every size; not those of a core that was shared."""
    for bench in result_file.figures():
        figure = stats.figure(of_each(bench.cycles, bench.parts))
        if bench.style != "streamed" or bench.peer or bench.messages > 1 or bench.crowded:
            continue
        if bench.conditions:
            continue
        if figure is None:
            continue
        mode = NAMES_OF_BENCH.get(bench.mode, bench.mode)
        for key_bits in (128, 192, 256) if mode == "ghash" else (bench.key_bits,):
            speed = (bench.kernel, mode, key_bits, bench.bytes)
            yield speed, figure.median / bench.bytes
