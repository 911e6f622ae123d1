#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings that `everycore pcd set` changes are those that the image has when firmware runs it.

pcd_boot.py

The application of tests/systems/firmware/settings.c prints its settings in AAVMF, as it was built
and after a change.
"""

import re
import shutil
import subprocess
import sys
import unittest

import firmware_boot
from firmware_boot import AAVMF, FLAGS, MACHINES, SECONDS, SOURCES, WORK, run

NEEDS = {"clang": "clang", "lld-link": "lld", "qemu-system-aarch64": "qemu-system-arm"}
ANSWER = re.compile(rb"the settings are ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{16}) (\w*)\.")
BEFORE = ["0000000011223344", "0000000000000001", "1122334455667788", "default"]
AFTER = ["0000000000000014", "0000000000000000", "ffffffffffffffff", "changed"]


def missing() -> list[str]:
    absent = [package for name, package in NEEDS.items() if not shutil.which(name)]
    return absent if (AAVMF / "AAVMF_CODE.fd").exists() else [*absent, "qemu-efi-aarch64"]


def boot(name: str) -> list[str]:
    """Boot an image in AAVMF, and return what it prints."""
    disk = WORK / f"disk-{name}/EFI/BOOT"
    disk.mkdir(parents=True)
    shutil.copy(WORK / name, disk / MACHINES["aarch64"])
    variables = WORK / f"{name}.fd"
    shutil.copy(AAVMF / "AAVMF_VARS.fd", variables)
    command = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", "512"]
    command += [
        "-drive",
        f"if=pflash,format=raw,readonly=on,file={AAVMF / 'AAVMF_CODE.fd'}",
        "-drive",
        f"if=pflash,format=raw,file={variables}",
    ]
    command += ["-drive", f"file=fat:{WORK}/disk-{name},format=raw,if=none,id=disk,readonly=on"]
    command += [
        "-device",
        "virtio-blk-pci,drive=disk,bootindex=0",
        "-net",
        "none",
        "-display",
        "none",
    ]
    command += ["-serial", "stdio", "-monitor", "none", "-no-reboot"]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
    )
    found = ANSWER.search(done.stdout)
    return [one.decode() for one in found.groups()] if found else [repr(done.stdout[-600:])]


class Settings(unittest.TestCase):
    """The values that firmware's console shows."""

    def test_the_image_has_its_defaults(self) -> None:
        self.assertEqual(boot("module.efi"), BEFORE)

    def test_the_changed_image_has_the_new_values(self) -> None:
        values = [
            "PcdRounds=20",
            "PcdEnable=FALSE",
            "PcdBase=0xFFFFFFFFFFFFFFFF",
            'PcdLabel="changed"',
        ]
        run(
            sys.executable,
            "-m",
            "everycore",
            "pcd",
            "set",
            "module.efi",
            *values,
            "--map",
            "module.map",
            "--out",
            "changed.efi",
        )
        self.assertEqual(boot("changed.efi"), AFTER)


def build() -> None:
    flags = [flag for flag in FLAGS if flag != "-mno-red-zone"]
    run(
        "clang",
        "-target",
        "aarch64-unknown-windows",
        *flags,
        "-c",
        SOURCES / "settings.c",
        "-o",
        "module.obj",
    )
    run(
        "lld-link",
        "/nologo",
        "/subsystem:efi_application",
        "/entry:efi_main",
        "/nodefaultlib",
        "/dll",
        "/out:module.efi",
        "/map:module.map",
        "module.obj",
    )


def main() -> int:
    try:
        if absent := missing():
            print(f"skipped: install {', '.join(absent)}")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        build()
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Settings)
        )
        failed = len(result.failures) + len(result.errors)
        print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
        return 1 if failed else 0
    finally:
        shutil.rmtree(firmware_boot.WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
