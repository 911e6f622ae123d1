# SPDX-License-Identifier: MIT
"""Figures of two stored runs, side by side."""

import io

from rich.console import Console

from everycore.model.protocol import Bench
from everycore.report import changes


def bench(cycles: tuple[float, ...], ns: tuple[float, ...] = (), key: int = 256) -> Bench:
    return Bench("aes", "k", "ctr", key, 64, 1, "streamed", "c", cycles, ns)


def shown(found: list[changes.OperationPair]) -> list[str]:
    console = Console(file=io.StringIO(), width=100)
    console.print(changes.stored_table(found, "title", "caption"))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    return next(line for line in lines if line.startswith("k")).split()


def test_a_process_without_a_figure_costs_its_round_and_not_the_operation() -> None:
    """An operation without many of them is left out, and costs the others nothing."""

    def run(bytes_: int, lacking: set[int]) -> list[Bench]:
        return [
            bench(() if number in lacking and side == "B" else (1000.0 * factor,)).replace(
                bytes=bytes_,
                process=number,
                side=side,
            )
            for number in range(16)
            for side, factor in (("A", 1.0), ("B", 1.03))
        ]

    found = changes.compare([*run(16, {3}), *run(64, set())], 0.01)
    assert [compared.change.verdict for compared in found.compared] == ["slower", "slower"]
    assert (found.rounds, found.incomplete) == (15, ())
    found = changes.compare([*run(16, {1, 2, 3, 4, 5}), *run(64, set())], 0.01)
    assert [compared.operation.bytes for compared in found.compared] == [64]
    assert found.rounds == 16
    assert [operation.bytes for operation in found.incomplete] == [16]


def test_only_common_operations_are_compared() -> None:
    (found,) = changes.compare_stored([bench((100.0,))], [bench((130.0,)), bench((1.0,), key=128)])
    assert (found.unit, found.ratio) == ("cycles", 1.3)
    assert shown([found]) == ["k", "ctr", "64", "1.56", "2.03", "cycles/B", "1.300"]


def test_lines_of_a_run_are_processes_that_count_once_each() -> None:
    before = [bench((100.0,) * 9), bench((104.0,)), bench((300.0,) * 50)]
    (found,) = changes.compare_stored(before, [bench((208.0,))])
    assert (found.before.median, found.before.processes, found.ratio) == (104, 3, 2)


def test_times_are_compared_where_cycles_are_missing() -> None:
    (found,) = changes.compare_stored([bench((), (64.0,))], [bench((1.0,), (128.0,))])
    assert (found.unit, found.ratio) == ("ns", 2)
    assert shown([found])[3:] == ["1.00", "2.00", "ns/B", "2.000"]


def test_a_message_alone_has_no_figure_per_byte() -> None:
    message = Bench("aes", "k", "ctr", 256, 64, 1, "fenced", "c", (64.0,))
    (found,) = changes.compare_stored([message], [message])
    assert shown([found])[2:6] == ["alone", "64", "64.0", "64.0"][0:4]
