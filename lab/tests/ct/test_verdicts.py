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
    ("taint", "trace", "expected"),
    [
        ("pass", "pass", "pass"),
        ("pass", "", "pass"),
        ("impossible", "pass", "pass"),
        ("pass", "impossible", "pass"),
        ("fail", "pass", "fail"),
        ("pass", "fail", "fail"),
        ("impossible", "impossible", "fail"),
        ("impossible", "", "fail"),
        ("", "", "fail"),
    ],
)
def test_constant_time_is_seen_by_one_method_and_denied_by_none(
    taint: str, trace: str, expected: str
) -> None:
    assert result(CT, taint, trace)[0] == expected


@pytest.mark.parametrize(
    ("taint", "trace", "expected"),
    [
        ("fail", "fail", "pass"),
        ("fail", "", "pass"),
        ("impossible", "fail", "pass"),
        ("pass", "fail", "fail"),
        ("fail", "pass", "fail"),
        ("impossible", "impossible", "fail"),
    ],
)
def test_a_kernel_that_is_not_constant_time_must_be_caught_by_each_method(
    taint: str, trace: str, expected: str
) -> None:
    assert result(TABLE, taint, trace)[0] == expected


def test_setting_a_key_may_be_constant_time_where_the_kernel_is_not() -> None:
    assert result(TABLE_KEY, "pass", "pass")[0] == "pass"
    assert result(TABLE_KEY, "fail", "fail")[0] == "pass"


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


def test_a_primitive_without_operations_fails() -> None:
    none = CtOperation("zz", "c_new", "ct", "", 0, (), runs=True)
    assert result(none, "", "")[0] == "fail"


def test_timing_decides_nothing() -> None:
    verdicts = [Verdict(CT, "taint", "pass"), Verdict(CT, "timing", "fail", "|t| 99", 99.0)]
    assert [c.result for c in conclude([CT], verdicts, METHODS)] == ["pass"]
