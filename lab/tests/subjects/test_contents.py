# SPDX-License-Identifier: MIT
"""A digest by which results of another text of a subject are known."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE, Lab

from everycore.compile import catalog
from everycore.subjects import contents, find_subject, kernel_subjects
from everycore.subjects.describe import load_subject

TOML = """
files = ["mine.c"]
includes = ["inc"]
header = "mine.h"
[functions.mine]
call = "mine(out, in, n_bytes)"
[functions.other]
call = "other(out, in, n_bytes)"
"""


@pytest.fixture
def digest(lab: Lab, tmp_path: Path) -> Callable[[], str]:
    (tmp_path / "inc").mkdir()
    (tmp_path / "mine.toml").write_text(TOML)
    (tmp_path / "mine.c").write_text('#include "near.h"\n#  include <mine.h>\n#include <stdio.h>\n')
    for name in ("near.h", "inc/mine.h", "far.h"):
        (tmp_path / name).write_text(f'/* {name} */\n#include "near.h"\n')
    return lambda: contents(lab.context(), load_subject(tmp_path / "mine.toml"), "mine")


@pytest.mark.parametrize("name", ["mine.c", "near.h", "inc/mine.h"])
def test_files_count_and_what_they_include(
    digest: Callable[[], str], tmp_path: Path, name: str
) -> None:
    before = digest()
    assert len(before) == 16
    with (tmp_path / name).open("a") as file:
        file.write("/* more */\n")
    assert digest() != before


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ('mine(out, in, n_bytes)"', 'mine(out, in, n_bytes / 2)"', True),
        ('files = ["mine.c"]', 'files = ["mine.c"]\nflags = ["-fwrapv"]', True),
        ("other(out", "another(out", False),  # another function
        ("files =", 'description = "x"\nmatrix = ["mine"]\nfiles =', False),
    ],
)
def test_of_the_description_what_the_function_is_called_with_counts(
    digest: Callable[[], str], tmp_path: Path, old: str, new: str, counts: bool
) -> None:
    before = digest()
    (tmp_path / "mine.toml").write_text(TOML.replace(old, new))
    assert (digest() != before) == counts


def test_a_file_that_nobody_includes_and_the_folder_do_not_count(
    digest: Callable[[], str], lab: Lab, tmp_path: Path
) -> None:
    before = digest()
    (tmp_path / "far.h").write_text("another")
    assert digest() == before
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert contents(lab.context(), load_subject(moved / "mine.toml"), "mine") == before


@reads_all
def test_subjects_of_packages_are_known_by_their_locks_and_kernels_differ(lab: Lab) -> None:
    tree, context = catalog.find_tree(PACKAGE), lab.context()
    linux = [find_subject(tree, name) for name in ("linux-6.1", "linux-6.12")]
    found = {contents(context, name, "generic-cbc-enc") for name in linux}
    found |= {
        contents(context, subject, subject.functions[0].name) for subject in kernel_subjects(tree)
    }
    assert len(found) == 2 + len(kernel_subjects(tree))
    assert "" not in found
    gone = replace(linux[0], package="", setting="EVERYCORE_NOWHERE")
    assert not contents(context, gone, "generic-cbc-enc")
