# SPDX-License-Identifier: MIT
"""Kernels with vectors of RISC-V are right for each length of vectors, under a QEMU that has them.

Debian 13's qemu-user is fetched once; that of Debian 12 lacks vector cryptography. The C program
beside this file compares answers in each `make test`; the harness, published vectors and planted
faults follow in `make test-all`.
"""

import json
import pathlib
import sys

import pytest
from processes import ROOT, ended, need, run, skip_without
from reads import LIBRARY

from everycore.environment.context import system_context
from everycore.pauth.emulators import PACKAGE, packaged, started_in

SUITE = "trixie"
COMPILER = "riscv64-linux-gnu-gcc"
LENGTHS = (128, 256, 512, 1024)
KERNELS = (("aes", "rv_zvkned"), ("aes", "rv_bitslice"), ("ghash", "rv_zvkg"), ("sha2", "rv_zvknh"))
FILES = (
    "src/aes/rv_zvkned.c",
    "src/aes/rv_bitslice.c",
    "src/aes/c_ref.c",
    "src/ghash/rv_zvkg.c",
    "src/ghash/c_ref.c",
    "src/sha2/rv_zvknh.c",
    "src/sha2/c_ref.c",
    "src/common/clear.c",
    "src/common/wipe.c",
)
BUILD = ROOT / "build/riscv-vectors"
CROSS = "[binaries]\nexe_wrapper = {wrapper}\n"
reads = pytest.mark.reads(*LIBRARY, "tests/systems/riscv_vectors.c", isa="rv")


def cpu(length: int) -> str:
    extensions = ("zvkned", "zvkg", "zvknhb", "zvkb", "zvkt", "zkt")
    return ",".join(["rv64,v=true", f"vlen={length}", *(f"{one}=true" for one in extensions)])


@pytest.fixture(scope="module")
def emulator() -> list[str]:
    need(COMPILER)
    with skip_without(f"{PACKAGE} of {SUITE}"):
        root = packaged(system_context(), SUITE, False, PACKAGE)
    return [*map(str, started_in(root, "qemu-riscv64"))]


@pytest.fixture(scope="module")
def harness(emulator: list[str]) -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    more = BUILD / "more.ini"
    more.write_text(CROSS.format(wrapper=[*emulator, "-cpu", cpu(LENGTHS[0])]))
    tree = BUILD / "tree"
    cross = ["--cross-file", "catalog/toolchains/riscv64.ini", "--cross-file", str(more)]
    run(
        ["meson", "setup", "--wipe" if tree.exists() else "--werror", "-Ddebug=false", *cross, tree]
    )
    run(["ninja", "-C", tree, "-j", "2", "harness/harness"])
    return str(tree / "harness/harness")


@reads
def test_they_give_the_answers_of_c_ref(emulator: list[str], tmp_path: pathlib.Path) -> None:
    program = tmp_path / "riscv_vectors"
    words = ["-std=c11", "-O1", "-static", "-Iinclude", "-Isrc", "tests/systems/riscv_vectors.c"]
    run([COMPILER, *words, *FILES, "-o", program])
    for length in LENGTHS:
        run([*emulator, "-cpu", cpu(length), program])


@pytest.mark.long
@reads
@pytest.mark.parametrize("length", LENGTHS)
def test_they_have_every_property(length: int, emulator: list[str], harness: str) -> None:
    words = ["check", "--quick", "--primitive", "aes,ghash,gcm,sha2"]
    words += ["--kernel", "rv_zvkned,rv_bitslice,rv_zvkg,rv_zvkned+rv_zvkg,rv_zvknh"]
    code, text = ended(*emulator, "-cpu", cpu(length), harness, *words)
    facts = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    checks = [fact for fact in facts if fact["type"] == "check"]
    assert code == 0, text[-1000:]
    left = [fact for fact in checks if fact["result"] != "pass"]
    assert not [fact for fact in left if fact["detail"] != "no slots for GCM-SIV"]
    tested = {(fact["primitive"], fact["kernel"]) for fact in checks}
    assert tested == {*KERNELS, ("gcm", "rv_zvkned+rv_zvkg")}


@pytest.mark.long
@reads
@pytest.mark.parametrize("length", LENGTHS)
def test_published_vectors_hold(length: int, emulator: list[str], tmp_path: pathlib.Path) -> None:
    """NIST's and Wycheproof's, by the target's file, whose emulator is the one that is fetched."""
    starter = tmp_path / "qemu-riscv64"
    starter.write_text(f'#!/bin/sh\nshift 2\nexec {" ".join(emulator)} -cpu {cpu(length)} "$@"\n')
    starter.chmod(0o755)
    path = f"{tmp_path}:{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    words = ["-m", "everycore", "check", "vectors", "--json", "--target", "qemu-riscv64-zvk"]
    code, said = ended(sys.executable, *words, environment={"PATH": path})
    assert code == 0, said[-1500:]
    facts = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    if absent := [fact["detail"] for fact in facts if fact["type"] == "skip"]:
        pytest.skip("; ".join(absent))
    assert sum(fact["passed"] for fact in facts if fact["type"] == "vectors")


@pytest.mark.long
@reads
@pytest.mark.parametrize("length", [128, 512])
def test_planted_faults_are_noticed(length: int, emulator: list[str]) -> None:
    command = f"rvv={' '.join(emulator)} -cpu {cpu(length)}"
    words = ["tests/mutants/run", "--group", "rvv", "--emulator", command]
    # Without a limit of time: it waits for another run of mutants, which may take hours.
    code, said = ended(sys.executable, *words)
    assert code == 0, said[-1500:]
    assert "# SKIP" not in said
