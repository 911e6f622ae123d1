# SPDX-License-Identifier: MIT
"""How our kernels stand beside other libraries: a table per mode, key size and style.

Without rich: pages are made from it, too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from everycore.measure.bounds import Bound, bound
from everycore.measure.processes import merged
from everycore.model import stats
from everycore.model.domain import Newest, Peer
from everycore.model.protocol import AAD_BYTES, Arithmetic, Bench, Failure, conditions
from everycore.model.stats import Figure
from everycore.report.figures import NOISY, OperationFigure, figure_of, number, operation_figure
from everycore.report.kernels import markdown_table

OLDER = "!"
OURS = "everycore"
BY_TIME = f"{OURS} / best peer, by time"
WORD_BYTES = 8
# Units of big numbers, where a byte is none.
UNITS = {"bn": "operation", "bn_words": f"word of {8 * WORD_BYTES} bits"}


@dataclass(frozen=True, slots=True)
class ContestantRow:
    """A contestant in a table."""

    name: str
    is_ours: bool
    is_older: bool
    values: tuple[float | None, ...]  # by size: cycles, of the unit in the table's title
    noisy: tuple[bool, ...]
    figures: tuple[Figure | None, ...]  # of the values, with their intervals
    times: tuple[Figure | None, ...] = ()  # the same, of the time


@dataclass(frozen=True, slots=True)
class PeerTable:
    """Everything that a table says, whoever prints it."""

    mode: str
    key_bits: int
    style: str
    sizes: tuple[int, ...]  # bytes
    rows: tuple[ContestantRow, ...]  # ours first, then peers, the fastest at the largest size first
    limit: Bound | None
    keys: int = 1
    aad_bytes: int = AAD_BYTES
    primitive: str = "aes"
    is_of_time: bool = False  # the values are times, and cycles are not known

    @property
    def unit(self) -> str:
        alone = "" if self.style == "streamed" else ", alone"
        per = UNITS.get(self.primitive, "message" if alone else "byte")
        if not self.is_of_time:
            return f"cycles per {per}{alone}"
        return f"{'us' if self.primitive == 'bn' else 'ns'} per {per}{alone}"

    def title(self) -> str:
        if self.primitive in UNITS:
            return f"{self.mode}: {self.unit}"
        conditional = conditions(self.keys, self.aad_bytes)
        cipher = "" if self.primitive == "sha2" else f", aes-{self.key_bits}"
        return f"{self.mode}{cipher}{conditional}: {self.unit}"

    def of_time(self) -> "PeerTable | None":
        """Return the same table with times: a core that runs at a lower clock pays in it. None: no
        time was measured."""
        if not any(time for row in self.rows for time in row.times):
            return None
        rows = tuple(
            replace(
                row,
                values=tuple(time.median if time else None for time in row.times),
                figures=row.times,
            )
            for row in self.rows
        )
        return replace(self, rows=rows, limit=None, is_of_time=True)

    def column(self, size: int) -> str:
        """Return the head of a column: bytes of messages, bits of numbers."""
        return f"{8 * size} bits" if self.primitive in UNITS else f"{size} B"

    def best(self, column: int, of_ours: bool) -> ContestantRow | None:
        """The fastest at a size, of our kernels or of the peers."""
        own = [r for r in self.rows if r.is_ours == of_ours and r.values[column] is not None]
        return min(own, key=lambda row: row.values[column] or 0, default=None)

    def ratio(self, column: int) -> float | None:
        """Our time over that of the best peer."""
        mine, other = self.best(column, True), self.best(column, False)
        if mine is None or other is None:
            return None
        return (mine.values[column] or 0) / (other.values[column] or 1)

    def is_slower(self, column: int, factor: float) -> bool:
        """Whether the best peer is faster by more than a factor: the intervals lie so far apart.

        The best is one of many peers. That any of them looks so by chance is as improbable as
        stats.ALARM says, so that one alone has to be less probable.
        """
        mine, other = self.best(column, True), self.best(column, False)
        ours = mine.figures[column] if mine else None
        theirs = other.figures[column] if other else None
        if ours is None or theirs is None:
            return False
        peers = sum(not r.is_ours and r.values[column] is not None for r in self.rows)
        return stats.is_above(ours, theirs, factor, stats.ALARM / peers)

    def bound(self, column: int) -> float | None:
        """Return the limit of this CPU, in the table's unit."""
        size = self.sizes[column]
        if self.limit is None or not self.limit.holds(size, self.style):
            return None
        if self.style == "fenced" and not self.limit.dependent:
            return None  # a throughput says nothing of a message that is alone
        return self.limit.cycles_per_byte * (size if self.style == "fenced" else 1)

    def above_bound(self, column: int) -> float | None:
        mine, least = self.best(column, True), self.bound(column)
        return (mine.values[column] or 0) / least if mine and least else None

    def feet(self) -> list[tuple[str, list[float | None]]]:
        """The lines below the rows that say how we stand."""
        columns = range(len(self.sizes))
        timed = self.of_time()
        lines = [
            (f"{OURS} / best peer", [self.ratio(i) for i in columns]),
            (BY_TIME, [timed.ratio(i) for i in columns] if timed and not self.is_of_time else []),
            ("limit of this CPU", [self.bound(i) for i in columns]),
            (f"{OURS} / limit", [self.above_bound(i) for i in columns]),
        ]
        return [(name, values) for name, values in lines if any(v is not None for v in values)]


def without_wrong(benches: Iterable[Bench], failures: Iterable[Failure]) -> list[Bench]:
    """Without the figures of a mode in which a contestant was wrong once."""
    wrong = {(failure.kernel, failure.mode) for failure in failures}
    return [bench for bench in benches if (bench.kernel, bench.mode) not in wrong]


def peer_tables(
    benches: Iterable[Bench], loops: Sequence[Arithmetic], since: Mapping[str, str]
) -> list[PeerTable]:
    """since: the versions that goals count against, by peer. Peers count in sizes that we have."""
    groups: dict[tuple[str, int, str, int, int], list[Bench]] = {}
    for bench in merged(benches):
        if isinstance(bench, Bench) and bench.cycles:
            key = (bench.mode, bench.key_bits, bench.style, bench.keys, bench.aad_bytes)
            groups.setdefault(key, []).append(bench)
    return [
        _table(group, since, bound(mode, key_bits, loops))
        for (mode, key_bits, *_), group in groups.items()
    ]


def _table(group: Sequence[Bench], since: Mapping[str, str], limit: Bound | None) -> PeerTable:
    first = group[0]
    sizes = tuple(sorted({bench.bytes for bench in group}))
    found: dict[tuple[bool, str], dict[int, Bench]] = {}
    for bench in group:
        found.setdefault((not bench.peer, _name(bench)), {})[bench.bytes] = bench
    rows = [_row(name, is_ours, own, sizes, since) for (is_ours, name), own in found.items()]
    rows.sort(key=lambda row: (not row.is_ours, [v or float("inf") for v in row.values[::-1]]))
    what = (first.mode, first.key_bits, first.style)
    conditions = (first.keys, first.aad_bytes, first.primitive)
    return PeerTable(*what, sizes, tuple(rows), limit, *conditions)


def _name(bench: Bench) -> str:
    if bench.peer:
        return bench.kernel
    return f"{OURS} {bench.kernel}" + (f" + {bench.partner}" if bench.partner else "")


def _row(
    name: str,
    is_ours: bool,
    own: Mapping[int, Bench],
    sizes: Sequence[int],
    since: Mapping[str, str],
) -> ContestantRow:
    cells = [operation_figure(own[size]) if size in own else None for size in sizes]
    first = next(iter(own.values()))
    values = [_value(c, first) if c else None for c in cells]
    noisy = [bool(c and c.is_noisy) for c in cells]
    figures = [_scaled(c, value) for c, value in zip(cells, values, strict=True)]
    peer = first.peer
    older = not is_ours and is_older(name.removeprefix(f"{peer}-"), since.get(peer, ""))
    times = [_time(own[size]) if size in own else None for size in sizes]
    return ContestantRow(
        name, is_ours, older, tuple(values), tuple(noisy), tuple(figures), tuple(times)
    )


def _time(bench: Bench) -> Figure | None:
    """The time of a byte, a word or a message in ns, or that of an operation in us."""
    found = figure_of(bench.ns, bench.parts)
    if found is None or not found.median:
        return None
    if bench.primitive == "bn":
        units = 1000.0
    elif bench.style == "fenced" and bench.primitive != "bn_words":
        units = 1.0
    else:
        units = bench.bytes * bench.messages / (WORD_BYTES if bench.primitive == "bn_words" else 1)
    return Figure(found.median / units, found.low / units, found.high / units, found.processes)


def _value(measured: OperationFigure, bench: Bench) -> float | None:
    """Return what a table shows of one point: cycles of a byte, a word or a whole operation."""
    if bench.primitive == "bn_words":
        return (measured.cycles_per_byte or 0) * WORD_BYTES or None
    if bench.primitive == "bn" or bench.style == "fenced":
        return measured.cycles.median if measured.cycles else None
    return measured.cycles_per_byte


def _scaled(measured: OperationFigure | None, value: float | None) -> Figure | None:
    """The figure of a cell, in the unit of its value in the table."""
    if value is None or measured is None or measured.cycles is None:
        return None
    cycles = measured.cycles
    unit = value / cycles.median
    return Figure(value, cycles.low * unit, cycles.high * unit, cycles.processes)


def is_older(version: str, than: str) -> bool:
    """By the numbers of both, as far as `than` has any: 3.10.2 is not older than 3.10."""
    want = [int(n) for n in re.findall(r"\d+", than)]
    have = [int(n) for n in re.findall(r"\d+", version)][: len(want)]
    return bool(have) and have < want


def newer_versions(benches: Iterable[Bench], peers: Iterable[Peer]) -> list[tuple[str, Newest]]:
    """Return measured peers, with their versions, that have a newer version which nobody serves."""
    kernels = dict.fromkeys((b.peer, b.kernel) for b in benches if b.peer)
    newest = {peer.name: peer.newest for peer in peers if peer.newest}
    return [
        (kernel, newest[peer])
        for peer, kernel in kernels
        if peer in newest and is_older(kernel.removeprefix(f"{peer}-"), newest[peer].version)
    ]


def figure(row: ContestantRow, column: int) -> str:
    """Write the entry in a column of a row."""
    value = row.values[column]
    if value is None:
        return "-"
    return (NOISY if row.noisy[column] else "") + number(value)


def foot(name: str, value: float | None) -> str:
    """Write the entry in a line below."""
    if value is None:
        return "-"
    return f"{value:.2f}" if "/" in name else number(value)


def markdown(table: PeerTable) -> str:
    """The same for a page."""
    rows = [
        [f"{OLDER} {row.name}" if row.is_older else row.name]
        + [figure(row, i) for i in range(len(table.sizes))]
        for row in table.rows
    ]
    rows += [[name, *(foot(name, v) for v in values)] for name, values in table.feet()]
    head = ["", *(table.column(size) for size in table.sizes)]
    return f"{table.title()}:\n\n{markdown_table(head, rows, right=range(1, len(head)))}"
