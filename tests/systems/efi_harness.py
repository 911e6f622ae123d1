#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The harness in firmware: efi_harness.py

Emulated machines start the EFI application. In OVMF and AAVMF every kernel gives the known answers,
and keeps to its buffers, which lie between pages without access; on a CPU without AVX, and with
--leave-state, no AVX kernel runs. In AAVMF with instructions as the clock, each of the points below
takes as many instructions as the same objects take under qemu-user. U-Boot starts it, on QEMU's own
machine and on a Raspberry Pi.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
WORK = pathlib.Path(tempfile.mkdtemp(prefix="efi-harness."))
# Published answers, or where none are (words of numbers) those of the reference.
ANSWERS = "check --quick --property known_answers,quotients_equal_reference,in_place_equals_apart"
# The properties that lay the buffers between pages without access.
GUARDED = "accesses_stay_inside_the_buffers"
GUARDED_OF = {"qarma": "many_equal_one_by_one"}
GUARDS = f"check --quick --property {','.join((GUARDED, *GUARDED_OF.values()))}"
IMAGE_BYTES = 2 << 20  # at most
COUNTED = {  # kernels by mode
    "ctr": ("a64_ce", "a64_bitslice", "a64_vperm", "c_bitslice64"),
    "ghash": ("a64_pmull", "c_ctmul64"),
    "qarma5-blocks": ("a64_tbl",),
}
SIZES = 1024, 4096  # bytes of a message: the difference is of the bytes alone, without the call
TOLERANCE = 0.005
ICOUNT = "-icount shift=0,sleep=off"
NEEDS = {
    "clang": "clang",
    "ld.lld": "lld",
    "mformat": "mtools",
    "qemu-aarch64": "qemu-user",
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-system-aarch64": "qemu-system-arm",
    "/usr/share/OVMF/OVMF_CODE_4M.fd": "ovmf",
    "/usr/share/AAVMF/AAVMF_CODE.fd": "qemu-efi-aarch64",
    "/usr/lib/u-boot/qemu_arm64/u-boot.bin": "u-boot-qemu",
    "dtc": "device-tree-compiler",
}


def missing() -> list[str]:
    return [
        package
        for name, package in NEEDS.items()
        if not (shutil.which(name) or pathlib.Path(name).exists())
    ]


def run_in(
    target: str, *commands: str, emulator: str = "", leave: bool = False
) -> list[dict[str, Any]]:
    """The lines that a boot stores; whatever the exit code, for a failed check is in the lines."""
    out = pathlib.Path(tempfile.mkdtemp(dir=WORK)) / "result.jsonl"
    argv = [
        sys.executable,
        "-m",
        "everycore",
        "efi",
        "run",
        "--target",
        target,
        "--out",
        str(out),
        *commands,
    ]
    argv += ["--emulator", emulator] if emulator else []
    argv += ["--leave-state"] if leave else []
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    if not out.exists():
        raise AssertionError(f"{target}: {done.stdout}{done.stderr}")
    if "no guard pages" in done.stderr:
        raise AssertionError(done.stderr)
    return [json.loads(line) for line in out.read_text().splitlines()]


def per_byte(counts: dict[tuple[str, str, int], float]) -> dict[tuple[str, str], float]:
    small, large = SIZES
    points = dict.fromkeys(key[:2] for key in counts)
    return {
        point: (counts[*point, large] - counts[*point, small]) / (large - small) for point in points
    }


def counted_under_qemu_user() -> dict[tuple[str, str], float]:
    """Instructions per byte, of the very objects of the EFI application, linked with
    tests/systems/bare into a program.
    """
    from everycore.compile import catalog
    from everycore.compile.toolchains import find_compiler
    from everycore.environment.context import system_context
    from everycore.estimate.executed import CPU, Harness
    from everycore.model.domain import Build
    from everycore.model.targets import load_target
    from everycore.run.session import Session
    from everycore.run.transport import transport_for
    from everycore.run.uefi import application, boot_targets

    context = system_context()
    tree = catalog.find_tree(context.package, "")
    objects = application.objects(context, tree, boot_targets.ARCHITECTURES["aarch64"])
    kept = [path for source, path in objects if "port" not in source.parts]
    binary = WORK / "harness"
    flags = ["-ffreestanding", "-nostdlibinc", "-DHARNESS_BARE", "-O2", "-fpie"]
    flags += [
        f"-I{ROOT / folder}"
        for folder in ("harness/bare/include", "harness/bare", "include", "src", "harness")
    ]
    bare = []
    for source in sorted((ROOT / "tests/systems/bare").glob("*.[cS]")):
        bare.append(WORK / f"{source.name}.o")
        more = ["-DBENCH_IS_THERE"] if source.name == "commands.c" else []
        subprocess.run(
            ["clang", "--target=aarch64-none-elf", *flags, *more, "-c", source, "-o", bare[-1]],
            check=True,
        )
    subprocess.run(["ld.lld", "-static", "--gc-sections", "-o", binary, *kept, *bare], check=True)
    target = load_target(tree, "qemu-aarch64")
    compiler = find_compiler(context, target, "clang --target=aarch64-none-elf", (), "x86_64")
    session = Session(tree, target, Build(binary, compiler, ()), transport_for(context, target))
    harness = Harness(context, session, CPU["a64"])
    found: dict[tuple[str, str, int], float] = {}
    for mode, kernels in COUNTED.items():
        words = [
            "--kernel",
            ",".join(kernels),
            "--mode",
            mode,
            "--key-bits",
            "128",
            "--bytes",
            ",".join(map(str, SIZES)),
        ]
        for operation, count in harness.count(words).items():
            found[operation.kernel, mode, operation.bytes] = count
    return per_byte(found)


class Firmware(unittest.TestCase):
    def every_kernel_answers(self, lines: list[dict[str, Any]], prefix: str, least: int) -> None:
        checks = [line for line in lines if line["type"] == "check"]
        self.assertEqual([line for line in checks if line["result"] == "fail"], [])
        passed = [line for line in checks if line["result"] == "pass"]
        answers = ANSWERS.rsplit(maxsplit=1)[-1].split(",")
        kernels = {
            (line["primitive"], line["kernel"]) for line in passed if line["property"] in answers
        }
        guarded = {
            (line["primitive"], line["kernel"])
            for line in passed
            if line["property"] == GUARDED_OF.get(line["primitive"], GUARDED)
        }
        registry = (ROOT / "src/kernels.def").read_text()
        for line in registry.splitlines():
            if not line.startswith("KERNEL("):
                continue
            primitive, name = (word.strip() for word in line[len("KERNEL(") :].split(",")[:2])
            skipped = any(
                one["kernel"] == name
                and one["primitive"] == primitive
                and one["property"] == "all"
                and one["result"] == "skip"
                for one in checks
            )
            self.assertTrue(
                skipped or (primitive, name) in kernels, f"{primitive} {name} was not checked"
            )
            self.assertTrue(
                skipped or (primitive, name) in guarded, f"{primitive} {name} had no guard pages"
            )
        own = {name for _, name in kernels if name.startswith(prefix)}
        self.assertGreaterEqual(len(own), least, own)

    def test_every_kernel_answers_in_ovmf(self) -> None:
        lines = run_in("efi-ovmf", ANSWERS, GUARDS)
        self.every_kernel_answers(lines, "x86_", 8)

    def test_every_kernel_answers_in_aavmf(self) -> None:
        lines = run_in("efi-aavmf", ANSWERS, GUARDS)
        self.every_kernel_answers(lines, "a64_", 12)

    def test_a_cpu_without_avx_state_runs_no_avx_kernel(self) -> None:
        for emulator, leave in (("-cpu Westmere", False), ("", True)):
            lines = run_in("efi-ovmf", "list", emulator=emulator, leave=leave)
            kernels = [line for line in lines if line["type"] == "kernel"]
            avx = [line["name"] for line in kernels if line["runs"] and "avx" in line["needs"]]
            self.assertEqual(avx, [])
            self.assertIn("x86_vperm", [line["name"] for line in kernels if line["runs"]])

    def test_instructions_equal_those_under_qemu_user(self) -> None:
        kernels = ",".join(name for names in COUNTED.values() for name in names)
        lines = run_in(
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
        self.assertEqual(
            {point: found for point, found in points.items() if len(set(found)) != 1},
            {},
            "not exact",
        )
        here = per_byte({point: found[0] for point, found in points.items()})
        there = counted_under_qemu_user()
        self.assertGreaterEqual(len(there), 6)
        for point, count in there.items():
            print(
                f"{' '.join(point)}: {here[point]:.4f} instructions per byte in firmware, "
                f"{count:.4f} under qemu-user"
            )
        for point, count in there.items():
            self.assertLess(abs(here[point] - count) / count, TOLERANCE, point)

    def test_the_image_of_a_stick_is_small(self) -> None:
        path = WORK / "stick.img"
        subprocess.run(
            [sys.executable, "-m", "everycore", "efi", "image", "--out", path], cwd=ROOT, check=True
        )
        self.assertLessEqual(path.stat().st_size, IMAGE_BYTES)

    def test_u_boot_starts_it(self) -> None:
        lines = run_in(
            "efi-uboot", f"{GUARDS} --primitive ghash", "check --quick --kernel a64_pmull"
        )
        checks = [line for line in lines if line["type"] == "check"]
        self.assertEqual([line for line in checks if line["result"] == "fail"], [])
        self.assertGreater(len([line for line in checks if line["result"] == "pass"]), 5)

    def test_u_boot_of_a_raspberry_pi_starts_it(self) -> None:
        from everycore.compile import debs
        from everycore.environment.context import system_context
        from everycore.environment.errors import EverycoreError

        try:
            debs.unpacked(
                system_context(), debs.read_lock(ROOT / "catalog/targets/efi-raspi3b.lock")
            )
        except EverycoreError as error:
            self.skipTest(
                f"the archive has the U-Boot of catalog/targets/efi-raspi3b.lock no longer: "
                f"{error.message}"
            )
        lines = run_in("efi-raspi3b", f"check --quick --property {GUARDED} --kernel a64_vperm")
        results = {line["kernel"]: line["result"] for line in lines if line["type"] == "check"}
        self.assertEqual(results, {"a64_vperm": "pass"})


def main() -> int:
    try:
        if absent := missing():
            print(f"skipped: install {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
            return 0
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Firmware)
        )
        failed = len(result.failures) + len(result.errors)
        skipped = len(result.skipped)
        print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
        return 1 if failed else 0
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
