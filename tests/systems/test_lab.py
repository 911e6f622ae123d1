# SPDX-License-Identifier: MIT
"""The lab's commands on the library: constant time, placement, vectors, other people's code."""

import json
import pathlib
import shutil
from typing import Any

import pytest
from processes import need
from reads import TRACER, WORDS, of_isa, reads_tracer_here
from running import everycore, kernels, need_cross, passed

from everycore.compile.toolchains import DEFAULT_FLAGS
from everycore.ct.taint import DEBUG_FLAGS
from everycore.run.transport.valgrind import TAINT_FLAGS

# ---- Constant time -------------------------------------------------------------------------------


def constant_time(log: str, notes: list[str], *options: str) -> None:
    """Every operation of every kernel; one job, since tests run side by side."""
    base = ("ct", "--method", "taint,trace", "--json", "--jobs", "1")
    passed(everycore(log, *base, *options), notes)


@reads_tracer_here
def test_kernels_take_constant_time(notes: list[str]) -> None:
    constant_time("ct", notes, "--quick")


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_kernels_take_constant_time_at_full_length(compiler: str, notes: list[str]) -> None:
    constant_time(f"ct-{compiler}", notes, "--cc", compiler)


@pytest.mark.reads(*TRACER, isa="", primitives=WORDS)
@pytest.mark.slow
def test_carries_take_constant_time_where_there_are_no_flags(notes: list[str]) -> None:
    """There GCC 12 may branch, as GCC 13 does on x86-64."""
    need_cross("riscv64")
    options = ["--method", "trace", "--kernel", "c_limb64", "--operation", "product,power"]
    constant_time("ct-riscv64", notes, "--quick", "--target", "qemu-riscv64", *options)


# ppc64le is as ppc64; of s390x, QEMU does not tell data addresses.
@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["i386", "aarch64", "armhf", "ppc64", "riscv64", "riscv64-zkn", "mips", "m68k", "hppa"],
)
def test_kernels_take_constant_time_elsewhere(name: str, notes: list[str]) -> None:
    """It is a property of the binary: the portable kernels are others on each architecture."""
    need_cross(name)
    constant_time(f"ct-{name}", notes, "--quick", "--target", f"qemu-{name}")


NEVER_SELECTED = r"^KERNEL\(.*NAMED\)\n"  # lines of src/kernels.def with this mark


@pytest.mark.reads(*TRACER, isa="a64")
@pytest.mark.parametrize(
    ("arch", "name", "compiler", "left_out"),
    [
        pytest.param(
            "a64",
            "aarch64",
            "aarch64-linux-gnu-gcc",
            NEVER_SELECTED,
            id="a64",
            marks=pytest.mark.slow,
        ),
        *(
            pytest.param(*words, "", id=f"{words[0]}-{words[2].split()[0]}", marks=pytest.mark.long)
            for words in (
                ("a64", "aarch64", "aarch64-linux-gnu-gcc"),
                ("a64", "aarch64", "clang --target=aarch64-linux-gnu"),
                ("a32", "armhf", "arm-linux-gnueabihf-gcc"),
                (
                    "a32",
                    "armhf",
                    "clang --target=arm-linux-gnueabihf -march=armv8-a -mfpu=crypto-neon-fp-armv8",
                ),
            )
        ),
    ],
)
def test_kernels_of_arm_take_constant_time(
    arch: str, name: str, compiler: str, left_out: str, notes: list[str]
) -> None:
    """And of tables, which the traces have to find."""
    need_cross(name)
    need(compiler.split(maxsplit=1)[0])
    constant_time(
        f"ct-{arch}",
        notes,
        *("--quick", "--method", "trace", "--target", f"qemu-{name}", "--cc", compiler),
        *("--kernel", kernels(rf"{arch}_\w+|c_ttable1|c_table4", left_out)),
    )


# ---- Placement, vectors --------------------------------------------------------------------------


@reads_tracer_here
def test_no_access_reaches_into_a_page_without_a_byte_of_its_buffer(notes: list[str]) -> None:
    passed(everycore("placement", "check", "placement", "--quick", "--json"), notes)


@pytest.mark.long
def test_no_access_reaches_beyond_at_any_length(notes: list[str]) -> None:
    passed(everycore("placement-full", "check", "placement", "--json"), notes)


@pytest.mark.reads(*TRACER, "vectors/", **of_isa(None))
def test_published_vectors_pass_through_every_kernel(notes: list[str]) -> None:
    flags = " ".join([*DEFAULT_FLAGS, *DEBUG_FLAGS, *TAINT_FLAGS])  # a harness as ct has it
    words = ["--flags", flags] if shutil.which("valgrind") else []
    code, text = everycore("vectors", "check", "vectors", "--json", *words)
    facts = records(text)
    files = [fact for fact in facts if fact["type"] == "vectors"]
    assert [fact["file"] for fact in files if fact["failed"]] == []
    assert code == 0, text
    assert any(fact["passed"] for fact in files)
    notes += [fact["detail"] for fact in facts if fact["type"] == "skip"]
    notes += [f"no vectors for us in {fact['file']}" for fact in files if not fact["passed"]]


def records(text: str) -> list[dict[str, Any]]:
    """Return the objects that a command printed with --json."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# ---- Other people's code -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["bearssl"], id="bearssl"),  # the smallest to fetch
        pytest.param([], id="all", marks=pytest.mark.long),
    ],
)
def test_kernels_of_others_give_the_right_answers(names: list[str], notes: list[str]) -> None:
    code, text = everycore("subject", "subject", "check", *names, "--json")
    notes += [line.partition("skipped: ")[2] for line in text.splitlines() if "skipped: " in line]
    assert "does not compute" not in text
    functions = records(text)
    if code == 2 and notes and not functions:  # none could be had, which is no failure of ours
        pytest.skip("; ".join(notes))
    assert code == 0, text
    assert functions


@pytest.mark.long
@pytest.mark.parametrize("options", [[], ["--system"]], ids=["user", "system"])
def test_programs_print_the_same_whichever_algorithm_signs(
    options: list[str], notes: list[str], tmp_path: pathlib.Path
) -> None:
    need_cross("aarch64")
    out = str(tmp_path / "pauth.jsonl")  # a run that is no measurement
    words = [*options, "--suite", "trixie", "--scale", "0.1", "--rounds", "1", "--out", out]
    code, text = everycore("pauth", "pauth", *words, "--json")
    facts = records(text)
    rows = [fact for fact in facts if fact["type"] == "pauth"]
    unavailable = [str(fact["detail"]) for fact in facts if fact["type"] == "skip"]
    if code == 2 and not rows and unavailable:
        pytest.skip(unavailable[0])
    assert code == 0, text
    assert rows
    assert [row for row in rows if row["wrong"]] == []
    notes += [line.partition("skipped: ")[2] for line in text.splitlines() if "skipped: " in line]
