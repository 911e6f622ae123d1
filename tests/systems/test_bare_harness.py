# SPDX-License-Identifier: MIT
"""Every kernel is right on big-endian Arm, and needs no C library.

No C library for it is at hand, so the harness is built without one (harness/bare and
harness/port/linux stand for it), with what `check` and `vectors` need, by clang and lld, and runs
under qemu-user. What is compiled is kept in build/aarch64_be: by hand, `qemu-aarch64_be -cpu max
build/aarch64_be/harness check --kernel a64_byname`.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
from processes import ROOT, need, run
from reads import LIBRARY
from running import OF_A_MODEL, kept_objects, kernels, pairs_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.reads(
        *LIBRARY, "vectors/", "tests/systems/bare/", "tools/check-instructions", isa="a64"
    ),
]
Facts = list[dict[str, Any]]
BUILD = ROOT / "build/aarch64_be"
TARGET = "aarch64_be-linux-gnu"
EMULATOR = ["qemu-aarch64_be", "-cpu", "max"]
FLAGS = [
    "-O2",
    "-std=gnu11",
    "-ffreestanding",
    "-nostdlibinc",
    "-DHARNESS_BARE",
    "-DHARNESS_LINUX",
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wundef",
    "-Wcast-align",
    "-Werror",
]
# The library is compiled with these, as by tools/check-compile.
LIBRARY_FLAGS = ["-Wconversion", "-Wvla", "-Wframe-larger-than=4000"]
# A bare machine lacks the files that need a clock, a counter, a hosted C library or a
# peer; tests/systems/bare stands in for their commands.
HOSTED = re.compile(
    r"bench|bursts|counters/|cpu_limits|ct[_.]|generate|measure|peer|port/|quiet|abi/\w+\.S"
)


def sources() -> list[str]:
    harness = re.findall(r"'(\S+\.[cS])'", (ROOT / "harness/meson.build").read_text())
    library = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.[cS]"))
    bare = sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests/systems/bare").glob("*.[cS]")
    )
    return [
        *library,
        *(f"harness/{name}" for name in harness if not HOSTED.match(name)),
        "harness/abi/a64.S",
        "harness/bare/libc.c",
        "harness/port/linux/linux.c",
        "harness/port/linux/start_a64.S",
        *bare,
    ]


@pytest.fixture(scope="module")
def harness() -> pathlib.Path:
    """The harness, built by ninja, which knows what is out of date."""
    need("clang", "ld.lld", "ninja", EMULATOR[0])
    BUILD.mkdir(parents=True, exist_ok=True)
    kept, settings = kept_objects()
    lines = [
        "rule compile",
        f"  command = {' '.join([*kept, 'clang'])} --target={TARGET} {' '.join(FLAGS)} "
        "-Iharness/bare/include -Iharness/bare "
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
    run(
        ["ninja", "-C", ROOT, "-f", BUILD / "build.ninja", "-j", "2", "--quiet"],
        environment=settings,
    )
    return BUILD / "harness"


def facts(harness: pathlib.Path, *arguments: str) -> Facts:
    """Return the lines of a harness command, which ends with a summary."""
    words = [*EMULATOR, str(harness), *arguments]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode in (0, 1), f"{arguments[0]} ended with code {done.returncode}"
    assert found
    assert found[-1]["type"] == "summary"
    return found


def results(found: Facts, result: str) -> Facts:
    return [fact for fact in found if fact.get("result") == result]


def left_out(found: Facts) -> Facts:
    """Return the skips of kernels for this architecture."""
    return [
        fact
        for fact in results(found, "skip")
        if str(fact.get("kernel")).startswith("a64_") and fact.get("property") == "all"
    ]


@pytest.fixture(scope="module")
def checked(harness: pathlib.Path) -> Facts:
    """All properties of kernels for this architecture; of others, those that call every slot. The
    rest they have natively, and big-endian on hppa.
    """
    own, others = (
        ["--kernel", ",".join([kernels(rf"{arch}_\w+"), *pairs_of(arch)])] for arch in ("a64", "c")
    )
    return [
        *facts(harness, "check", "--quick", *others, "--property", OF_A_MODEL),
        *facts(harness, "check", "--quick", *own),
    ]


def test_clang_has_only_instructions_of_the_cpus(harness: pathlib.Path) -> None:
    """The cross builds look at that of GCC."""
    objdump = shutil.which("llvm-objdump") or shutil.which("llvm-objdump-14")
    if not objdump:
        pytest.skip("no llvm-objdump: apt-get install llvm")
    objects = sorted(harness.parent.glob("src_*.o"))
    words = ["--objdump", objdump, "--cpu", "aarch64", *map(str, objects)]
    run([sys.executable, "tools/check-instructions", *words])


def test_the_harness_is_for_big_endian_arm(checked: Facts) -> None:
    assert checked[0]["big_endian"]
    assert checked[0]["arch"] == "a64"


def test_every_kernel_has_its_properties(checked: Facts) -> None:
    assert not results(checked, "fail")
    summaries = [fact["passed"] for fact in checked if fact["type"] == "summary"]
    assert len(summaries) == 2
    assert all(summaries)


def test_no_kernel_for_this_architecture_is_left_out(checked: Facts) -> None:
    assert not left_out(checked)


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "vectors").glob("*.txt")))
def test_every_kernel_gives_the_published_answers(name: str, harness: pathlib.Path) -> None:
    found = facts(harness, "vectors", str(ROOT / "vectors" / name))
    assert not results(found, "fail")
    assert not left_out(found)
    assert found[-1]["passed"]
