# SPDX-License-Identifier: MIT
"""Imports of a short command: modules are counted, for times depend on what else runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

pytestmark = reads_all

# Each of these adds 2 to 100 ms to the start of every command that imports it.
HEAVY = (
    "pydantic",  # typer 0.29 builds a validator of it for each option
    "rich.progress",
    "tarfile",
    "everycore.compile.debs",
    "everycore.environment.extras",
    "everycore.matrix",
    "everycore.pauth",
    "everycore.report.pauth_tables",
    "everycore.store",
    "everycore.compile.toolchains.installed",
    "everycore.run.transport.ssh",
)
MOST_MODULES = 53  # of this package and its packages, by `resolve`
MOST_OBJECTS = 25  # files that are compiled for it, at 0.1 s each
RESOLVE = ("resolve", "--cpu", "cortex-a72")


def imported_by(folder: Path, *words: str) -> list[str]:
    """Run a command in a process of its own; the names of all modules that it has imported."""
    code = (
        "import sys; from everycore.cli import main; code = main(sys.argv[1:]);"
        " print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    paths = os.pathsep.join([str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")])
    env = {"XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder), "PYTHONPATH": paths}
    argv = [sys.executable, "-c", code, *words]
    done = subprocess.run(argv, env=os.environ | env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that holds the harness of `resolve`, and nothing else."""
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    folder = tmp_path_factory.mktemp("startup")
    imported_by(folder, *RESOLVE)
    return folder


@pytest.fixture(scope="module")
def names(folder: Path) -> list[str]:
    return imported_by(folder, *RESOLVE)


@pytest.mark.parametrize("heavy", HEAVY)
def test_resolve_imports_nothing_heavy(names: list[str], heavy: str) -> None:
    assert "everycore.commands.resolve" in names
    assert not [name for name in names if name == heavy or name.startswith(f"{heavy}.")]


def test_resolve_imports_few_modules(names: list[str]) -> None:
    own = [name for name in names if name.partition(".")[0] == "everycore"]
    assert len(own) <= MOST_MODULES, own


def test_resolve_builds_one_small_program_once(folder: Path, names: list[str]) -> None:
    """It has the rule of selection and the detection, and no kernel."""
    assert names
    (program,) = (folder / "everycore" / "bin").rglob("harness")
    built = program.stat().st_ino
    assert b"evc_resolve" in program.read_bytes()
    assert b"evc_aes_c_ref" not in program.read_bytes()
    assert len(list((folder / "everycore" / "objects").iterdir())) <= MOST_OBJECTS
    imported_by(folder, *RESOLVE)
    assert program.stat().st_ino == built


def test_help_that_cannot_be_written_is_one_error() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            (sys.executable, "-m", "everycore", "--help"),
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "everycore: the output: No space left on device",
        "free some space, or write elsewhere",
    ]
