# SPDX-License-Identifier: MIT
"""One small compiler of each provider, for real: some 90 MB are fetched, if there is a network."""

import os
import platform
import shutil
from pathlib import Path

import pytest
from world import Lab

from everycore.compile.toolchains.parts import all_added
from everycore.environment.context import SystemRunner

NO_NETWORK = ("cannot read the mirror", "apt names no mirror", "cannot fetch", "no pip")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    if not shutil.which("cc"):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    if platform.machine() != "x86_64":
        pytest.skip(f"no compilers are locked for {platform.machine()}")
    names = ("EVERYCORE_MIRROR", "EVERYCORE_KEYRING", "http_proxy", "https_proxy")
    env = {name: os.environ[name] for name in names if name in os.environ}
    (tmp_path / "path").mkdir()
    (tmp_path / "path/cc").symlink_to(shutil.which("cc") or "")
    env |= {"PATH": str(tmp_path / "path"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return Lab(SystemRunner(), tmp_path, env | {"XDG_STATE_HOME": str(tmp_path / "state")}, 200)


@pytest.mark.parametrize(("name", "provider"), [("gcc-13", "debian"), ("gcc-7", "wheel")])
def test_a_compiler_is_fetched_compiles_and_goes_again(lab: Lab, name: str, provider: str) -> None:
    done = lab("toolchain", "add", name)
    absent = any(text in done.err for text in NO_NETWORK) and "sha256" not in done.err
    if done.code != 0 and absent:
        pytest.skip(f"{name} cannot be fetched here: {done.err.splitlines()[0]}")
    assert done.code == 0, done.err
    (added,) = all_added(lab.context())
    assert (added.name, added.provider, added.proofs) == (name, provider, {"host": "ran"})
    rows = [line.split() for line in lab("toolchain", "list").out.splitlines()]
    assert name in [row[0] for row in rows if row]
    done = lab("toolchain", "remove", name)
    assert done.code == 0
    assert int(done.out.split()[0]) > 30  # MB
    assert not list((lab.context().cache_dir() / "toolchains/roots").iterdir())
