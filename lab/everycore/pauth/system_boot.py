# SPDX-License-Identifier: MIT
"""A whole system: Debian's kernel for arm64, and a program of ours in the place of all others."""

import re
import struct
from collections.abc import Sequence
from pathlib import Path

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.pauth.emulators import (
    LACKING,
    PROPERTIES,
    Emulator,
    asked,
    counts_itself,
    has_plugins,
    locked,
    named,
    stored,
    suffix_of,
)
from everycore.pauth.programs import GUEST, SUITE, Making, Program, built

EMULATOR = "qemu-system-aarch64"
PACKAGE = "qemu-system-arm"
KERNEL = "linux-image-cloud-arm64"  # the smallest of Debian's; signs like the others
SOLELY_INSTALLERS = ("initramfs-tools", "kmod", "linux-base", "linux-initramfs-tool")
MACHINE = ("-M", "virt", "-nodefaults", "-display", "none")
MEMORY_MIB = 512
# The kernel hands what it does not know, with a =, to its first program as environment.
COMMAND_LINE = "console=ttyAMA0 quiet loglevel=0 panic=-1 WORK="
DONE = "everycore: all "  # guest/init.c
PROGRAMS = {"boot": 0, "system-calls": 40}

_VERSION = re.compile(r"QEMU emulator version (\d+)\.(\d+)(\S*)")
# A kernel that computes a code and turns the machine off. Arm ARM DDI 0487; Arm DEN0022 (PSCI).
PROBE = (
    0xD5381000,  # mrs x0, sctlr_el1
    0xB2610000,  # orr x0, x0, #0x80000000: EnIA
    0xD5181000,  # msr sctlr_el1, x0
    0xD5033FDF,  # isb
    0xD503211F,  # pacia1716
    0x52B08000,  # mov w0, #0x84000000
    0x72800100,  # movk w0, #8: SYSTEM_OFF
    0xD4000002,  # hvc #0
)


def identify(context: Context, argv: Sequence[str]) -> Emulator:
    """Ask a system emulator what it is, and let it run a kernel of eight instructions."""
    name = named(context, argv, _VERSION, EMULATOR)
    probe = stored(context, "kernel", struct.pack(f"<{len(PROBE)}I", *PROBE))
    machine = (*MACHINE, "-kernel", str(probe), "-cpu")
    found = frozenset(p for p in PROPERTIES if _runs(context, argv, [*machine, f"max,{p}=on"]))
    if "pauth" not in found:
        raise EverycoreError(
            f"{argv[-1]} has no property 'pauth' of the CPU 'max'",
            f"wanted is a {EMULATOR} of QEMU 6.0 or later",
        )
    patched = counts_itself(context, [*argv, *machine, "max,pauth=on"])
    return Emulator(
        name=name + suffix_of(patched, found),
        argv=tuple(argv),
        properties=found,
        has_plugins=has_plugins(context, argv),
        is_patched=patched,
    )


def _runs(context: Context, argv: Sequence[str], options: Sequence[str]) -> bool:
    """False if it lacks the property in the options."""
    done = asked(context, [*argv, *options])
    if done.code and not LACKING.search(done.stderr):
        said = done.stderr.strip() or f"it ended with {done.code}"
        raise EverycoreError(f"{argv[-1]} does not run a kernel of eight instructions: {said}")
    return done.code == 0


def make(context: Context, name: str, compiler: str, update: bool) -> Program:
    """A boot, to the first program; or beyond."""
    if name not in PROGRAMS:
        raise unknown_name("program", name, PROGRAMS)
    making = Making(context, compiler, update)
    init = built(making, "init", [GUEST / "init.c"])
    request = Request((SUITE,), "arm64", (KERNEL,), exclude=SOLELY_INSTALLERS)
    lock = locked(context, request, f"linux-{SUITE}", update)
    kernel = next(debs.unpacked(context, lock).glob("boot/vmlinuz-*"), None)
    if kernel is None:
        raise EverycoreError(f"{KERNEL} has no kernel in boot/", "--update takes another version")
    version = next(pin.version for pin in lock.packages if pin.name == KERNEL)
    does = "boots and is turned off" if name == "boot" else "boots, and serves system calls"
    return Program(
        name,
        f"Linux {version} of {SUITE} {does}",
        (*MACHINE, "-m", str(MEMORY_MIB), "-serial", "stdio", "-no-reboot"),
        {},
        ("-kernel", str(kernel), "-initrd", str(_initrd(init)), "-append"),
        PROGRAMS[name],
        before=COMMAND_LINE,
        marker=DONE,
    )


def _initrd(init: Path) -> Path:
    path = init.with_name("initrd")
    if not path.is_file():
        with atomic_write(path) as scratch:
            scratch.write_bytes(archive_of(init.read_bytes()))
    return path


def archive_of(init: bytes) -> bytes:
    """A first file system: a console and a program (Linux, buffer-format.rst: newc)."""
    return b"".join(
        [
            _entry("dev", 0o40755),
            _entry("dev/console", 0o20600, device=(5, 1)),
            _entry("init", 0o100755, init),
            _entry("TRAILER!!!", 0),
        ]
    )


def _entry(name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)) -> bytes:
    inode = sum(name.encode())  # one of its own is enough
    numbers = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % number for number in numbers) + name.encode() + b"\0"
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
