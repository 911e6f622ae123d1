# SPDX-License-Identifier: MIT
"""tools/constraints.txt has a version of every package that pyproject.toml names."""

import re
import tomllib
from collections.abc import Mapping

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from world import PACKAGE

ROOT = PACKAGE.parents[1]
LOCK = ROOT / "tools" / "constraints.txt"
PYTHONS = ("3.11.2", "3.12.0", "3.13.0")

pytestmark = pytest.mark.skipif(not LOCK.is_file(), reason="no checkout, no tools")


def required(project: Mapping[str, Mapping[str, object]]) -> list[Requirement]:
    """The packages that the project and its extras name, and those that build it."""
    table = project["project"]
    extras = table["optional-dependencies"]
    assert isinstance(extras, dict)
    texts = [*table["dependencies"], *project["build-system"]["requires"]]  # type: ignore[misc]
    texts += [text for own in extras.values() for text in own]
    return [Requirement(text) for text in texts if not text.startswith("everycore[")]


def unsatisfied(project: Mapping[str, Mapping[str, object]], lock: str, python: str) -> set[str]:
    """The requirements that no version of the lock satisfies, with a version of Python on x86."""
    here = {
        "python_full_version": python,
        "python_version": python.rpartition(".")[0],
        "platform_machine": "x86_64",
    }
    locked: dict[str, str] = {}
    for line in lock.splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate(here):
                locked[canonicalize_name(requirement.name)] = str(
                    requirement.specifier
                ).removeprefix("==")
    return {
        str(needed)
        for needed in required(project)
        if (version := locked.get(canonicalize_name(needed.name))) is None
        or not needed.specifier.contains(version)
    }


@pytest.mark.parametrize("python", PYTHONS)
def test_each_package_has_a_version_in_its_range(python: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = LOCK.read_text(encoding="utf-8")
    assert unsatisfied(project, lock, python) == set()


def test_a_package_that_is_missing_or_out_of_range_is_noticed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = LOCK.read_text(encoding="utf-8")
    without = re.sub(r"^rich==.*\n", "", lock, flags=re.M)
    older = re.sub(r"^msgspec==.*$", "msgspec==0.18.0", lock, flags=re.M)
    later = re.sub(r"^(capstone==.*)$", r"\1 ; python_full_version >= '3.14'", lock, flags=re.M)
    assert unsatisfied(project, without, PYTHONS[0]) == {"rich>=13"}
    assert unsatisfied(project, older, PYTHONS[0]) == {"msgspec>=0.19"}
    assert unsatisfied(project, later, PYTHONS[0]) == {"capstone>=5.0"}


def test_versions_are_exact() -> None:
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    assert [line for line in lines if not re.match(r"[\w.-]+==[\w.]+( ; .*)?$", line)] == []
