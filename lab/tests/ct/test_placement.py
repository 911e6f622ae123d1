# SPDX-License-Identifier: MIT
"""`everycore check placement` with a saved list of operations and without tracing."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from world import Lab

from everycore.ct import placement
from everycore.environment.context import Context
from everycore.trace.record import FarOperands, Run, UntraceableError


class FakeImage:
    def place(self, pc: int) -> str:
        return f"v_load_part+{pc:#x} (x86_mask512.h:31)"


class FakeProgram:
    image = FakeImage()


@dataclass
class FakeTrace:
    far: FarOperands | None
    masked: int = 5
    program: FakeProgram = field(default_factory=FakeProgram)


def tracing(
    monkeypatch: pytest.MonkeyPatch,
    far: Callable[[str, str], FarOperands | None],
    code: int = 0,
) -> list[list[str]]:
    """Replace the tracer: far(operation, place) is what it finds. Returns its command lines."""
    calls: list[list[str]] = []

    def native(_: Context, argv: list[str], *_marks: str) -> Run:
        calls.append(argv)
        names = argv[argv.index("--operation") + 1].split(",")
        seen = [(name, place) for name in names for place in ("start", "end", "near-end")]
        lines = [
            {"type": "ct", "primitive": "aes", "kernel": "k", "operation": name, "key_bits": 256,
             "bytes": [16], "place": place}
            for name, place in seen
        ]  # fmt: skip
        traces = tuple(FakeTrace(far(name, place)) for name, place in seen)
        text = "\n".join(map(json.dumps, lines))
        return Run(traces, text, code)  # type: ignore[arg-type]

    monkeypatch.setattr(placement, "native", native)
    return calls


def nothing(_operation: str, _place: str) -> None:
    return None


def test_operations_without_a_far_operand_pass(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = tracing(monkeypatch, nothing)
    outcome = lab("check", "placement")
    assert outcome.code == 0, outcome.err
    assert "6 passed, 0 failed, 0 skipped" in outcome.out
    assert all("--placement" in call for call in calls)


def test_kernels_with_masks_are_traced_at_every_length_unless_quick(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = tracing(monkeypatch, nothing)
    lab("check", "placement")
    thorough = {c[c.index("--kernel") + 1] for c in calls if "--thorough" in c}
    assert thorough == {"x86_vaes512"}
    calls.clear()
    lab("check", "placement", "--quick")
    assert calls
    assert not any("--thorough" in call for call in calls)


def test_a_far_operand_fails_its_operation_with_place_and_instruction(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def far(operation: str, place: str) -> FarOperands | None:
        found = operation == "ctr32" and place == "near-end"
        return FarOperands(7, 0x40, 0x1FE0, 64) if found else None

    tracing(monkeypatch, far)
    outcome = lab("check", "placement", "--json")
    assert outcome.code == 1
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    failed = [line for line in lines if line.get("result") == "fail"]
    assert {line["property"] for line in failed} == {"ctr32"}
    for word in ("near-end", "64 bytes at 0x1fe0", "v_load_part+0x40", "7 such accesses"):
        assert word in failed[0]["detail"]
    assert lines[-1]["failed"] == len(failed) == 3
    assert lines[-1]["passed"] == 3


def test_a_harness_that_faults_is_an_error_that_says_so(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracing(monkeypatch, nothing, code=-11)
    outcome = lab("check", "placement")
    assert outcome.code == 1
    assert "ended with code -11" in outcome.err


def test_where_nothing_can_be_traced_kernels_are_skipped_with_the_reason(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def native(*_: object) -> Run:
        raise UntraceableError("tracing is not permitted here")

    monkeypatch.setattr(placement, "native", native)
    outcome = lab("check", "placement")
    assert "0 passed, 0 failed, 3 skipped" in outcome.out
    assert "not permitted" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seed", "3"), "--seed"),
        (("--property", "known_answers"), "--property"),
        (("--target", "qemu-s390x"), "--target"),
    ],
)
def test_options_that_placement_does_not_take_are_refused(
    lab: Lab, arguments: tuple[str, ...], words: str
) -> None:
    lab("check", "placement", *arguments).refuses(words)
