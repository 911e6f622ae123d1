# SPDX-License-Identifier: MIT
"""Each fault of a farm is told, loses nothing that was measured, and is repaired by --resume."""

import pathlib
import sys

import pytest
from farm_faults import FAULTS
from farm_network import words_for_own_network
from processes import ROOT, need, run

pytestmark = pytest.mark.long


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_and_loses_nothing(fault: str, tmp_path: pathlib.Path) -> None:
    need("aarch64-linux-gnu-gcc", "qemu-aarch64", "gcc")
    pytest.importorskip("distributed", reason="no Python package distributed: make lab")
    if fault == "board":
        need("sshd", "ssh", "ssh-keygen")
    program = ROOT / "tests/systems/farm_faults.py"
    words = [*words_for_own_network(), sys.executable, str(program), str(tmp_path), fault]
    run(words, environment={"PYTHONPATH": str(ROOT / "lab")})
