# SPDX-License-Identifier: MIT
"""Messages as results keep them: without folders that only one machine has."""

import re
from collections.abc import Iterable
from pathlib import Path
from posixpath import normpath

# Start of a path: not within a word or a path, or right behind an option; not that of a URL.
_START = r"(?:(?<![\w.$:/-])|(?<=:)(?!//)|(?<![\w.$/-])(-[A-Za-z]+))"
_PATH = re.compile(_START + r"(/[^\s:'\"`,()]*/([^\s:'\"`,()/]+))")
_SAME_EVERYWHERE = re.compile(r"/(dev|lib(32|64|x32)?|proc|usr(?!/local/))/")


def without_paths(text: str, known: Iterable[Path], other: Iterable[Path] = ()) -> str:
    """Paths below folders that are `known` to the reader begin there; of others the name is left.

    `other`: folders that may have spaces in their names, in which a path would seem to end.
    """
    for folder in _longest_first(known):
        text = _replaced(text, folder, "")
    for folder in _longest_first(other):
        text = _replaced(text, folder, "/-/")
    return _PATH.sub(_told, text)


def _replaced(text: str, folder: str, by: str) -> str:
    return re.sub(_START + re.escape(f"{folder}/"), lambda m: (m[1] or "") + by, text)


def _told(found: re.Match[str]) -> str:
    # normpath: what leads out of such a folder by ".." lies elsewhere.
    if _SAME_EVERYWHERE.match(normpath(found[2])):
        return found[0]
    return (found[1] or "") + found[3]


def file_named(name: str, cwd: Path) -> str:
    """Return how results name a file: as it was given from where one stood, else by its name.

    A run that goes on there finds `../other/mine.toml` again; an absolute path says too much.
    """
    path = Path(name).expanduser()
    if not (path.is_absolute() or ".." in path.parts):
        return name
    place = (cwd / path).resolve()
    if place.is_relative_to(cwd.resolve()):
        return f"./{place.relative_to(cwd.resolve())}"
    return path.name if path.is_absolute() else name


def _longest_first(folders: Iterable[Path]) -> list[str]:
    names = {str(folder.absolute()) for folder in folders} - {"/"}
    return sorted(names, key=lambda name: (-len(name), name))
