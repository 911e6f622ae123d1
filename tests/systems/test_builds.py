# SPDX-License-Identifier: MIT
"""The library, the harness and the tests in C, by several compilers and for several CPUs."""

import pytest
from reads import LIBRARY, of_isa, reads_library_here
from running import BUILDS, THREADS, compiled, meson_tests, must

PATIENT = ("--timeout-multiplier", "4")  # for an emulator
SHORT = ("--no-suite", "long")  # oracles of arithmetic in C: one compiler is enough
IN_TEST = ("gcc", "sanitize", "aarch64", "armhf", "hppa")
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
    """Width and byte order of all others are those of aarch64, armhf and hppa, and of the harness
    for a big-endian Arm without an operating system.
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
    options = PATIENT if build.cross else SHORT if name in ("sanitize", "clang") else ()
    meson_tests(build, notes, *options)


@reads_library_here
@pytest.mark.long
@pytest.mark.parametrize(("name", "suite"), [("clang", "long"), ("gcc", "whole")])
def test_long_oracles(name: str, suite: str, notes: list[str]) -> None:
    meson_tests(BUILDS[name], notes, "--suite", suite)


@reads_library_here
@pytest.mark.long
def test_threads_share_keys_without_a_race() -> None:
    must(THREADS.name, [compiled(THREADS, "tests/unit/threads") / "tests/unit/threads"])
