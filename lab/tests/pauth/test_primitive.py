# SPDX-License-Identifier: MIT
"""Codes of pointers beside QEMU's own functions: with fakes, for no test depends on a time."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from world import Lab

from everycore.context import Completed, Context
from everycore.errors import EverycoreError
from everycore.model import Compiler, Target
from everycore.pauth import primitive, primitive_table
from everycore.pauth.primitive import Plan, Timings
from everycore.subjects import Function, Program, Subject

PLAN = Plan(("x86_ssse3", "c_ref"), "x86_ssse3", "x86_aesni", ("qarma5", "impdef"))


class Driver:
    """Plays the program with QEMU's functions."""

    def __init__(self, said: str, code: int = 0) -> None:
        self.said, self.code = said, code
        self.calls: list[list[str]] = []

    def run(self, argv: list[str], **_: object) -> Completed:
        self.calls.append(argv)
        return Completed(self.code, self.said)


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
    assert primitive.timed(context, program, "impdef", 1) == 2.0
    silent = with_driver(lab.context(), Driver('{"type": "bench"}\n'))
    with pytest.raises(EverycoreError, match="cannot be timed here"):
        primitive.timed(silent, program, "impdef", 1)


def test_tables_hold_kernels_against_qemu(program: Program) -> None:
    found = Timings(
        ours={
            ("qarma5", "x86_ssse3"): [90.0, 80.0],
            ("qarma5-blocks", "x86_ssse3"): [40.0],
            ("setkey", "x86_ssse3"): [44.0],
            ("pac-memo", "x86_ssse3"): [8.0],
            ("pac-aes128", "x86_aesni"): [50.0],
        },
        theirs={"qarma5": [1700.0, 1600.0], "qarma5-each": [1500.0], "impdef": [40.0]},
    )
    kernels, around = primitive.tables(program, PLAN, found)
    lines = {(line["who"], line["mode"]): line for line in kernels.lines()}
    assert [row.name for row in kernels.rows] == ["qemu-10.0", "x86_ssse3"]  # c_ref: not timed
    assert lines["x86_ssse3", "qarma5"]["cycles"] == 80.0
    assert lines["x86_ssse3", "qarma5"]["ratio"] == 20.0
    assert lines["x86_ssse3", "qarma5"]["rounds"] == (90.0, 80.0)
    assert lines["x86_ssse3", "qarma5-blocks"]["ratio"] == 37.5
    assert lines["x86_ssse3", "setkey"]["ratio"] is None
    assert {row.name: row.cells[0].text() for row in around.rows} == {
        "found in the memo, a chain: x86_ssse3": "8.0 200x",
        "AES-128 instead of QARMA, a chain: x86_aesni": "50.0 32.0x",
        "QEMU's hash, a chain": "40.0 40.0x",
    }


def test_lines_for_programs_begin_with_what_made_them(program: Program) -> None:
    found = Timings(counter="rdpmc")
    head = primitive.head(program, "A machine", found, 3, ("qarma5", "impdef"))
    assert head == {
        "type": "pauth-primitive-run",
        "machine": "A machine",
        "qemu": "qemu-10.0",
        "compiler": "gcc 12.2.0",
        "flags": ["-O2"],
        "counter": "rdpmc",
        "rounds": 3,
        "equal": ["qarma5", "impdef"],
        "compared_bytes": primitive.COMPARED_BYTES,
    }


def test_tables_fit_into_80_columns(program: Program) -> None:
    wide = {(one.mode, "x86_avx512vl"): [1234.5] for one in primitive.OPERATIONS}
    found = Timings(wide, {one.theirs: [5555.5] for one in primitive.OPERATIONS})
    plan = replace(PLAN, kernels=("x86_avx512vl",))
    console = Console(width=80, file=io.StringIO())
    console.print(primitive_table.rich_table(primitive.tables(program, plan, found)[0], "here"))
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "x86_avx512vl" in said
    assert "…" not in said
