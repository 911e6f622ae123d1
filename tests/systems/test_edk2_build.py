# SPDX-License-Identifier: MIT
"""EDK2 builds the library as a library class, and what it builds runs in firmware.

EDK2 is Debian's source package. Its build takes contrib/edk2 as a package, for AArch64 and X64 by
GCC; the application of tests/systems/edk2 seals and opens a message in AAVMF and in OVMF,
refuses a damaged tag, and hashes by what EverycoreHashInstanceLib registers for HashLib.
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import sys

import pytest
from edk2_machines import AAVMF, OVMF
from processes import ROOT, requires, run, skip_without

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.context import system_context

HERE = ROOT / "tests/systems/edk2"
MACHINES = {  # by EDK2's name of the architecture
    "AARCH64": dataclasses.replace(AAVMF, cpu="max"),
    "X64": dataclasses.replace(OVMF, cpu="Haswell"),
}
TOOLS = ("Common", "GenFw", "GenSec", "GenFfs")  # the programs in C that this build calls
CONFIGURATION = {
    "build_rule": "build_rule.txt",
    "tools_def": "tools_def.txt",
    "target": "target.txt",
}
TOOLCHAIN = "GCC49"  # as GCC5, without optimisation by the linker
ANSWER = re.compile(rb"EVERYCORE: tag (\w+) ([a-z]+ [a-z]+) ([\w ]+)\.")
HASHES = " ".join(
    f"{name} {hashlib.new(name, b'abc').hexdigest()[:8]}" for name in ("sha256", "sha384")
)
EXPECTED = ("73d5e5ed", "opened refused", HASHES)  # the tag of README.md

pytestmark = [
    requires(
        "aarch64-linux-gnu-gcc",
        "gcc",
        "make",
        "nasm",
        "qemu-system-aarch64",
        "qemu-system-x86_64",
        "/usr/include/uuid/uuid.h",
        AAVMF.code,
        OVMF.code,
    ),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def source() -> pathlib.Path:
    """The folder with EDK2's sources; a failure to fetch them is no failure of ours."""
    context = system_context()
    request = Request(("bookworm",), "source", sources=("edk2",))
    with skip_without("sources of EDK2"):
        lock = debs.pinned(context, request, HERE / "edk2-bookworm.lock", update=False)
        return debs.unpacked_source(context, lock, "edk2")


@pytest.fixture(scope="module")
def built(work: pathlib.Path, source: pathlib.Path) -> pathlib.Path:
    """The folder in which EDK2 built the application for all machines."""
    tree, space = work / "edk2", work / "space"
    for name in ("BaseTools", "MdePkg", "SecurityPkg"):
        shutil.copytree(source / name, tree / name, symlinks=True)
    tools = tree / "BaseTools"
    for name in TOOLS:
        run(["make", "-C", tools / "Source/C" / name], tree)
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
    words = ("-n", "2", *machines, "-t", TOOLCHAIN, "-b", "RELEASE", "-p", platform)
    run(["build", *words], space, environment=environment)
    return space / f"Build/RELEASE_{TOOLCHAIN}"


@pytest.mark.parametrize("machine", MACHINES)
def test_edk2_builds_the_library_and_firmware_runs_it(
    work: pathlib.Path, built: pathlib.Path, machine: str
) -> None:
    said = MACHINES[machine].boot(work, built / machine / "EverycoreTest.efi")
    found = ANSWER.search(said)
    assert found, said[-900:]
    assert tuple(group.decode() for group in found.groups()) == EXPECTED
