# SPDX-License-Identifier: MIT
"""EFI programs, and emulated machines with EDK2 that start them."""

import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

from processes import ROOT, run

SOURCES = ROOT / "tests/systems/firmware"
SECONDS = 240  # at most, for a boot
FLAGS = (
    "-ffreestanding",
    "-fno-stack-protector",
    "-fshort-wchar",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
)


@dataclasses.dataclass(frozen=True)
class Machine:
    """An architecture, its firmware, and the emulator."""

    architecture: str
    boot_name: str  # of the program that firmware starts
    code: pathlib.Path
    variables: pathlib.Path  # as delivered; each boot has a copy
    emulator: tuple[str, ...]
    cpu: str
    flags: tuple[str, ...] = ()  # of the compiler

    def command(self, folder: pathlib.Path, *words: str | pathlib.Path) -> list[str]:
        """Return the emulator's command for one boot, with the console as its output."""
        copy = folder / "variables.fd"
        shutil.copy(self.variables, copy)
        command = [*self.emulator, "-cpu", self.cpu]
        command += ["-drive", f"if=pflash,format=raw,readonly=on,file={self.code}"]
        command += ["-drive", f"if=pflash,format=raw,file={copy}"]
        command += ["-net", "none", *map(str, words), "-display", "none"]
        return [*command, "-serial", "stdio", "-monitor", "none", "-no-reboot"]

    def boot(self, work: pathlib.Path, program: pathlib.Path, *words: str) -> bytes:
        """Start a program from a disk; return what the console showed when the machine is off."""
        with tempfile.TemporaryDirectory(dir=work) as name:
            folder = pathlib.Path(name)
            place = folder / "disk/EFI/BOOT"
            place.mkdir(parents=True)
            shutil.copy(program, place / self.boot_name)
            done = subprocess.run(
                self.command(folder, *disk(f"fat:{folder}/disk,readonly=on"), *words),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=SECONDS,
                check=False,
            )
        return done.stdout + done.stderr


OVMF = Machine(
    "x86_64",
    "BOOTX64.EFI",
    pathlib.Path("/usr/share/OVMF/OVMF_CODE_4M.fd"),
    pathlib.Path("/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ("qemu-system-x86_64", "-machine", "q35", "-m", "256"),
    "qemu64",
    ("-mno-red-zone",),
)
AAVMF = Machine(
    "aarch64",
    "BOOTAA64.EFI",
    pathlib.Path("/usr/share/AAVMF/AAVMF_CODE.fd"),
    pathlib.Path("/usr/share/AAVMF/AAVMF_VARS.fd"),
    ("qemu-system-aarch64", "-machine", "virt", "-m", "512"),
    "cortex-a57",
)
SECURE_AAVMF = dataclasses.replace(
    AAVMF,
    code=pathlib.Path("/usr/share/AAVMF/AAVMF_CODE.ms.fd"),
    variables=pathlib.Path("/usr/share/AAVMF/AAVMF_VARS.ms.fd"),
)


def disk(file: str) -> tuple[str, ...]:
    """Return the emulator's words for a disk to boot from; options may follow the file's name."""
    device = "virtio-blk-pci,drive=disk,bootindex=0"
    return "-drive", f"file={file},format=raw,if=none,id=disk", "-device", device


def build_efi(
    folder: pathlib.Path, name: str, source: str, machine: Machine, subsystem: str, *link: str
) -> pathlib.Path:
    """Compile and link one of SOURCES; return the image."""
    target = f"{machine.architecture}-unknown-windows"
    flags = (*FLAGS, *machine.flags, "-c")
    run(["clang", "-target", target, *flags, SOURCES / source, "-o", f"{name}.obj"], folder)
    words = ("/nologo", f"/subsystem:{subsystem}", "/entry:efi_main", "/nodefaultlib", "/dll")
    run(["lld-link", *words, f"/out:{name}.efi", *link, f"{name}.obj"], folder)
    return folder / f"{name}.efi"
