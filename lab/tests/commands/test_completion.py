# SPDX-License-Identifier: MIT
"""Shells complete commands, options and the names that options take."""

import os
import subprocess
import sys
from typing import cast

import pytest
import typer
from library_reads import reads_all
from world import PACKAGE, Lab

from everycore.cli import make_app
from everycore.commands import completion
from everycore.commands.completion import Complete

pytestmark = reads_all

HEAVY = ("everycore.matrix.cell_pipeline", "everycore.report", "capstone", "rich.progress")
IMPORTED = """
import sys
from everycore.__main__ import run
try:
    run()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def complete(typed: str) -> subprocess.CompletedProcess[str]:
    """Ask as bash does; standard error has the names of the modules that were imported."""
    words = f"everycore {typed}"
    asked = {
        "_EVERYCORE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    return subprocess.run(
        [sys.executable, "-c", IMPORTED],
        env={**os.environ, "PYTHONPATH": str(PACKAGE.parent), **asked},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("re", {"resolve", "report"}),
        ("matrix re", {"regressions", "reduce"}),
        ("bench --qui", {"--quick"}),  # of `run`, which is not named
        ("bench --quick --aad", {"--aad-bytes"}),
        ("bench speed r", {"rsa"}),
        ("bench --kernel x86_vaes512_i", {"x86_vaes512_intel"}),
        ("check --kernel c_ref,c_fixslice3", {"c_ref,c_fixslice32"}),
        ("resolve --cpu neoverse-n1", {"neoverse-n1"}),
        ("check --target qemu-s3", {"qemu-s390x"}),
        ("matrix --subject bearss", {"bearssl"}),
        ("subject count linux-7", {"linux-7.2"}),
        ("ct --primitive bn_", {"bn_words"}),
        ("peers --primitive pri", {"prime"}),
    ],
)
def test_a_shell_completes_names(typed: str, wanted: set[str]) -> None:
    done = complete(typed)
    assert set(done.stdout.split()) == wanted, done.stderr


@pytest.mark.parametrize("typed", ["matrix --subject bear", "matrix --toolchain gcc"])
def test_completion_imports_nothing_heavy(typed: str) -> None:
    done = complete(typed)
    assert done.stdout
    imported = done.stderr.splitlines()[-1].split()
    assert not [name for name in imported if name.startswith(HEAVY)]


def ask(lab: Lab, callback: Complete, incomplete: str) -> list[str]:
    command = typer.main.get_command(make_app(["list"]))
    asked = command.make_context("everycore", ["list"], obj=lab.context())
    return callback(cast(typer.Context, asked), incomplete)


@pytest.mark.parametrize(
    ("callback", "incomplete", "name"),
    [
        (completion.complete_kernels, "c_r", "c_ref"),
        (completion.complete_cpus, "zen", "zen4"),
        (completion.complete_cpus, "rpi", "rpi4"),
        (completion.complete_targets, "", "host"),
        (completion.complete_subjects, "c_", "c_ttable4"),
        (completion.complete_primitives, "gh", "ghash"),
    ],
)
def test_names_are_those_of_the_tree(
    lab: Lab, callback: Complete, incomplete: str, name: str
) -> None:
    found = ask(lab, callback, incomplete)
    assert name in found
    assert found == sorted(set(found))
    assert all(word.startswith(incomplete) for word in found)
    assert not ask(lab, callback, "nothing-has-this-name")


def test_toolchains_are_those_of_the_path_and_those_that_can_be_added(lab: Lab) -> None:
    folder = lab.folder / "bin"
    folder.mkdir()
    (folder / "gcc-3").touch(mode=0o755)
    lab.env["PATH"] = str(folder)
    found = ask(lab, completion.complete_toolchains, "")
    assert "gcc-3" in found
    assert len(found) > 1 or os.uname().machine != "x86_64"  # its lock file is in the tree


def test_without_a_tree_nothing_is_completed(lab: Lab) -> None:
    lab.env["EVERYCORE_TREE"] = str(lab.folder)
    assert ask(lab, completion.complete_kernels, "") == []
