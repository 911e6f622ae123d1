# SPDX-License-Identifier: MIT
import hashlib
import io
import json
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from world import Lab

from everycore.compile import crates
from everycore.compile.crates import Crate
from everycore.environment.context import Completed
from everycore.environment.errors import EverycoreError

DATA = b'{"tests": 3}'


@dataclass
class Cargo:
    """Cargo with a registry of one crate."""

    registry: Path
    fault: str = ""
    calls: list[str] = field(default_factory=list)

    def run(self, argv: Sequence[str], *, stdin: str = "", cwd: Path | None = None) -> Completed:
        assert stdin == ""
        assert cwd is not None
        assert 'data = "=1.2.0"' in (cwd / "Cargo.toml").read_text(encoding="utf-8")
        self.calls.append(next(word for word in argv if word in ("fetch", "metadata")))
        if self.fault:
            return Completed(101, "", f"error: failed\n\nCaused by:\n  {self.fault}\n")
        manifest = self.registry / "src/index-1/data-1.2.0/Cargo.toml"
        said = {"packages": [{"name": "data", "manifest_path": str(manifest)}]}
        return Completed(0, json.dumps(said) if "metadata" in argv else "")


@pytest.fixture
def cargo(tmp_path: Path) -> Cargo:
    archive = tmp_path / "registry/cache/index-1/data-1.2.0.crate"
    archive.parent.mkdir(parents=True)
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("data-1.2.0/src/a.json")
        member.size = len(DATA)
        tar.addfile(member, io.BytesIO(DATA))
    return Cargo(tmp_path / "registry")


@pytest.fixture
def lab(tmp_path: Path, cargo: Cargo) -> Lab:
    return Lab(cargo, tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache")})


@pytest.fixture
def crate(cargo: Cargo) -> Crate:
    archive = cargo.registry / "cache/index-1/data-1.2.0.crate"
    return Crate("data", "1.2.0", hashlib.sha256(archive.read_bytes()).hexdigest())


def test_files_are_fetched_once_and_unpacked(lab: Lab, cargo: Cargo, crate: Crate) -> None:
    for _ in range(2):
        (path,) = crates.files(lab.context(), crate, ["src/a.json"])
        assert path.read_bytes() == DATA
    assert cargo.calls == ["fetch", "metadata"]


def test_another_archive_than_the_pinned_one_is_refused(lab: Lab, crate: Crate) -> None:
    other = Crate(crate.name, crate.version, 64 * "0")
    with pytest.raises(EverycoreError, match=f"has the sha256 {crate.sha256}, not 0000"):
        crates.files(lab.context(), other, ["src/a.json"])
    assert not list(lab.folder.glob("cache/**/a.json"))


def test_what_cargo_says_last_is_the_reason(lab: Lab, cargo: Cargo, crate: Crate) -> None:
    cargo.fault = "Could not resolve host"
    with pytest.raises(EverycoreError, match=r"cannot fetch data-1\.2\.0: Could not resolve host"):
        crates.files(lab.context(), crate, ["src/a.json"])


def test_a_file_that_is_not_in_the_crate_is_named(lab: Lab, crate: Crate) -> None:
    with pytest.raises(EverycoreError, match=r"has no file data-1\.2\.0/src/b\.json"):
        crates.files(lab.context(), crate, ["src/b.json"])


def test_a_cache_that_cannot_be_written_is_named(lab: Lab, crate: Crate) -> None:
    (lab.folder / "cache").write_text("in the way")
    with pytest.raises(EverycoreError, match="cannot write the cache"):
        crates.files(lab.context(), crate, ["src/a.json"])


def test_a_folder_is_unpacked_once(lab: Lab, cargo: Cargo, crate: Crate) -> None:
    for _ in range(2):
        folder = crates.folder(lab.context(), crate, "src")
        assert (folder / "a.json").read_bytes() == DATA
    assert cargo.calls == ["fetch", "metadata"]
    with pytest.raises(EverycoreError, match=r"data-1\.2\.0 has no folder deps"):
        crates.folder(lab.context(), crate, "deps")
