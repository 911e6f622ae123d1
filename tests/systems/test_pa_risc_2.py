#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels with instructions of PA-RISC 2.0, under a QEMU that has them: test_pa_risc_2.py [SUITE]

Debian's qemu-user of the suite (trixie) is fetched once; that of Debian 12 aborts on such code.
Every kernel that runs there has every property, and `bn` by hppa20 gives the answers of Python, and
does not where its assembly is broken (tests/mutants). hppa_fmpyadd, whose instruction that emulator
has wrong, has every property and gives the answers of Python, too, whatever the status of the unit
for floating point is (test_hppa_status.c). One test each.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError
from everycore.pauth.emulators import PACKAGE, packaged, started_in

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


def run(*argv: str | os.PathLike[str]) -> subprocess.CompletedProcess[str]:
    print("$", *argv, flush=True)
    return subprocess.run(
        argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def build(wrapper: list[str]) -> None:
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    more = BUILD / "more.ini"
    more.write_text(CROSS.format(wrapper=wrapper))
    for argv in (
        [
            "meson",
            "setup",
            "--werror",
            "-Ddebug=false",
            "--cross-file",
            "catalog/toolchains/hppa.ini",
            "--cross-file",
            str(more),
            str(BUILD / "tree"),
        ],
        [
            "ninja",
            "-C",
            str(BUILD / "tree"),
            "-j",
            "2",
            "harness/harness",
            "tests/oracles/bn_answers",
            "tests/unit/test_hppa_status",
        ],
    ):
        done = run(*argv)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)


def main() -> int:
    suite = next(iter(sys.argv[1:]), "trixie")
    if not shutil.which("hppa-linux-gnu-gcc"):
        print(
            "skipped: no hppa-linux-gnu-gcc: apt-get install gcc-hppa-linux-gnu\n0 passed, 0 "
            "failed, 1 skipped"
        )
        return 0
    try:
        root = packaged(system_context(), suite, False, PACKAGE)
    except EverycoreError as error:  # no network
        print(f"skipped: no {PACKAGE} of {suite}: {error.message}\n0 passed, 0 failed, 1 skipped")
        return 0
    emulator = [*started_in(root, "qemu-hppa")]
    known = run(*emulator, "-cpu", "help").stdout
    model = next((model for model in MODELS if model in known), None)
    if model is None:
        print(
            f"FAILED: qemu-hppa of {suite} has no CPU of PA-RISC 2.0: {known.strip()}\n0 "
            f"passed, 1 failed, 0 skipped"
        )
        return 1
    emulator += ["-cpu", model]
    build(emulator)
    tree = BUILD / "tree"
    done = run(
        *emulator, tree / "harness/harness", "check", "--quick", "--primitive", "bn,bn_words"
    )
    facts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    checked = [fact for fact in facts if fact["type"] == "check" and fact["kernel"] in KERNELS]
    passed = sum(fact["result"] == "pass" for fact in checked)
    failed = sum(fact["result"] == "fail" for fact in facts if fact["type"] == "check")
    print(*(json.dumps(fact) for fact in facts if fact.get("result") == "fail"), sep="\n")
    if done.returncode and not failed:
        failed += 1
        print(f"FAILED: the harness ended with {done.returncode}: {done.stderr.strip()}")
    tested = {(fact["primitive"], fact["kernel"]) for fact in checked if fact["result"] == "pass"}
    if tested != {("bn", "hppa20"), ("bn_words", "hppa20"), ("bn", "hppa_fmpyadd")}:
        failed += 1
        print(f"FAILED: these alone were tested: {sorted(tested)}")
    answers = ["tests/oracles/bn_against_python.py", "--kernel"]
    program = [*map(str, emulator), str(tree / "tests/oracles/bn_answers")]
    for words in (
        *([sys.executable, *answers, kernel, "--", *program] for kernel in KERNELS),
        [
            sys.executable,
            "tests/mutants/run",
            "--group",
            "bn-hppa20",
            "--emulator",
            f"bn-hppa20={' '.join(map(str, emulator))}",
        ],
        [*map(str, emulator), str(tree / "tests/unit/test_hppa_status")],
    ):
        done = run(*words)
        print(done.stdout, done.stderr)
        passed += done.returncode == 0 and "# SKIP" not in done.stdout
        failed += done.returncode != 0 or "# SKIP" in done.stdout
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
