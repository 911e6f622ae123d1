#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every kernel on big-endian Arm: test_bare_harness.py [HARNESS ARGUMENT...]

No C library for it is at hand, so the harness is built without one (harness/bare and
tests/systems/bare are what `check` and `vectors` need of it), by clang and lld, and runs under
qemu-user. Without arguments: all properties, quickly, and the published vectors; it must be
big-endian, and no kernel for this architecture may be left out. What is compiled is kept in
build/aarch64_be.
"""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/aarch64_be"
TARGET = "aarch64_be-linux-gnu"
EMULATOR = ["qemu-aarch64_be", "-cpu", "max"]
FLAGS = [
    "-O2",
    "-std=gnu11",
    "-ffreestanding",
    "-nostdlibinc",
    "-DHARNESS_BARE",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wundef",
    "-Werror",
]
# The library is compiled with these, as by tools/check-compile.
LIBRARY_FLAGS = ["-Wconversion", "-Wvla", "-Wframe-larger-than=4000"]
HARNESS = (
    "abi/abi",
    "aes_ops",
    "bn_lanes",
    "check",
    "check_abi",
    "check_aes",
    "check_bn",
    "check_bn_words",
    "check_gcm",
    "check_ghash",
    "check_long",
    "check_qarma",
    "emit",
    "gcm_kernels",
    "gcm_model",
    "list",
    "list_descriptor",
    "long_model",
    "main",
    "names",
    "options",
    "residue",
    "residue_aes",
    "residue_bn",
    "residue_bn_words",
    "residue_dh",
    "residue_gcm",
    "residue_ghash",
    "residue_kernels",
    "residue_prime",
    "residue_qarma",
    "residue_rsa",
    "resolve",
    "vector_file",
    "vectors",
)


def sources() -> list[str]:
    library = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.[cS]"))
    bare = sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests/systems/bare").glob("*.[cS]")
    )
    return [
        *library,
        *(f"harness/{name}.c" for name in HARNESS),
        "harness/abi/a64.S",
        "harness/bare/libc.c",
        *bare,
    ]


def build() -> tuple[int, str]:
    """By ninja, which knows what is out of date."""
    BUILD.mkdir(parents=True, exist_ok=True)
    lines = [
        "rule compile",
        f"  command = clang --target={TARGET} {' '.join(FLAGS)} -Iharness/bare/include "
        f"-Iharness/bare "
        "$more -Iinclude -Isrc -Iharness -MD -MF $out.d -c $in -o $out",
        "  depfile = $out.d",
        "  deps = gcc",
        "rule link",
        f"  command = clang --target={TARGET} -fuse-ld=lld -nostdlib -static $in -o $out",
    ]
    objects = []
    for source in sources():
        objects.append(f"{BUILD.relative_to(ROOT)}/{source.replace('/', '_')}.o")
        lines.append(f"build {objects[-1]}: compile {source}")
        if source.startswith("src/"):
            lines.append(f"  more = {' '.join(LIBRARY_FLAGS)}")
    lines.append(f"build {BUILD.relative_to(ROOT)}/harness: link {' '.join(objects)}")
    lines.append(f"builddir = {BUILD.relative_to(ROOT)}")
    (BUILD / "build.ninja").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        ["ninja", "-C", ROOT, "-f", BUILD / "build.ninja", "-j", "2", "--quiet"],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout


def run(*arguments: str) -> list[dict[str, object]]:
    """The lines of a harness command; a harness that dies is a failure of its own."""
    done = subprocess.run(
        [*EMULATOR, BUILD / "harness", *arguments],
        text=True,
        stdout=subprocess.PIPE,
        check=False,
    )
    facts = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode not in (0, 1) or not facts or facts[-1]["type"] != "summary":
        facts.append(
            {
                "type": "check",
                "result": "fail",
                "detail": f"{arguments[0]} ended with code {done.returncode}",
            }
        )
    return facts


def main() -> int:
    absent = [name for name in ("clang", "ld.lld", "ninja", EMULATOR[0]) if not shutil.which(name)]
    if absent:
        print(f"skipped: no {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
        return 0
    code, text = build()
    if code:
        print(text, "0 passed, 1 failed, 0 skipped", sep="\n")
        return 1
    if sys.argv[1:]:
        return subprocess.run([*EMULATOR, BUILD / "harness", *sys.argv[1:]], check=False).returncode
    objdump = shutil.which("llvm-objdump") or shutil.which("llvm-objdump-14")
    if objdump:  # clang's object code; that of GCC is looked at in the cross builds
        done = subprocess.run(
            [
                sys.executable,
                ROOT / "tools/check-instructions",
                "--objdump",
                objdump,
                "--cpu",
                "aarch64",
                *BUILD.glob("src_*.o"),
            ],
            text=True,
            stdout=subprocess.PIPE,
            check=False,
        )
        print(done.stdout, end="")
        if done.returncode:
            print("0 passed, 1 failed, 0 skipped")
            return 1
    facts = run("check", "--quick")
    for file in sorted((ROOT / "vectors").glob("*.txt")):
        facts += run("vectors", str(file))
    failed = [fact for fact in facts if fact.get("result") == "fail"]
    hello = facts[0]
    if not hello.get("big_endian") or hello.get("arch") != "a64":
        failed.append(
            {
                "detail": f"the harness is for {hello.get('arch')}, big-endian: "
                f"{hello.get('big_endian')}"
            }
        )
    skips = [fact for fact in facts if fact.get("result") == "skip"]
    failed += [
        fact
        for fact in skips
        if str(fact.get("kernel")).startswith("a64_") and fact.get("property") == "all"
    ]
    for fact in failed:
        print("FAILED:", json.dumps(fact))
    for detail in sorted({str(fact.get("detail")) for fact in skips}):
        print(f"skipped: {detail}")
    passed = sum(int(str(fact["passed"])) for fact in facts if fact["type"] == "summary")
    print(f"{passed} passed, {len(failed)} failed, {len(skips)} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
