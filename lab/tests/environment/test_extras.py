# SPDX-License-Identifier: MIT
"""The command that installs missing Python packages."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from library_reads import reads_all
from world import PACKAGE

from everycore.environment import extras

PROJECT = """[project.optional-dependencies]
debs = ["python-debian>=1.0"]
matrix = ["capstone>=5.0", "iced-x86>=1.21; platform_machine == 'x86_64'"]
"""


def package_in(folder: Path, *, is_checkout: bool) -> Path:
    package = folder / "lab/everycore"
    (package / "tree").mkdir(parents=True)
    (folder if is_checkout else package / "tree").joinpath("pyproject.toml").write_text(PROJECT)
    return package


def test_in_the_environment_of_a_checkout_the_remedy_is_make_lab(tmp_path: Path) -> None:
    package = package_in(tmp_path, is_checkout=True)
    found = extras.install_command("matrix", package, str(tmp_path / ".venv"), "python")
    assert found == f"make -C {tmp_path} lab"


@pytest.mark.parametrize("is_checkout", [True, False])
def test_elsewhere_the_remedy_names_the_packages_and_this_python(
    tmp_path: Path, is_checkout: bool
) -> None:
    package = package_in(tmp_path, is_checkout=is_checkout)
    found = extras.install_command("debs", package, "/usr", "/opt/my python")
    assert found == "'/opt/my python' -m pip install 'python-debian>=1.0'"
    found = extras.install_command("matrix", package, "/usr", "python")
    assert "'capstone>=5.0'" in found
    assert "platform_machine" in found


@reads_all
def test_no_remedy_asks_an_index_for_everycore() -> None:
    sources = [path for path in PACKAGE.rglob("*.py") if path.name != "extras.py"]
    docs = PACKAGE.parent.parent.rglob("*.md") if (PACKAGE.parent.parent / "docs").is_dir() else ()
    for path in (*sources, *docs):
        if path.name != "CHANGELOG.md":
            text = path.read_text(encoding="utf-8")
            assert "pip install everycore" not in text, path
            assert "pip install 'everycore" not in text, path


@pytest.mark.parametrize("extra", ["debs", "farm", "firmware", "matrix", "report"])
def test_pip_can_read_the_remedy_of_every_extra(extra: str) -> None:
    project = PACKAGE.parent.parent / "pyproject.toml"
    names = tomllib.loads(project.read_text())["project"]["optional-dependencies"][extra]
    command = extras.install_command(extra, prefix="/usr")
    assert all(name.split(">")[0] in command for name in names)
    code = "import sys; from pip._vendor.packaging.requirements import Requirement as R"
    code += "; [R(word) for word in sys.argv[1:]]"
    assert subprocess.run([sys.executable, "-c", code, *names], check=False).returncode == 0


def test_a_command_without_its_packages_ends_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from everycore.compile.debs.index import library
    from everycore.environment.errors import MissingPackagesError

    monkeypatch.setitem(sys.modules, "debian.deb822", None)
    with pytest.raises(MissingPackagesError) as caught:
        library("deb822")
    assert caught.value.hint == extras.install_command("debs")
    assert "reading Debian's archive needs" in caught.value.message
