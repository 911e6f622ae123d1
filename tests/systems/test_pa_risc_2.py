# SPDX-License-Identifier: MIT
"""Kernels with instructions of PA-RISC 2.0 are right under a QEMU that has them.

Debian 13's qemu-user is fetched once; that of Debian 12 aborts on such code. Every kernel that runs
there has every property, and `bn` by hppa20 gives the answers of Python, and does not where its
assembly is broken (tests/mutants). hppa_fmpyadd, whose instruction that emulator has wrong, has
every property and gives the answers of Python, too, whatever the status of the unit for floating
point is (test_hppa_status.c).
"""

import dataclasses
import json
import pathlib
import shutil
import sys

import pytest
from processes import ROOT, ended, need, run, skip_without

from everycore.environment.context import system_context
from everycore.pauth.emulators import PACKAGE, packaged, started_in

pytestmark = pytest.mark.long
SUITE = "trixie"
BUILD = ROOT / "build/hppa20"
KERNELS = ("hppa20", "hppa_fmpyadd")
MODELS = ("pa-8500", "hppa64")  # of QEMU 11.1 and of 8.2
# The build takes registers of 64 bits for kept, as a 64-bit kernel keeps them: QEMU says nothing of
# its kernel.
CROSS = """[binaries]
exe_wrapper = {wrapper}

[built-in options]
c_args = ['-DEVC_HPPA_KEEPS_64_BITS']
"""


@dataclasses.dataclass(frozen=True)
class Build:
    tree: pathlib.Path
    emulator: list[str]

    def command(self, program: str) -> list[str]:
        return [*self.emulator, str(self.tree / program)]


@pytest.fixture(scope="module")
def build() -> Build:
    need("hppa-linux-gnu-gcc")
    with skip_without(f"{PACKAGE} of {SUITE}"):
        root = packaged(system_context(), SUITE, False, PACKAGE)
    emulator = [*map(str, started_in(root, "qemu-hppa"))]
    known = ended(*emulator, "-cpu", "help")[1]
    model = next((model for model in MODELS if model in known), None)
    assert model, f"qemu-hppa of {SUITE} has no CPU of PA-RISC 2.0: {known}"
    emulator += ["-cpu", model]
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    more = BUILD / "more.ini"
    more.write_text(CROSS.format(wrapper=emulator))
    tree = BUILD / "tree"
    cross = ["--cross-file", "catalog/toolchains/hppa.ini", "--cross-file", str(more)]
    run(["meson", "setup", "--werror", "-Ddebug=false", *cross, tree])
    targets = ["harness/harness", "tests/oracles/bn_answers", "tests/unit/test_hppa_status"]
    run(["ninja", "-C", tree, "-j", "2", *targets])
    return Build(tree, emulator)


def test_every_kernel_has_every_property(build: Build) -> None:
    words = ["check", "--quick", "--primitive", "bn,bn_words"]
    code, text = ended(*build.command("harness/harness"), *words)
    facts = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    checks = [fact for fact in facts if fact["type"] == "check"]
    assert not [fact for fact in checks if fact["result"] == "fail"]
    assert code == 0, text[-1000:]
    tested = {
        (fact["primitive"], fact["kernel"])
        for fact in checks
        if fact["kernel"] in KERNELS and fact["result"] == "pass"
    }
    assert tested == {("bn", "hppa20"), ("bn_words", "hppa20"), ("bn", "hppa_fmpyadd")}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_gives_the_answers_of_python(kernel: str, build: Build) -> None:
    words = ["tests/oracles/bn_against_python.py", "--kernel", kernel, "--"]
    run([sys.executable, *words, *build.command("tests/oracles/bn_answers")])


def test_broken_assembly_is_noticed(build: Build) -> None:
    emulator = f"bn-hppa20={' '.join(build.emulator)}"
    words = ["--group", "bn-hppa20", "--emulator", emulator]
    # Without a limit of time: it waits for another run of mutants, which may take hours.
    code, said = ended(sys.executable, "tests/mutants/run", *words)
    assert code == 0, said[-1500:]
    assert "# SKIP" not in said


def test_it_does_not_depend_on_the_status_of_floating_point(build: Build) -> None:
    assert "# SKIP" not in run(build.command("tests/unit/test_hppa_status"))
