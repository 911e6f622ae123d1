#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Firmware takes the option ROMs that `everycore rom` builds: firmware_boot.py

An example of a driver (tests/systems/firmware/hash_driver.c: SHA-256 by EFI Hash2), for x86-64 and
AArch64, is built into one ROM. Emulated machines with EDK2 boot an application that says whether
the driver runs, and hashes rightly: in OVMF and in AAVMF, from a ROM built compressed and plain,
and from a ROM of Debian's iPXE to which the driver was added. Under Secure Boot, in AAVMF, the hash
that `everycore rom hash` prints decides: in db the driver runs, without it not.
"""

import concurrent.futures
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests/systems/firmware"
FLAGS = [
    "-ffreestanding",
    "-fno-stack-protector",
    "-fshort-wchar",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-mno-red-zone",
]
SOURCE_OF = {"application": "application.c", "driver": "hash_driver.c"}
MACHINES = {"x86_64": "BOOTX64.EFI", "aarch64": "BOOTAA64.EFI"}
IDS = ["--vendor", "8086", "--device", "100e", "--class", "020000"]  # of QEMU's e1000
OWNER = "0f4d1f3e-9d4f-4a6e-8a0c-54a1c3d3a5b1"
SECONDS = 240
ANSWER = re.compile(rb"EVERYCORE: the driver is ([a-z ]+)")
OVMF = pathlib.Path("/usr/share/OVMF")
AAVMF = pathlib.Path("/usr/share/AAVMF")
IPXE = next(
    (
        path
        for path in map(
            pathlib.Path, ("/usr/lib/ipxe/qemu/efi-e1000.rom", "/usr/share/qemu/efi-e1000.rom")
        )
        if path.exists()
    ),
    pathlib.Path("efi-e1000.rom"),
)
WORK = pathlib.Path(tempfile.mkdtemp(prefix="firmware-boot."))

NEEDS = {
    "clang": "clang",
    "lld-link": "lld",
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-system-aarch64": "qemu-system-arm",
    str(OVMF / "OVMF_CODE_4M.fd"): "ovmf",
    str(AAVMF / "AAVMF_CODE.ms.fd"): "qemu-efi-aarch64",
    str(IPXE): "ipxe-qemu",
}


def missing() -> list[str]:
    """The packages that are not installed."""
    absent = [
        package
        for name, package in NEEDS.items()
        if not (shutil.which(name) or pathlib.Path(name).exists())
    ]
    modules = {"uefi_firmware": "uefi-firmware (Python)", "virt": "virt-firmware (Python)"}
    return absent + [
        package for name, package in modules.items() if importlib.util.find_spec(name) is None
    ]


def run(*argv: str | pathlib.Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "lab")}
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        cwd=WORK,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, argv))}\n{done.stdout}{done.stderr}")
    return done.stdout


def rom(*words: str | pathlib.Path) -> str:
    return run(sys.executable, "-m", "everycore", "rom", *words)


def compile_all() -> None:
    for machine, boot_name in MACHINES.items():
        flags = [flag for flag in FLAGS if flag != "-mno-red-zone" or machine == "x86_64"]
        for name, subsystem in (
            ("application", "efi_application"),
            ("driver", "efi_boot_service_driver"),
        ):
            thing = f"{name}-{machine}"
            run(
                "clang",
                "-target",
                f"{machine}-unknown-windows",
                *flags,
                "-c",
                SOURCES / SOURCE_OF[name],
                "-o",
                f"{thing}.obj",
            )
            run(
                "lld-link",
                "/nologo",
                f"/subsystem:{subsystem}",
                "/entry:efi_main",
                "/nodefaultlib",
                "/dll",
                f"/out:{thing}.efi",
                f"{thing}.obj",
            )
        disk = WORK / f"disk-{machine}/EFI/BOOT"
        disk.mkdir(parents=True)
        shutil.copy(WORK / f"application-{machine}.efi", disk / boot_name)


def make_roms() -> None:
    drivers = [f"driver-{machine}.efi" for machine in MACHINES]
    rom("build", *drivers, *IDS, "--compress", "--out", "packed.rom")
    rom("build", *drivers, *IDS, "--out", "plain.rom")
    rom("insert", IPXE, "driver-aarch64.efi", "--size", "256K", "--out", "ipxe.rom")
    rom("drop", "packed.rom", "1", "--out", "x64.rom")


def boot(machine: str, rom_name: str, variables: pathlib.Path | None = None) -> str:
    """Boot, and return what the application says of the driver; `variables`: under Secure Boot,
    with these.
    """
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        own = pathlib.Path(folder) / "variables.fd"
        if machine == "x86_64":
            code = OVMF / "OVMF_CODE_4M.fd"
            shutil.copy(OVMF / "OVMF_VARS_4M.fd", own)
            command = ["qemu-system-x86_64", "-machine", "q35", "-m", "256"]
        else:
            code = AAVMF / ("AAVMF_CODE.ms.fd" if variables else "AAVMF_CODE.fd")
            shutil.copy(variables or AAVMF / "AAVMF_VARS.fd", own)
            command = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", "512"]
        command += [
            "-drive",
            f"if=pflash,format=raw,readonly=on,file={code}",
            "-drive",
            f"if=pflash,format=raw,file={own}",
        ]
        command += [
            "-drive",
            f"file=fat:{WORK}/disk-{machine},format=raw,if=none,id=disk,readonly=on",
        ]
        command += [
            "-device",
            "virtio-blk-pci,drive=disk,bootindex=0",
            "-device",
            f"e1000,romfile={WORK / rom_name}",
        ]
        command += [
            "-net",
            "none",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-monitor",
            "none",
            "-no-reboot",
        ]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    found = ANSWER.search(done.stdout)
    return (
        found[1].decode() if found else f"not asked: {done.stdout[-600:]!r} {done.stderr[-300:]!r}"
    )


def with_hashes(name: str, hashes: list[str]) -> pathlib.Path:
    """AAVMF's variables with Secure Boot on, and hashes in db."""
    adds = [word for one in hashes for word in ("--add-db-hash", OWNER, one)]
    run(
        sys.executable,
        "-m",
        "virt.firmware.vars",
        "--input",
        AAVMF / "AAVMF_VARS.ms.fd",
        "--output",
        name,
        *adds,
    )
    return WORK / name


def hashes_of(*names: str) -> list[str]:
    return [line.split()[0] for line in rom("hash", *names).splitlines()]


def runs() -> dict[str, tuple[str, str, pathlib.Path | None, str]]:
    """Name -> machine, ROM, variables, and what the application has to say."""
    application, driver = hashes_of("application-aarch64.efi"), hashes_of("packed.rom")[1:]
    return {
        "packed_in_ovmf": ("x86_64", "packed.rom", None, "present"),
        "packed_in_aavmf": ("aarch64", "packed.rom", None, "present"),
        "plain_in_aavmf": ("aarch64", "plain.rom", None, "present"),
        "added_to_ipxe_in_aavmf": ("aarch64", "ipxe.rom", None, "present"),
        "for_x86_64_alone_in_aavmf": ("aarch64", "x64.rom", None, "absent"),
        "secure_boot_with_the_hash": (
            "aarch64",
            "packed.rom",
            with_hashes("with.fd", application + driver),
            "present",
        ),
        "secure_boot_plain_with_the_hash": (
            "aarch64",
            "plain.rom",
            with_hashes("plain.fd", application + hashes_of("driver-aarch64.efi")),
            "present",
        ),
        "secure_boot_without_the_hash": (
            "aarch64",
            "packed.rom",
            with_hashes("without.fd", application),
            "absent",
        ),
    }


class Boot(unittest.TestCase):
    """A test for each run, made by make_tests()."""


def make_tests() -> None:
    compile_all()
    make_roms()
    table = runs()
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        answers = {name: pool.submit(boot, *run[:3]) for name, run in table.items()}
    for name, (*_, expected) in table.items():

        def check(self: unittest.TestCase, name: str = name, expected: str = expected) -> None:
            self.assertEqual(answers[name].result(), expected)

        setattr(Boot, f"test_{name}", check)


def main() -> int:
    try:
        if absent := missing():
            print(f"skipped: install {', '.join(absent)}")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        make_tests()
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Boot)
        )
        failed = len(result.failures) + len(result.errors)
        print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
        return 1 if failed else 0
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
