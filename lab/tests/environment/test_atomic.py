# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from everycore.environment.atomic import atomic_write
from everycore.environment.errors import EverycoreError


def test_two_at_once_do_not_touch_each_others_file(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "data.bin"
    with atomic_write(path) as first:
        with atomic_write(path) as second:
            first.write_text("first")
            second.write_text("second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(path.parent.iterdir()) == [path]


def test_a_file_is_not_there_if_its_writer_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_write(tmp_path / "data") as scratch:
        raise RuntimeError(scratch.write_text("half"))
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    place = atomic_write(tmp_path / "cache" / "data")
    with pytest.raises(EverycoreError, match="cannot write the cache") as error, place:
        pass
    assert "XDG_CACHE_HOME" in error.value.hint
