# SPDX-License-Identifier: MIT
"""A harness, an emulator or a compiler that is not for the target: named, with the remedy."""

from dataclasses import replace
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target
from everycore.run.transport.local import Local
from everycore.run.transport.qemu_user import Qemu, refuse_misfit

A64 = b"\x7fELF\x02\x01" + bytes(10) + b"\x02\x00\xb7\x00"
EMULATED = Target(
    "qemu-arm",
    "",
    "qemu",
    "arm-gcc",
    emulator=("qemu-arm",),
    packages=("gcc-arm", "qemu-user"),
)


def test_a_harness_of_another_machine_is_not_started_here(lab: Lab, tmp_path: Path) -> None:
    binary = tmp_path / "harness"
    binary.write_bytes(b"\x7fELF\x02\x02" + bytes(10) + b"\x00\x02\x00\x16")
    binary.chmod(0o755)
    context = replace(lab.context(), runner=SystemRunner())
    with pytest.raises(EverycoreError, match="the harness is for IBM Z, which") as error:
        list(Local(context).stream(binary, ("list",)))
    assert "--cc" in error.value.hint


def test_a_harness_that_the_emulator_refuses_is_named(lab: Lab, tmp_path: Path) -> None:
    binary = tmp_path / "harness"
    binary.write_bytes(A64)
    said = f"qemu-arm: {binary}: Invalid ELF image for this architecture\n"
    lab.runner.ends["list"] = Completed(255, "", said)
    with pytest.raises(EverycoreError, match="is for 64-bit Arm, not what qemu-arm") as error:
        list(Qemu(lab.context(), EMULATED).stream(binary, ("list",)))
    assert "arm-gcc" in error.value.hint


@pytest.mark.parametrize(
    ("said", "word"),
    [
        (
            "can't apply global cpu.zvkned=true: Property 'rv64-riscv-cpu.zvkned' not found",
            "zvkned",
        ),
        ("unable to find CPU model 'power11'", "power11"),
    ],
)
def test_an_emulator_that_is_too_old_for_the_cpu_is_named(lab: Lab, said: str, word: str) -> None:
    lab.runner.ends["list"] = Completed(1, "", f"qemu-arm: {said}\n")
    with pytest.raises(EverycoreError, match=f"qemu-arm does not know '{word}'.* too old") as error:
        list(Qemu(lab.context(), EMULATED).stream(Path("harness"), ("list",)))
    assert "qemu-arm --version" in error.value.hint
    assert "Debian 13" in error.value.hint
    assert "put a newer one before it" in error.value.hint
    known = replace(EMULATED, emulator_version="10")
    with pytest.raises(EverycoreError, match="too old") as error:
        list(Qemu(lab.context(), known).stream(Path("harness"), ("list",)))
    assert "put QEMU 10 or newer before it" in error.value.hint


def test_a_harness_that_the_emulator_refuses_is_not_traced(tmp_path: Path) -> None:
    binary = tmp_path / "harness"
    binary.write_bytes(A64)
    said = Completed(255, "", f"qemu-arm: {binary}: Invalid ELF image for this architecture\n")
    with pytest.raises(EverycoreError, match="is for 64-bit Arm, not what qemu-arm emulates"):
        refuse_misfit(EMULATED, binary, said)
    refuse_misfit(EMULATED, binary, Completed(1, "", "a failed check"))


@pytest.mark.parametrize("absent", ["qemu-aarch64", "aarch64-linux-gnu-gcc"])
def test_an_emulator_or_a_cross_compiler_that_is_missing_is_named(lab: Lab, absent: str) -> None:
    lab.runner.absent = (absent,)
    outcome = lab("check", "--target", "qemu-aarch64")
    assert outcome.code == 2
    assert absent in outcome.err.splitlines()[0]
    assert "apt-get install gcc-aarch64-linux-gnu" in outcome.err
    assert "Traceback" not in outcome.err
