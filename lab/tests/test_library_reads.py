# SPDX-License-Identifier: MIT
"""A test that reads more of the library than it says fails."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from library_reads import Watch, reads_all

pytestmark = reads_all


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root, copy = tmp_path / "root", tmp_path / "copy"
    for name in ("src/aes/a.c", "include/a.h", "vectors/a.rsp", "lab/a.py", "tools/a"):
        (root / name).parent.mkdir(parents=True)
        (root / name).touch()
    copy.mkdir()
    (copy / "src").symlink_to(root / "src")
    return root


def start(word: str, **settings: str) -> Callable[[Path], object]:
    """Give a word to a process that does nothing."""

    def run(root: Path) -> None:
        argv = [sys.executable, "-c", "", word.format(root)]
        subprocess.run(argv, env=os.environ | settings, check=True)

    return run


@pytest.mark.parametrize(
    ("read", "noticed"),
    [
        (lambda root: (root / "src/aes/a.c").read_text(), {"src/aes/a.c"}),
        (lambda root: list((root / "src").rglob("*")), {"src/", "src/aes/"}),
        (lambda root: (root.parent / "copy/src/aes/a.c").read_text(), {"src/aes/a.c"}),
        (lambda root: list((root.parent / "copy/src").iterdir()), set()),
        (lambda root: (root / "include/a.h").read_text(), set()),
        (lambda root: (root / "lab/a.py").read_text(), set()),
        (start("-I{}/vectors/x"), {"vectors/x"}),
        (start("{}/tools/a"), {"tools/a"}),
        (start("everycore"), {"src/"}),
        (start("everycore", EVERYCORE_TREE="x"), set()),
        (start("{}/include/a.h"), set()),
    ],
)
def test_what_a_test_reads_of_the_library_is_noticed(
    root: Path, read: Callable[[Path], object], noticed: set[str]
) -> None:
    watch = Watch(root)
    watch.copies.append(root.parent / "copy")
    with watch.beyond(("include/",)) as found:
        read(root)
    assert found == noticed
    read(root)
    assert found == noticed
