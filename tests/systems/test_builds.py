# SPDX-License-Identifier: MIT
"""The library, the harness and the tests in C, by several compilers and for several CPUs."""

import pytest
from reads import ARITHMETIC, LIBRARY, of_isa, reads_library_here
from running import (
    BUILDS,
    THREADS,
    compiled,
    harness_of,
    kernels,
    meson_tests,
    must,
    pairs_of,
    passed,
    run,
)

PATIENT = ("--timeout-multiplier", "4")  # for an emulator
NOT_PORTABLE = ("--no-suite", "portable")  # tests/meson.build
SHORT = ("--no-suite", "long")  # oracles of arithmetic, for which one build is enough
IN_TEST = ("gcc", "sanitize", "aarch64", "armhf", "hppa")
# Builds whose emulators leave to `make test-all` what the native build and hppa have, too: all but
# their own kernels, whose names begin so.
OWN_KERNELS = {"aarch64": "a64", "armhf": "a32"}
# Beside the library, what tests of the native build read: the provider is built, too, the checks of
# objects and generators of tables are run, and CPUs are looked up by name.
READ_BY_GCC = pytest.mark.reads(
    "src/aes/a32_sbox",
    "src/aes/rv_sbox",
    "src/common/hppa_fmpyadd.h",
    "contrib/openssl/provider/",
    "lab/everycore/model/",
    "tests/systems/pac_el1/answers/",
    "tools/",
)


def level(name: str) -> tuple[pytest.MarkDecorator, ...]:
    """Width and byte order of all others are those of the native build, hppa and i386
    (test_harness.py), and of the harness for a big-endian Arm without an operating system.
    """
    reads = pytest.mark.reads(*LIBRARY, **of_isa(BUILDS[name].cross))
    if name in IN_TEST:
        return (reads, READ_BY_GCC) if name == "gcc" else (reads,)
    return (reads, pytest.mark.long)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=level(name))
        for name in sorted(BUILDS, key=IN_TEST.__contains__, reverse=True)
    ],
)
def test_build(name: str, notes: list[str]) -> None:
    build = BUILDS[name]
    options = PATIENT if build.cross else SHORT
    left_out = NOT_PORTABLE if name in OWN_KERNELS else ()
    meson_tests(build, notes, *options, *left_out)
    if name in OWN_KERNELS:
        names = kernels(rf"{OWN_KERNELS[name]}_\w+")
        chosen = ",".join([names, *pairs_of(OWN_KERNELS[name])])
        passed(run(name, [*harness_of(build), "check", "--quick", "--kernel", chosen]), notes)


@pytest.mark.reads(*LIBRARY, **of_isa(None), primitives=ARITHMETIC)
def test_arithmetic_agrees_with_oracles(notes: list[str]) -> None:
    meson_tests(BUILDS["gcc"], notes, "--suite", "long")


@pytest.mark.reads(*LIBRARY)
@pytest.mark.long
@pytest.mark.parametrize("name", OWN_KERNELS)
def test_portable_code_on_an_emulated_cpu(name: str, notes: list[str]) -> None:
    meson_tests(BUILDS[name], notes, *PATIENT, "--suite", "portable")


@reads_library_here
@pytest.mark.long
@pytest.mark.parametrize(("name", "suite"), [("clang", "long"), ("gcc", "whole")])
def test_long_oracles(name: str, suite: str, notes: list[str]) -> None:
    meson_tests(BUILDS[name], notes, "--suite", suite)


@reads_library_here
@pytest.mark.long
def test_threads_share_keys_without_a_race() -> None:
    must(THREADS.name, [compiled(THREADS, "tests/unit/threads") / "tests/unit/threads"])
