# SPDX-License-Identifier: MIT
"""Codes of pointers beside QEMU's own functions: with fakes, for no test depends on a time."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pauth.shown import text_of
from world import Lab

from everycore.environment.context import Completed, Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.model import protocol
from everycore.model.domain import Compiler, Target
from everycore.pauth import primitive
from everycore.pauth.primitive import Plan, Timings
from everycore.report import pauth_tables
from everycore.subjects import Function, Program, Subject

BENCH = {
    "type": "bench",
    "primitive": "qarma",
    "kernel": "x86_ssse3",
    "key_bits": 128,
    "messages": 1,
    "style": "streamed",
    "counter": "rdpmc",
    "cycles": [1024.0, 2048.0],
}
PLAN = Plan(("x86_ssse3", "c_ref"), "x86_ssse3", "x86_aesni", ("qarma5", "impdef"))


class Driver:
    """Plays the program with QEMU's functions."""

    def __init__(self, said: str, code: int = 0) -> None:
        self.said, self.code = said, code
        self.calls: list[list[str]] = []

    def run(self, argv: list[str], **_: object) -> Completed:
        self.calls.append(argv)
        return Completed(self.code, self.said)


class Harness:
    """Plays a session: two samples of every mode."""

    pinned = ()
    expecting = ()
    cpu = 0

    def records(self, *words: str) -> Iterator[Record]:
        modes = words[words.index("--mode") + 1].split(",")
        for mode in modes if "qarma5" in modes else ():
            key = mode == "setkey"
            text = json.dumps(BENCH | {"mode": mode, "bytes": 16 if key else 4096})
            yield protocol.parse(text)


@pytest.fixture
def program() -> Program:
    functions = (
        Function("qarma5", "qarma5", key_bits=(128,)),
        Function("qarma3-each", "qarma3-each", key_bits=(128,)),
        Function("impdef", "impdef", key_bits=(128,)),
    )
    subject = Subject("qemu-10.0", ("pauth_helper.c",), functions)
    compiler = Compiler(("cc",), "gcc 12.2.0", "")
    return Program(subject, Target("host", "this machine"), compiler, ("-O2",), "1", Path("driver"))


def with_driver(context: Context, driver: Driver) -> Context:
    return replace(context, runner=driver)  # type: ignore[arg-type]


def test_ciphers_hash_and_instructions_are_compared(lab: Lab, program: Program) -> None:
    driver = Driver("")
    context = with_driver(lab.context(), driver)
    assert primitive.compare(context, program) == ("qarma5", "impdef")
    assert driver.calls == [
        ["driver", "check", "qarma5", "128", "8000000"],
        ["driver", "check", "impdef", "128", "8000000"],
    ]


def test_wrong_answers_are_named_and_no_fault_of_the_user(lab: Lab, program: Program) -> None:
    driver = Driver("qarma5: the output is wrong\n", code=1)
    with pytest.raises(EverycoreError, match=r"qemu-10\.0: qarma5: the output is wrong") as error:
        primitive.compare(with_driver(lab.context(), driver), program)
    assert error.value.code == 1


def test_the_driver_says_cycles_of_a_call(lab: Lab, program: Program) -> None:
    said = json.dumps({"type": "bench", "cycles": [3.0, 1.0, 2.0]})
    context = with_driver(lab.context(), Driver(f"noise\n{said}\n"))
    assert primitive.timed(context, program, "impdef", 1) == [3.0, 1.0, 2.0]
    silent = with_driver(lab.context(), Driver('{"type": "bench"}\n'))
    with pytest.raises(EverycoreError, match="cannot be timed here"):
        primitive.timed(silent, program, "impdef", 1)


def test_figures_hold_kernels_against_qemu(program: Program) -> None:
    found = Timings(
        ours={
            ("qarma5", "x86_ssse3"): [(80.0, 90.0, 99.0), (81.0, 80.0, 70.0)],
            ("qarma5-blocks", "x86_ssse3"): [(40.0,)],
            ("setkey", "x86_ssse3"): [(44.0,)],
            ("pac-memo", "x86_ssse3"): [(8.0,)],
            ("pac-aes128", "x86_aesni"): [(50.0,)],
        },
        theirs={
            "qarma5": [(1600.0,), (1700.0,), (1800.0, 9999.0, 1.0)],
            "qarma5-each": [(1500.0,)],
            "impdef": [(40.0,)],
        },
    )
    figures = primitive.figures(program, PLAN, found)
    by = {(figure.who, figure.mode): figure for figure in figures}
    assert by["x86_ssse3", "qarma5"].cycles == 85.0  # the median of medians
    assert by["x86_ssse3", "qarma5"].ratio == 20.0
    assert by["x86_ssse3", "qarma5"].samples == ((80.0, 90.0, 99.0), (81.0, 80.0, 70.0))
    assert by["x86_ssse3", "qarma5-blocks"].ratio == 37.5
    assert by["x86_ssse3", "setkey"].ratio is None
    kernels, around = pauth_tables.tables(figures)
    assert [row[0] for row in kernels.rows] == ["qemu-10.0", "x86_ssse3"]  # c_ref: not timed
    assert kernels.head == ("", "QARMA5", "apart", "many", "key")
    assert kernels.rows[1] == ("x86_ssse3", "85.0 20.0x", "-", "40.0 37.5x", "44.0")
    assert {row[0]: row[1] for row in around.rows} == {
        "found in the memo, a chain: x86_ssse3": "8.0 212x",
        "AES-128 instead of QARMA, a chain: x86_aesni": "50.0 34.0x",
        "QEMU's hash, a chain": "40.0 42.5x",
    }


def test_a_code_by_qarma3_is_held_against_that_of_qemu(program: Program) -> None:
    found = Timings(
        ours={("pac-qarma3", "x86_ssse3"): [(50.0,)], ("pac-qarma5", "x86_ssse3"): [(80.0,)]},
        theirs={"qarma5": [(1600.0,)], "qarma3": [(1000.0,)]},
    )
    ratios = {figure.mode: figure.ratio for figure in primitive.figures(program, PLAN, found)}
    assert (ratios["pac-qarma3"], ratios["pac-qarma5"]) == (20.0, 20.0)


def test_every_sample_of_a_block_is_kept(lab: Lab, program: Program) -> None:
    said = json.dumps({"type": "bench", "cycles": [5120.0, 10240.0]})
    context = with_driver(lab.context(), Driver(said))
    plan = replace(PLAN, functions=("impdef",))
    found = primitive.measure(context, Harness(), program, plan, 2, lambda _: None)  # type: ignore[arg-type]
    assert found.of_qemu("impdef") == [(10.0, 20.0), (10.0, 20.0)]
    assert found.of("qarma5", "x86_ssse3") == [(2.0, 4.0)] * 2
    assert found.of("setkey", "x86_ssse3") == [(1024.0, 2048.0)] * 2


@pytest.mark.parametrize(("crowded", "processes"), [(False, 1), (True, primitive.PATIENCE)])
def test_a_process_of_qemus_function_that_shared_its_core_is_tried_again(
    lab: Lab, program: Program, crowded: bool, processes: int
) -> None:
    driver = Driver(json.dumps({"type": "bench", "cycles": [5120.0], "crowded": crowded}))
    assert primitive.timed(with_driver(lab.context(), driver), program, "impdef", -1) == [5120.0]
    assert len(driver.calls) == processes


def test_tables_fit_into_80_columns(program: Program) -> None:
    wide: dict[tuple[str, str], list[tuple[float, ...]]] = {
        (operation.mode, "x86_avx512vl"): [(1234.5,)] for operation in primitive.OPERATIONS
    }
    found = Timings(wide, {operation.theirs: [(5555.5,)] for operation in primitive.OPERATIONS})
    plan = replace(PLAN, kernels=("x86_avx512vl",))
    said = text_of(primitive.figures(program, plan, found), width=80)
    assert "x86_avx512vl" in said
    assert "…" not in said
