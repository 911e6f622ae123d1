# SPDX-License-Identifier: MIT
"""Lines of processes as figures."""

import json
from pathlib import Path

from world import Lab, data_text

from everycore.measure.processes import merged, of_each
from everycore.model import protocol
from everycore.model.protocol import Arithmetic, Bench, Limit, Search
from everycore.report.figures import operation_figure
from everycore.run.bench_calls import QUICK_PROCESSES, SAMPLES
from everycore.store import run_files

BENCH = next(
    line
    for line in map(protocol.parse, data_text("bench.jsonl").splitlines())
    if isinstance(line, Bench)
)


def bench(*cycles: float, **other: object) -> Bench:
    return BENCH.replace(cycles=cycles, ns=cycles, **other)


def test_lines_of_an_operation_are_its_processes_and_each_counts_once() -> None:
    lines = [bench(10, 10, 10, 99), bench(20), bench(12, 12)]
    (operation,) = merged(lines)
    assert isinstance(operation, Bench)
    assert of_each(operation.cycles, operation.parts) == [(10, 10, 10, 99), (20,), (12, 12)]
    found = operation_figure(operation).cycles
    assert found
    assert (found.median, found.processes) == (12, 3)


def test_other_operations_and_other_lines_stay_apart_and_in_order() -> None:
    others = [
        bench(1, bytes=16),
        bench(1, style="fenced"),
        bench(1, kernel="x"),
        bench(1, peer="p"),
    ]
    lines = [Search(1, 1.0), bench(5), *others, Search(1, 1.0), bench(7)]
    found = merged(lines)
    assert [type(line) for line in found] == [Search, *[Bench] * 5, Search]
    assert found[2:6] == others
    assert isinstance(found[1], Bench)
    assert found[1].parts == (1, 1)


def test_a_process_beside_which_something_used_the_core_counts_only_without_others() -> None:
    shared, empty = bench(50, crowded=True), bench(why="no time")
    assert merged([shared, bench(10), empty, bench(11)]) == [
        bench(10, 11, parts=(1, 1), dropped=2 * BENCH.dropped)
    ]
    (alone,) = merged([shared, bench(60, crowded=True), empty])
    assert isinstance(alone, Bench)
    assert alone.crowded
    assert operation_figure(alone).is_noisy
    assert merged([empty, empty]) == [empty]


def test_limits_and_loops_are_merged_too() -> None:
    limit = Limit("vaesenc", 512, (4.0,), (2.0,), True)
    loop = Arithmetic("n", ("ctr",), 0, 512, False, 64, (), (0.1,), True)
    found = merged([limit, loop, limit.replace(per_cycle=(1.0,)), loop.replace(process=1)])
    assert found == [
        limit.replace(latency_cycles=(4.0, 4.0), per_cycle=(2.0, 1.0), parts=(1, 1)),
        loop.replace(cycles_per_byte=(0.1, 0.1), parts=(1, 1)),
    ]


def test_bench_measures_each_figure_in_as_many_processes(lab: Lab) -> None:
    out = lab.folder / "a.jsonl"
    assert lab("bench", "--quick", "--mode", "ctr", "--bytes", "1500", "--out", str(out)).code == 0
    results = run_files.read(out)
    processes = [bench.process for bench in results.benches() if bench.kernel == "c_ref"]
    assert sorted(set(processes)) == list(range(QUICK_PROCESSES))
    assert all(len(figure.parts) % QUICK_PROCESSES == 0 for figure in results.figures())
    calls = [call for call in lab.runner.harness_calls("bench") if "--dry-run" not in call]
    assert {call[call.index("--samples") + 1] for call in calls} == {str(SAMPLES)}


def test_a_cut_off_bench_goes_on_with_the_process_that_is_missing(lab: Lab, tmp_path: Path) -> None:
    """The last process of a run that was cut off is measured again, and no other."""
    out = tmp_path / "a.jsonl"
    words = ("bench", "--quick", "--mode", "ctr", "--bytes", "1500", "--out", str(out))
    lab(*words)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    last = max(i for i, line in enumerate(lines) if line.get("mode") == "ctr")  # its line `job`
    kept = lines[: next(i for i, line in enumerate(lines) if line.get("process") == 2)]
    assert last > len(kept)
    out.unlink()
    end = {"type": "end", "lines": len(kept) - 1, "partial": "it was killed"}
    text = "".join(json.dumps(line) + "\n" for line in [*kept, end])
    run_files.partial_path(out).write_text(text)
    lab.runner.calls.clear()
    assert lab(*words).code == 0
    calls = [call for call in lab.runner.harness_calls("bench") if "--dry-run" not in call]
    assert len(calls) == 1
    assert len(lab.runner.harness_calls("limits")) == QUICK_PROCESSES
