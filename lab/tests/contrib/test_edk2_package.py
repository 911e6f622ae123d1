# SPDX-License-Identifier: MIT
"""The package for EDK2 has all sources of the library."""

import re
from pathlib import Path

import pytest
from library_reads import reads_all

pytestmark = reads_all

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "contrib/edk2/EverycorePkg/Library"


def sources_of(inf: Path) -> set[Path]:
    """The files that the [Sources] section of an INF names."""
    text = inf.read_text(encoding="utf-8")
    section = re.search(r"^\[Sources\]\n(.*?)^\[", text, re.M | re.S)
    assert section is not None
    return {(inf.parent / line.strip()).resolve() for line in section[1].splitlines() if line}


def test_the_library_class_has_every_file_of_c() -> None:
    listed = sources_of(LIBRARY / "EverycoreLib/EverycoreLib.inf")
    ours = {path for path in listed if path.is_relative_to(ROOT / "src")}
    assert ours == set((ROOT / "src").rglob("*.c"))
    assert {path.name for path in listed - ours} == {"Memory.c"}


def test_the_library_class_has_every_file_of_assembly() -> None:
    inf = LIBRARY / "EverycoreAsmLib/EverycoreAsmLib.inf"
    listed = sources_of(inf)
    assert listed == set(inf.parent.glob("*.c"))
    included = {re.findall(r'#include "(.*)"', path.read_text())[0] for path in listed}
    assert included == {str(p.relative_to(ROOT / "src")) for p in (ROOT / "src").rglob("*.S")}


@pytest.mark.parametrize("name", ["EverycoreLib", "EverycoreAsmLib"])
def test_the_package_declares_its_classes(name: str) -> None:
    text = (ROOT / "contrib/edk2/EverycorePkg/EverycorePkg.dec").read_text()
    place = re.search(rf"^  {name}\|(\S+)$", text, re.M)
    assert place is not None
    assert (ROOT / "contrib/edk2/EverycorePkg" / place[1]).resolve().is_file()


def test_every_library_of_the_package_lists_the_files_of_its_folder() -> None:
    for inf in LIBRARY.glob("*/*.inf"):
        own = {path for path in sources_of(inf) if path.is_relative_to(LIBRARY)}
        assert own == set(inf.parent.glob("*.c")), inf.name
