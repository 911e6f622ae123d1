# SPDX-License-Identifier: MIT
"""The methods, with saved outputs of harness and valgrind."""

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from world import DATA, Lab, data_text

from everycore.ct import gate, run_plan, traces
from everycore.ct.taint import first_places, taint
from everycore.ct.timing import timing, welch
from everycore.ct.verdicts import Verdict, of_kernels
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.model import protocol
from everycore.model.domain import Build, Compiler, Target, Tree
from everycore.model.protocol import Crop, CtOperation
from everycore.run.session import Session
from everycore.run.transport.local import Local
from everycore.trace.record import Run, UntraceableError

OPERATIONS = [
    record
    for record in (protocol.parse(text) for text in data_text("ct.jsonl").splitlines())
    if isinstance(record, CtOperation)
]
VAES, AESNI, TABLE = of_kernels(OPERATIONS)


@pytest.fixture
def session(lab: Lab) -> Session:
    build = Build(Path("/cache/harness"), Compiler(("cc",), "gcc 12.2.0", "f"), ("-O2",))
    return Session(Tree(Path(), True), Target("host", ""), build, Local(lab.context()))


# ---- taint


def test_memcheck_decides_by_its_count_of_errors(lab: Lab, session: Session) -> None:
    good = list(taint(lab.context(), session, AESNI, thorough=False))
    assert [v.result for v in good] == ["pass", "pass"]
    bad = list(taint(lab.context(), session, TABLE, thorough=True))
    assert [(v.result, v.detail.split(",")[0]) for v in bad] == [
        ("fail", "52 errors"),
        ("fail", "1792 errors"),
    ]
    plain, thorough = [c for c in lab.runner.calls if c[0] == "valgrind"]
    assert "--thorough" in thorough
    assert "--thorough" not in plain
    assert plain[plain.index("--operation") + 1] == "setkey,ctr32"


def test_what_did_not_run_under_valgrind_is_not_free_of_errors(lab: Lab, session: Session) -> None:
    found = list(taint(lab.context(), session, VAES, thorough=False))
    assert {v.result for v in found} == {"impossible"}


@pytest.mark.parametrize("code", [-4, 1, 134])
def test_an_aborted_run_is_not_free_of_errors(lab: Lab, session: Session, code: int) -> None:
    lab.runner.outputs["ct"] = "ct_aborted"
    lab.runner.ends["ct"] = Completed(code, "", "unhandled instruction")
    setkey, ctr32 = taint(lab.context(), session, AESNI, thorough=False)
    assert (setkey.result, ctr32.result) == ("pass", "impossible")
    assert ctr32.detail.startswith("the harness ")
    assert ctr32.detail.endswith(" under valgrind")


def test_kernels_left_by_an_aborted_run_are_looked_at_one_by_one(
    lab: Lab, session: Session
) -> None:
    lab.runner.outputs["ct"] = "ct_aborted"  # AESNI's setkey, and nothing more
    lab.runner.ends["ct"] = Completed(-4, "", "unhandled instruction")
    found = list(taint(lab.context(), session, [*AESNI, *TABLE], thorough=False))
    assert [v.operation for v in found] == [*AESNI, *TABLE]
    kernels = [c[c.index("--kernel") + 1] for c in lab.runner.calls if c[0] == "valgrind"]
    assert kernels == ["x86_aesni,c_ttable4", "x86_aesni", "c_ttable4"]


def test_a_harness_that_marks_no_secrets_proves_nothing(lab: Lab, session: Session) -> None:
    lab.runner.outputs["ct"] = "ct_unmarked"
    found = list(taint(lab.context(), session, AESNI, thorough=False))
    assert [(v.result, v.detail) for v in found] == [
        ("impossible", "this harness does not mark its secrets")
    ] * 2


def test_a_checker_that_notices_nothing_proves_nothing(lab: Lab, session: Session) -> None:
    lab.runner.outputs["ct"] = "ct_blind"
    lab.runner.ends["ct"] = Completed(1)
    found = list(taint(lab.context(), session, AESNI, thorough=False))
    assert {v.result for v in found} == {"impossible"}
    assert "does not notice" in found[0].detail


def test_the_first_error_of_each_region_has_its_place() -> None:
    places = first_places(DATA / "memcheck.xml")
    assert list(places) == ["aes c_ttable4 setkey 256", "aes c_ttable4 ctr32 256"]
    assert places["aes c_ttable4 setkey 256"].startswith("first in sub_word (c_ttable4.c:")
    assert "Use of uninitialised value" in places["aes c_ttable4 setkey 256"]


def test_a_report_that_is_cut_short_gives_what_is_there(tmp_path: Path) -> None:
    text = data_text("memcheck.xml")
    cut = tmp_path / "cut.xml"
    cut.write_text(text[: text.index("ct: aes c_ttable4 ctr32")])
    assert list(first_places(cut)) == ["aes c_ttable4 setkey 256"]
    assert first_places(tmp_path / "none.xml") == {}


# ---- timing


def test_welch_is_the_difference_in_standard_errors() -> None:
    # For 1, 2, 3, 4 and 2, 4, 6, 8, scipy.stats.ttest_ind(b, a, equal_var=False) gives 1.7320508.
    crop = Crop(1.0, (4, 4), (2.5, 5.0), (5 / 3, 20 / 3))
    assert welch(crop) == pytest.approx(1.7320508)
    assert welch(crop.replace(mean=(5.0, 2.5))) == pytest.approx(-1.7320508)


def test_welch_knows_times_that_do_not_vary() -> None:
    assert welch(Crop(0.5, (9, 9), (156.0, 156.0), (0.0, 0.0))) == 0
    assert welch(Crop(0.5, (9, 9), (156.0, 158.0), (0.0, 0.0))) == inf
    assert welch(Crop(0.5, (1, 9), (156.0, 158.0), (0.0, 0.0))) == 0


def test_timing_says_how_many_calls_and_the_worst_crop(lab: Lab, session: Session) -> None:
    session = replace(session, transport=Local(lab.context()))
    setkey, ctr32 = timing(session, AESNI, 100)
    assert "100 calls" in setkey.detail
    assert setkey.t > 0
    assert {setkey.result, ctr32.result} <= {"pass", "fail"}
    assert lab.runner.calls[-1][-2:] == ["--samples", "100"]


# ---- trace


class FakeTrace:
    """A region's whole trace in one number."""

    instructions = 1

    def __init__(self, value: object, data: bool) -> None:
        self.value = value
        self.data = data

    def same(self, other: "FakeTrace") -> bool:
        return self.value == other.value


def traced(
    monkeypatch: pytest.MonkeyPatch,
    value: Callable[[int, int], object],
    code: int = 0,
    data: bool = True,
) -> list[list[str]]:
    """Replace the tracer: value(seed, operation) is what it sees. Returns its command lines."""
    calls: list[list[str]] = []

    def native(_: Context, argv: list[str], *_marks: str, keep: Collection[int]) -> Run:
        del keep
        calls.append(argv)
        names = argv[argv.index("--operation") + 1].split(",")
        seeds = [int(seed) for seed in argv[argv.index("--secret") + 1].split(",")]
        facts = [
            {"type": "ct", "primitive": "aes", "kernel": "k", "operation": name,
             "key_bits": int(argv[argv.index("--key-bits") + 1]), "bytes": [16]}
            for name in names
        ]  # fmt: skip
        regions = tuple(
            FakeTrace(value(seed, i), data) for i in range(len(names)) for seed in seeds
        )
        return Run(regions, "\n".join(map(json.dumps, facts)), code)  # type: ignore[arg-type]

    monkeypatch.setattr(traces, "native", native)
    monkeypatch.setattr(traces, "first_difference", lambda *_: "branch at sub+0x4")
    return calls


def test_six_secrets_with_one_trace_pass(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = traced(monkeypatch, lambda _, operation: operation)
    found = list(traces.trace(lab.context(), session, VAES))
    assert [v.result for v in found] == ["pass", "pass"]
    sizes = dict.fromkeys(o.key_bits for o in VAES)
    assert [call[call.index("--secret") + 1] for call in calls] == ["1,2,3,4,5,6"] * len(sizes)


def test_one_secret_that_differs_fails_its_operation_with_the_place(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced(monkeypatch, lambda seed, operation: seed == 6 and operation == 1)
    setkey, ctr32 = traces.trace(lab.context(), session, VAES)
    assert setkey.result == "pass"
    assert (ctr32.result, ctr32.detail) == ("fail", "branch at sub+0x4")


def test_traces_without_data_addresses_can_deny_but_not_prove(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced(monkeypatch, lambda seed, operation: seed * operation, data=False)
    setkey, ctr32 = traces.trace(lab.context(), session, VAES)
    assert setkey.result == "impossible"
    assert ctr32.result == "fail"


def test_an_emulator_that_tells_half_can_deny_but_not_prove(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced(monkeypatch, lambda seed, operation: seed * operation)
    native = vars(traces)["native"]
    monkeypatch.setattr(traces, "qemu", lambda c, _, *rest, **keep: native(c, *rest, **keep))
    target = Target("qemu-s390x", "", transport="qemu", emulator=("qemu-s390x",))
    emulated = replace(session, target=target)
    setkey, ctr32 = traces.trace(lab.context(), emulated, VAES)
    assert setkey.result == "impossible"
    assert ctr32.result == "fail"


def test_traces_that_do_not_repeat_prove_nothing(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Counter[str]()

    def other_each_time(_seed: int, _operation: int) -> int:
        count["runs"] += 1
        return count["runs"]

    traced(monkeypatch, other_each_time)
    found = list(traces.trace(lab.context(), session, VAES))
    assert {v.result for v in found} == {"impossible"}
    assert "same secrets differ" in found[0].detail


def test_an_operation_whose_state_goes_on_hides_no_leak_of_another(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def one_counts(seed: int, operation: int) -> int:
        calls.append(seed)
        return seed if operation else len(calls)

    traced(monkeypatch, one_counts)
    setkey, ctr32 = traces.trace(lab.context(), session, VAES)
    assert setkey.result == "impossible"
    assert ctr32.result == "fail"


def test_a_traced_harness_that_fails_is_an_error(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    traced(monkeypatch, lambda *_: 0, code=-4)
    with pytest.raises(EverycoreError, match="ended with code -4"):
        list(traces.trace(lab.context(), session, VAES))


def test_where_nothing_can_be_traced_the_reason_is_kept(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> Run:
        raise UntraceableError("tracing is not permitted here")

    monkeypatch.setattr(traces, "native", refused)
    found = list(traces.trace(lab.context(), session, VAES))
    assert {(v.result, v.detail) for v in found} == {
        ("impossible", "tracing is not permitted here")
    }


# ---- Both


def test_quick_traces_all_that_memcheck_cannot_see_and_a_sample_of_the_rest(
    lab: Lab, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def trace(
        _: Context, __: Session, operations: list[CtOperation], *_extra: object
    ) -> list[Verdict]:
        asked.append(tuple(str(o.operation) for o in operations))
        return []

    monkeypatch.setattr(gate, "trace", trace)
    quick = gate.Gate(lab.context(), session, ("taint", "trace"), quick=True)
    full = replace(quick, quick=False)
    tainted = quick.taint([VAES, AESNI])
    quick.trace(VAES, 0, tainted)
    quick.trace(AESNI, 0, tainted)
    full.trace(AESNI, 0, tainted)
    assert asked == [("setkey", "ctr32"), ("setkey", "ctr32"), ("setkey", "ctr32")]
    quick.trace(AESNI, 1, tainted)
    assert asked[-1] == ("ctr32",)


def test_without_valgrind_taint_is_impossible(lab: Lab, session: Session) -> None:
    lab.runner.absent = ("valgrind",)
    look = gate.Gate(lab.context(), session, ("taint",), quick=True)
    assert {(v.result, v.detail) for v in look.taint([AESNI])} == {("impossible", "no valgrind")}


def test_a_sample_always_has_a_message_and_turns_through_all() -> None:
    seen = {o.operation for turn in range(2) for o in run_plan.sample(AESNI, turn, 2)}
    assert seen == {"setkey", "ctr32"}
    for turn in range(4):
        assert any(any(o.bytes) for o in run_plan.sample(AESNI, turn, 4))


def test_a_sample_of_operations_without_messages_has_each_once() -> None:
    setkey = next(o for o in AESNI if not any(o.bytes))
    blocks = [setkey, *(setkey.replace(operation=name) for name in ("one", "many"))]
    for turn in range(4):
        found = run_plan.sample(blocks, turn, 2)
        assert found == [o for o in blocks if o in found]


def test_fewer_sizes_keep_every_operation_with_its_largest_key() -> None:
    small = [o.replace(key_bits=128) for o in AESNI]
    only_small = AESNI[0].replace(operation="ghash", key_bits=128)
    kept = run_plan.fewer_sizes([*small, *AESNI, only_small], turn=1, parts=3)
    assert {*AESNI, only_small} <= {*kept}
    assert [o for o in kept if o in small] == [small[1]]
