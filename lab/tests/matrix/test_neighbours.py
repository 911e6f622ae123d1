# SPDX-License-Identifier: MIT
"""Who is held against whom."""

import pytest
from matrix.cells import cell, measured, table

from everycore.matrix.anomalies import cycles
from everycore.matrix.neighbours import LIMIT, LIMIT_OF_LESS, Neighbourhood, facets
from everycore.model.cells import Result


def names(of: Result, *others: Result) -> dict[str, tuple[str, float]]:
    """The neighbours of a cell: by toolchain and flags, what differs and the limit."""
    around = Neighbourhood(table(of, *others))
    return {
        f"{n.cell.toolchain} {' '.join(n.cell.flags)}": (n.differs_in, n.limit)
        for n in around.of(of, cycles)
    }


def test_the_versions_next_to_a_cell_are_its_neighbours() -> None:
    versions = [measured(cell(f"gcc-{v}"), 10.0 * v) for v in (9, 10, 12, 13)]
    assert set(names(versions[2], *versions)) == {"gcc-10 -O2", "gcc-13 -O2"}


def test_versions_that_do_the_same_are_passed_over() -> None:
    slow = [measured(cell(f"clang-{v}"), 28.5 + v / 100) for v in (22, 23, 24)]
    found = names(slow[2], *slow, measured(cell("clang-21"), 12.5))
    assert found == {"clang-21 -O2": ("toolchain", LIMIT)}


def test_compilers_of_another_family_are_no_neighbours() -> None:
    assert not names(measured(cell("gcc-12"), 20), measured(cell("clang-13"), 10))


def test_version_nine_comes_before_version_ten() -> None:
    versions = [measured(cell(f"gcc-{v}"), 10.0 * v) for v in (10, 9, 11)]
    assert set(names(versions[1], *versions)) == {"gcc-10 -O2"}


@pytest.mark.parametrize("other", ["subject", "function", "target"])
def test_other_code_and_other_machines_are_no_neighbours(other: str) -> None:
    elsewhere = cell("gcc-11", **{other: "another"})
    assert not names(measured(cell(), 20), measured(elsewhere, 10))


@pytest.mark.parametrize(
    ("mine", "other", "expected"),
    [
        ("-O3", "-O2", ("flags", LIMIT)),
        ("-O3", "-Os", ("flags", LIMIT)),
        ("-O2", "-O3", ("flags", LIMIT_OF_LESS)),
        ("-O1", "-O2", ("flags", LIMIT_OF_LESS)),
        ("-Os", "-O1", None),
        ("-O0", "-O2", None),
        ("-O2 -march=x86-64-v4", "-O2 -march=x86-64-v3", ("march", LIMIT)),
        ("-O2 -march=x86-64-v3", "-O2 -march=x86-64-v4", None),
        ("-O2 -march=native", "-O2", ("march", LIMIT)),
        ("-O2", "-O2 -march=native", None),
        ("-O2 -march=native", "-O2 -march=znver4", ("march", LIMIT)),
        ("-O2", "-O2 -mavx2", None),
        ("-O2 -mavx2", "-O2", ("march", LIMIT)),
        ("-O2", "-O2 -mno-sse", ("flags", LIMIT)),
        ("-O2 -flto", "-O2", ("lto", LIMIT)),
        ("-O2", "-O2 -flto=auto", None),
        ("-O2", "-O2 -fno-tree-pre", ("flags", LIMIT)),
        ("-O2 -fno-tree-pre", "-O2", ("flags", LIMIT)),
        ("-O2 -fsanitize=undefined", "-O2", ("sanitizer", LIMIT_OF_LESS)),
        ("-O2", "-O2 -fsanitize=undefined", None),
        ("-O2 -fsanitize=undefined", "-O2 -fsanitize=bounds", None),
        ("-O2 -fsanitize=undefined", "-O1 -fsanitize=undefined", ("flags", LIMIT)),
        (
            "-O2 -fsanitize=undefined",
            "-O2 -fno-code-hoisting -fsanitize=undefined",
            ("flags", LIMIT),
        ),
        ("-O3 -march=x86-64-v4", "-O2", None),
    ],
)
def test_a_cell_is_held_against_those_of_which_no_more_was_asked(
    mine: str, other: str, expected: tuple[str, float] | None
) -> None:
    found = names(measured(cell(flags=mine), 20), measured(cell(flags=other), 10))
    assert list(found.values()) == ([expected] if expected else [])


def test_the_last_level_counts() -> None:
    assert facets(["-O2", "-O3", "-O"]).level == "-O1"
    assert not facets(["-flto", "-fno-lto"]).lto
    assert facets(["-march=x86-64-v4", "-march=native"]).march == ("-march=native",)
    assert facets(["-O2", "-mllvm", "-disable-lsr"]).rest == ("-mllvm", "-disable-lsr")
