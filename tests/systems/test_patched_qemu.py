#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""QEMU with our pointer authentication, built and run in every mode.

test_patched_qemu.py system|user|static|series...

Debian 13's QEMU is patched by contrib/qemu and built once, in the user's cache: some minutes each.
The emulator of a whole machine then answers tests/systems/test_pac_el1.py; those of programs run
tests/oracles/pac_user.c, as `make test` builds it for aarch64, and programs whose every call signs.
Mode `check` compares each code and result with QEMU's own on the way, and that it had some to
compare is counted. `series`: an emulator of programs that has the patches of patch-qemu
--series, and runs the test that they add, and those programs.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = "trixie"
MODES = ("check", "memo", "plain", "mac", "qemu")
CPUS = ("max,pauth-qarma5=on", "max,pauth-qarma3=on", "max,pauth-impdef=on")
SERIES_MODES = ("check", "memo", "direct", "reference")
SERIES_ALGORITHMS = ("qarma5", "qarma3", "impdef", "aes128")
SERIES_TEST = ROOT / "contrib/qemu/series/tests/tcg/aarch64/pauth-6.c"
PROGRAMS = ("recursion", "quicksort")
SCALE = 0.01
PAC_USER = ROOT / "build/aarch64/tests/oracles/pac_user"
LIBRARIES_OF_CIPHERS = re.compile(r"\b(gcry|gnutls|nettle|EVP)_")
SECONDS = 1800


class FailedError(Exception):
    """A step failed; the text is its output."""


class LackingError(Exception):
    """A tree cannot be tried here; the text says why."""


def built(kind: str) -> pathlib.Path:
    from everycore.compile.catalog import find_tree
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError, UnavailableError
    from everycore.pauth.qemu_build import Recipe, build_qemu

    context = system_context()
    recipe = Recipe(
        SUITE, system=kind == "system", static=kind == "static", series=kind == "series"
    )
    try:
        return build_qemu(context, find_tree(context.package, str(ROOT)), recipe)
    except UnavailableError as error:
        raise LackingError(f"no sources of QEMU: {error.message}") from error
    except EverycoreError as error:
        raise FailedError(f"{error.message}\n{error.hint}") from error


def run(words: list[str | pathlib.Path], **settings: str) -> str:
    """Run a program that has to succeed; return its output."""
    try:
        done = subprocess.run(
            words,
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FailedError(f"{' '.join(map(str, words))} does not end") from error
    if done.returncode:
        raise FailedError(
            f"{' '.join(map(str, words))} ended with {done.returncode}: {done.stdout}{done.stderr}"
        )
    return done.stdout


def counted(path: pathlib.Path) -> int:
    """Operations in a file of counts: AddPAC, Auth and PACGA (contrib/qemu/everycore/pauth.h)."""
    return sum(struct.unpack_from("=3Q", path.read_bytes(), 8))


# ---- A whole machine -----------------------------------------------------------------------------


def system(program: pathlib.Path) -> Iterator[str]:
    """tests/systems/test_pac_el1.py has to pass, and nothing that it holds against the library may
    be left out.
    """
    for mode in MODES:
        said = run(
            [sys.executable, ROOT / "tests/systems/test_pac_el1.py", "--qemu", program],
            EVERYCORE_PAUTH=mode,
        )
        print(f"EVERYCORE_PAUTH={mode}: {said}", flush=True)
        count = re.search(r"^(\d+) passed, 0 failed, \d+ skipped\s*\Z", said, re.M)
        if not count or not int(count[1]):
            reasons = re.findall(r"^skipped: (.*)", said, re.M)
            raise LackingError(
                reasons[0] if reasons else "tests/systems/test_pac_el1.py tried nothing"
            )
        yield f"machines in mode {mode}"


# ---- Programs ------------------------------------------------------------------------------------


def guests() -> list[tuple[str, list[str | pathlib.Path]]]:
    """Name and command of each program for AArch64."""
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError
    from everycore.pauth import programs

    if not PAC_USER.exists():
        raise LackingError(f"no {PAC_USER.relative_to(ROOT)}: make test")
    found: list[tuple[str, list[str | pathlib.Path]]] = [("pac_user", [PAC_USER])]
    try:
        for name in PROGRAMS:
            one = programs.make(system_context(), name, programs.COMPILER, False)
            found.append((name, [*one.words(SCALE)]))
    except EverycoreError as error:
        raise LackingError(error.message) from error
    return found


def user(program: pathlib.Path) -> Iterator[str]:
    """Programs print the same in every mode; pac_user also compares for itself."""
    for name, words in guests():
        for cpu in CPUS:
            said = {}
            for mode in MODES:
                with tempfile.TemporaryDirectory() as folder:
                    counts = pathlib.Path(folder, "counts")
                    said[mode] = run(
                        [program, "-cpu", cpu, *words],
                        EVERYCORE_PAUTH=mode,
                        EVERYCORE_PAUTH_COUNTS=str(counts),
                    )
                    if not counted(counts):
                        raise FailedError(
                            f"{name} under -cpu {cpu}, mode {mode}: no operation was counted"
                        )
            if len(set(said.values())) != 1:
                raise FailedError(
                    f"{name} under -cpu {cpu} prints not the same in every mode: {said}"
                )
            yield f"{name} under -cpu {cpu}"


def static(program: pathlib.Path) -> Iterator[str]:
    """As user; and it needs no library, and has none for ciphers in it."""
    if not shutil.which("readelf") or not shutil.which("nm"):
        raise LackingError("no readelf, no nm")
    if "(NEEDED)" in run(["readelf", "-d", program]):
        raise FailedError(f"{program} needs libraries")
    if found := LIBRARIES_OF_CIPHERS.search(run(["nm", program])):
        raise FailedError(f"{program} has {found[0]}... in it")
    yield "no libraries"
    yield from user(program)


def series(program: pathlib.Path) -> Iterator[str]:
    """Programs print the same by every value of the property pauth; an unknown one is refused."""
    from everycore.pauth import programs

    with tempfile.TemporaryDirectory() as folder:
        test = pathlib.Path(folder, SERIES_TEST.stem)
        run([programs.COMPILER, "-O1", "-static", "-march=armv8.3-a", SERIES_TEST, "-o", test])
        programs_to_run: list[tuple[str, list[str | pathlib.Path]]] = [
            (test.name, [test]),
            *guests(),
        ]
        for name, words in programs_to_run:
            for algorithm in SERIES_ALGORITHMS:
                cpus = [f"max,pauth={mode},pauth-{algorithm}=on" for mode in SERIES_MODES]
                if len({run([program, "-cpu", cpu, *words]) for cpu in cpus}) != 1:
                    raise FailedError(
                        f"{name} by {algorithm} prints not the same by every value of pauth"
                    )
                yield f"{name} by {algorithm}"
    try:
        run([program, "-cpu", "max,pauth=fast", PAC_USER])
    except FailedError as refusal:
        if "on or off, memo, direct, reference or check" not in str(refusal):
            raise
        yield "pauth=fast is refused"
    else:
        raise FailedError("pauth=fast is not refused")


KINDS = {"series": series, "system": system, "user": user, "static": static}


def main(kinds: list[str]) -> int:
    passed = failed = skipped = 0
    if not kinds or not set(kinds) <= set(KINDS):
        print(f"usage: test_patched_qemu.py {'|'.join(KINDS)}...", file=sys.stderr)
        return 2
    for kind in kinds:
        try:
            for what in KINDS[kind](built(kind)):
                print(f"passed: {kind}: {what}", flush=True)
                passed += 1
        except LackingError as lacking:
            print(f"skipped: {kind}: {lacking}")
            skipped += 1
        except FailedError as failure:
            print(f"FAILED: {kind}: {failure}")
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
