# SPDX-License-Identifier: MIT
"""Messages as results keep them: without folders that only one machine has. Pure."""

import re
from collections.abc import Iterable
from pathlib import Path

SAME_EVERYWHERE = ("/dev/", "/lib", "/proc/", "/usr/")
_PATH = re.compile(r"(?<![\w.$:/-])/[^\s:'\"`,()]*/([^\s:'\"`,()/]+)")


def without_places(text: str, known: Iterable[Path], other: Iterable[Path] = ()) -> str:
    """Paths below folders that are `known` to the reader begin there; of others the name is left.

    `other`: folders that may have spaces in their names, in which a path would seem to end.
    """
    for folder in _longest_first(known):
        text = text.replace(f"{folder}/", "")
    for folder in _longest_first(other):
        text = text.replace(f"{folder}/", "/-/")
    return _PATH.sub(lambda m: m[0] if m[0].startswith(SAME_EVERYWHERE) else m[1], text)


def file_named(name: str, cwd: Path) -> str:
    """How results name a file that was given by its path: from where one stood, or by its name."""
    path = Path(name).expanduser()
    if not (path.is_absolute() or ".." in path.parts):
        return name
    place = (cwd / path).resolve()
    if place.is_relative_to(cwd.resolve()):
        return f"./{place.relative_to(cwd.resolve())}"
    return path.name


def _longest_first(folders: Iterable[Path]) -> list[str]:
    names = {str(folder.absolute()) for folder in folders} - {"/"}
    return sorted(names, key=lambda name: (-len(name), name))
