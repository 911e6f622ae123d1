#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""EDK2 builds the library as a library class, and what it builds runs in firmware: edk2_build.py

EDK2 is Debian's source package. Its build takes contrib/edk2 as a package, for AArch64 and X64 by
GCC; the application of tests/systems/edk2 seals and opens a message in AAVMF and in OVMF, and
refuses a damaged tag.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/systems/edk2"
AAVMF = pathlib.Path("/usr/share/AAVMF")
OVMF = pathlib.Path("/usr/share/OVMF")
MACHINES = {  # the name of the image to boot, firmware, variables, and the emulator's words
    "AARCH64": (
        "BOOTAA64.EFI",
        AAVMF / "AAVMF_CODE.fd",
        AAVMF / "AAVMF_VARS.fd",
        ("qemu-system-aarch64", "-machine", "virt", "-cpu", "max", "-m", "512"),
    ),
    "X64": (
        "BOOTX64.EFI",
        OVMF / "OVMF_CODE_4M.fd",
        OVMF / "OVMF_VARS_4M.fd",
        ("qemu-system-x86_64", "-machine", "q35", "-cpu", "Haswell", "-m", "256"),
    ),
}
TOOLS = ("Common", "GenFw", "GenSec", "GenFfs")  # the programs in C that this build calls
CONFIGURATION = {
    "build_rule": "build_rule.txt",
    "tools_def": "tools_def.txt",
    "target": "target.txt",
}
TOOLCHAIN = "GCC49"  # as GCC5, without optimisation by the linker
ANSWER = re.compile(rb"EVERYCORE: tag (\w+) ([a-z ]+)\.")
EXPECTED = ("73d5e5ed", "opened refused")  # the tag of README.md
SECONDS = 1800

sys.path.insert(0, str(ROOT / "lab"))


class LackingError(Exception):
    """A program or a source that is not here."""


def sources() -> pathlib.Path:
    """The folder with EDK2's sources; a failure to fetch them is no failure of ours."""
    from everycore.compile import debs
    from everycore.compile.debs.lock import Request
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    context = system_context()
    try:
        request = Request(("bookworm",), "source", sources=("edk2",))
        lock = debs.pinned(context, request, HERE / "edk2-bookworm.lock", update=False)
        return debs.unpacked_source(context, lock, "edk2")
    except EverycoreError as error:
        raise LackingError(f"no sources of EDK2: {error.message}") from error


def missing() -> list[str]:
    needs = {
        "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu",
        "gcc": "gcc",
        "make": "make",
        "nasm": "nasm",
        "qemu-system-aarch64": "qemu-system-arm",
        "qemu-system-x86_64": "qemu-system-x86",
    }
    absent = [package for name, package in needs.items() if not shutil.which(name)]
    absent += [] if pathlib.Path("/usr/include/uuid/uuid.h").exists() else ["uuid-dev"]
    packages = {AAVMF / "AAVMF_CODE.fd": "qemu-efi-aarch64", OVMF / "OVMF_CODE_4M.fd": "ovmf"}
    return absent + [package for file, package in packages.items() if not file.exists()]


def run(command: list[str], folder: pathlib.Path, log: pathlib.Path, **environment: str) -> None:
    """Run a command; AssertionError has the end of what it printed."""
    with log.open("a") as file:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            stdout=file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{log.read_text(errors='replace')[-3000:]}")


def build(work: pathlib.Path) -> dict[str, pathlib.Path]:
    """The applications that EDK2 built, by machine, in a folder of its own."""
    tree, space, log = work / "edk2", work / "space", work / "log.txt"
    source = sources()
    for name in ("BaseTools", "MdePkg"):
        shutil.copytree(source / name, tree / name, symlinks=True)
    tools = tree / "BaseTools"
    for name in TOOLS:
        run(["make", "-C", str(tools / "Source/C" / name)], tree, log)
    (space / "Conf").mkdir(parents=True)
    for name, target in CONFIGURATION.items():
        shutil.copy(tools / f"Conf/{name}.template", space / "Conf" / target)
    packages = (tree, ROOT / "contrib/edk2", HERE)
    environment = {
        "WORKSPACE": str(space),
        "PACKAGES_PATH": ":".join(map(str, packages)),
        "EDK_TOOLS_PATH": str(tools),
        "CONF_PATH": str(space / "Conf"),
        "PYTHON_COMMAND": sys.executable,
        "PATH": f"{tools / 'BinWrappers/PosixLike'}:{os.environ['PATH']}",
        f"{TOOLCHAIN}_AARCH64_PREFIX": "aarch64-linux-gnu-",
    }
    platform = "EverycoreTestPkg/EverycoreTest.dsc"
    machines = [word for machine in MACHINES for word in ("-a", machine)]
    run(
        ["build", "-n", "2", *machines, "-t", TOOLCHAIN, "-b", "RELEASE", "-p", platform],
        space,
        log,
        **environment,
    )
    return {
        machine: space / f"Build/RELEASE_{TOOLCHAIN}/{machine}/EverycoreTest.efi"
        for machine in MACHINES
    }


def boot(machine: str, image: pathlib.Path, work: pathlib.Path) -> tuple[str, ...]:
    """Boot the application in firmware, and return what it prints."""
    name, code, kept, emulator = MACHINES[machine]
    folder, variables = work / f"disk-{machine}", work / f"variables-{machine}.fd"
    (folder / "EFI/BOOT").mkdir(parents=True)
    shutil.copy(image, folder / "EFI/BOOT" / name)
    shutil.copy(kept, variables)
    command = [
        *emulator,
        "-drive",
        f"if=pflash,format=raw,readonly=on,file={code}",
        "-drive",
        f"if=pflash,format=raw,file={variables}",
    ]
    command += ["-drive", f"file=fat:{folder},format=raw,if=none,id=disk,readonly=on"]
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
    return tuple(one.decode() for one in found.groups()) if found else (repr(done.stdout[-600:]),)


class Edk2(unittest.TestCase):
    """One build for all machines, and a boot of each image."""

    def test_edk2_builds_the_library_and_firmware_runs_it(self) -> None:
        with tempfile.TemporaryDirectory(prefix="edk2-build.") as folder:
            work = pathlib.Path(folder)
            for machine, image in build(work).items():
                self.assertEqual(boot(machine, image, work), EXPECTED, machine)


def main() -> int:
    try:
        if absent := missing():
            raise LackingError(f"install {', '.join(absent)}")
        sources()
    except LackingError as error:
        print(f"skipped: {error}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Edk2)
    )
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
