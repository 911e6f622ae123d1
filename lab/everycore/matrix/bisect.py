# SPDX-License-Identifier: MIT
"""Find the smallest set of flags whose switching repairs a cell, by trials of a compiler."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from everycore.matrix import anomalies
from everycore.matrix.code_differences import differences
from everycore.model.cells import Anomaly, Cell, Code, Kind, Listing, Outcome, Result

Switch = tuple[str, ...]  # words for the compiler, one step of the search

PROCESSES = 5  # of a rerun, interleaved with those of its neighbour
TRIAL_PROCESSES = 3  # of one step of the search
AT_ONCE = 8  # compilations of one step
REPAIRED = 0.25  # the share of what was lost that may stay
NEAR = 1.05  # what is within this factor of the neighbour is repaired, too
HELPS = 0.97  # a switch that leaves less than this share of the value is worth combining
MOST_TRIED = 400
MOST_COMBINED = 24


@dataclass(frozen=True, slots=True)
class Stage:
    """Switches of one sort; those that are most often to blame first."""

    name: str
    switches: tuple[Switch, ...]


class CodeTrials(Protocol):
    """The compilers and the machine, as searches need them."""

    def code(self, cells: Sequence[Cell]) -> list[Result]:
        """Compiled, and what came of it; not run."""
        ...

    def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
        """Anew, in turns: times, frames or verdicts."""
        ...

    def stages(self, anomaly: Anomaly) -> Sequence[Stage]:
        """Return the switches to try, from the compiler's own lists."""
        ...


class CellTrials(CodeTrials, Protocol):
    """Trials of odd cells."""

    def listing(self, cell: Cell) -> Listing | None:
        """The hot loop."""
        ...

    def passes(self, cell: Cell, is_bad: Callable[[Code], bool]) -> tuple[str, ...]:
        """The pass after which the code is bad, if the compiler can be stopped after each."""
        ...


@dataclass(frozen=True, slots=True)
class BisectOutcome:
    """Outcome of a second look at an anomaly."""

    anomaly: Anomaly
    again: tuple[Result, ...]  # the rerun of the cell and its neighbour
    is_noise: bool = False
    said: str = ""  # of noise: what the rerun gave
    is_late: bool = False  # odd again, and no time was left to find out why

    @property
    def failed(self) -> tuple[Result, ...]:
        """Cells that were right before and now give wrong answers, or none: then nothing is
        compared."""
        return tuple(result for result in self.again if result.outcome.is_failure)


def explain(
    trials: CellTrials,
    anomaly: Anomaly,
    first: Sequence[Switch] = (),
    thorough: bool = True,
    has_time: Callable[[], bool] = lambda: True,
) -> BisectOutcome:
    """Rerun the anomaly and its neighbour; if it is still there, look for its repair.

    `first`: what repaired others of its kind; unless `thorough`, nothing else is tried. `has_time`
    is asked before each step of the search.
    """
    cells = [anomaly.cell, *([anomaly.neighbour] if anomaly.neighbour else [])]
    again = tuple(trials.measure(cells, anomaly.kind, PROCESSES))
    bad, good = again[0], again[1] if len(again) > 1 else None
    if any(result.outcome.is_failure for result in again):
        return BisectOutcome(anomaly, again)
    if reason := _vanished(anomaly, bad, good):
        return BisectOutcome(anomaly, again, True, reason)
    anomaly = _renewed(anomaly, bad, good)
    search = _Search(trials, anomaly, bad, good, has_time)
    try:
        repair, repaired = search.run(
            [Stage("known", tuple(first)), *(trials.stages(anomaly) if thorough else ())]
        )
        passes = _passes(search, repair, repaired) if repaired else ()
    except _GoneError as gone:
        return BisectOutcome(anomaly, gone.again, bool(gone.said), gone.said)
    except _LateError:
        return BisectOutcome(search.anomaly, search.again(), is_late=True)
    anomaly, bad, good, again = search.anomaly, search.bad, search.good, search.again()
    anomaly = anomaly.replace(tried=search.tried, before=trials.listing(anomaly.cell))
    if repaired is None:
        anomaly = _unrepaired(anomaly, search.count, bad, good)
    else:
        anomaly = anomaly.replace(
            repair=repair,
            repaired=repaired,
            causes=_causes(bad, repaired),
            passes=passes,
            after=trials.listing(repaired.cell),
        )
    return BisectOutcome(anomaly.replace(command=anomalies.command(anomaly)), again)


def _passes(search: "_Search", repair: Sequence[str], repaired: Result) -> tuple[str, ...]:
    """Not of a leak, which no count tells, nor of a level, which has other passes."""
    kind, cell = search.anomaly.kind, search.anomaly.cell
    if kind is Kind.LEAK or any(flag.startswith("-O") for flag in repair):
        return ()
    is_bad = looks_bad(search.bad.code, repaired.code)

    def asked(code: Code) -> bool:
        if not search.has_time():
            raise _LateError
        return is_bad(code)

    return search.trials.passes(cell, asked)


def _unrepaired(anomaly: Anomaly, count: int, bad: Result, good: Result | None) -> Anomaly:
    why = f"none of {count} switches of the compiler repairs it"
    if count == 0:
        why = "no more was tried than with others like it"
    if good is None:
        why += ", and no neighbour is better"
    return anomaly.replace(why_not=why, causes=_causes(bad, good) if good else ())


def _causes(bad: Result, good: Result) -> tuple[str, ...]:
    return differences(bad.code, good.code) if bad.code and good.code else ()


def _vanished(anomaly: Anomaly, bad: Result, good: Result | None) -> str:
    """Why an anomaly is none after all; empty: it is one."""
    value = anomalies.value_of(anomaly.kind, bad)
    if value is None:
        return _ended_otherwise(anomaly.kind, bad)
    if anomaly.kind is Kind.FRAME:
        limit = anomalies.FRAME_LIMIT
        return "" if value > limit else f"the second time its frame had {value:.0f} bytes"
    if anomaly.kind is Kind.LEAK:
        return _leaks_no_more(value, bad, good)
    if good is None or good.figure is None:
        return "the second time its neighbour was not measured"
    if anomalies.is_slower(bad, good, anomaly.limit):
        return ""
    ratio = value / (good.cycles_per_byte or value)
    return f"the first time {anomaly.ratio:.2f}x, the second time {ratio:.2f}x"


def _ended_otherwise(kind: Kind, bad: Result) -> str:
    if bad.outcome not in (Outcome.MEASURED, Outcome.COUNTED):
        return f"the second time it ended otherwise: {bad.outcome}: {bad.reason}"
    if kind is Kind.LEAK:
        why = "; ".join(f"{v.method}: {v.detail}" for v in bad.verdicts) or "there is none"
        return f"the second time no method could look: {why}"
    return "the second time nothing told its " + ("frame" if kind is Kind.FRAME else "cycles")


def _leaks_no_more(value: float, bad: Result, good: Result | None) -> str:
    """A leak is odd beside a neighbour that has none, by the methods that saw it."""
    if not value:
        return "the second time no method saw a leak"
    beside = anomalies.value_beside(Kind.LEAK, good, bad) if good else None
    if beside is None:
        return "the second time its neighbour was not looked at by what saw the leak"
    return "the second time its neighbour leaked, too" if beside else ""


def _renewed(anomaly: Anomaly, bad: Result, good: Result | None) -> Anomaly:
    """With the values of the rerun: the first ones were chosen because they were odd."""
    value = anomalies.value_of(anomaly.kind, bad)
    theirs = anomalies.value_of(anomaly.kind, good) if good else None
    if value is None or not theirs:
        return anomaly
    return anomaly.replace(value=value, neighbour_value=theirs, ratio=value / theirs)


# ---- The search ----------------------------------------------------------------------------------


class _GoneError(Exception):
    """Beside its repair the anomaly is none, or fails."""

    def __init__(self, again: tuple[Result, ...], said: str) -> None:
        super().__init__(said)
        self.again = again
        self.said = said


class _LateError(Exception):
    """No time is left for the next step."""


@dataclass
class _Search:
    """Compiles first: a switch that leaves the code as it was is not run."""

    trials: CellTrials
    anomaly: Anomaly
    bad: Result
    good: Result | None
    has_time: Callable[[], bool]
    tried: int = 0
    count: int = 0  # switches that were looked at
    _by_digest: dict[str, Result] = field(default_factory=dict)
    _known: dict[frozenset[Switch], Result | None] = field(default_factory=dict)

    def again(self) -> tuple[Result, ...]:
        """The anomaly and its neighbour, as they were measured last."""
        return (self.bad, self.good) if self.good else (self.bad,)

    def run(self, stages: Sequence[Stage]) -> tuple[tuple[str, ...], Result | None]:
        """The smallest set, and the cell with it, measured beside the anomaly."""
        helpful: dict[Switch, float] = {}
        seen: set[Switch] = set()
        for stage in stages:
            switches = [s for s in dict.fromkeys(stage.switches) if s not in seen]
            seen |= set(switches)
            self.count = len(seen)
            for some in _batches(switches, AT_ONCE):
                alone = [(switch,) for switch in some]
                values = dict(zip(some, self._values(alone), strict=True))
                if self._best(values) and (found := self._chosen([*helpful, *some], values)):
                    return found
                helpful |= {
                    switch: value
                    for switch, value in values.items()
                    if value is not None and value < HELPS * self._value_of_bad()
                }
                if self.tried >= MOST_TRIED:
                    break
            if found := self._combined(
                sorted(helpful, key=lambda switch: helpful[switch]), switches
            ):
                return found
        return (), None

    def _combined(
        self, helpful: Sequence[Switch], switches: Sequence[Switch]
    ) -> tuple[tuple[str, ...], Result] | None:
        """Several causes: those that help alone, together; else all of a short stage."""
        sets: list[tuple[Switch, ...]] = []
        if len(helpful) > 1:
            sets += [tuple(helpful[:n]) for n in range(2, min(len(helpful), 6) + 1)]
            sets.append(tuple(helpful))
        if 1 < len(switches) <= MOST_COMBINED:
            sets.append(tuple(switches))
        for switch_set in dict.fromkeys(sets):
            if self._repairs(switch_set):
                smallest = ddmin(switch_set, self._repairs)
                if found := self._confirmed(tuple(smallest)):
                    return found
        return None

    def _best(self, values: Mapping[Switch, float | None]) -> Switch | None:
        limit = self._limit()
        good = {switch: v for switch, v in values.items() if v is not None and v <= limit}
        best = min(good.values(), default=0.0)
        return next((switch for switch, v in good.items() if v <= best * anomalies.ABOUT), None)

    def _chosen(
        self, switches: Sequence[Switch], values: Mapping[Switch, float | None]
    ) -> tuple[tuple[str, ...], Result] | None:
        """Return the first of those switches that repair it about as well, which is most often to
        blame.

        Earlier ones that only helped are measured once more beside them: they may have been
        disturbed.
        """
        limit = self._limit()
        some = [
            s for s in switches if s not in values or ((v := values[s]) is not None and v <= limit)
        ]
        cells = [self._cell([switch]) for switch in some]
        results = self._beside(cells)
        again = [self._value(result) for result in results]
        best = self._best(dict(zip(some, again, strict=True)))
        return (best, results[some.index(best)]) if best else None

    def _repairs(self, switches: Sequence[Switch]) -> bool:
        if self.tried >= MOST_TRIED:
            return False
        (value,) = self._values([tuple(switches)])
        return value is not None and value <= self._limit()

    def _limit(self) -> float:
        """Return the largest value that a repaired cell may have."""
        bad, good = self._value_of_bad(), self.anomaly.neighbour_value
        if self.anomaly.kind is Kind.LEAK:
            return 0.0
        if self.anomaly.kind is Kind.FRAME:
            return max(anomalies.FRAME_LIMIT, 0.0 if good is None else good)
        return bad if good is None else max(good + REPAIRED * (bad - good), NEAR * good)

    def _value_of_bad(self) -> float:
        value = anomalies.value_of(self.anomaly.kind, self.bad)
        return self.anomaly.value if value is None else value

    def _value(self, result: Result) -> float | None:
        return anomalies.value_beside(self.anomaly.kind, result, self.bad)

    def _cell(self, switches: Iterable[Switch]) -> Cell:
        return with_switches(self.anomaly.cell, switches)

    def _values(self, sets: Sequence[tuple[Switch, ...]]) -> list[float | None]:
        """Return the value of each set; None: it does not compile, or its answers are wrong."""
        missing = [switch_set for switch_set in sets if frozenset(switch_set) not in self._known]
        if missing and not self.has_time():
            raise _LateError
        made = self.trials.code([self._cell(switch_set) for switch_set in missing])
        self.tried += len(missing)
        news: dict[str, Result] = {}
        if self.anomaly.kind is Kind.LEAK:  # a digest knows nothing of the key set-up
            made = [result.replace(digest="") for result in made]
        for switch_set, result in zip(missing, made, strict=True):
            key = frozenset(switch_set)
            if result.outcome.is_failure or result.code is None:
                self._known[key] = None
            elif self.anomaly.kind is Kind.FRAME:
                self._known[key] = result
            elif result.digest and result.digest == self.bad.digest:
                self._known[key] = self.bad
            elif self.good and result.digest and result.digest == self.good.digest:
                self._known[key] = self.good
            elif result.digest and result.digest in self._by_digest:
                self._known[key] = self._by_digest[result.digest]
            else:
                news.setdefault(result.digest or f"none {len(news)}", result)
        ran = self._measured([r.cell for r in news.values()])
        self._by_digest |= {digest: r for digest, r in zip(news, ran, strict=True) if digest}
        for switch_set, result in zip(missing, made, strict=True):
            if frozenset(switch_set) not in self._known:
                found = self._by_digest.get(result.digest)
                if found is None:
                    found = next(r for r in ran if r.cell == result.cell)
                self._known[frozenset(switch_set)] = found
        results = [self._known[frozenset(switch_set)] for switch_set in sets]
        return [self._value(result) if result else None for result in results]

    def _measured(self, cells: Sequence[Cell]) -> list[Result]:
        """Measure cells; one that helps and yet does not repair was perhaps disturbed, and is
        measured again."""
        kind, limit, bad = self.anomaly.kind, self._limit(), self._value_of_bad()
        results = self.trials.measure(cells, kind, TRIAL_PROCESSES)
        values = [self._value(result) for result in results]
        doubtful = [v is not None and limit < v < HELPS * bad for v in values]
        if kind is not Kind.SLOW or not any(doubtful):
            return results
        some = [cell for cell, is_doubtful in zip(cells, doubtful, strict=True) if is_doubtful]
        again = iter(self.trials.measure(some, kind, PROCESSES))
        return [next(again) if d else result for d, result in zip(doubtful, results, strict=True)]

    def _beside(self, cells: Sequence[Cell]) -> list[Result]:
        """Timed in turns with the anomaly and its neighbour: the core may be another by now."""
        kind = self.anomaly.kind
        if kind is not Kind.SLOW:
            return self.trials.measure(cells, kind, PROCESSES)
        first_cells = [result.cell for result in self.again()]
        results = self.trials.measure([*first_cells, *cells], kind, PROCESSES)
        again, others = tuple(results[: len(first_cells)]), results[len(first_cells) :]
        bad, good = again[0], again[1] if len(again) > 1 else None
        if any(result.outcome.is_failure for result in again):
            raise _GoneError(again, "")
        if reason := _vanished(self.anomaly, bad, good):
            raise _GoneError(again, reason)
        self.anomaly, self.bad, self.good = _renewed(self.anomaly, bad, good), bad, good
        return others

    def _confirmed(self, switches: Sequence[Switch]) -> tuple[tuple[str, ...], Result] | None:
        """Measured once more, as long as the anomaly itself was."""
        cell = self._cell(switches)
        (result,) = self._beside([cell])
        value = self._value(result)
        if value is None or value > self._limit():
            return None
        return tuple(itertools.chain(*switches)), result


def with_switches(cell: Cell, switches: Iterable[Switch]) -> Cell:
    """The cell with more flags behind its own: the last word counts."""
    return cell.replace(flags=(*cell.flags, *itertools.chain(*switches)))


def _batches(switches: Sequence[Switch], size: int) -> Iterator[Sequence[Switch]]:
    for start in range(0, len(switches), size):
        yield switches[start : start + size]


def ddmin(switches: Sequence[Switch], repairs: Callable[[Sequence[Switch]], bool]) -> list[Switch]:
    """A set of which every part is needed, out of one that repairs.

    Zeller, Hildebrandt: "Simplifying and isolating failure-inducing input" (2002), section 3.
    """
    current, parts = list(switches), 2
    while len(current) > 1:
        size = -(-len(current) // parts)
        chunks = [current[i : i + size] for i in range(0, len(current), size)]
        rests = [[s for s in current if s not in chunk] for chunk in chunks]
        if smaller := next((chunk for chunk in chunks if repairs(chunk)), None):
            current, parts = smaller, 2
        elif smaller := next((rest for rest in rests if len(chunks) > 2 and repairs(rest)), None):
            current, parts = smaller, max(parts - 1, 2)
        elif parts >= len(current):
            break
        else:
            parts = min(len(current), 2 * parts)
    return current


# ---- What appeared -------------------------------------------------------------------------------


def looks_bad(bad: Code | None, good: Code | None) -> Callable[[Code], bool]:
    """Whether code has what the bad one has: by the first count of which that has twice as many."""
    if bad is None or good is None:
        return lambda _: False
    counts: list[Callable[[Code], float]] = [
        lambda code: code.gathers,
        lambda code: code.frame_bytes or 0,
        lambda code: code.vector,
        lambda code: code.calls,
        lambda code: code.instructions,
    ]
    least = [2 * count(good) + 4 for count in counts[:-1]] + [1.1 * counts[-1](good) + 1]
    for count, enough in zip(counts, least, strict=True):
        if count(bad) >= enough:
            return partial(_is_over, count, (count(bad) + count(good)) / 2)
    return lambda _: False


def _is_over(count: Callable[[Code], float], middle: float, code: Code) -> bool:
    return count(code) > middle
