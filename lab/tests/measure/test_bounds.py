# SPDX-License-Identifier: MIT

import pytest
from world import data_text

from everycore.measure.bounds import Bound, bound, bounds, disturbance, source
from everycore.model import protocol
from everycore.model.protocol import Arithmetic, InstructionCount, Limit, Line


@pytest.fixture
def lines() -> list[Line]:
    return [protocol.parse(text) for text in data_text("limits.jsonl").splitlines()]


def loop(lines: list[Line], name: str) -> Arithmetic:
    return next(line for line in lines if isinstance(line, Arithmetic) and line.name == name)


def test_the_bound_of_a_mode_is_its_best_loop(lines: list[Line]) -> None:
    found = bound("gcm-seal", 256, lines)
    assert found is not None
    assert found.source.startswith("14 vaesenc and 3 vpclmulqdq (Karatsuba) per 64 bytes")
    assert found.cycles_per_byte == pytest.approx(0.1095, abs=0.0005)


def test_the_method_that_costs_less_here_bounds_whatever_it_is_called(lines: list[Line]) -> None:
    slow = loop(lines, "gcm_karatsuba_512_key_256").replace(cycles_per_byte=(0.2,) * 7)
    others = [line for line in lines if isinstance(line, Arithmetic) and line.name != slow.name]
    found = bound("gcm-seal", 256, [slow, *others])
    assert found is not None
    assert "schoolbook" in found.source


def test_a_loop_of_any_key_size_bounds_every_key_size(lines: list[Line]) -> None:
    for key_bits in (128, 256):
        assert bound("ghash", key_bits, lines) is not None


def test_there_is_no_bound_where_nothing_was_measured(lines: list[Line]) -> None:
    assert bound("setkey", 256, lines) is None
    assert bound("ctr", 128, lines) is None  # of another key size
    unmeasured = [
        line.replace(cycles_per_byte=()) for line in lines if isinstance(line, Arithmetic)
    ]
    assert bound("ctr", 256, unmeasured) is None
    assert bounds(unmeasured) == []


def test_latency_bounds_long_messages_and_those_that_wait_for_each_other(
    lines: list[Line],
) -> None:
    chain, many = bound("cbc-enc", 256, lines), bound("ctr", 256, lines)
    assert isinstance(chain, Bound)
    assert isinstance(many, Bound)
    assert chain.holds(16384)
    assert not chain.holds(64)
    assert chain.holds(64, "fenced")
    assert many.holds(64)


def test_a_source_counts_per_vector(lines: list[Line]) -> None:
    chain = loop(lines, "chain_128_key_256")
    assert source(chain) == "14 dependent aesenc per 16 bytes, measured loop"
    aarch64 = chain.replace(
        holds=(InstructionCount("aese", 16 * 14), InstructionCount("aesmc", 16 * 13))
    )
    assert "14 dependent aese and 13 dependent aesmc per 16 bytes" in source(aarch64)


def test_bounds_name_every_mode_and_key_size_once(lines: list[Line]) -> None:
    named = [(bound.mode, bound.key_bits) for bound in bounds(lines)]
    assert len(named) == len(set(named))
    assert {("gcm-open", 256), ("cmac", 256), ("ghash", 0)} <= set(named)


def test_latencies_that_are_no_whole_cycles_tell_of_a_neighbour() -> None:
    quiet = [Limit("aesenc", 128, (n,) * 5, (2.0,) * 5, True) for n in (4.0, 3.99, 5.03)]
    shared = [Limit("aesenc", 128, (n,) * 5, (2.0,) * 5, True) for n in (3.89, 3.9, 0.995)]
    unknown = Limit("load", 512, (), (2.0,) * 5, True)
    assert disturbance([*quiet, unknown]) < 0.01
    assert disturbance([*shared, unknown]) > 0.02
    assert disturbance([unknown]) == 0
