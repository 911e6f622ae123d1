# SPDX-License-Identifier: MIT
"""Show the differences between two programs that ran in turn, and between two stored runs."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group
from rich.text import Text

from everycore.environment.decoding import Record
from everycore.measure import permutation
from everycore.measure.permutation import Change
from everycore.measure.processes import of_each
from everycore.model import stats
from everycore.model.protocol import Arithmetic, Bench, Limit
from everycore.report.figures import NOISY, number
from everycore.report.table_style import plain_table, titled

SIDES = ("A", "B")
UNITS = ("cycles", "ns")  # the first that both sides have is compared
FEWEST_ROUNDS = 0.75  # the share of rounds that have to be left for one more operation
STYLES = {"slower": "red", "faster": "green", "unchanged": ""}
LEGEND = (
    "Figures: medians of process medians, in core cycles. Interval: between two ratios of a process"
    f" of B to one of A; {stats.LEVEL:.0%} or more of such intervals hold the true ratio, with at"
    f" least {stats.FEWEST_OF_RATIO} processes a side."
    " p: chance that any figure of equal programs looks so;"
    f" up to {permutation.LEVEL:g} it is a verdict, if the ratio is above the threshold, too."
    f" {NOISY} interval wider than {stats.WIDEST:.0%}."
)


@dataclass(frozen=True, slots=True, order=True)
class Operation:
    """The operation that a figure belongs to."""

    primitive: str
    kernel: str
    mode: str
    key_bits: int
    bytes: int
    messages: int
    style: str
    conditions: str = ""

    @classmethod
    def of(cls, b: Bench) -> "Operation":
        what = (b.primitive, b.kernel, b.mode, b.key_bits, b.bytes)
        return cls(*what, b.messages, b.style, b.conditions)

    @property
    def is_per_byte(self) -> bool:
        """Whether figures are shown by the byte: not of a message alone, or of a call without."""
        return self.style != "fenced" and self.bytes > 0

    @property
    def divisor(self) -> int:
        """Bytes of a call, where figures are shown by the byte; else 1."""
        return self.bytes * self.messages if self.is_per_byte else 1

    def words(self) -> tuple[str, str, str]:
        mode = self.mode + (" alone" if self.style == "fenced" else "") + self.conditions
        many = f" x {self.messages}" if self.messages > 1 else ""
        return self.kernel, mode, f"{self.bytes}{many}"


@dataclass(frozen=True, slots=True)
class Compared:
    """An operation of two programs."""

    operation: Operation
    change: Change

    def is_undecided(self, threshold: float) -> bool:
        """Without a verdict, though its interval lies beyond the threshold: more rounds decide."""
        change = self.change
        beyond = change.low > 1 + threshold or change.high < 1 / (1 + threshold)
        return change.verdict == "unchanged" and beyond

    @property
    def is_uncertain(self) -> bool:
        """Even a change as large as the interval is wide may be hidden."""
        return self.change.high - self.change.low > stats.WIDEST * self.change.ratio


@dataclass(frozen=True, slots=True)
class Comparison:
    """All operations of two programs."""

    compared: tuple[Compared, ...]
    rounds: int
    incomplete: tuple[Operation, ...] = ()  # too many processes have no figure of them
    only: tuple[tuple[str, Operation], ...] = ()  # one side has them: its label

    def having(self, verdict: permutation.Verdict) -> list[Compared]:
        return [entry for entry in self.compared if entry.change.verdict == verdict]


def compare(benches: Iterable[Bench], threshold: float) -> Comparison:
    """Compare processes that ran in turn; their numbers are those of their rounds."""
    values: dict[Operation, dict[tuple[int, str], float]] = {}
    first: dict[int, str] = {}  # the side that began a round
    sides: dict[Operation, set[str]] = {}
    for bench in benches:
        own = values.setdefault(Operation.of(bench), {})
        sides.setdefault(Operation.of(bench), set()).add(bench.side)
        first.setdefault(bench.process, bench.side)
        if bench.cycles:
            own[bench.process, bench.side] = stats.median(bench.cycles)
    rounds = _rounds(values, len(first))
    slots = [
        (number, side)
        for number in sorted(first)
        if number in rounds
        for side in (SIDES if first[number] == SIDES[0] else SIDES[::-1])
    ]
    whole = {
        operation: own for operation, own in values.items() if all(slot in own for slot in slots)
    }
    only = [(min(found), operation) for operation, found in sides.items() if len(found) == 1]
    alone = {operation for _, operation in only}
    figures = [[own[slot] for slot in slots] for own in whole.values()]
    labels = [side == SIDES[1] for _, side in slots]
    changes = permutation.compare(figures, labels, threshold) if figures else []
    return Comparison(
        tuple(Compared(*pair) for pair in zip(whole, changes, strict=True)),
        len(rounds),
        tuple(
            operation for operation in values if operation not in whole and operation not in alone
        ),
        tuple(only),
    )


def _rounds(values: Mapping[Operation, Mapping[tuple[int, str], float]], count: int) -> set[int]:
    """Return the rounds that are compared: those in which nearly all operations have figures.

    An operation that lacks a few of them costs these rounds; one that lacks many is left out.
    """
    every = {number for own in values.values() for number, _ in own}
    fewest = max(permutation.FEWEST, math.ceil(count * FEWEST_ROUNDS))
    found = every
    lacking = [
        {n for n in every if any((n, s) not in own for s in SIDES)} for own in values.values()
    ]
    for rounds in sorted(lacking, key=len):
        if len(found - rounds) >= fewest:
            found = found - rounds
    return found


def table(compared: Sequence[Compared], title: str, *captions: str) -> Group:
    """The largest slowdown first."""
    heads = ("Bytes", "A", "B", "B / A", "Interval", "p")
    grid = plain_table("Kernel", "Mode", figures=heads)
    for entry in sorted(compared, key=lambda entry: -entry.change.ratio):
        change, divisor = entry.change, entry.operation.divisor
        uncertain = NOISY if entry.is_uncertain else ""
        grid.add_row(
            *entry.operation.words(),
            number(change.before.median / divisor),
            number(change.after.median / divisor),
            Text(f"{uncertain}{change.ratio:.3f}", style=STYLES[change.verdict]),
            f"{change.low:.3f}-{change.high:.3f}",
            f"{min(change.p_slower, change.p_faster):.4f}",
        )
    return titled(title, grid, LEGEND, *captions)


@dataclass(frozen=True, slots=True)
class OperationPair:
    """An operation of two stored runs."""

    operation: Operation
    unit: str  # cycles, ns
    before: stats.Figure
    after: stats.Figure

    @property
    def ratio(self) -> float:
        return self.after.median / self.before.median if self.before.median else 1.0


def compare_stored(before: Iterable[Record], after: Iterable[Record]) -> list[OperationPair]:
    """All operations that two runs have, by core cycles where both have them."""
    old, new = _by_operation(before), _by_operation(after)
    found = []
    for operation, own in new.items():
        earlier = old.get(operation, {})
        unit = next((name for name in UNITS if own.get(name) and earlier.get(name)), "")
        first, second = (stats.figure(side.get(unit, ())) for side in (earlier, own))
        if first and second:
            found.append(OperationPair(operation, unit, first, second))
    return found


Samples = dict[str, list[Sequence[float]]]  # by unit; those of each process


def _by_operation(lines: Iterable[Record]) -> dict[Operation, Samples]:
    found: dict[Operation, Samples] = {}
    for line in lines:
        for operation, unit, samples in _figures(line):
            if samples:
                found.setdefault(operation, {}).setdefault(unit, []).extend(samples)
    return found


def _figures(line: Record) -> Iterator[tuple[Operation, str, list[Sequence[float]]]]:
    """Operation, unit, and the samples of each process; of the CPU's limits, too."""
    if isinstance(line, Bench):
        for unit in UNITS:
            values = getattr(line, unit)
            yield Operation.of(line), unit, [values] if values else []
    elif isinstance(line, Limit):
        for mode, values in (
            ("latency", line.latency_cycles),
            ("many at once", tuple(1 / cycles for cycles in line.per_cycle if cycles)),
        ):
            name = f"{mode}, {line.width_bits} bits"
            operation = Operation("limits", line.instruction, name, 0, 0, 1, "")
            yield operation, "cycles", of_each(values, line.parts)
    elif isinstance(line, Arithmetic):
        operation = Operation("limits", line.name, "loop of a mode", line.key_bits, 1, 1, "")
        yield operation, "cycles", of_each(line.cycles_per_byte, line.parts)


def stored_table(found: Sequence[OperationPair], title: str, *captions: str) -> Group:
    heads = ("Bytes", "Before", "After", "Unit", "Ratio")
    grid = plain_table("Kernel", "Mode", figures=heads)
    for pair in sorted(found, key=lambda pair: -pair.ratio):
        divisor = pair.operation.divisor
        grid.add_row(
            *pair.operation.words(),
            number(pair.before.median / divisor),
            number(pair.after.median / divisor),
            f"{pair.unit}/B" if pair.operation.is_per_byte else pair.unit,
            f"{pair.ratio:.3f}",
        )
    return titled(title, grid, *captions)
