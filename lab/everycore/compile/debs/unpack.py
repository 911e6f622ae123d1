# SPDX-License-Identifier: MIT
"""Packages and sources as folders: complete, or not there. No script of a package is run."""

import hashlib
import itertools
import platform
import posixpath
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from everycore.compile.debs.files import (
    GoneError,
    WrongContentsError,
    download_all,
    folder_of,
    is_cached,
)
from everycore.compile.debs.index import library
from everycore.compile.debs.lock import Lock, Pinned
from everycore.compile.debs.mirror import SETTING, find_mirrors
from everycore.compile.debs.tarball import unpack
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, UnavailableError, cannot_write
from everycore.environment.progress import Progress

LAYOUT = "roots-1"  # counts up with what `unpacked` makes of the same packages
# Links of a system whose /bin and /lib are those of /usr: every suite since Debian 12. Older
# packages with files in /lib land in the same place.
MERGED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
UNWANTED = ("usr/share/doc/", "usr/share/locale/", "usr/share/man/")  # two thirds of the files
_TARBALL = re.compile(r"\.tar\.[a-z0-9]+$")  # signatures of tarballs are .tar.gz.asc
_COMPONENT = re.compile(r"\.orig-([A-Za-z0-9-]+)\.tar\.")  # dpkg-source(1), format 3.0 (quilt)
DEBIANS = 2  # rank of Debian's own tarball
ARCHITECTURES = {
    "aarch64": "arm64",
    "armv7l": "armhf",
    "i686": "i386",
    "ppc64le": "ppc64el",
    "riscv64": "riscv64",
    "s390x": "s390x",
    "x86_64": "amd64",
}


def architecture_of(machine: str = "") -> str:
    """Debian's name for a machine as uname says it; this one by default."""
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise EverycoreError(f"Debian has no architecture for machines called '{machine}'")
    return ARCHITECTURES[machine]


def unpacked(context: Context, lock: Lock) -> Path:
    """The folder with all packages of a lock, as / would look with them installed."""

    def fill(root: Path) -> None:
        for name in MERGED:
            (root / "usr" / name).mkdir(parents=True)
            (root / name).symlink_to(f"usr/{name}")
        files = _fetched(context, lock, lock.packages)
        with Progress(context.err, "unpacking", len(files)) as progress:
            for name, path in files.items():
                _unpack_deb(path, root)
                progress.step(name)

    return _complete_folder(folder_of(context, LAYOUT) / lock.digest()[:32], fill)


def unpacked_source(context: Context, lock: Lock, name: str, only: tuple[str, ...] = ()) -> Path:
    """The folder with the sources of a package; the patches in debian/patches are not applied.

    `only`: no more than these files and folders of upstream's, for packages of which little is
    wanted; Debian's own files are not even fetched then.
    """
    source = next((s for s in lock.sources if s.name == name), None)
    if source is None:
        raise EverycoreError(f"the lock has no source package {name}", "--update writes it anew")
    digest = next(file.sha256 for file in source.files if file.name.endswith(".dsc"))
    if only:
        upstream = [f for f in source.files if _TARBALL.search(f.name) and _rank(f.name) != DEBIANS]
        source = replace(source, files=tuple(upstream))
        digest = hashlib.sha256("\0".join([digest, *only]).encode()).hexdigest()

    def fill(root: Path) -> None:
        files = _fetched(context, lock, [source])
        for tarball in sorted(files, key=_rank):
            if _TARBALL.search(tarball):
                _unpack_tarball(files[tarball], root, _COMPONENT.search(tarball), only)
        _refuse_missing(root, only, f"the source package {name} {source.version}")

    return _complete_folder(folder_of(context, "sources") / digest[:32], fill)


def unpacked_tarball(
    context: Context, lock: Lock, tarball: str, only: tuple[str, ...] = ()
) -> Path:
    """The folder with what a tarball holds that is a file of a lock's only package.

    `only`: as of `unpacked_source`.
    """
    (package,) = lock.packages
    (file,) = package.files
    digest = hashlib.sha256("\0".join([file.sha256, tarball, *only]).encode()).hexdigest()

    def fill(root: Path) -> None:
        (path,) = _fetched(context, lock, [package]).values()
        module = library("debfile")
        try:
            with closing(module.DebFile(str(path))) as deb, closing(deb.data.tgz()) as tar:
                members = (m for m in tar if posixpath.normpath(m.name) == tarball and m.isreg())
                for member in itertools.islice(members, 1):
                    # As a stream: what is wanted of it may be one file of a thousand.
                    with tarfile.open(fileobj=tar.extractfile(member), mode="r|*") as within:
                        _move_in(within, root, root, only)
        except (module.DebError, module.ArError, tarfile.TarError) as error:
            raise EverycoreError(f"cannot unpack {path}: {error}") from error
        _refuse_missing(root, only, f"{tarball} of {package.name} {package.version}")

    return _complete_folder(folder_of(context, "sources") / digest[:32], fill)


def _refuse_missing(root: Path, only: tuple[str, ...], where: str) -> None:
    if missing := [path for path in only if not (root / path).exists()]:
        raise WrongContentsError(
            f"{where} has no {', '.join(missing)}", "another version may have moved it"
        )


def _fetched(context: Context, lock: Lock, pins: Sequence[Pinned]) -> dict[str, Path]:
    remedy = f"--update takes what {' and '.join(lock.request.suites)} has now"
    return fetched(context, pins, lock.date, remedy)


def fetched(context: Context, pins: Sequence[Pinned], made: str, remedy: str) -> dict[str, Path]:
    """The files of packages, by name; no mirror is asked if all are here.

    `made` says of when the pins are, `remedy` how to get newer ones: for an archive that has moved.
    """
    files = [file for pinned in pins for file in pinned.files]
    mirrors = [] if all(is_cached(context, f) for f in files) else find_mirrors(context)
    try:
        paths = download_all(context, mirrors, files)
    except GoneError as error:
        raise UnavailableError(
            f"the archive has moved on since this lock was made ({made}): {error.message}",
            f"{remedy}; {SETTING}=URL of a snapshot of that day still has the old versions",
        ) from error
    return {file.name: path for file, path in zip(files, paths, strict=True)}


def unpack_package(path: Path, root: Path, unwanted: tuple[str, ...] = UNWANTED) -> None:
    """One package into a folder of its own, where all that it has is below usr."""
    for name in MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    _unpack_deb(path, root, unwanted)
    for name in MERGED:
        (root / name).unlink()
        with suppress(OSError):  # it is not empty
            (root / "usr" / name).rmdir()


def _complete_folder(place: Path, fill: Callable[[Path], None]) -> Path:
    """The folder `place`, filled beside its name if it is not there: it never lacks anything."""
    if place.is_dir():
        return place
    scratch = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=place.parent))
    try:
        scratch.chmod(0o755)
        fill(scratch)
        scratch.rename(place)
    except OSError as error:
        if not place.is_dir():  # else another run was faster, with the same contents
            raise cannot_write(f"into {place.parent}", error, doing="unpack") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return place


def _unpack_deb(path: Path, root: Path, unwanted: tuple[str, ...] = UNWANTED) -> None:
    module = library("debfile")
    try:
        with closing(module.DebFile(str(path))) as deb, closing(deb.data.tgz()) as tar:
            unpack(tar, root, unwanted)
    except (module.DebError, module.ArError, tarfile.TarError) as error:
        raise EverycoreError(f"cannot unpack {path}: {error}") from error


def _rank(name: str) -> int:
    """Upstream's files, then their further parts, then Debian's."""
    return DEBIANS if ".debian.tar." in name else 1 if _COMPONENT.search(name) else 0


def _unpack_tarball(
    path: Path, root: Path, component: re.Match[str] | None, only: tuple[str, ...]
) -> None:
    """As dpkg-source does: without the folder that all members are in, unless that is debian/."""
    target = root / component[1] if component else root
    try:
        with tarfile.open(path) as tar:
            _move_in(tar, root, target, only)
    except tarfile.TarError as error:
        raise EverycoreError(f"cannot unpack {path}: {error}") from error


def _move_in(tar: tarfile.TarFile, root: Path, target: Path, only: tuple[str, ...]) -> None:
    """Move what a tarball holds into `target`, by way of a folder beside `root`."""
    with tempfile.TemporaryDirectory(dir=root.parent) as folder:
        unpack(tar, Path(folder), only=only)
        entries = list(Path(folder).iterdir())
        if len(entries) == 1 and entries[0].is_dir() and entries[0].name != "debian":
            entries = list(entries[0].iterdir())
        target.mkdir(exist_ok=True)
        for entry in entries:
            entry.rename(target / entry.name)
