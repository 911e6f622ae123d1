# SPDX-License-Identifier: MIT
"""QEMU with our pointer authentication gives the same in every mode.

Debian 13's QEMU is patched by contrib/qemu and built once, in the user's cache: some minutes each.
The emulator of a whole machine (-k machine) answers as in test_pac_el1.py; those of programs (-k
program) run tests/oracles/pac_user.c, as test_builds.py -k aarch64 builds it, and programs whose
every call signs. Mode `check` compares each code and result with QEMU's own on the way, and that it
had some to compare is counted. An emulator of programs that has the patches of patch-qemu --series
(-k series) runs the test that they add, and those programs.
"""

import functools
import pathlib
import re
import struct

import pytest
from pac_emulators import built as program_for_el1
from pac_emulators import compare, emulator, settings
from processes import ROOT, FailedError, Words, need, run, skip_without
from running import BUILDS, compiled

from everycore.compile.catalog import find_tree
from everycore.environment.context import system_context
from everycore.environment.errors import UnavailableError
from everycore.pauth import programs
from everycore.pauth.qemu_build import Recipe, build_qemu

pytestmark = pytest.mark.long
SUITE = "trixie"
MODES = ("check", "memo", "plain", "mac", "qemu")
CPUS = ("max,pauth-qarma5=on", "max,pauth-qarma3=on", "max,pauth-impdef=on")
SERIES_MODES = ("check", "memo", "direct", "reference")
SERIES_ALGORITHMS = ("qarma5", "qarma3", "impdef", "aes128")
SERIES_TEST = ROOT / "contrib/qemu/series/tests/tcg/aarch64/pauth-6.c"
PROGRAMS = ("recursion", "quicksort")
SCALE = 0.01
PAC_USER = "tests/oracles/pac_user"
LIBRARIES_OF_CIPHERS = re.compile(r"\b(gcry|gnutls|nettle|EVP)_")
GUESTS = ("pac_user", *PROGRAMS)


@functools.cache
def built(kind: str) -> pathlib.Path:
    """Return a patched emulator: of machines, of programs, without libraries, or by the series."""
    context = system_context()
    recipe = Recipe(
        SUITE, system=kind == "system", static=kind == "static", series=kind == "series"
    )
    with skip_without("sources of QEMU", UnavailableError):
        return build_qemu(context, find_tree(context.package, str(ROOT)), recipe)


def counted(path: pathlib.Path) -> int:
    """Return the operations in a file of counts (contrib/qemu/everycore/pauth.h): AddPAC, Auth and
    PACGA.
    """
    return sum(struct.unpack_from("=3Q", path.read_bytes(), 8))


@functools.cache
def guest(name: str) -> Words:
    """Return the command of a program for AArch64."""
    if name == "pac_user":
        return [compiled(BUILDS["aarch64"], PAC_USER) / PAC_USER]
    with skip_without(f"program {name}"):
        return [*programs.make(system_context(), name, programs.COMPILER, False).words(SCALE)]


@pytest.mark.parametrize(("machine", "cpu"), settings("", []))
@pytest.mark.parametrize("mode", MODES)
def test_a_machine_answers_as_the_library(mode: str, machine: str, cpu: str) -> None:
    machine_emulator = emulator(str(built("system")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERYCORE_PAUTH", mode)
        answers = machine_emulator.answers(program_for_el1(), machine, cpu)
    compare(f"{mode} -M {machine} -cpu {cpu}", answers)


@pytest.mark.parametrize("cpu", CPUS)
@pytest.mark.parametrize("name", GUESTS)
@pytest.mark.parametrize("kind", ["user", "static"])
def test_a_program_prints_the_same_in_every_mode(
    kind: str, name: str, cpu: str, tmp_path: pathlib.Path
) -> None:
    """pac_user also compares for itself."""
    said = {}
    for mode in MODES:
        counts = tmp_path / f"counts-{mode}"
        environment = {"EVERYCORE_PAUTH": mode, "EVERYCORE_PAUTH_COUNTS": str(counts)}
        said[mode] = run(
            [built(kind), "-cpu", cpu, *guest(name)], with_stderr=False, environment=environment
        )
        assert counted(counts), mode
    assert len(set(said.values())) == 1, said


def test_a_static_emulator_of_programs_needs_no_libraries_and_has_no_ciphers() -> None:
    need("readelf", "nm")
    program = built("static")
    assert "(NEEDED)" not in run(["readelf", "-d", program])
    assert not LIBRARIES_OF_CIPHERS.search(run(["nm", program]))


# ---- The series ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def series_test(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The test that the series adds to QEMU."""
    need(programs.COMPILER)
    path = tmp_path_factory.mktemp("series") / SERIES_TEST.stem
    run([programs.COMPILER, "-O1", "-static", "-march=armv8.3-a", SERIES_TEST, "-o", path])
    return path


@pytest.mark.parametrize("algorithm", SERIES_ALGORITHMS)
@pytest.mark.parametrize("name", [SERIES_TEST.stem, *GUESTS])
def test_by_the_series_it_prints_the_same_by_every_value_of_the_property(
    name: str, algorithm: str, series_test: pathlib.Path
) -> None:
    words = [series_test] if name == SERIES_TEST.stem else guest(name)
    cpus = [f"max,pauth={mode},pauth-{algorithm}=on" for mode in SERIES_MODES]
    program = built("series")
    said = {run([program, "-cpu", cpu, *words], with_stderr=False) for cpu in cpus}
    assert len(said) == 1


def test_the_series_refuses_an_unknown_value_of_the_property() -> None:
    with pytest.raises(FailedError, match="on or off, memo, direct, reference or check"):
        run([built("series"), "-cpu", "max,pauth=fast", *guest("pac_user")])
