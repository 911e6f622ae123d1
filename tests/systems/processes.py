# SPDX-License-Identifier: MIT
"""Programs that tests of whole systems start; a test whose programs are absent is skipped."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import pytest

from everycore.environment.errors import EverycoreError

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN_LAB = {"PYTHONPATH": str(ROOT / "lab")}
SECONDS = 3000
os.environ.setdefault("LC_ALL", "C.UTF-8")  # programs speak English
Words = Sequence[str | os.PathLike[str]]  # a command
# Debian's packages of programs and files whose package has another name.
PACKAGES = {
    "/usr/include/uuid/uuid.h": "uuid-dev",
    "/usr/lib/u-boot/qemu_arm64/u-boot.bin": "u-boot-qemu",
    "/usr/share/AAVMF/AAVMF_CODE.fd": "qemu-efi-aarch64",
    "/usr/share/AAVMF/AAVMF_CODE.ms.fd": "qemu-efi-aarch64",
    "/usr/share/OVMF/OVMF_CODE_4M.fd": "ovmf",
    "cc": "gcc",
    "dh": "debhelper",
    "dh_dkms": "dh-dkms",
    "dpkg-buildpackage": "dpkg-dev",
    "dtc": "device-tree-compiler",
    "efi-e1000.rom": "ipxe-qemu",
    "go": "golang-go",
    "ld.lld": "lld",
    "lld-link": "lld",
    "mformat": "mtools",
    "ninja": "ninja-build",
    "nm": "binutils",
    "qemu-system-aarch64": "qemu-system-arm",
    "qemu-system-x86_64": "qemu-system-x86",
    "readelf": "binutils",
    "sbsign": "sbsigntool",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
}


class FailedError(Exception):
    """A program failed; the text says which, and what it printed."""


def package_of(program: str) -> str:
    """Return the package of Debian that has a program."""
    if cross := re.fullmatch(r"(\w+-linux-\w+)-(?:gcc|ar|nm|readelf|objdump)", program):
        return f"gcc-{cross[1].replace('_', '-')}"
    if program.startswith("qemu-") and program not in PACKAGES:
        return "qemu-user"
    return PACKAGES.get(program, program)


def find(program: str) -> str | None:
    """Return the path of a program; also of those for an administrator."""
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def lacking(*names: str | pathlib.Path) -> str:
    """Return which of these programs and files are absent, and how to install them; empty: none."""
    absent = [name for name in map(str, names) if not (find(name) or pathlib.Path(name).exists())]
    packages = " ".join(dict.fromkeys(map(package_of, absent)))
    return f"no {', '.join(absent)}: apt-get install {packages}" if absent else ""


def need(*names: str | pathlib.Path) -> None:
    """Skip the test if one of these programs and files is absent."""
    if why := lacking(*names):
        pytest.skip(why)


def requires(*names: str | pathlib.Path) -> pytest.MarkDecorator:
    """Return a mark that skips tests if one of these programs and files is absent."""
    why = lacking(*names)
    return pytest.mark.skipif(bool(why), reason=why)


def ended(
    *words: str | os.PathLike[str],
    cwd: pathlib.Path = ROOT,
    environment: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Return the exit code of a program and all that it printed."""
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return done.returncode, done.stdout


def run(
    words: Words,
    cwd: pathlib.Path = ROOT,
    expected: int = 0,
    with_stderr: bool = True,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Return what a program printed; raise FailedError unless it ended as expected."""
    shown = " ".join(map(str, words))
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if with_stderr else subprocess.PIPE,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FailedError(f"{shown} does not end") from None
    if done.returncode != expected:
        said = done.stdout + (done.stderr or "")
        raise FailedError(f"{shown} ended with {done.returncode}: {said[-1500:]}")
    return done.stdout


def everycore(
    *words: str | os.PathLike[str], cwd: pathlib.Path = ROOT, codes: Sequence[int] = (0,)
) -> str:
    """Return what a command of this lab printed; raise FailedError unless it ended with a code."""
    code, said = ended(sys.executable, "-m", "everycore", *words, cwd=cwd, environment=OWN_LAB)
    if code not in codes:
        shown = " ".join(map(str, words))
        raise FailedError(f"everycore {shown} ended with {code}: {said[-1500:]}")
    return said


@contextlib.contextmanager
def skip_without(
    what: str, errors: type[EverycoreError] = EverycoreError, remedy: str = ""
) -> Iterator[None]:
    """Skip the test if everycore cannot fetch something."""
    try:
        yield
    except errors as error:
        pytest.skip(f"no {what}: {error.message}" + (f"; {remedy}" if remedy else ""))
