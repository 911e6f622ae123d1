# SPDX-License-Identifier: MIT
"""Emulated CPUs with pointer authentication, and what they answer to a program of ours at EL1.

The program (tests/systems/pac_el1) runs by every algorithm, and writes down what the instructions
do; build/gcc/tests/oracles/pac_answers holds the library against that, with every kernel.
"""

import dataclasses
import functools
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

import pytest
from processes import ROOT, FailedError, find, need, run, skip_without
from running import BUILDS, compiled

from everycore.compile import debs
from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError, UnavailableError

HERE = ROOT / "tests/systems/pac_el1"
BUILD = ROOT / "build/pac_el1"
COMPARE = "tests/oracles/pac_answers"
LOCK = HERE / "qemu-trixie-amd64.lock"
# Linked by none of what is started here: modules' libraries, and what packages configure themselves
# with.
UNUSED = (
    "adduser",
    "libasound2t64",
    "libbrlapi0.8",
    "libcacard0",
    "libdb5.3t64",
    "libncursesw6",
    "libnss3",
    "libpam0g",
    "libpcsclite1",
    "libsasl2-modules-db",
    "libsystemd0",
    "libusb-1.0-0",
    "libusbredirparser1t64",
    "openssl-provider-legacy",
    "passwd",
)

FLAGS = [
    "-O2",
    "-std=gnu11",
    "-march=armv8.3-a",
    "-mgeneral-regs-only",
    "-mstrict-align",
    "-mbranch-protection=none",
    "-ffreestanding",
    "-fno-pic",
    "-fno-stack-protector",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wshadow",
    "-Wundef",
    "-Wcast-align",
    "-Werror",
    "-nostdlib",
    "-static",
]
ADDRESS = 0x40400000  # RAM of QEMU's virt begins at 0x40000000, with the device tree
COMPILERS = {  # the first that is here
    "aarch64-linux-gnu-gcc": ["-no-pie", "-Wl,--build-id=none", f"-Wl,-Ttext-segment={ADDRESS:#x}"],
    "clang": ["--target=aarch64-none-elf", "-fuse-ld=lld", f"-Wl,--image-base={ADDRESS:#x}"],
}
# Machines of QEMU, by the level at which the program starts.
EL1, EL2 = "virt", "virt,virtualization=on"
MACHINE = ["-m", "64", "-display", "none", "-nodefaults", "-net", "none"]
# The model and its ID_AA64ISAR1_EL1, once in the emulator; APA is bits 4 to 7.
V1, V1_ISAR1 = "neoverse-v1", 0x0011100001211032
CPUS = ("max", V1)  # FPACCombine (PAuth before QEMU 8.1), PAuth2
ALGORITHMS = ("", ",pauth-qarma5=on", ",pauth-qarma3=on", ",pauth-impdef=on")
OTHER_LEVELS = {"EPAC": 2, "FPAC": 4}  # of APA
LACKS = re.compile(r"Property '.*' not found|unable to find CPU model")
SECONDS = 300  # of a second or two
# Recorded: one in STRIDE settings; another seed has others, and each of these also some with all
# instructions.
STRIDE = 97
SAMPLE = {
    "pauth2-qarma5": ("neoverse-v1,pauth-qarma5=on", 54),
    "pauth2-qarma3": ("neoverse-v1,pauth-qarma3=on", 59),
    "pauth2-impdef": ("neoverse-v1,pauth-impdef=on", 10),
    "fpaccombine-qarma5": ("max,pauth-qarma5=on", 43),
    "fpaccombine-qarma3": ("max,pauth-qarma3=on", 45),
    "fpaccombine-impdef": ("max,pauth-impdef=on", 50),
    "el2-qarma3": ("max,pauth-qarma3=on", 70),
}
SAMPLE_OTHER_LEVELS = {
    "EPAC": {
        "epac-qarma5": ("neoverse-v1,pauth-qarma5=on", 23),
        "epac-impdef": ("neoverse-v1,pauth-impdef=on", 25),
    },
    "FPAC": {
        "fpac-qarma5": ("neoverse-v1,pauth-qarma5=on", 33),
        "fpac-qarma3": ("neoverse-v1,pauth-qarma3=on", 35),
    },
}
SAMPLE_OLD = {  # of QEMU before 8.1
    "pauth-qarma5": ("max", 20),
    "pauth-impdef": ("max,pauth-impdef=on", 30),
    "el2-impdef": ("max,pauth-impdef=on", 85),
}


@dataclasses.dataclass
class Emulator:
    argv: list[str]
    version: str
    pinned: bool = False  # it has every setting: what it refuses is a mistake here
    level: str = ""  # that of its neoverse-v1, if it is not QEMU's

    def __str__(self) -> str:
        return f"QEMU {self.version}" + (f" with {self.level}" if self.level else "")

    @property
    def sample(self) -> dict[str, tuple[str, int]]:
        """The recorded sample: name -> CPU and seed."""
        if self.level:
            return SAMPLE_OTHER_LEVELS[self.level]
        old = tuple(map(int, self.version.split(".")[:2])) < (8, 1)
        return SAMPLE_OLD if old else SAMPLE

    def answers(
        self, program: pathlib.Path, machine: str, cpu: str, seed: int = 1, stride: int = 1
    ) -> str:
        """Return the program's output on that CPU."""
        words = ",".join(f"arg={word}" for word in ("pac_el1", seed, stride))
        argv = [
            *self.argv,
            "-M",
            machine,
            *MACHINE,
            "-cpu",
            cpu,
            "-kernel",
            str(program),
            "-semihosting-config",
            f"enable=on,target=native,{words}",
        ]
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise FailedError(f"{self} -M {machine} -cpu {cpu} does not end") from error
        if LACKS.search(done.stderr):
            if self.pinned:
                raise FailedError(f"{self} has no -cpu {cpu}")
            pytest.skip(f"{self} has no -cpu {cpu}")
        if done.returncode or not done.stdout.endswith("\nend\n"):
            raise FailedError(
                f"{self} -M {machine} -cpu {cpu} ended with code {done.returncode}: {done.stderr}"
            )
        return done.stdout


@functools.cache
def built() -> pathlib.Path:
    """Return the program, for EL1."""
    found = [
        name
        for name in COMPILERS
        if shutil.which(name) and (name != "clang" or shutil.which("ld.lld"))
    ]
    if not found:
        need("aarch64-linux-gnu-gcc")
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "pac_el1"
    words = [found[0], *FLAGS, *COMPILERS[found[0]]]
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # another worker may run the program
        made = pathlib.Path(folder) / program.name
        run([*words, HERE / "start.S", HERE / "pac_el1.c", "-o", made])
        made.replace(program)
    return program


def emulator(*argv: str) -> Emulator:
    try:
        said = subprocess.run(
            [*argv, "--version"], capture_output=True, text=True, check=False
        ).stdout
    except OSError as error:
        raise FailedError(f"cannot run {argv[-1]}: {error.strerror}") from error
    version = re.match(r"QEMU emulator version (\S+)", said)
    if not version:
        raise FailedError(f"{argv[-1]} is no QEMU: it says {said!r} of its version")
    return Emulator([*argv], version[1])


def of_debian() -> Emulator:
    """Return QEMU of Debian 13 with its own libraries, started by its own loader."""
    if platform.machine() != "x86_64":
        pytest.skip("Debian's QEMU is fetched on x86-64 only")
    context = system_context()
    request = debs.Request(("trixie",), "amd64", ("qemu-system-arm",), exclude=UNUSED)
    remedy = (
        f"if the archive has moved on: delete {LOCK.relative_to(ROOT)} and run this again, which "
        f"writes it anew"
    )
    try:
        with skip_without("QEMU of Debian 13", UnavailableError, remedy):
            root = debs.unpacked(context, debs.pinned(context, request, LOCK, update=False))
    except EverycoreError as error:
        raise FailedError(f"QEMU of Debian 13: {error.message}") from error
    libraries = root / "usr/lib/x86_64-linux-gnu"
    found = emulator(
        str(root / "lib64/ld-linux-x86-64.so.2"),
        "--library-path",
        str(libraries),
        str(root / "usr/bin/qemu-system-aarch64"),
    )
    return dataclasses.replace(found, pinned=True)


def of_other_level(debian: Emulator, level: str) -> Emulator:
    """Return a copy whose neoverse-v1 has that level."""
    code = pathlib.Path(debian.argv[-1]).read_bytes()
    number, other = (
        (V1_ISAR1 & ~0xF0 | apa << 4).to_bytes(8, "little") for apa in (3, OTHER_LEVELS[level])
    )
    if code.count(number) != 1:
        raise FailedError(
            f"{debian} holds ID_AA64ISAR1_EL1 of its {V1} {code.count(number)} times, not once"
        )
    copy = BUILD / f"qemu-system-aarch64-{level}"
    copy.unlink(missing_ok=True)
    copy.write_bytes(code.replace(number, other))
    copy.chmod(0o755)
    return dataclasses.replace(debian, argv=[*debian.argv[:-1], str(copy)], level=level)


DEBIAN = "debian-13"
INSTALLED = "installed"
EMULATORS = (INSTALLED, DEBIAN, *(f"{DEBIAN}-{level}" for level in OTHER_LEVELS))


@functools.cache
def named(name: str) -> Emulator:
    """Return one of EMULATORS, or the emulator with this path."""
    if name == DEBIAN:
        return of_debian()
    if name in EMULATORS and name != INSTALLED:
        return of_other_level(named(DEBIAN), level_of(name))
    if name == INSTALLED:
        need("qemu-system-aarch64")
        name = str(find("qemu-system-aarch64"))
    return emulator(name)


def level_of(name: str) -> str:
    """Return the level of its own that an emulator's neoverse-v1 has."""
    level = name.removeprefix(f"{DEBIAN}-")
    return level if level in OTHER_LEVELS else ""


def settings(level: str, cpus: list[str]) -> list[tuple[str, str]]:
    """Return machines and CPUs: at EL1 all of these, at EL2 the first. A level of its own is that
    of neoverse-v1 alone.
    """
    if level:
        return [
            (EL1, cpu)
            for cpu in cpus or [V1 + algorithm for algorithm in ALGORITHMS[1:]]
            if cpu.startswith(V1)
        ]
    cpus = cpus or [cpu + algorithm for cpu in CPUS for algorithm in ALGORITHMS]
    return [(EL1, cpu) for cpu in cpus] + [
        (EL2, cpu) for cpu in cpus if cpu.split(",")[0] == CPUS[0]
    ]


def compare(name: str, answers: str) -> None:
    """Raise FailedError unless the library agrees, with every kernel."""
    program = compiled(BUILDS["gcc"], COMPARE) / COMPARE
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        path = pathlib.Path(folder) / name
        path.write_text(answers)
        print(run([program, path]), end="")
