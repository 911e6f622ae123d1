# SPDX-License-Identifier: MIT
"""Small files of C, compiled for every architecture whose compiler is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

GCC = {
    "x86-64": "gcc",
    "i386": "i686-linux-gnu-gcc",
    "a64": "aarch64-linux-gnu-gcc",
    "a32": "arm-linux-gnueabihf-gcc",
    "rv64": "riscv64-linux-gnu-gcc",
    "s390x": "s390x-linux-gnu-gcc",
}
CLANG = {
    "x86-64": "x86_64-linux-gnu",
    "a64": "aarch64-linux-gnu",
    "a32": "arm-linux-gnueabihf",
    "rv64": "riscv64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "s390x": "s390x-linux-gnu",
}
COMPILERS = [
    *((machine, (cc,)) for machine, cc in GCC.items()),
    *((machine, ("clang", f"--target={triple}")) for machine, triple in CLANG.items()),
]


def made(
    folder: Path, command: tuple[str, ...], *flags: str, source: str, name: str = "unit.c"
) -> Path:
    """An object in a folder; a visible skip without its compiler."""
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(source)
    path = (folder / name).with_suffix(".o")
    words = [*command, "-O2", *flags, "-c", str(folder / name), "-o", str(path)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if "No available targets" in done.stderr or "unknown target" in done.stderr:
        pytest.skip(f"{command[0]} has no such target")
    assert done.returncode == 0, done.stderr
    return path
