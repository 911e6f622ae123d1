# SPDX-License-Identifier: MIT
"""Kernels are right on 32-bit RISC-V, for which there is no C library of Linux here.

The targets qemu-riscv32 and qemu-riscv32-zkn build the harness with its own (harness/bare). Each
`make test` compares answers of the kernels for Zkn; properties of all kernels, published vectors,
constant time and planted faults follow in `make test-all`.
"""

import json
import sys

import pytest
from processes import ended, everycore, requires
from reads import TRACER

TARGETS = ("qemu-riscv32", "qemu-riscv32-zkn")
KERNELS = ("rv32_zkn", "rv32_zbc")

pytestmark = [
    requires("riscv64-unknown-elf-gcc", "qemu-riscv32"),
    pytest.mark.reads(
        *TRACER,
        "lab/everycore/subjects/",
        "catalog/subjects/",
        "tests/mutants/",
        "vectors/",
        isa="rv32 rv rv64",
    ),
]


def test_kernels_for_zkn_give_the_answers_of_c_ref() -> None:
    everycore("subject", "check", *KERNELS)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_every_kernel_has_every_property(target: str) -> None:
    said = everycore("check", "--quick", "--json", "--target", target)
    facts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    tested = {fact["kernel"] for fact in facts if fact.get("result") == "pass"}
    assert {"c_fixslice32", "c_ctmul32", "c_limb32", "c_words32"} <= tested
    assert tested.issuperset(KERNELS) == target.endswith("-zkn")


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_published_vectors_hold(target: str) -> None:
    said = everycore("check", "vectors", "--json", "--target", target)
    facts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert sum(fact["passed"] for fact in facts if fact["type"] == "vectors")


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_kernels_take_constant_time(target: str) -> None:
    everycore("ct", "--method", "trace", "--quick", "--jobs", "1", "--target", target)


@pytest.mark.long
def test_planted_faults_are_noticed() -> None:
    # Without a limit of time: it waits for another run of mutants, which may take hours.
    code, said = ended(sys.executable, "tests/mutants/run", "--group", "rv32")
    assert code == 0, said[-1500:]
    assert "# SKIP" not in said
