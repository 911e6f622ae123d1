# SPDX-License-Identifier: MIT
import pytest
from matrix.cells import cell, resolved
from world import PACKAGE

from everycore.compile.catalog import find_tree
from everycore.environment.errors import EverycoreError
from everycore.matrix.resolved_cell import HostCpu, ResolvedCell, Resolver
from everycore.model.cells import Cell
from everycore.model.domain import Target

KNOWN = resolved(cell())
BOARD = Target("my-board", "", "ssh")


def resolve(where: Cell) -> ResolvedCell:
    toolchains = {KNOWN.toolchain.name: KNOWN.toolchain}
    subjects = {KNOWN.subject.name: KNOWN.subject}
    return Resolver(find_tree(PACKAGE), toolchains, HostCpu(""), subjects, BOARD).resolve(where)


def test_names_become_values() -> None:
    found = resolve(KNOWN.cell)
    assert (found.subject, found.function, found.why_not) == (KNOWN.subject, KNOWN.function, "")
    assert (found.compiler, found.target.transport) == (KNOWN.compiler, "local")


def test_a_board_is_found_beside_the_targets_of_the_tree() -> None:
    found = resolve(cell(target="my-board"))
    assert found.target is BOARD
    assert found.why_not == "gcc-12 does not compile for my-board"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (cell(toolchain="gcc-11"), "unknown toolchain 'gcc-11'"),
        (cell(function="cbc"), "unknown function of table 'cbc'"),
        (cell(target="qemu-none"), "unknown target 'qemu-none'"),
        (cell(subject="nobody"), "unknown subject 'nobody'"),
    ],
)
def test_a_name_that_is_not_known_here_is_told(where: Cell, said: str) -> None:
    with pytest.raises(EverycoreError, match=said):
        resolve(where)


def test_what_does_not_go_together_is_said() -> None:
    assert resolve(cell(flags="-O2 -flto", target="my-board")).why_not
    assert "LTO" not in resolve(cell(flags="-O2 -flto")).why_not
    assert resolve(cell().replace(key_bits=128)).why_not == "table ctr takes no keys of 128 bits"
