# SPDX-License-Identifier: MIT
"""Pointer authentication of the library is that of emulated CPUs.

pytest tests/systems/test_pac_el1.py [--qemu PATH]... [--cpu CPU]... [--record]

The emulators are the installed qemu-system-aarch64 and the one of Debian 13, which is fetched once;
--qemu names others instead. Of the latter, copies are asked whose neoverse-v1 has what no CPU of
QEMU has: EPAC, and FPAC without FPACCombine. tests/systems/pac_el1/answers keeps a sample, for the
architectures that emulate nothing, which --record writes anew: that takes a QEMU before 8.1 and a
later one.
"""

import dataclasses
import pathlib
import platform
import sys

import pac_emulators
import pytest
from pac_emulators import (
    EL1,
    EL2,
    EMULATORS,
    HERE,
    SAMPLE,
    SAMPLE_OLD,
    SAMPLE_OTHER_LEVELS,
    STRIDE,
    Emulator,
    built,
    compare,
    level_of,
    named,
    settings,
)
from processes import FailedError, ended
from reads import LIBRARY

from everycore.compile import debs
from everycore.environment.errors import UnavailableError

pytestmark = pytest.mark.reads(*LIBRARY, "tests/systems/pac_")
answered: list[str] = []  # the settings in which an emulator has answered
RECORDED = {
    **SAMPLE,
    **SAMPLE_OLD,
    **{name: case for sample in SAMPLE_OTHER_LEVELS.values() for name, case in sample.items()},
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    emulators = metafunc.config.getoption("qemu") or EMULATORS
    cpus = metafunc.config.getoption("cpu")
    if "machine" in metafunc.fixturenames:
        cases = [
            (name, *setting) for name in emulators for setting in settings(level_of(name), cpus)
        ]
        ids = [f"{pathlib.Path(name).name}-{machine}-{cpu}" for name, machine, cpu in cases]
        metafunc.parametrize(("emulator", "machine", "cpu"), cases, ids=ids)


def test_the_library_agrees_with_an_emulated_cpu(emulator: str, machine: str, cpu: str) -> None:
    chosen = named(emulator)
    answers = chosen.answers(built(), machine, cpu)
    answered.append(cpu)
    compare(f"{chosen} -M {machine} -cpu {cpu}", answers)


def test_an_emulator_has_each_cpu_that_is_asked_for(pytestconfig: pytest.Config) -> None:
    """Otherwise a name that is written wrongly would only be skipped."""
    if cpus := pytestconfig.getoption("cpu"):
        built()
        assert set(cpus) <= set(answered)


def of_sample(name: str, emulators: list[str]) -> Emulator:
    """Return the emulator with which an answer of the sample is recorded; skip if there is none."""
    for emulator in emulators or EMULATORS:
        try:
            chosen = named(emulator)
        except pytest.skip.Exception:
            continue
        if name in chosen.sample:
            return chosen
    return pytest.skip(f"no QEMU that is here has {name}")


def recorded(name: str, emulators: list[str]) -> tuple[Emulator, str, str]:
    """Return the emulator of an answer of the sample, the words for it, and the answer."""
    chosen = of_sample(name, emulators)
    cpu, seed = RECORDED[name]
    machine = EL2 if name.startswith("el2") else EL1
    return chosen, f"-M {machine} -cpu {cpu}", chosen.answers(built(), machine, cpu, seed, STRIDE)


@pytest.mark.parametrize("name", RECORDED)
def test_the_sample_is_what_an_emulator_answers(name: str, pytestconfig: pytest.Config) -> None:
    path = HERE / "answers" / f"{name}.txt"
    if not pytestconfig.getoption("record"):
        _, _, answers = recorded(name, pytestconfig.getoption("qemu"))
        assert path.read_text().partition("\n")[2] == answers
        return
    try:
        chosen, words, answers = recorded(name, pytestconfig.getoption("qemu"))
    except pytest.skip.Exception as lacking:
        pytest.fail(f"not recorded: {lacking}")
    path.write_text(f"# {chosen} {words}\n{answers}")


# ---- What is not there is a skip, and all else a failure -----------------------------------------

OLD_QEMU = """#!/bin/sh
case "$1" in
--version) echo "QEMU emulator version 7.2.0" ;;
*) echo "qemu: unable to find CPU model 'maximum'" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def old_qemu(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "qemu"
    path.write_text(OLD_QEMU)
    path.chmod(0o755)
    return path


def test_a_cpu_that_an_old_emulator_lacks_is_a_skip_and_of_the_pinned_one_a_failure(
    old_qemu: pathlib.Path,
) -> None:
    old = named(str(old_qemu))
    with pytest.raises(pytest.skip.Exception, match="has no -cpu maximum"):
        old.answers(old_qemu, "virt", "maximum")
    with pytest.raises(FailedError):
        dataclasses.replace(old, pinned=True).answers(old_qemu, "virt", "maximum")


@pytest.mark.parametrize("words", [("--cpu", "maximum", "-k", "cpu"), ("--record", "-k", "sample")])
def test_what_no_emulator_has_is_a_failure_if_it_is_asked_for(
    words: tuple[str, ...], old_qemu: pathlib.Path
) -> None:
    built()
    command = [sys.executable, "-m", "pytest", __file__, "--qemu", str(old_qemu), *words]
    code, text = ended(*command)
    assert code == 1, text


def test_debians_emulator_is_skipped_for_the_network_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_with(error: Exception) -> None:
        def unpacked(*_: object) -> None:
            raise error

        monkeypatch.setattr(debs, "pinned", lambda *_, **__: None)
        monkeypatch.setattr(debs, "unpacked", unpacked)

    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    fail_with(UnavailableError("it has moved on"))
    with pytest.raises(
        pytest.skip.Exception, match=r"it has moved on; .*delete tests/systems/pac_el1/"
    ):
        pac_emulators.of_debian()
    fail_with(debs.WrongContentsError("wrong sha256"))
    with pytest.raises(FailedError, match="wrong sha256"):
        pac_emulators.of_debian()
