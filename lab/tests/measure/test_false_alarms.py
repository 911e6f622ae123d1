# SPDX-License-Identifier: MIT
"""How often each rule that decides by measured times is wrong, on simulated processes.

The rules, and what they claim of equal programs:

* `bench`, kernels that beat the selected one: stats.ALARM for each, whatever the noise
* `peers`, sizes at which a peer is faster: stats.ALARM for all peers of a size together
* `matrix`, slow cells: anomalies.ALARM, and all are measured again before they are reported
* `report --history`, steps of a figure over time: twice the chance of intervals that lie apart
* `profile --try`, remedies: the same, of four runs each
* `compare --run`: permutation.LEVEL in each direction (test_permutation.py)
* `ct`, timing: one of 20 000 verdicts
* the others claim no level, but ask for large differences, or for some that are there every time:
  repairs of slow cells, `doctor`, `bench --placement`, promises of portable kernels, weak lengths
  of bn, and test cases of slow code. Here is how often they are wrong.

The noise: what a process takes is log-normal, and at times another program shares the core, which
makes processes up to half slower as long as it runs.
"""

import math
import random
from collections.abc import Callable, Iterator, Sequence

import pytest

from everycore.ct import timing
from everycore.explain import trial
from everycore.explain.probing import Probed, too_slow
from everycore.matrix import anomalies, bisect, interesting, promises
from everycore.matrix.anomalies import is_slower
from everycore.measure.placement_costs import costs
from everycore.model import stats
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.protocol import Bench, Crop, Mode, Placement
from everycore.report import bench_notes, peer_comparison
from everycore.report.weak_sizes import sweeps
from everycore.run import placements
from everycore.store import views

TRIALS = 1500
SHARED, ALONE = 0.1, 0.3  # chances that another program comes, and that it goes
SCATTER, MOST = 0.01, 0.5  # of a process; how much slower the other program makes it at most


def machine(seed: int) -> Iterator[float]:
    """The times of processes one after the other, as multiples of the true one."""
    source = random.Random(seed)
    is_shared = False
    while True:
        is_shared = source.random() < (1 - ALONE if is_shared else SHARED)
        slowed = MOST * source.random() if is_shared else 0.0
        yield (1 + slowed) * math.exp(source.gauss(0, SCATTER))


def in_turn(times: Iterator[float], rounds: int, *true: float) -> list[tuple[float, ...]]:
    """The times of programs that run in turn, by program."""
    found = [[factor * next(times) for factor in true] for _ in range(rounds)]
    return [tuple(own) for own in zip(*found, strict=True)]


def share(
    decides: Callable[..., bool], seed: int, trials: int = TRIALS, **case: float | bool
) -> float:
    """The share of the trials of a case in which a rule decides that there is a difference."""
    times = machine(seed)
    return sum(decides(times, **case) for _ in range(trials)) / trials


def within(level: float, trials: int = TRIALS) -> float:
    """A share that is exceeded with a chance of less than 0.1 % where the level is kept."""
    return level + 3.1 * math.sqrt(level * (1 - level) / trials)


# ---- Rules that claim a level --------------------------------------------------------------------


@pytest.mark.parametrize("processes", [3, 5, 9])
def test_figures_of_equal_programs_are_told_apart_as_seldom_as_is_claimed(processes: int) -> None:
    def decides(times: Iterator[float]) -> bool:
        first, second = (
            stats.figure([(value,) for value in own]) for own in in_turn(times, processes, 1, 1)
        )
        assert first
        assert second
        return stats.is_above(first, second)

    wrong = share(decides, processes)
    assert wrong <= within(stats.chance_apart(processes, processes))
    assert stats.chance_apart(processes, processes) <= stats.ALARM


def bench(kernel: str, cycles: Sequence[float], **other: object) -> Bench:
    return Bench("aes", kernel, "ctr", 256, 64, 1, "streamed", "c", tuple(cycles),
                 parts=(1,) * len(cycles), **other)  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize("processes", [3, 5])
def test_a_kernel_that_is_5_percent_faster_is_said_to_be_more_as_seldom_as_is_claimed(
    processes: int,
) -> None:
    """Only more than 5 % is told, so that this is the worst of the cases with nothing to tell."""
    modes, allowed = [Mode("ctr(aes)", ("parallel",), ("a",))], {("aes", "a"), ("aes", "b")}

    def decides(times: Iterator[float], true: float) -> bool:
        both = zip("ab", in_turn(times, processes, 1, true), strict=True)
        return bool(
            bench_notes.order_notes([bench(*named_times) for named_times in both], modes, allowed)
        )

    assert share(decides, 11, true=bench_notes.MUCH_FASTER) <= within(stats.ALARM)
    assert share(decides, 12, true=1.0) <= 0.01
    assert share(decides, 13, 200, true=0.5) >= 0.85


def test_a_peer_is_said_to_be_faster_as_seldom_as_is_claimed_however_many_there_are() -> None:
    """The true times of all peers are as far below ours as is not told yet."""

    def decides(times: Iterator[float], true: float) -> bool:
        ours, *theirs = in_turn(times, 5, 1, true, true, true)
        peers = [bench(f"p{n}", own, peer=f"p{n}") for n, own in enumerate(theirs)]
        (table,) = peer_comparison.peer_tables([bench("k", ours), *peers], [], {})
        return table.is_slower(0, 1.02)

    assert share(decides, 21, 500, true=1 / 1.02) <= within(stats.ALARM, 500)
    assert share(decides, 22, 500, true=1.0) <= 0.02
    assert share(decides, 23, 100, true=0.5) >= 0.85


def result(runs: Sequence[float], toolchain: str = "gcc-12") -> Result:
    cell = Cell("c_ttable4", "ctr", toolchain, ("-O2",))
    return Result(cell, Outcome.MEASURED, runs=tuple((run,) for run in runs))


def test_equal_cells_of_a_matrix_are_slow_as_seldom_as_is_claimed() -> None:
    def decides(times: Iterator[float], true: float, looks: int = 1) -> bool:
        for _ in range(looks):
            mine, other = map(result, in_turn(times, 5, true, 1))
            if not is_slower(mine, other, 1.1):
                return False
        return True

    assert anomalies.ALARM == 0.01
    assert stats.chance_apart(5, 5) <= anomalies.ALARM
    assert share(decides, 31, true=1.0) <= within(stats.chance_apart(5, 5))
    assert share(decides, 32, true=1.0, looks=2) == 0
    # The other program may hide a slow cell, and the next run of the matrix finds it.
    assert share(decides, 33, 500, true=1.5) >= 0.6
    assert share(decides, 34, 500, true=2.0) >= 0.95


def test_a_cell_of_too_few_processes_is_never_slow() -> None:
    """The end of the time overtakes cells with two processes; older files have three."""
    for few in (1, 2, 3):
        assert not is_slower(result((9.0,) * few), result((1.0,) * few), 1.1)
    assert is_slower(result((9.0,) * 5), result((1.0,) * 4), 1.1)


def test_a_step_over_time_needs_processes_enough() -> None:
    assert 2 * stats.chance_apart(views.STEP_PROCESSES, views.STEP_PROCESSES) <= stats.ALARM
    fewer = views.STEP_PROCESSES - 1
    assert 2 * stats.chance_apart(fewer, fewer) > stats.ALARM


def test_a_remedy_that_changes_nothing_is_said_to_help_or_hurt_in_3_percent() -> None:
    def tried(times: Iterator[float], true: float, is_fixed: bool = False) -> bool:
        sides = in_turn(times, trial.ROUNDS, 1, true)
        runs = [
            [trial._Run(1.0, 100 / seconds, "# MB/s", 0) if is_fixed
             else trial._Run(seconds, None, "", 0) for seconds in own]
            for own in sides
        ]  # fmt: skip
        return trial._compared(*runs)[0] != 1.0

    level = 2 * stats.chance_apart(trial.ROUNDS, trial.ROUNDS)
    assert level <= stats.ALARM
    assert share(tried, 41, true=1.0) <= within(level)
    assert share(tried, 42, true=1.0, is_fixed=True) <= within(level)
    assert share(tried, 43, 300, true=0.5) >= 0.9
    assert share(tried, 44, 300, true=0.5, is_fixed=True) >= 0.9


def test_calls_whose_time_no_secret_changes_are_not_suspicious() -> None:
    """The largest of six tests decides, which is more often large than one of them."""
    kept = (1, 0.99, 0.9, 0.75, 0.5, 0.25)  # harness/ct_timing.c
    assert len(kept) * math.erfc(timing.SUSPICIOUS / math.sqrt(2)) <= timing.ALARM
    source = random.Random(51)

    def crop(calls: Sequence[tuple[float, int]], part: float) -> Crop:
        own: tuple[list[float], list[float]] = ([], [])
        for ticks, group in calls[: int(part * len(calls))]:
            own[group].append(ticks)
        if min(map(len, own)) < 2:
            return Crop(part, (0, 0), (0.0, 0.0), (0.0, 0.0))
        means = [math.fsum(group_ticks) / len(group_ticks) for group_ticks in own]
        variances = [
            math.fsum((t - mean) ** 2 for t in group_ticks) / (len(group_ticks) - 1)
            for group_ticks, mean in zip(own, means, strict=True)
        ]
        counts = (len(own[0]), len(own[1]))
        return Crop(part, counts, (means[0], means[1]), (variances[0], variances[1]))

    def largest(times: Iterator[float], slower: float) -> float:
        calls = []
        for _ in range(300):
            group = source.randrange(2)
            calls.append((next(times) * (slower if group else 1), group))
        return max(abs(timing.welch(crop(sorted(calls), part))) for part in kept)

    times = machine(52)
    assert max(largest(times, 1.0) for _ in range(150)) <= timing.SUSPICIOUS
    assert min(largest(times, 1.02) for _ in range(20)) > timing.SUSPICIOUS


# ---- Rules that claim none -----------------------------------------------------------------------


def test_a_switch_that_changes_nothing_seldom_repairs_a_slow_cell() -> None:
    """It is taken if it looks repaired alone, and once more beside the cell and its neighbour, and
    if the cell is still slow then: this is the share of these cases."""

    def repaired(times: Iterator[float], true: float, with_switch: float) -> bool:
        (first,) = in_turn(times, bisect.TRIAL_PROCESSES, with_switch)
        sides: list[tuple[float, ...]] = [(0.0,)]
        while not is_slower(result(sides[0]), result(sides[-1]), 1.1):
            *sides, again = in_turn(times, bisect.PROCESSES, true, 1, with_switch)
        bad, good = map(stats.median, sides)
        limit = max(good + bisect.REPAIRED * (bad - good), bisect.NEAR * good)
        return stats.median(first) <= limit and stats.median(again) <= limit

    assert share(repaired, 61, true=1.2, with_switch=1.2) <= 0.003
    assert share(repaired, 62, 500, true=1.2, with_switch=1.0) >= 0.7


def test_libraries_that_are_as_fast_are_not_too_slow() -> None:
    def decides(times: Iterator[float], true: float) -> bool:
        every = [
            Probed(path, path, "sha256", 100 / (next(times) * factor), "")
            for path, factor in zip("abcd", (1, 1, 1, true), strict=True)
        ]
        return bool(too_slow(every, {}))

    assert share(decides, 71, true=1.0) == 0
    assert share(decides, 72, true=2.5) >= 0.6
    assert share(decides, 73, true=4.0) == 1


def test_a_placement_that_costs_nothing_is_seldom_beyond_the_bound_every_time() -> None:
    def decides(times: Iterator[float], true: float) -> bool:
        def point() -> Placement:
            start, inside = 300 * true * next(times), 300 * next(times)
            return Placement(
                "aes", "k", "ctr", 256, 64, 1, "streamed", "c", start, inside, start, inside
            )

        best = min((point() for _ in range(placements.TRIES)), key=placements._badness)
        return any(cost.share > 1 for cost in costs(best))

    assert share(decides, 81, true=1.0) <= 0.001
    assert share(decides, 82, true=2.0) >= 0.95


def test_compilers_that_are_alike_keep_what_is_promised() -> None:
    """A cell that was disturbed may be told to be uncertain, which is no alarm."""

    def decides(times: Iterator[float], true: float, with_uncertain: bool) -> bool:
        every = [*in_turn(times, 5, 1, 1, 1, true)]
        names = ("gcc-12", "gcc-13", "clang-16", "clang-17")
        cells = [result(*times_and_name) for times_and_name in zip(every, names, strict=True)]
        kept, faults = promises.judge(cells, {})
        uncertain = any("uncertain" in fault for fault in faults)
        return not all(row.steady for row in kept) or (with_uncertain and uncertain)

    assert share(decides, 91, 500, true=1.0, with_uncertain=False) <= 0.01
    assert share(decides, 92, 200, true=3.0, with_uncertain=True) == 1


def test_lengths_that_are_as_fast_as_they_promise_are_even() -> None:
    def decides(times: Iterator[float], weak: float) -> bool:
        every = []
        for _ in range(5):
            slowed = next(times)
            for n in range(32, 136, 8):
                cycles = n * n * slowed * (weak if n == 64 else 1)
                operation = bench("x86_ifma", (cycles, cycles * 1.01))
                every.append(operation.replace(primitive="bn", mode="mont-mul", bytes=n))
        return not all(sweep.is_even for sweep in sweeps(every))

    assert share(decides, 101, 100, weak=1.0) == 0
    assert share(decides, 102, 100, weak=1.5) == 1


def test_a_program_that_is_not_slow_is_no_test_case_of_slow_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = {"run_seconds": 1, "least_ratio": 1.1, "least_seconds": 0.0}

    def decides(times: Iterator[float], true: float) -> bool:
        def run(argv: Sequence[str], _: float) -> tuple[str, str, float]:
            return "", "", next(times) * (true if argv == ["bad"] else 1)

        monkeypatch.setattr(interesting, "run", run)
        try:
            interesting.times(plan, "bad", "good")
        except interesting.EqualError:
            return False
        return True

    assert share(decides, 111, true=1.0) <= 0.001
    assert share(decides, 112, true=1.5) >= 0.9
