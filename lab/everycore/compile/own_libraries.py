# SPDX-License-Identifier: MIT
"""A library that the user has built, in place of a package: its files, found in one folder.

The folder is one that was installed to, the folder of a build, or that of the sources with the
build in it. Of a build elsewhere, CMakeCache.txt or a Makefile names the sources.
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from everycore.binary import elf
from everycore.compile.vendored import LIBRARY
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import Installed, Peer, Tree

OPTION = "--library"
SYSTEM = ("-lpthread", "-ldl", "-lm", "-lstdc++")
DEPTH = 4  # levels of folders that are looked in
_INCLUDE = re.compile(r"^#include <([^>]+)>", re.MULTILINE)
_SYSTEM_HEADER = re.compile(
    r"(ctype|errno|stdbool|stddef|stdint|stdio|stdlib|string|unistd)\.h|(sys|linux)/.*"
)
_SOURCES = re.compile(
    r"^(?:CMAKE_HOME_DIRECTORY:INTERNAL|SRCDIR|abs_top_srcdir|top_srcdir)\s*=\s*(.+?)\s*$",
    re.MULTILINE,
)
_ARCHIVE, _MEMBER_BYTES = b"!<arch>\n", 60
_HEAD_BYTES = 20  # of an ELF file, up to its machine


@dataclass(frozen=True, slots=True)
class OwnLibrary:
    """A library in a folder of the user."""

    peer: Peer  # its libraries are paths of files
    folder: Path
    installed: Installed
    suffix: str  # of its name in results: its version may be that of a package

    @property
    def name(self) -> str:
        return self.peer.name + self.suffix

    @property
    def title(self) -> str:
        """Begin a message about it."""
        return f"{OPTION} {self.peer.name}"


def own_libraries(
    words: Sequence[str], peers: Sequence[Peer], tree: Tree, cwd: Path
) -> list[OwnLibrary]:
    """Return the libraries that words NAME=FOLDER name; raise an error that says what is wrong."""
    found: list[OwnLibrary] = []
    for word in words:
        name, _, folder = word.partition("=")
        if not (name and folder):
            raise EverycoreError(
                f"{OPTION}: '{word}' is not NAME=FOLDER", "such as openssl=/opt/openssl-4.1"
            )
        peer = _linked_peer(name, peers)
        count = 1 + sum(own.peer.name == name for own in found)
        suffix = "-own" if count == 1 else f"-own{count}"
        found.append(_own_library(peer, cwd / Path(folder).expanduser(), suffix, tree))
    return found


def _linked_peer(name: str, peers: Sequence[Peer]) -> Peer:
    linked = {p.name: p for p in peers if p.libraries and not (p.crate or p.module)}
    if name in linked:
        return linked[name]
    if name in {peer.name for peer in peers}:
        raise EverycoreError(
            f"{OPTION}: {name} is not linked from a folder", f"these are: {', '.join(linked)}"
        )
    raise unknown_name("peer", name, linked)


def _own_library(peer: Peer, folder: Path, suffix: str, tree: Tree) -> OwnLibrary:
    if not folder.is_dir():
        raise EverycoreError(f"{OPTION} {peer.name}: there is no folder {folder}")
    files = {w: _library(peer, folder, w) for w in peer.libraries if w not in SYSTEM}
    for file in files.values():
        _refuse_other_machine(peer, file)
    compile_flags = tuple(f"-I{path}" for path in _header_folders(peer, folder, tree))
    places = sorted({str(path.parent) for path in files.values() if path.suffix != ".a"})
    rpath = [f"-Wl,-rpath,{place}" for place in places]
    link_flags = ("-Wl,--disable-new-dtags", *rpath) if rpath else ()
    words = tuple(str(files.get(word, word)) for word in peer.libraries)
    own = replace(peer, libraries=words, packages=(), includes=(), vendored=None)
    return OwnLibrary(own, folder, Installed(compile_flags, link_flags), suffix)


# ---- Files ---------------------------------------------------------------------------------------


def _folders(top: Path) -> Iterator[Path]:
    """The folder and those below, the nearest first; of hidden ones .libs alone."""
    row = [top]
    for _ in range(DEPTH + 1):
        yield from row
        row = [
            Path(entry.path)
            for folder in row
            for entry in _entries(folder)
            if entry.name == ".libs" or not entry.name.startswith(".")
        ]


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    """The folders in a folder; none where this user may not look."""
    try:
        with os.scandir(folder) as entries:
            inner = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(inner, key=lambda entry: entry.name)


def _library(peer: Peer, folder: Path, word: str) -> Path:
    """The file of a word for the linker: of one folder, the shared library rather than the
    archive."""
    stem = f"lib{word.removeprefix(LIBRARY)}"
    for place in _folders(folder):
        shared = (place / f"{stem}.so", *sorted(place.glob(f"{stem}.so.*")))
        found = next((path for path in (*shared, place / f"{stem}.a") if path.is_file()), None)
        if found:
            return found
    raise EverycoreError(
        f"{OPTION} {peer.name}: there is no {stem}.so and no {stem}.a in {folder}",
        f"its peer needs {_names(peer)}; {DEPTH} levels of folders were looked in; has the build"
        " ended?",
    )


def _names(peer: Peer) -> str:
    own = [f"lib{w.removeprefix(LIBRARY)}" for w in peer.libraries if w not in SYSTEM]
    return " and ".join(own)


def _refuse_other_machine(peer: Peer, path: Path) -> None:
    theirs, ours = _machine_of(path), elf.machine_of_file(Path(sys.executable))
    if theirs and ours and theirs != ours:
        raise EverycoreError(
            f"{OPTION} {peer.name}: {path} is for {elf.machine_name(theirs)}, and this machine is"
            f" {elf.machine_name(ours)}",
            "build the library for this machine",
        )


def _machine_of(path: Path) -> int:
    """The number of the machine that a library is for; 0: it is a script, or damaged."""
    with path.open("rb") as file:
        if file.read(len(_ARCHIVE)) != _ARCHIVE:
            return elf.machine_of_file(path)
        for begin in _members(file):
            if begin[:4] == elf.MAGIC and len(begin) == _HEAD_BYTES:
                return int.from_bytes(begin[18:20], "big" if begin[5] == 2 else "little")
    return 0


def _members(archive: BinaryIO) -> Iterator[bytes]:
    """The first bytes of each file in an archive: ar(5)."""
    while len(head := archive.read(_MEMBER_BYTES)) == _MEMBER_BYTES:
        size = head[48:58].strip()
        if not size.isdigit():
            return
        end = archive.tell() + int(size)
        yield archive.read(_HEAD_BYTES)
        archive.seek(end + end % 2)


def _header_folders(peer: Peer, folder: Path, tree: Tree) -> list[Path]:
    """The folders in which the headers are that the library's adapter includes."""
    text = (tree.root / peer.source).read_text(encoding="utf-8")
    wanted = [name for name in _INCLUDE.findall(text) if not _SYSTEM_HEADER.fullmatch(name)]
    missing = dict.fromkeys(wanted)
    tops = [folder, *_sources_of(folder)]
    found: list[Path] = []
    for place in (place for top in tops for place in _folders(top)):
        if not missing:
            break
        if here := [name for name in missing if (place / name).is_file()]:
            found.append(place)
            for name in here:
                del missing[name]
    if missing:
        raise EverycoreError(
            f"{OPTION} {peer.name}: there is no header {next(iter(missing))} in {folder}",
            "name the folder that it was installed to, or that of the sources with the build in it",
        )
    # A build outside of the sources has generated headers beside theirs.
    found += [top / "include" for top in tops if (top / "include").is_dir()]
    return list(dict.fromkeys(found))


def _sources_of(folder: Path) -> list[Path]:
    """The folder of the sources, if that of a build elsewhere names it."""
    for name in ("CMakeCache.txt", "Makefile"):
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if match := _SOURCES.search(text):
            return [folder / match[1]]
    return []
