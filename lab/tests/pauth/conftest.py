# SPDX-License-Identifier: MIT
"""Emulators that are scripts, and the one that is installed."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from world import Lab

from everycore.environment.context import SystemRunner
from everycore.pauth.emulators import SERIES
from everycore.pauth.programs import COMPILER

EMULATOR = """#!/bin/sh
cpu= mode=$EVERYCORE_PAUTH
while [ $# -gt 0 ]; do
    case $1 in
    --version) echo "{version}"; exit ;;
    --help) exit ;;
    -cpu) cpu=$2; shift ;;
    -M | -display | -kernel) shift ;;
    -*) ;;
    *) break ;;
    esac
    shift
done
{body}
case $1 in
*/probe)
    case ,$cpu in *pauth=off*) exit 64 ;; *) exit 65 ;; esac ;;
esac
echo 42
"""
MACROS = "#define __GNUC__ 14\n#define __GNUC_MINOR__ 2\n#define __GNUC_PATCHLEVEL__ 0"
REFUSES = """case $cpu in
*{0}*) echo "can't apply global: Property 'max-arm-cpu.{0}' not found" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[..., Path]:
    """Makes a script that answers as an emulator does; it prints 42 instead of running anything."""

    def make(
        version: str = "qemu-aarch64 version 11.0.1 (Debian)",
        lacks: tuple[str, ...] = (),
        body: str = "",
        has_series: bool = False,
    ) -> Path:
        path = tmp_path / f"emulator-{len(list(tmp_path.glob('emulator-*')))}"
        refused = lacks if has_series else (*lacks, SERIES)
        refuses = "".join(REFUSES.format(name) for name in refused)
        path.write_text(EMULATOR.format(version=version, body=refuses + body))
        path.chmod(0o755)
        return path

    return make


@pytest.fixture
def world(tmp_path: Path) -> Lab:
    """Real processes, and a compiler that makes empty files and says that it is GCC 14.2.0."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        "#!/bin/sh\nfor word; do to=$word; done\n"
        f'case $to in --version) ;; -) echo "{MACROS}" ;; *) : >"$to" ;; esac\n'
    )
    compiler.chmod(0o755)
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return Lab(SystemRunner(), tmp_path, env, width=100)


@pytest.fixture
def installed() -> Path:
    """The emulator and the compiler of this system."""
    path = shutil.which("qemu-aarch64")
    if path is None:
        pytest.skip("no qemu-aarch64: apt-get install qemu-user")
    if shutil.which(COMPILER) is None:
        pytest.skip(f"no {COMPILER}: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross")
    return Path(path)
