# SPDX-License-Identifier: MIT
"""Tarballs into a folder, out of which nothing leads.

Python's own filters would do (PEP 706), but Debian 12 has Python 3.11.2, which lacks them.
"""

import os
import posixpath
import shutil
import tarfile
from pathlib import Path


def unpack(
    tar: tarfile.TarFile,
    root: Path,
    unwanted: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
) -> None:
    """Files, folders and links of a tarball; not those whose names begin with an unwanted one.

    `only`: no more than these files and folders, named below the folder that all members are in.

    Absolute links become relative to `root`. A TarError says what is refused: devices, and what
    would lie or lead outside. Owners are not kept, of modes only whether a file may be executed.
    """
    top = Path(os.path.realpath(root))
    chosen = tuple(f"{name.rstrip('/')}/" for name in only)
    for member in tar:
        name = posixpath.normpath(member.name)
        if name == "." or f"{name}/".startswith(unwanted):
            continue
        if not only or f"{name}/".partition("/")[2].startswith(chosen):
            _unpack(tar, member, _inside(top, name), top)


def _inside(top: Path, name: str) -> Path:
    """The place of a member, whose folder is made; links that it goes through are followed."""
    path = top / name
    folder = Path(os.path.realpath(path.parent))
    if path.name == ".." or not folder.is_relative_to(top):
        raise tarfile.TarError(f"{name} lies outside")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / path.name


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path, top: Path) -> None:
    if member.isdir():
        place.mkdir(exist_ok=True)
        return
    if not (member.isreg() or member.issym() or member.islnk()):
        raise tarfile.TarError(f"{member.name} is no file, folder or link")
    place.unlink(missing_ok=True)  # another package's, perhaps a link: never written through
    if member.issym():
        place.symlink_to(_target(member, place.parent, top))
    elif member.islnk():
        os.link(_inside(top, posixpath.normpath(member.linkname)), place, follow_symlinks=False)
    else:
        content = tar.extractfile(member)
        assert content is not None  # of a regular file
        with content, place.open("xb") as out:
            shutil.copyfileobj(content, out)
        place.chmod(0o755 if member.mode & 0o100 else 0o644)
        os.utime(place, (member.mtime, member.mtime))  # make goes by it


def _target(member: tarfile.TarInfo, folder: Path, top: Path) -> str:
    target = member.linkname
    if target.startswith("/"):
        target = os.path.relpath(top / target.lstrip("/"), folder)
    if not Path(os.path.realpath(folder / target)).is_relative_to(top):
        raise tarfile.TarError(f"{member.name} leads outside, to {member.linkname}")
    return target
