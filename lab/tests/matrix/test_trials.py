# SPDX-License-Identifier: MIT
"""How a report names the folder of a subject's files."""

from pathlib import Path

import pytest

from everycore.matrix.trials import _place_of
from everycore.subjects import Subject


def subject(**fields: str) -> Subject:
    return Subject("mine", ("src/mine.c",), (), **fields)  # type: ignore[arg-type]


def test_files_below_the_current_folder_are_named_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _place_of(subject(), tmp_path, "") == (".", "")
    assert _place_of(subject(), tmp_path / "sub", "") == ("./sub", "")


@pytest.mark.parametrize(
    ("fields", "place", "told"),
    [
        ({}, "$SOURCES", "# SOURCES: the folder that has src/mine.c, beside mine.toml"),
        ({"setting": "MINE"}, "$MINE", "# MINE: the folder that src/mine.c is below"),
        ({"package": "p"}, "$SOURCES", "apt-get source p=1-2  # SOURCES: where it is unpacked"),
    ],
)
def test_a_name_that_stands_for_a_folder_is_explained(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, str],
    place: str,
    told: str,
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert _place_of(subject(**fields), tmp_path / "elsewhere", "1-2") == (place, told)
