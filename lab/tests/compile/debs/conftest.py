# SPDX-License-Identifier: MIT
"""Fixtures of the tests of debs."""

from pathlib import Path

import pytest
from fake_archive import FakeArchive
from world import Lab

from everycore.environment.context import Context, SystemRunner


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
