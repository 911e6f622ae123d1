# SPDX-License-Identifier: MIT
"""How we stand beside other libraries."""

import io

import pytest
from rich.console import Console

from everycore.measure.processes import merged
from everycore.model.domain import Newest, Peer
from everycore.model.protocol import Arithmetic, Bench, InstructionCount
from everycore.report.peer_comparison import (
    PeerTable,
    is_older,
    markdown,
    newer_versions,
    peer_tables,
)
from everycore.report.peers_terminal import rich_table

LOOP = Arithmetic(
    "encrypt", ("ctr",), 256, 512, False, 64, (InstructionCount("vaesenc", 14),), (0.1,) * 7, True
)


def bench(kernel: str, cpb: float, size: int = 100, **fields: object) -> Bench:
    values: dict[str, object] = {"peer": "", "style": "streamed", "mode": "ctr", "spread": 0.0}
    values |= fields
    spread = values.pop("spread")
    assert isinstance(spread, float)
    cycles = tuple(cpb * size * (1 + spread * step) for step in (-2, -1, 0, 1, 2))
    return Bench("aes", kernel, key_bits=256, bytes=size, messages=1, counter="tsc",
                 cycles=cycles, parts=(1,) * 5, **values)  # type: ignore[arg-type]  # fmt: skip


def table(*benches: Bench) -> PeerTable:
    (found,) = peer_tables(benches, [LOOP], {"slow": "2.0"})
    return found


BOTH = (
    bench("x86_vaes512", 0.2),
    bench("slow-1.9.9", 0.5, peer="slow"),
    bench("quick-3.1", 0.25, peer="quick"),
)


def text(table: PeerTable) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(rich_table(table, "caption"))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_ours_come_first_then_the_fastest_peers() -> None:
    assert [row.name for row in table(*BOTH[::-1]).rows] == [
        "everycore x86_vaes512",
        "quick-3.1",
        "slow-1.9.9",
    ]


def test_big_numbers_are_counted_by_operation_and_by_word() -> None:
    product = [o.replace(primitive="bn", mode="mont-mul", bytes=256) for o in BOTH]
    row = [o.replace(primitive="bn_words", mode="mul-add-words") for o in BOTH]
    assert table(*product).title() == "mont-mul: cycles per operation"
    assert "2048 bits" in markdown(table(*product))
    assert table(*product).rows[0].values == pytest.approx((20,))
    assert table(*row).title() == "mul-add-words: cycles per word of 64 bits"
    assert table(*row).rows[0].values == pytest.approx((1.6,))
    assert table(*row).ratio(0) == pytest.approx(0.8)


def test_the_ratio_is_to_the_best_peer_and_the_distance_to_the_limit() -> None:
    compared = table(*BOTH)
    assert compared.ratio(0) == pytest.approx(0.8)
    assert compared.above_bound(0) == pytest.approx(2.0)
    assert "0.80" in text(compared)
    assert "| everycore / limit | 2.00 |" in markdown(compared)


def test_many_sizes_are_lines_and_those_where_a_peer_is_faster_are_counted() -> None:
    ours = [bench("x86_vaes512", 0.2, size) for size in range(1, 15)]
    peer = [
        bench("quick-3.1", 0.1 if size in (3, 7) else 0.25, size, peer="quick")
        for size in range(1, 14)
    ]
    shown = text(table(*ours, *peer))
    assert "a peer is over 2 % faster at 2 of 13 sizes" in shown
    assert len([line for line in shown.splitlines() if line.strip().endswith("quick-3.1")]) == 13
    assert [line.split()[3] for line in shown.splitlines() if line.split()[:1] == ["7"]] == ["2.00"]


def test_numbers_of_keys_and_associated_data_have_tables_of_their_own() -> None:
    benches = [
        bench(kernel, cpb * keys, peer=peer, keys=keys, aad_bytes=aad)
        for kernel, peer, cpb in (("x86_vaes512", "", 0.2), ("quick-3.1", "quick", 0.25))
        for keys, aad in ((1, 13), (1024, 13), (1024, 0))
    ]
    usual, many, both = peer_tables(benches, [LOOP], {})
    assert usual.title() == "ctr, aes-256: cycles per byte"
    assert many.title() == "ctr, aes-256, 1024 keys: cycles per byte"
    assert both.title() == "ctr, aes-256, 1024 keys, 0 bytes of associated data: cycles per byte"
    assert [len(table.rows) for table in (usual, many, both)] == [2, 2, 2]
    assert many.rows[0].values == pytest.approx((204.8,))


def test_where_nothing_is_known_of_the_limit_it_has_no_line() -> None:
    (without_bound,) = peer_tables(BOTH, [], {})
    assert without_bound.bound(0) is None
    assert "limit" not in text(without_bound).replace("limits", "")


def test_an_older_peer_is_marked_and_a_newer_is_not() -> None:
    shown = text(table(*BOTH))
    assert "! slow-1.9.9" in shown
    assert "! quick-3.1" not in shown
    assert "| ! slow-1.9.9 |" in markdown(table(*BOTH))


@pytest.mark.parametrize(
    ("version", "than", "older"),
    [
        ("3.6.5", "4.0", True),
        ("4.0.3", "4.0", False),
        ("3.10", "3.9", False),
        ("3.10.2", "3.10", False),
        ("1.12.4-2", "1.12", False),
        ("2.28.3", "3.6.7", True),
        ("1.0", "", False),
        ("unknown", "1.0", False),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, than: str, older: bool) -> None:
    assert is_older(version, than) is older


def test_the_rounds_of_a_point_are_one_figure() -> None:
    first, second = bench("quick-3.1", 0.2, peer="quick"), bench("quick-3.1", 0.4, peer="quick")
    other = bench("quick-3.1", 0.4, size=200, peer="quick")
    joined, alone = merged([first, second, other])
    assert isinstance(joined, Bench)
    assert isinstance(alone, Bench)
    assert joined.cycles == first.cycles + second.cycles
    assert alone.bytes == 200


def test_rounds_in_which_something_else_used_the_core_are_left_out_if_there_are_others() -> None:
    quiet, shared = bench("a", 1.0), bench("a", 2.0).replace(crowded=True)
    for rounds in ((quiet, shared, quiet), (shared, quiet, quiet), (shared, shared, quiet, quiet)):
        (operation,) = merged(rounds)
        assert isinstance(operation, Bench)
        assert (operation.cycles, operation.crowded) == (quiet.cycles * 2, False)
    (operation,) = merged([shared, shared])
    assert isinstance(operation, Bench)
    assert operation.crowded
    assert "~2.00" in text(table(shared))


def test_a_pair_is_named_by_both_kernels_and_noise_is_marked() -> None:
    shown = text(table(bench("c_bitslice64", 0.2, partner="c_ctmul64", spread=0.2), *BOTH[1:]))
    assert "everycore c_bitslice64 + c_ctmul64" in shown
    assert "~0.200" in shown


def test_alone_the_figures_are_cycles_of_a_message() -> None:
    message_table = table(*(bench(b.kernel, 1.0, peer=b.peer, style="fenced") for b in BOTH))
    assert "cycles per message" in message_table.title()
    assert message_table.rows[0].values == (100.0,)
    assert message_table.bound(0) is None  # a throughput
    (chain,) = peer_tables(
        [bench("x86_aesni", 4.0, style="fenced")], [LOOP.replace(dependent=True)], {}
    )
    assert chain.bound(0) == pytest.approx(10.0)


def test_a_size_that_one_lacks_is_a_dash() -> None:
    compared = table(*BOTH, bench("quick-3.1", 0.25, size=200, peer="quick"))
    assert compared.ratio(1) is None
    assert compared.rows[0].values[1] is None


def timed(found: Bench, gigahertz: float) -> Bench:
    return found.replace(ns=tuple(cycles / gigahertz for cycles in found.cycles))


SLOW_CLOCK = (timed(BOTH[0], 2.0), timed(BOTH[1], 4.0), timed(BOTH[2], 4.0))


def test_a_kernel_at_a_lower_clock_is_first_by_cycles_and_last_by_time() -> None:
    compared = table(*SLOW_CLOCK)
    by_time = compared.of_time()
    assert by_time is not None
    assert by_time.title() == "ctr, aes-256: ns per byte"
    assert [row.values[0] for row in by_time.rows] == pytest.approx([0.1, 0.0625, 0.125])
    assert compared.ratio(0) == pytest.approx(0.8)
    assert by_time.ratio(0) == pytest.approx(1.6)
    assert by_time.is_slower(0, 1.02)
    assert not compared.is_slower(0, 1.02)
    assert by_time.bound(0) is None
    assert "| everycore / best peer, by time | 1.60 |" in markdown(compared)
    shown = text(compared)
    below = shown[shown.index("ns per byte:") :]
    assert [line.split()[-1] for line in below.splitlines() if "quick" in line] == ["0.062"]
    assert "1.60" in below


def test_times_of_big_numbers_are_of_operations_and_words_and_alone_of_messages() -> None:
    product = [o.replace(primitive="bn", mode="exp", bytes=256) for o in SLOW_CLOCK]
    row = [o.replace(primitive="bn_words", mode="mul-add-words") for o in SLOW_CLOCK]
    alone = [o.replace(style="fenced") for o in SLOW_CLOCK]
    for benches, title, value in (
        (product, "exp: us per operation", 0.01),
        (row, "mul-add-words: ns per word of 64 bits", 0.8),
        (alone, "ctr, aes-256: ns per message, alone", 10.0),
    ):
        by_time = table(*benches).of_time()
        assert by_time is not None
        assert by_time.title() == title
        assert by_time.rows[0].values[0] == pytest.approx(value)


def test_without_times_there_is_no_table_of_them() -> None:
    assert table(*BOTH).of_time() is None
    assert "by time" not in text(table(*BOTH))


def test_many_sizes_are_counted_by_time_too() -> None:
    ours = [timed(bench("x86_vaes512", 0.2, size), 2.0) for size in range(1, 15)]
    peer = [timed(bench("quick-3.1", 0.25, size, peer="quick"), 4.0) for size in range(1, 14)]
    shown = text(table(*ours, *peer))
    assert "a peer is over 2 % faster at 0 of 13 sizes" in shown
    assert "by time, a peer is over 2 % faster at 13 of 13 sizes" in shown
    (line,) = (line.split() for line in shown.splitlines() if line.split()[:1] == ["7"])
    assert line == ["7", "0.200", "0.250", "0.80", "0.100", "0.062", "1.60", "quick-3.1"]


def test_a_version_is_newer_only_than_those_that_are_older() -> None:
    newest = Newest("3.2", "2026-10", "more")
    peers = [Peer("quick", (), (), newest=newest), Peer("slow", (), ())]
    assert newer_versions([*BOTH, BOTH[2]], peers) == [("quick-3.1", newest)]
    assert newer_versions([bench("quick-3.2.0-own", 1.0, peer="quick")], peers) == []
