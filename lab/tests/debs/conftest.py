# SPDX-License-Identifier: MIT
"""What the tests of debs ask for by name."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_archive import FakeArchive, Key
from world import Lab

from everycore.context import Context, SystemRunner


@pytest.fixture(scope="session")
def make_key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Key]]:
    """Makes a key pair, which takes gpg a moment."""
    if not all(map(shutil.which, ("gpg", "gpg-agent", "gpgv"))):
        pytest.skip("no gpg, or no gpgv: apt-get install gpg gpg-agent gpgv")
    keys: list[Key] = []

    def make() -> Key:
        keys.append(Key(tmp_path_factory.mktemp("key") / "home").make())
        return keys[-1]

    yield make
    for key in keys:
        key.close()


@pytest.fixture(scope="session")
def key(make_key: Callable[[], Key]) -> Key:
    return make_key()


@pytest.fixture
def archive(tmp_path: Path, key: Key) -> FakeArchive:
    return FakeArchive(tmp_path / "mirror", key)


@pytest.fixture
def context(tmp_path: Path, archive: FakeArchive) -> Context:
    """A world whose mirror is the fake archive, and which trusts its key."""
    env = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "EVERYCORE_MIRROR": str(archive.folder),
        "EVERYCORE_KEYRING": str(archive.key.keyring),
    }
    archive.folder.mkdir()
    return Lab(SystemRunner(), tmp_path, env).context()
