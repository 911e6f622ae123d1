# SPDX-License-Identifier: MIT
"""What tests ask for by name."""

import shutil
from pathlib import Path

import pytest
from world import FakeRunner, Lab

from everycore.context import SystemRunner


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    env = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return Lab(FakeRunner(), tmp_path, env)


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def real_lab(tmp_path: Path, real_cache: Path) -> Lab:
    """The same with real processes; skipped without a C compiler."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    env = {"XDG_CACHE_HOME": str(real_cache), "XDG_STATE_HOME": str(tmp_path / "state")}
    return Lab(SystemRunner(), tmp_path, env)
