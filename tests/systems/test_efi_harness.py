# SPDX-License-Identifier: MIT
"""The harness in firmware.

Emulated machines start the EFI application. In OVMF and AAVMF every kernel gives the known answers,
and keeps to its buffers, which lie between pages without access; on a CPU without AVX, and with
--leave-state, no AVX kernel runs. In AAVMF with instructions as the clock, each of the points below
takes as many instructions as the same objects take under qemu-user. U-Boot starts it, on QEMU's own
machine and on a Raspberry Pi.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import pytest
from processes import OWN_LAB, ROOT, everycore, requires, run, skip_without
from reads import FIRMWARE, LIBRARY

from everycore.compile import catalog, debs
from everycore.compile.toolchains import find_compiler
from everycore.environment.context import system_context
from everycore.estimate.executed import CPU, Harness
from everycore.model.domain import Build
from everycore.model.targets import load_target
from everycore.run.session import Session
from everycore.run.transport import transport_for
from everycore.run.uefi import application, boot_targets

# Published answers, or where none are (words of numbers) those of the reference.
ANSWERS = "check --quick --property known_answers,quotients_equal_reference,in_place_equals_apart"
# The properties that lay the buffers between pages without access.
GUARDED = "accesses_stay_inside_the_buffers"
GUARDED_OF = {"qarma": "many_equal_one_by_one"}
GUARDS = f"check --quick --property {','.join((GUARDED, *GUARDED_OF.values()))}"
IMAGE_BYTES = 10 << 18  # at most, 2.5 MiB
COUNTED = {  # kernels by mode
    "ctr": ("a64_ce", "a64_bitslice", "a64_vperm", "c_bitslice64"),
    "ghash": ("a64_pmull", "c_ctmul64"),
    "qarma5-blocks": ("a64_tbl",),
}
SIZES = 1024, 4096  # bytes of a message: the difference is of the bytes alone, without the call
TOLERANCE = 0.005
ICOUNT = "-icount shift=0,sleep=off"

pytestmark = [
    pytest.mark.slow,
    requires(
        "clang",
        "ld.lld",
        "mformat",
        "dtc",
        "qemu-aarch64",
        "qemu-system-x86_64",
        "qemu-system-aarch64",
        "/usr/share/OVMF/OVMF_CODE_4M.fd",
        "/usr/share/AAVMF/AAVMF_CODE.fd",
        "/usr/lib/u-boot/qemu_arm64/u-boot.bin",
    ),
    pytest.mark.reads(
        *LIBRARY,
        *FIRMWARE,
        "lab/everycore/compile/",
        "lab/everycore/estimate/",
        "lab/everycore/run/",
        "tests/systems/bare/",
        isa="x86 a64",
    ),
]


def run_in(
    work: pathlib.Path, target: str, *commands: str, emulator: str = "", leave: bool = False
) -> list[dict[str, Any]]:
    """The lines that a boot stores; whatever the exit code, for a failed check is in the lines."""
    out = pathlib.Path(tempfile.mkdtemp(dir=work)) / "result.jsonl"
    argv = [sys.executable, "-m", "everycore", "efi", "run", "--target", target, "--out", str(out)]
    argv += [*commands, *(["--emulator", emulator] if emulator else [])]
    argv += ["--leave-state"] if leave else []
    env = {**os.environ, **OWN_LAB}
    done = subprocess.run(
        argv, capture_output=True, text=True, cwd=ROOT, env=env, timeout=600, check=False
    )
    assert out.exists(), f"{target}: {done.stdout}{done.stderr}"
    assert "no guard pages" not in done.stderr, done.stderr
    return [json.loads(line) for line in out.read_text().splitlines()]


def per_byte(counts: dict[tuple[str, str, int], float]) -> dict[tuple[str, str], float]:
    small, large = SIZES
    points = dict.fromkeys(key[:2] for key in counts)
    return {
        point: (counts[*point, large] - counts[*point, small]) / (large - small) for point in points
    }


def counted_under_qemu_user(work: pathlib.Path) -> dict[tuple[str, str], float]:
    """Instructions per byte, of the very objects of the EFI application, linked with
    harness/port/linux into a program.
    """
    context = system_context()
    tree = catalog.find_tree(context.package, "")
    objects = application.objects(context, tree, boot_targets.ARCHITECTURES["aarch64"])
    kept = [path for source, path in objects if "port" not in source.parts]
    binary = work / "harness"
    flags = ["-ffreestanding", "-nostdlibinc", "-DHARNESS_BARE", "-DHARNESS_LINUX", "-O2", "-fpie"]
    flags += [
        f"-I{ROOT / folder}"
        for folder in ("harness/bare/include", "harness/bare", "include", "src", "harness")
    ]
    bare = []
    folders = ("harness/port/linux", "tests/systems/bare")
    for source in sorted(path for name in folders for path in (ROOT / name).glob("*.[cS]")):
        bare.append(work / f"{source.name}.o")
        more = ["-DBENCH_IS_THERE"] if source.name == "commands.c" else []
        words = ["--target=aarch64-none-elf", *flags, *more]
        run(["clang", *words, "-c", source, "-o", bare[-1]])
    run(["ld.lld", "-static", "--gc-sections", "-o", binary, *kept, *bare])
    target = load_target(tree, "qemu-aarch64")
    compiler = find_compiler(context, target, "clang --target=aarch64-none-elf", (), "x86_64")
    session = Session(tree, target, Build(binary, compiler, ()), transport_for(context, target))
    harness = Harness(context, session, CPU["a64"])
    found: dict[tuple[str, str, int], float] = {}
    for mode, kernels in COUNTED.items():
        words = ["--kernel", ",".join(kernels), "--mode", mode, "--key-bits", "128"]
        words += ["--bytes", ",".join(map(str, SIZES))]
        for operation, count in harness.count(words).items():
            found[operation.kernel, mode, operation.bytes] = count
    return per_byte(found)


def registry() -> list[tuple[str, str]]:
    """The primitive and the name of every kernel."""
    lines = (ROOT / "src/kernels.def").read_text().splitlines()
    kernels = (line[len("KERNEL(") :].split(",") for line in lines if line.startswith("KERNEL("))
    return [(words[0].strip(), words[1].strip()) for words in kernels]


@pytest.mark.parametrize(
    ("target", "prefix", "least"),
    [("efi-ovmf", "x86_", 8), ("efi-aavmf", "a64_", 12)],
    ids=["ovmf", "aavmf"],
)
def test_every_kernel_answers(work: pathlib.Path, target: str, prefix: str, least: int) -> None:
    lines = run_in(work, target, ANSWERS, GUARDS)
    checks = [line for line in lines if line["type"] == "check"]
    assert [line for line in checks if line["result"] == "fail"] == []
    passed = [line for line in checks if line["result"] == "pass"]
    properties = ANSWERS.rsplit(maxsplit=1)[-1].split(",")
    answered = {
        (line["primitive"], line["kernel"]) for line in passed if line["property"] in properties
    }
    guarded = {
        (line["primitive"], line["kernel"])
        for line in passed
        if line["property"] == GUARDED_OF.get(line["primitive"], GUARDED)
    }
    skipped = {
        (line["primitive"], line["kernel"])
        for line in checks
        if line["property"] == "all" and line["result"] == "skip"
    }
    run_here = [kernel for kernel in registry() if kernel not in skipped]
    assert [kernel for kernel in run_here if kernel not in answered] == [], "were not checked"
    assert [kernel for kernel in run_here if kernel not in guarded] == [], "had no guard pages"
    own = {name for _, name in answered if name.startswith(prefix)}
    assert len(own) >= least, own


@pytest.mark.parametrize(
    ("emulator", "leave"), [("-cpu Westmere", False), ("", True)], ids=["Westmere", "leave-state"]
)
def test_a_cpu_without_avx_state_runs_no_avx_kernel(
    work: pathlib.Path, emulator: str, leave: bool
) -> None:
    lines = run_in(work, "efi-ovmf", "list", emulator=emulator, leave=leave)
    kernels = [line for line in lines if line["type"] == "kernel" and line["runs"]]
    assert [line["name"] for line in kernels if "avx" in line["needs"]] == []
    assert "x86_vperm" in [line["name"] for line in kernels]


def test_instructions_equal_those_under_qemu_user(work: pathlib.Path) -> None:
    kernels = ",".join(name for names in COUNTED.values() for name in names)
    lines = run_in(
        work,
        "efi-aavmf",
        f"bench --counter pmccntr --samples 3 --budget-ms 20 --kernel {kernels} "
        f"--mode {','.join(COUNTED)} --key-bits 128 --bytes {SIZES[0]},{SIZES[1]}",
        emulator=ICOUNT,
    )
    points = {
        (line["kernel"], line["mode"], line["bytes"]): line["cycles"]
        for line in lines
        if line["type"] == "bench"
    }
    assert {point: found for point, found in points.items() if len(set(found)) != 1} == {}
    here = per_byte({point: found[0] for point, found in points.items()})
    there = counted_under_qemu_user(work)
    assert len(there) >= 6
    differ = {
        point: f"{here[point]:.4f} in firmware, {count:.4f} under qemu-user"
        for point, count in there.items()
        if abs(here[point] - count) / count >= TOLERANCE
    }
    assert differ == {}, "instructions per byte"


def test_the_image_of_a_stick_is_small(work: pathlib.Path) -> None:
    path = work / "stick.img"
    everycore("efi", "image", "--out", path)
    assert path.stat().st_size <= IMAGE_BYTES


def test_u_boot_starts_it(work: pathlib.Path) -> None:
    commands = (f"{GUARDS} --primitive ghash", "check --quick --kernel a64_pmull")
    lines = run_in(work, "efi-uboot", *commands)
    checks = [line for line in lines if line["type"] == "check"]
    assert [line for line in checks if line["result"] == "fail"] == []
    assert len([line for line in checks if line["result"] == "pass"]) > 5


def test_u_boot_of_a_raspberry_pi_starts_it(work: pathlib.Path) -> None:
    lock = ROOT / "catalog/targets/efi-raspi3b.lock"
    with skip_without(f"U-Boot of {lock.name}"):
        debs.unpacked(system_context(), debs.read_lock(lock))
    check = f"check --quick --property {GUARDED} --kernel a64_vperm"
    lines = run_in(work, "efi-raspi3b", check)
    results = {line["kernel"]: line["result"] for line in lines if line["type"] == "check"}
    assert results == {"a64_vperm": "pass"}
