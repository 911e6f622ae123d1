# SPDX-License-Identifier: MIT
"""Fixtures of the tests of toolchains."""

from pathlib import Path

import pytest
from players import Compilers
from world import Lab


@pytest.fixture
def compilers(lab: Lab, tmp_path: Path) -> Compilers:
    folder = tmp_path / "bin"
    folder.mkdir()
    lab.env["PATH"] = str(folder)
    lab.runner = compilers = Compilers(folder)
    return compilers
