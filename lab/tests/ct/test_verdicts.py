# SPDX-License-Identifier: MIT
"""Conclusions from the findings of the methods."""

import pytest

from everycore.ct.verdicts import METHODS, Verdict, conclude
from everycore.model.protocol import CtOperation

CT = CtOperation("aes", "c_good", "ct", "ctr32", 256, (16, 45), runs=True)
TABLE = CtOperation("aes", "c_table", "vartime", "ctr32", 256, (16, 45), runs=True)
TABLE_KEY = CtOperation("aes", "c_table", "vartime", "setkey", 256, (0,), runs=True)


def result(
    operation: CtOperation, taint: str, trace: str, methods: tuple[str, ...] = METHODS
) -> tuple[str, str]:
    """Conclude from the results of the two methods on an operation; empty: nothing."""
    verdicts = [
        Verdict(operation, method, said, "why")
        for method, said in (("taint", taint), ("trace", trace))
        if said
    ]
    (conclusion,) = conclude([operation], verdicts, methods)
    return conclusion.result, conclusion.detail


@pytest.mark.parametrize(
    ("operation", "taint", "trace", "expected"),
    [
        # Constant time is seen by one method, and denied by none.
        (CT, "pass", "pass", "pass"),
        (CT, "pass", "", "pass"),
        (CT, "impossible", "pass", "pass"),
        (CT, "pass", "impossible", "pass"),
        (CT, "fail", "pass", "fail"),
        (CT, "pass", "fail", "fail"),
        (CT, "impossible", "impossible", "fail"),
        (CT, "impossible", "", "fail"),
        (CT, "", "", "fail"),
        # A kernel that is not constant-time must be caught by each method.
        (TABLE, "fail", "fail", "pass"),
        (TABLE, "fail", "", "pass"),
        (TABLE, "impossible", "fail", "pass"),
        (TABLE, "pass", "fail", "fail"),
        (TABLE, "fail", "pass", "fail"),
        (TABLE, "impossible", "impossible", "fail"),
        # Setting a key may be constant-time where the kernel is not.
        (TABLE_KEY, "pass", "pass", "pass"),
        (TABLE_KEY, "fail", "fail", "pass"),
        # A primitive without operations fails.
        (CtOperation("zz", "c_new", "ct", "", 0, (), runs=True), "", "", "fail"),
    ],
)
def test_a_kernel_keeps_what_its_timing_class_promises(
    operation: CtOperation, taint: str, trace: str, expected: str
) -> None:
    assert result(operation, taint, trace)[0] == expected


def test_a_failure_keeps_the_method_and_its_words() -> None:
    assert result(CT, "pass", "fail") == ("fail", "trace: why")
    assert "taint finds nothing" in result(TABLE, "pass", "fail")[1]


def test_what_cannot_run_here_is_a_skip_with_its_reason() -> None:
    operation = CtOperation("aes", "a64_ce", "ct", "ctr32", 256, (16,), False, "needs a64")
    assert result(operation, "", "") == ("skip", "needs a64")


def test_what_the_methods_asked_for_cannot_see_is_a_skip() -> None:
    assert result(CT, "impossible", "", ("taint",))[0] == "skip"
    assert conclude([CT], [], ("timing",)) == []


def test_every_key_size_has_to_be_looked_at() -> None:
    small = CtOperation("aes", "c_good", "ct", "ctr32", 128, (16,), runs=True)
    verdicts = [Verdict(CT, "trace", "pass"), Verdict(small, "trace", "impossible", "why")]
    (conclusion,) = conclude([CT, small], verdicts, METHODS)
    assert conclusion.result == "fail"
    assert "128 bits: trace: why" in conclusion.detail


def test_timing_decides_nothing() -> None:
    verdicts = [Verdict(CT, "taint", "pass"), Verdict(CT, "timing", "fail", "|t| 99", 99.0)]
    assert [c.result for c in conclude([CT], verdicts, METHODS)] == ["pass"]
