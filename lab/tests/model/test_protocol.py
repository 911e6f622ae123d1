# SPDX-License-Identifier: MIT
import json

import pytest
from world import data_text

from everycore.environment.decoding import encode_line
from everycore.environment.errors import EverycoreError
from everycore.model import protocol
from everycore.model.protocol import (
    Bench,
    Check,
    Failure,
    Hello,
    Kernel,
    Mode,
    Resolved,
    Skipped,
)


def lines(name: str) -> list[protocol.Line]:
    return [protocol.parse(text) for text in data_text(name + ".jsonl").splitlines()]


def test_the_greeting_says_what_the_harness_is() -> None:
    hello = lines("bench")[0]
    assert isinstance(hello, Hello)
    assert (hello.version, hello.arch, hello.counter) == (1, "x86", "tsc+addchain")
    assert "vaes" in hello.features


def test_kernels_keep_what_they_miss() -> None:
    kernels = {k.name: k for k in lines("list") if isinstance(k, Kernel)}
    assert kernels["x86_vaes512"].missing_tuning == ("tune-zmm",)
    assert kernels["a64_ce"].built is False
    assert kernels["a64_ce"].slots == ()
    assert kernels["x86_aesni"].key_bytes == 496


def test_resolve_lines_keep_reasons_and_null_is_no_kernel() -> None:
    parsed = lines("resolve")
    resolved = next(line for line in parsed if isinstance(line, Resolved))
    assert resolved.skipped[1] == Skipped("x86_gfni", "feature", "gfni")
    ccm = [line for line in parsed if isinstance(line, Mode)][-1]
    assert ccm.kernels == ("x86_aesni", None)


def test_bench_samples_are_numbers_as_written() -> None:
    bench = next(line for line in lines("bench") if isinstance(line, Bench))
    assert len(bench.cycles) == len(bench.ns) == 7
    assert all(isinstance(value, int | float) for value in bench.cycles)


def test_failures_and_checks_are_told_apart() -> None:
    assert any(isinstance(line, Failure) for line in lines("bench_error"))
    results = [line.result for line in lines("check_failed") if isinstance(line, Check)]
    assert results == ["pass", "pass", "skip", "fail"]


def test_a_line_is_written_as_it_was_read() -> None:
    for name in ("bench", "list", "resolve", "limits", "ct", "check_failed", "bench_error"):
        for text in data_text(name + ".jsonl").splitlines():
            written, stored = json.loads(encode_line(protocol.parse(text))), json.loads(text)
            assert {name: written[name] for name in stored} == stored


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Segmentation fault", "not JSON"),
        ("[1]", "not an object"),
        ('{"type":"novelty","x":1}', "'type' is 'novelty', which this everycore does not know"),
        (
            '{"type":"summary","passed":1,"failed":0,"skipped":0,"new":true}',
            "'new' is a member that this everycore does not know",
        ),
        ('{"type":"summary","passed":1}', "'failed' is missing"),
        (
            '{"type":"summary","passed":"1","failed":0,"skipped":0}',
            "'passed' is '1', not",
        ),
        (
            '{"type":"summary","passed":true,"failed":0,"skipped":0}',
            "'passed' is True, not",
        ),
        ('{"type":"vector","id":"1","kernel":2,"result":"fail"}', "'kernel' is 2, not text"),
    ],
)
def test_malformed_lines_are_named(text: str, complaint: str) -> None:
    with pytest.raises(EverycoreError, match=complaint):
        protocol.parse(text)


def test_a_harness_of_another_version_is_refused() -> None:
    hello = json.loads(data_text("bench.jsonl").splitlines()[0]) | {"version": 2}
    with pytest.raises(EverycoreError, match="version 2"):
        protocol.parse(json.dumps(hello))
