# SPDX-License-Identifier: MIT
"""The wheel carries the C tree: installed apart, it builds and runs the harness from elsewhere."""

import pathlib
import re
import subprocess
import sys
import zipfile

import pytest
from processes import ROOT, run

pytestmark = pytest.mark.long
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("wheel")


def run_apart(folder: pathlib.Path, *argv: str | pathlib.Path) -> str:
    """Run with the wheel's package before that of the checkout, and nothing of the user's."""
    environment = {
        "PYTHONPATH": str(folder / "site"),
        "HOME": str(folder),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    return run(argv, folder, environment=environment)


@pytest.fixture(scope="module")
def wheel(folder: pathlib.Path) -> pathlib.Path:
    run_apart(folder, *PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT)
    (made,) = folder.glob("everycore-*.whl")
    return made


@pytest.fixture(scope="module")
def held(wheel: pathlib.Path) -> set[str]:
    """The names of the files in the wheel."""
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def installed(wheel: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """The folder of a user who has the wheel and no checkout."""
    run_apart(folder, *PIP, "install", "--no-deps", "--target", folder / "site", wheel)
    return folder


def source_files() -> list[str]:
    return [
        str(path.relative_to(ROOT))
        for folder in (
            "include",
            "src",
            "harness",
            "catalog/peers",
            "catalog/targets",
            "catalog/toolchains",
        )
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".c", ".h", ".S", ".def", ".toml", ".lock")
        and "target" not in path.parts
    ]


def lab_files() -> list[str]:
    """Return the paths in the wheel of the lab's files: its modules, and the data beside them."""
    return [
        str(path.relative_to(ROOT / "lab"))
        for path in (ROOT / "lab/everycore").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


def test_the_wheel_is_pure(wheel: pathlib.Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_it_holds_every_source_file(held: set[str]) -> None:
    assert not [name for name in source_files() if f"everycore/tree/{name}" not in held]


def test_it_holds_every_file_of_the_lab(held: set[str]) -> None:
    assert not [name for name in lab_files() if name not in held]


def test_it_names_the_packages_of_the_extras(held: set[str]) -> None:
    assert "everycore/tree/pyproject.toml" in held


def test_it_knows_its_commit(installed: pathlib.Path) -> None:
    git = ["git", "-C", str(ROOT), "rev-parse", "--short=12", "HEAD"]
    done = subprocess.run(git, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this checkout has no commit")
    version = run_apart(installed, sys.executable, "-m", "everycore", "--version")
    assert f"commit {done.stdout.strip()}" in version


def test_python_finds_its_package(installed: pathlib.Path) -> None:
    code = "import everycore; print(everycore.__file__)"
    assert run_apart(installed, sys.executable, "-c", code).startswith(str(installed))


def test_it_lists_every_kernel(installed: pathlib.Path) -> None:
    text = run_apart(installed, sys.executable, "-m", "everycore", "list", "--json")
    stems = re.findall(r"^KERNEL\(\w+, *(\w+)", (ROOT / "src/kernels.def").read_text(), re.M)
    assert not [stem for stem in stems if f'"{stem}"' not in text]


def test_it_builds_and_checks_a_kernel(installed: pathlib.Path) -> None:
    words = ["check", "--quick", "--kernel", "c_ref", "--flags=-O1"]  # to be quick
    run_apart(installed, sys.executable, "-m", "everycore", *words)
