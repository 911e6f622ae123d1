# SPDX-License-Identifier: MIT
import os
import shutil
from pathlib import Path

import pytest
from players import Compilers
from world import Lab

from everycore.compile.toolchains import find_compiler
from everycore.compile.toolchains.answers import ask_all
from everycore.compile.toolchains.compiler_programs import SCRIPT_BYTES, state_of
from everycore.model.domain import Target


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def parts(compilers: Compilers, tmp_path: Path) -> dict[str, Path]:
    """A gcc whose driver starts another program, which has a library."""
    driver = compilers.add("gcc", "gcc", 12, 2, 0)
    cc1, library = put(tmp_path / "lib/cc1", "compiler"), put(tmp_path / "lib/libisl.so", "loops")
    compilers.starts = {"gcc": [cc1]}
    compilers.libraries = {cc1: [library]}
    return {"driver": driver, "cc1": cc1, "library": library}


def fingerprints(lab: Lab, driver: Path) -> tuple[str, str]:
    """As the matrix and as other commands have them."""
    (answer,) = ask_all(lab.context(), [[str(driver)]])
    return answer.fingerprint, find_compiler(
        lab.context(), Target("host", ""), str(driver), (), ""
    ).fingerprint


@pytest.mark.parametrize("part", ["driver", "cc1", "library"])
def test_a_fingerprint_changes_with_every_part_of_a_compiler(
    lab: Lab, parts: dict[str, Path], part: str
) -> None:
    before = fingerprints(lab, parts["driver"])
    assert fingerprints(lab, parts["driver"]) == before
    put(parts[part], "other")
    after = fingerprints(lab, parts["driver"])
    assert not set(before) & set(after)


def test_parts_are_asked_for_once(lab: Lab, compilers: Compilers, parts: dict[str, Path]) -> None:
    state = state_of(lab.context(), [str(parts["driver"])])
    compilers.calls.clear()
    assert state_of(lab.context(), [str(parts["driver"])]) == state
    assert not compilers.calls


def test_a_part_that_moved_is_found_again(
    lab: Lab, compilers: Compilers, parts: dict[str, Path], tmp_path: Path
) -> None:
    command = [str(parts["driver"])]
    before = state_of(lab.context(), command)
    moved = parts["cc1"].rename(tmp_path / "cc1")
    compilers.starts = {"gcc": [moved]}
    compilers.libraries = {moved: [parts["library"]]}
    state_of(lab.context(), command)
    put(moved, "other")
    assert state_of(lab.context(), command) != before


def test_a_part_that_was_touched_counts_as_another(lab: Lab, parts: dict[str, Path]) -> None:
    put(parts["cc1"], "x" * SCRIPT_BYTES)
    command = [str(parts["driver"])]
    before = state_of(lab.context(), command)
    os.utime(parts["cc1"], (1, 1))
    assert state_of(lab.context(), command) != before


def test_what_is_no_compiler_has_a_state_of_its_own(lab: Lab, compilers: Compilers) -> None:
    compilers.add("gcc", "gcc", 12, 2, 0)
    states = [state_of(lab.context(), [name]) for name in ("gcc", "absent", "absent-too")]
    assert len(set(states)) == 3


@pytest.mark.parametrize(
    ("name", "part"),
    [("gcc", "cc1"), ("gcc", "as"), ("gcc", "libc."), ("clang", "clang"), ("clang", "libc.")],
)
def test_real_compilers_show_their_parts(real_lab: Lab, name: str, part: str) -> None:
    if not shutil.which(name) or not shutil.which("ldd"):
        pytest.skip(f"no {name}, or no ldd: apt-get install {name} libc-bin")
    context = real_lab.context()
    state_of(context, [name])
    said = (context.cache_dir() / "toolchains/programs.json").read_text()
    assert f"/{part}" in said
