# SPDX-License-Identifier: MIT
"""patch-qemu patches QEMU's sources as Debian has them, and --remove restores them.

Of each version that catalog/subjects/ pins, the files that the script reads are fetched once.
"""

import pathlib
import shutil
import sys

import pytest
from processes import ROOT, run, skip_without

from everycore import subjects
from everycore.compile.catalog import find_tree
from everycore.environment.context import system_context
from everycore.subjects import SubjectUnavailableError

pytestmark = pytest.mark.long
SCRIPT = ROOT / "contrib/qemu/patch-qemu"
HOOKS = ("begin.c.inc", "mac.c.inc", "helpers.c.inc")


def fetched(name: str) -> pathlib.Path:
    """Return the folder with a subject's sources; skip if they cannot be fetched."""
    context = system_context()
    tree = find_tree(context.package, str(ROOT))
    with skip_without(f"sources of {name}", SubjectUnavailableError):
        return subjects.sources(context, subjects.find_subject(tree, name))[0]


def contents(tree: pathlib.Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes() for path in tree.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("name", ["qemu-7.2", "qemu-10.0"])
def test_lines_of_ours_appear_in_order_and_are_gone_after_remove(
    name: str, tmp_path: pathlib.Path
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(fetched(name), tree)
    before = contents(tree)
    run([sys.executable, SCRIPT, tree])
    patched = contents(tree)
    helper = next(file for file in before if file.endswith("/pauth_helper.c"))
    build = str(pathlib.PurePath(helper).with_name("meson.build"))
    for file in before:
        lines = patched[file].decode().splitlines(keepends=True)
        ours = [line for line in lines if "contrib/qemu/patch-qemu" in line]
        assert "".join(line for line in lines if line not in ours).encode() == before[file], file
        assert bool(ours) == (file in (helper, build)), file
        if file == helper:
            assert [line.split('"')[1] for line in ours] == [f"everycore/{hook}" for hook in HOOKS]
    assert any(file.endswith("everycore/tree.h") for file in patched)
    run([sys.executable, SCRIPT, "--remove", tree])
    assert contents(tree) == before
