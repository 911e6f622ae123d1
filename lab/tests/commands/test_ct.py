# SPDX-License-Identifier: MIT
"""`everycore ct` in-process, with a saved harness output and without tracing."""

from collections.abc import Sequence

import pytest
from world import Lab, objects

from everycore.ct import gate
from everycore.ct.verdicts import Verdict
from everycore.model.protocol import CtOperation
from everycore.report.ct_tables import _cell


@pytest.fixture(autouse=True)
def tracer(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Kernel -> what tracing says; by default what its class promises."""
    says: dict[str, str] = {}

    def trace(
        _context: object, _session: object, operations: Sequence[CtOperation], *_extra: object
    ) -> list[Verdict]:
        promised = "pass" if operations[0].timing == "ct" else "fail"
        result = says.get(operations[0].kernel, promised)
        return [Verdict(o, "trace", result, "branch at sub+0x4") for o in operations]

    monkeypatch.setattr(gate, "trace", trace)
    return says


def test_all_methods_have_a_column_and_the_promises_are_kept(lab: Lab) -> None:
    outcome = lab("ct")
    assert outcome.code == 0, outcome.err
    for word in ("Taint", "Trace", "Timing", "FAIL, rightly", "|t| <="):
        assert word in outcome.out
    assert "not here: x86_vaes512 by taint" in outcome.out
    assert "6 passed, 0 failed, 0 skipped" in outcome.out


def test_one_build_serves_all_methods(lab: Lab) -> None:
    lab("ct")
    compiled = [c for c in lab.runner.calls if "src/resolve.c" in c]
    assert len(compiled) == 1
    assert {"-gdwarf-4", "-DEVC_TAINT"} <= {*compiled[0]}


def test_without_valgrind_secrets_are_not_marked(lab: Lab) -> None:
    lab.runner.absent = ("valgrind",)
    outcome = lab("ct", "--quick")
    assert outcome.code == 0
    assert not [c for c in lab.runner.calls if "-DEVC_TAINT" in c]
    assert "by taint: no valgrind" in outcome.out


def test_a_constant_time_kernel_that_branches_fails_with_the_place(
    lab: Lab, tracer: dict[str, str]
) -> None:
    tracer["x86_vaes512"] = "fail"
    outcome = lab("ct", "--quick")
    assert outcome.code == 1
    assert "FAIL aes x86_vaes512 setkey: trace: branch at sub+0x4" in outcome.out


def test_a_table_that_is_not_caught_fails(lab: Lab, tracer: dict[str, str]) -> None:
    tracer["c_ttable4"] = "pass"
    outcome = lab("ct", "--quick")
    assert outcome.code == 1
    assert "trace finds nothing, and the kernel is not constant-time" in outcome.out


def test_a_kernel_that_no_method_could_look_at_fails(lab: Lab, tracer: dict[str, str]) -> None:
    tracer["x86_vaes512"] = "impossible"
    outcome = lab("ct", "--json")
    assert outcome.code == 1
    lines = objects(outcome.out)
    assert lines[-1] == {"type": "summary", "passed": 4, "failed": 2, "skipped": 0}
    failed = [line for line in lines if line["type"] == "conclusion" and line["result"] == "fail"]
    assert {line["kernel"] for line in failed} == {"x86_vaes512"}


def test_verdicts_carry_the_names_of_their_methods(lab: Lab) -> None:
    verdicts = [line for line in objects(lab("ct", "--json").out) if line["type"] == "verdict"]
    assert {str(v["method"]) for v in verdicts} == {"taint", "trace", "timing"}
    vaes = [v for v in verdicts if v["kernel"] == "x86_vaes512"]
    assert {(v["method"], v["result"]) for v in vaes} >= {
        ("taint", "impossible"),
        ("trace", "pass"),
    }


def test_methods_asked_for_are_the_only_ones(lab: Lab) -> None:
    outcome = lab("ct", "--method", "trace", "--kernel", "x86_aesni,c_ttable4")
    assert outcome.code == 0
    assert "Taint" not in outcome.out
    listed = lab.runner.harness_calls("ct")[0]
    assert listed[2:] == ["--list", "--kernel", "x86_aesni", "--kernel", "c_ttable4"]


def test_an_unknown_method_names_the_others(lab: Lab) -> None:
    outcome = lab("ct", "--method", "taints")
    assert outcome.code == 2
    assert "unknown method 'taints'" in outcome.err
    assert "taint" in outcome.err.splitlines()[1]


def test_a_choice_without_operations_is_an_error(lab: Lab) -> None:
    lab.runner.outputs["ct"] = "ct_blind"
    outcome = lab("ct", "--kernel", "c_ref", "--operation", "ghash")
    assert outcome.code == 2
    assert "no kernel has such an operation" in outcome.err


def test_json_begins_with_the_object_code_that_the_verdicts_are_of(lab: Lab) -> None:
    first = objects(lab("ct", "--quick", "--json").out)[0]
    assert first["type"] == "run"
    assert first["command"] == "ct"
    assert first["compiler"]
    assert "-gdwarf-4" in str(first["flags"])


def test_a_cell_does_not_hide_key_sizes_that_were_not_looked_at() -> None:
    sizes = [CtOperation("aes", "k", "ct", "setkey", bits, (0,), True) for bits in (128, 256)]
    verdicts = [Verdict(sizes[0], "taint", "pass"), Verdict(sizes[1], "taint", "impossible")]
    assert _cell(verdicts, "taint") == "pass in part"
    assert _cell(verdicts[:1], "taint") == "pass"
