# SPDX-License-Identifier: MIT
"""Crates, for what they carry: data, or a library in C. Cargo fetches them; it builds nothing.

Cargo knows the registry that the system is configured for. A crate is pinned by its version and by
the sha256 of its archive; a copy of what was fetched stays in the cache.
"""

import hashlib
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.atomic import atomic_write, only_one
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError

# An answer takes a second; without a network nobody wants to wait for long.
LIMITS = ("--config", "net.retry=1", "--config", "http.timeout=20")
MANIFEST = """[package]
name = "nothing"
version = "0.0.0"
edition = "2021"

[lib]
path = "lib.rs"

[dependencies]
{name} = "={version}"
"""


@dataclass(frozen=True, slots=True)
class Crate:
    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"


def files(context: Context, crate: Crate, members: Sequence[str]) -> list[Path]:
    """These files of the crate, unpacked in the cache; their last names are distinct."""
    folder = context.cache_dir() / "crates" / str(crate)
    paths = [folder / Path(member).name for member in members]
    if not all(path.is_file() for path in paths):
        archive = _fetched(context, crate)
        _unpack(archive, {f"{crate}/{m}": path for m, path in zip(members, paths, strict=True)})
    return paths


def folder(context: Context, crate: Crate, name: str) -> Path:
    """A folder of the crate, with all that is below it, unpacked in the cache."""
    import tarfile

    place = context.cache_dir() / "crates" / f"{crate}-source"
    with only_one(place):
        if not place.is_dir():
            archive = _fetched(context, crate)
            with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
                with tarfile.open(archive) as tar:
                    # Python 3.11.2, Debian 12's, has no filters and ignores this.
                    tar.extraction_filter = getattr(tarfile, "data_filter", None)
                    tar.extractall(scratch)
                (Path(scratch) / str(crate)).rename(place)
    found = place / name
    if not found.is_dir():
        raise EverycoreError(f"{crate} has no folder {name}")
    return found


def _unpack(archive: Path, places: Mapping[str, Path]) -> None:
    import tarfile

    with tarfile.open(archive) as tar:
        for member, path in places.items():
            content = tar.extractfile(member) if member in tar.getnames() else None
            if content is None:
                raise EverycoreError(f"{archive.name} has no file {member}")
            with atomic_write(path) as scratch:
                scratch.write_bytes(content.read())


def _fetched(context: Context, crate: Crate) -> Path:
    """The crate's archive, where cargo keeps it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "Cargo.toml").write_text(
            MANIFEST.format(name=crate.name, version=crate.version), encoding="utf-8"
        )
        (folder / "lib.rs").touch()
        _cargo(context, crate, folder, "fetch", "--quiet")
        output = _cargo(context, crate, folder, "metadata", "--format-version", "1", "--offline")
    manifest = next(
        Path(package["manifest_path"])
        for package in json.loads(output)["packages"]
        if package["name"] == crate.name
    )
    # registry/src/INDEX/NAME-VERSION/Cargo.toml beside registry/cache/INDEX/NAME-VERSION.crate
    index = manifest.parents[1]
    archive = index.parents[1] / "cache" / index.name / f"{crate}.crate"
    if not archive.is_file():
        raise EverycoreError(f"cargo fetched {crate}, but {archive} is not there")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != crate.sha256:
        raise EverycoreError(f"{archive} has the sha256 {found}, not {crate.sha256}")
    return archive


def _cargo(context: Context, crate: Crate, folder: Path, *arguments: str) -> str:
    done = context.runner.run(["cargo", *LIMITS, *arguments], cwd=folder)
    if done.code:
        output = done.stderr.strip().splitlines() or [f"exit code {done.code}"]
        raise EverycoreError(f"cargo cannot fetch {crate}: {output[-1].strip()}")
    return done.stdout
