# SPDX-License-Identifier: MIT
import pytest
from world import Lab, data_text

from everycore.compile import toolchains
from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

HOST = Target("host", "")
CROSS = Target(
    "qemu-x", "", compiler="x-gcc", packages=("gcc-x", "qemu-user"), host_machines=("x86_64",)
)


def find(lab: Lab, target: Target = HOST, cc: str | None = None, machine: str = "x86_64") -> str:
    return " ".join(toolchains.find_compiler(lab.context(), target, cc, ("-O2",), machine).command)


def test_compilers_are_told_by_their_macros() -> None:
    assert toolchains.identify(data_text("gcc_macros.txt")) == ("gcc", (12, 2, 0))
    assert toolchains.identify(data_text("clang_macros.txt")) == ("clang", (14, 0, 6))
    assert toolchains.identify("") == ("unknown compiler", ())


def test_the_option_beats_the_environment_and_that_beats_cc(lab: Lab) -> None:
    assert find(lab) == "cc"
    lab.env["CC"] = "ccache clang"
    assert find(lab) == "ccache clang"
    assert find(lab, cc="gcc-11 -m32") == "gcc-11 -m32"


def test_without_cc_there_is_gcc_and_then_clang(lab: Lab) -> None:
    lab.runner.absent = ("cc",)
    assert find(lab) == "gcc"
    lab.runner.absent = ("cc", "gcc")
    assert find(lab) == "clang"


def test_no_compiler_at_all_says_what_to_install(lab: Lab) -> None:
    lab.runner.absent = ("cc", "gcc", "clang")
    outcome = lab("list")
    assert outcome.code == 2
    assert "no C compiler: cannot run cc, gcc or clang" in outcome.err
    assert "apt-get install gcc" in outcome.err


def test_a_cross_target_has_its_compiler_and_names_its_packages(lab: Lab) -> None:
    assert find(lab, CROSS, machine="aarch64") == "x-gcc"
    assert find(lab, CROSS, machine="x86_64") == "cc"
    lab.runner.absent = ("x-gcc",)
    with pytest.raises(EverycoreError) as error:
        find(lab, CROSS, machine="aarch64")
    assert "gcc-x" in error.value.hint


def test_an_old_compiler_is_refused_with_its_version(lab: Lab) -> None:
    lab.runner.compiler = "old_gcc_macros.txt"
    with pytest.raises(EverycoreError, match=r"gcc 4\.9\.2, too old") as error:
        find(lab)
    assert "8.0" in error.value.hint


def test_flags_that_the_compiler_refuses_are_said(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Completed(1, "", "cc: error: unrecognized option '-Q99'\n")
    monkeypatch.setattr(lab.runner, "run", lambda *_, **__: said)
    with pytest.raises(EverycoreError, match="unrecognized option"):
        find(lab)
