# SPDX-License-Identifier: MIT
"""Switches, by the compilers' own lists."""

import shutil
import subprocess
from collections.abc import Sequence

import pytest
from matrix.cells import cell

from everycore.matrix.switches import (
    feature,
    gcc_options,
    gcc_stages,
    llvm_options,
    opposite,
    stages,
)
from everycore.model.cells import Anomaly, Kind

OPTIMIZERS = """The following options control optimizations:
  -O<number>                  \t\t
  -falign-functions           \t\t[enabled]
  -falign-functions=          \t\t16
  -fcode-hoisting             \t\t[enabled]
  -fcrossjumping              \t\t[enabled]
  -fexceptions                \t\t[available in Modula-2]
  -fgcse-sm                   \t\t[disabled]
  -ftree-loop-vectorize       \t\t[disabled]
  -ftree-slp-vectorize        \t\t[enabled]
"""


def test_what_gcc_has_on_is_switched_off_the_usual_suspects_first() -> None:
    here = gcc_options(OPTIMIZERS)
    assert here["-fcode-hoisting"]
    assert not here["-fgcse-sm"]
    first, left_out, rest = gcc_stages(here, [])
    assert first.switches == (("-fno-tree-slp-vectorize",), ("-fno-code-hoisting",))
    assert rest.switches == (("-fno-crossjumping",),)
    assert not left_out.switches


def test_what_another_level_has_on_is_switched_on() -> None:
    here = gcc_options(OPTIMIZERS)
    _, left_out, _ = gcc_stages(here, [here | {"-ftree-loop-vectorize": True}])
    assert left_out.switches == (("-ftree-loop-vectorize",),)


def test_what_only_this_cell_has_on_comes_first() -> None:
    here = gcc_options(OPTIMIZERS)
    first, _, _ = gcc_stages(here, [here | {"-fcrossjumping": False}])
    assert first.switches[0] == ("-fno-crossjumping",)


LISTED = """  --disable-lsr                      - Disable Loop Strength Reduction Pass
  --disable-hexagon-peephole         - Disable Peephole Optimization
    --disable-ppc-peephole           - Disable ppc peephole
  --print-before-all                 - Print IR before each pass
"""
VALUES = """  -enable-pre            = 1        (default: 1)
  -enable-gvn-hoist      = 0        (default: 0)
  -enable-arm-maskedldst = 1        (default: 1)
"""


def test_options_of_llvm_are_read_without_those_of_other_machines() -> None:
    assert llvm_options(LISTED, VALUES) == ["-disable-lsr", "-enable-pre=0"]


@pytest.mark.parametrize(
    ("flag", "other"),
    [
        ("-fno-tree-pre", "-ftree-pre"),
        ("-ftree-pre", "-fno-tree-pre"),
        ("-mno-sse4.1", "-msse4.1"),
        ("-O2", ""),
        ("-march=native", ""),
        ("-fsanitize=undefined", ""),
    ],
)
def test_a_flag_has_an_opposite(flag: str, other: str) -> None:
    assert opposite(flag) == other


@pytest.mark.parametrize(
    ("macro", "name"),
    [
        ("__AVX512F__", "avx512f"),
        ("__SSE4_2__", "sse4.2"),
        ("__GFNI__", "gfni"),
        ("__znver4__", ""),
        ("__tune_k8__", ""),
    ],
)
def test_a_macro_names_instructions(macro: str, name: str) -> None:
    assert feature(macro) == name


@pytest.mark.parametrize("family", ["gcc", "clang"])
def test_a_compiler_that_is_here_is_asked(family: str) -> None:
    command = shutil.which(family)
    if not command:
        pytest.skip(f"no {family}: apt-get install {family}")

    def ask(flags: Sequence[str]) -> str:
        done = subprocess.run([str(command), *flags], capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    flags = "-O2 -fno-strict-aliasing -fsanitize=undefined"
    odd = Anomaly(cell(family, flags), Kind.SLOW, 2.0, None, None, 2.0)
    found = {
        stage.name: [" ".join(s) for s in stage.switches] for stage in stages(odd, family, ask)
    }
    slp = {"gcc": "-fno-tree-slp-vectorize", "clang": "-fno-slp-vectorize"}[family]
    assert slp in found["first"] or slp in found.get("optimisations", [])
    assert sum(map(len, found.values())) > 50
    assert "-fno-sanitize=object-size" in found["checks"]
    assert found["own flags"] == ["-fstrict-aliasing"]


def test_of_a_sanitizer_only_its_checks_are_in_question() -> None:
    flags = "-O2 -fsanitize=bounds,object-size"
    costs = Anomaly(cell("gcc-12", flags), Kind.SLOW, 3.0, None, 1.0, 3.0, "sanitizer")
    (found,) = stages(costs, "gcc", lambda _: "")
    assert found.switches == (("-fno-sanitize=bounds",), ("-fno-sanitize=object-size",))


def test_below_two_the_level_itself_is_tried_before_what_seldom_helps() -> None:
    slow = Anomaly(cell("clang-11", "-O1"), Kind.SLOW, 5.0, None, 1.0, 5.0, "toolchain")
    found = {stage.name: stage.switches for stage in stages(slow, "clang", lambda _: LISTED)}
    assert list(found) == ["first", "left out", "level", "level without", "LLVM"]
    assert found["level without"] == (("-O2", "-fno-slp-vectorize"),)
