# SPDX-License-Identifier: MIT
"""tuning_run: the lines that count as times, and the bits of tuning that would be best."""

from collections.abc import Mapping, Sequence
from typing import cast

import pytest

from everycore.model.protocol import Bench, Hello, Kernel, Mode, Resolved, Skipped
from everycore.model.tuning import Operation, Rule
from everycore.run import tuning_run
from everycore.run.bench_run import HarnessInventory
from everycore.run.session import Session

LINE = Bench("aes", "wide", "ctr", 256, 64, 1, "streamed", "tsc", (9.0,), (3.0, 1.0, 2.0))
CTR = Operation("aes", "ctr", 64, 1)


def test_quiet_lines_of_messages_back_to_back_are_times() -> None:
    lines = [
        LINE,
        LINE.replace(process=1, ns=(5.0,)),
        LINE.replace(process=2, crowded=True),
        LINE.replace(process=3, ns=()),
        LINE.replace(process=4, style="fenced"),
        LINE.replace(process=5, peer="openssl"),
        LINE.replace(process=6, keys=1000),
        LINE.replace(process=7, runs=False),
        LINE.replace(kernel="busy", crowded=True),
        LINE.replace(partner="other"),
    ]
    assert tuning_run.times_of(lines) == {
        CTR: {"wide": {0: 2.0, 1: 5.0}, "busy": {}, "wide+other": {0: 2.0}}
    }


LONG = Operation("aes", "ctr", 16384, 1)
KERNELS = ("plain", "wide", "absent")


def best(
    monkeypatch: pytest.MonkeyPatch,
    own: Sequence[str],
    times: Mapping[Operation, Mapping[str, float | dict[int, float]]],
) -> tuple[list[str], float] | None:
    """Return the best bits where `tune-K` selects the kernel K, and no bit the first."""

    def rule_of(_: Session, __: str, features: Sequence[str], ___: Sequence[str]) -> Rule:
        named = [name for name in KERNELS if f"tune-{name}" in features]
        kernel = named[-1] if named else "plain"
        skipped = tuple(Skipped(name, "rank") for name in KERNELS)
        return Rule(
            [Mode("ctr(aes)", ("parallel",), (kernel,))],
            [],
            [Resolved("x86", (), "ct", "aes", "parallel", kernel, skipped)],
        )

    monkeypatch.setattr(tuning_run, "rule_of", rule_of)
    measured = {
        operation: {
            name: ns if isinstance(ns, dict) else dict.fromkeys(range(5), ns)
            for name, ns in kernels.items()
        }
        for operation, kernels in times.items()
    }
    bits = ["tune-wide", "tune-absent"]
    found = tuning_run.best_bits(cast(Session, None), "x86", ["sse2", *own], bits, measured)
    return (found[0], round(found[1], 6)) if found else None


def test_bits_that_lose_less_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {CTR: {"plain": 11.0, "wide": 10.0}, LONG: {"plain": 300.0, "wide": 100.0}}
    assert best(monkeypatch, [], times) == (["tune-wide"], 0.0)
    assert best(monkeypatch, ["tune-wide"], times) == (["tune-wide"], 0.0)


def test_bits_that_differ_by_less_than_noise_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {CTR: {"plain": 100.4, "wide": 100.0}}
    assert best(monkeypatch, [], times) == ([], 0.004)
    assert best(monkeypatch, ["tune-wide"], {CTR: {"plain": 10.0, "wide": 10.0}}) == (
        ["tune-wide"],
        0.0,
    )


def test_bits_of_a_kernel_that_was_not_measured_are_not_better(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = {
        CTR: {"plain": 11.0, "wide": 10.0},
        LONG: {"plain": 100.0, "wide": 101.0, "absent": 50.0},
    }
    assert best(monkeypatch, [], times) == (["tune-wide"], 1.02)
    assert best(monkeypatch, ["tune-absent"], {CTR: {"plain": 1.0}}) is None


def test_an_undecided_operation_is_no_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits whose kernel tells nothing would otherwise have no loss at all."""
    wild = {0: 90.0, 1: 120.0, 2: 130.0, 3: 140.0, 4: 150.0}
    assert best(monkeypatch, [], {LONG: {"plain": 102.0, "absent": 100.0, "wide": wild}}) == (
        ["tune-absent"],
        0.0,
    )


def test_kernels_of_hashes_are_measured_with_one_message_and_with_many() -> None:
    def kernel(primitive: str, name: str) -> Kernel:
        return Kernel(primitive, name, 0, "x86", "ANY", (), "ct", "any", built=True, runs=True)

    kernels = [kernel("sha2", "unit"), kernel("sha2", "c_ref"), kernel("aes", "wide")]
    here = HarnessInventory(cast(Hello, None), kernels, [], [])
    (hashes,) = (one for one in tuning_run.requests(here) if "sha256" in one.modes)
    assert hashes.kernels == ("unit",)
    assert {"sha256-many", "pbkdf2-sha512", "pbkdf2-sha512-many"} <= {*hashes.modes}
    assert hashes.sizes_bytes == (64, 1024, 16384)
    assert {*hashes.modes} <= {*tuning_run.first_request().modes}
