# SPDX-License-Identifier: MIT
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from world import Lab

from everycore.compile.toolchains.wrappers import make_wrapper, remove_wrapper
from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

HOST = Target("host", "")
CROSS = Target("qemu-x", "", compiler="x-linux-gnu-gcc")
SEARCH = """\
#include "..." search starts here:
#include <...> search starts here:
 /usr/lib/gcc/x86_64-linux-gnu/12/include
 /nowhere/{0}/include
End of search list.
"""


@pytest.fixture
def lab(tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab in a folder with a space, whose compilers say where headers are."""

    def run(argv: Sequence[str], **_: object) -> Completed:
        program = next(word for word in argv if word.endswith("cc"))
        return Completed(0, "", SEARCH.format(program))

    lab.env["XDG_CACHE_HOME"] = str(tmp_path / "a cache")
    monkeypatch.setattr(lab.runner, "run", run)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    return lab


def said(lab: Lab, name: str, target: Target, *programs: str) -> list[str]:
    """Return the program that a wrapper of a root with these programs starts, and its words."""
    root = lab.folder / "the root"
    for program in programs:
        place = root / program
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(
            '#!/bin/sh\necho "$0 [$LD_LIBRARY_PATH]"\nfor i in "$@"; do echo "$i"; done'
        )
        place.chmod(0o755)
    command = make_wrapper(lab.context(), name, root, target)
    assert command is not None
    done = subprocess.run([*command, "-c", "a b.c"], capture_output=True, text=True, check=True)
    return done.stdout.replace(str(root), "ROOT").splitlines()


def test_a_gcc_finds_its_own_assembler_and_the_headers_of_this_machine(lab: Lab) -> None:
    (lab.folder / "the root/usr/lib/x86_64-linux-gnu").mkdir(parents=True)
    assert said(lab, "gcc-16", HOST, "usr/bin/gcc-16") == [
        "ROOT/usr/bin/gcc-16 [ROOT/usr/lib/x86_64-linux-gnu]",
        "-BROOT/usr/bin/x86_64-linux-gnu-",
        "--sysroot=ROOT",
        "-idirafter",
        "/nowhere/cc/include",
        "-c",
        "a b.c",
    ]


def test_a_cross_gcc_has_the_headers_of_its_target(lab: Lab) -> None:
    words = said(lab, "gcc-16", CROSS, "usr/bin/x-linux-gnu-gcc-16")
    assert words[0] == "ROOT/usr/bin/x-linux-gnu-gcc-16 []"
    assert "-BROOT/usr/bin/x-linux-gnu-" in words
    assert "/nowhere/x-linux-gnu-gcc/include" in words


def test_a_clang_is_told_its_target(lab: Lab) -> None:
    words = said(lab, "clang-22", CROSS, "usr/bin/clang-22")
    assert words[:2] == ["ROOT/usr/bin/clang-22 []", "--target=x-linux-gnu"]
    assert not any(word.startswith("--target") for word in said(lab, "clang-22", HOST))


def test_the_clang_of_ziglang_is_a_plain_clang(lab: Lab) -> None:
    words = said(lab, "clang-20", HOST, "bin/zig")
    assert words[1:5] == ["clang", "--target=x86_64-linux-gnu", "-resource-dir", "ROOT/lib/clang"]


def test_a_wrapper_that_says_the_same_is_not_touched(lab: Lab) -> None:
    said(lab, "gcc-7", HOST, "bin/gcc")
    (path,) = make_wrapper(lab.context(), "gcc-7", lab.folder / "the root", HOST) or ("",)
    before = Path(path).stat().st_mtime_ns
    said(lab, "gcc-7", HOST)
    assert Path(path).stat().st_mtime_ns == before
    remove_wrapper(lab.context(), (path,))
    assert not Path(path).exists()


def test_a_root_without_the_compiler_is_an_error(lab: Lab) -> None:
    with pytest.raises(EverycoreError, match="holds no gcc-16"):
        make_wrapper(lab.context(), "gcc-16", lab.folder, HOST)


def test_what_lies_elsewhere_is_not_removed(lab: Lab, tmp_path: Path) -> None:
    own = tmp_path / "gcc"
    own.write_text("mine")
    remove_wrapper(lab.context(), (str(own),))
    assert own.exists()
