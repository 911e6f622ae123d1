# SPDX-License-Identifier: MIT
"""The Python packages that only some commands need, and the command that installs them here.

pyproject.toml names them, by extras. The command never names everycore itself: pip would
take whatever an index has under that name.
"""

import shlex
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

from everycore.environment.errors import MissingPackagesError

PACKAGE = Path(__file__).resolve().parents[1]
PROJECT = "pyproject.toml"  # in a checkout; the wheel has a copy of it beside the C tree


def is_installed(package: str) -> bool:
    """Whether a Python package is installed."""
    try:
        return find_spec(package) is not None
    except ValueError:  # its import was prevented
        return False


def missing_packages(purpose: str, extra: str) -> MissingPackagesError:
    """The error of a command that needs the packages of an extra: `purpose` is its subject."""
    return MissingPackagesError(
        f"{purpose} needs Python packages that are not installed (extra '{extra}')",
        install_command(extra),
    )


def install_command(
    extra: str, package: Path = PACKAGE, prefix: str = sys.prefix, python: str = sys.executable
) -> str:
    """Return the command that installs the packages of an extra for the Python that runs.

    In the virtual environment of a checkout that is `make lab`; elsewhere pip with the names of the
    packages.
    """
    checkout = package.parent.parent
    if (checkout / PROJECT).is_file():
        if Path(prefix) == checkout / ".venv":
            return f"make -C {shlex.quote(str(checkout))} lab"
        project = checkout / PROJECT
    else:
        project = package / "tree" / PROJECT
    names = requirements(project.read_text(encoding="utf-8"), extra)
    return shlex.join([python, "-m", "pip", "install", *names])


def requirements(project: str, extra: str) -> list[str]:
    """The packages of an extra, as the text of a pyproject.toml has them."""
    return list(tomllib.loads(project)["project"]["optional-dependencies"][extra])
