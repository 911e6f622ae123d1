# SPDX-License-Identifier: MIT
"""EFI programs, and emulated machines with EDK2 that start them."""

import contextlib
import dataclasses
import pathlib
import resource
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence

from processes import ROOT, run

SOURCES = ROOT / "tests/systems/firmware"
CPU_SECONDS = 120  # of the emulator for a boot, at most, however busy this machine is
SECONDS = 300  # for a boot that waits for something, at most
TRIES = 2  # a boot in some thousands stops within firmware, with any image
FLAGS = (
    "-ffreestanding",
    "-fno-stack-protector",
    "-fshort-wchar",
    "-O2",
    "-Wall",
    "-Wextra",
    "-Werror",
)


@contextlib.contextmanager
def started(command: Sequence[str]) -> Iterator["subprocess.Popen[bytes]"]:
    """An emulator with the console as its output, which ends at the limits, or with this block."""
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as qemu:
        resource.prlimit(qemu.pid, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        limit = threading.Timer(SECONDS, qemu.kill)
        limit.start()
        try:
            yield qemu
        finally:
            limit.cancel()
            qemu.kill()


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
        """Start a program from a disk; return what the console showed when the machine is off.

        A boot that the limits ended is tried again.
        """
        for _ in range(TRIES):
            said, is_off = self._boot_once(work, program, *words)
            if is_off:
                break
        return said

    def _boot_once(
        self, work: pathlib.Path, program: pathlib.Path, *words: str
    ) -> tuple[bytes, bool]:
        """Return what the console showed, and whether the machine was switched off in time."""
        with tempfile.TemporaryDirectory(dir=work) as name:
            folder = pathlib.Path(name)
            place = folder / "disk/EFI/BOOT"
            place.mkdir(parents=True)
            shutil.copy(program, place / self.boot_name)
            command = self.command(folder, *disk(f"fat:{folder}/disk,readonly=on"), *words)
            with started(command) as qemu:
                assert qemu.stdout is not None
                return qemu.stdout.read(), qemu.wait() == 0


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
