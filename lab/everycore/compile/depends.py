# SPDX-License-Identifier: MIT
"""Record the files that a compiler read to make an object, by its own word, and whether they
changed.

Beside objects is KEY.read: for each object that was made of one source, one compiler and the same
flags, which files were read, and a digest of what was in them.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from everycore.environment.atomic import atomic_write

MOST = 8  # objects that one source is known by, the newest first: branches come and go


@dataclass(frozen=True, slots=True)
class Read:
    """Files, as the compiler named them, and the digest of what was in them."""

    names: tuple[str, ...]
    digest: str


def words(rule: Path) -> list[str]:
    """Return flags that make the compiler write into the file `rule` what it reads."""
    return ["-MD", "-MF", str(rule), "-MT", "object"]


def read_files(rule: Path, cwd: Path | None) -> Read:
    """Return the files that a rule of make names; relative names begin in `cwd`.

    Nothing where the compiler wrote none, as for assembly without preprocessor.
    """
    with suppress(OSError):
        names = names_in(rule.read_text(encoding="utf-8", errors="surrogateescape"))
        return Read(tuple(names), _digest(names, cwd))
    return Read((), "")


def names_in(text: str) -> list[str]:
    """The prerequisites of a rule, as gcc and clang write them."""
    _, _, prerequisites = text.replace("\\\n", " ").partition(":")
    names = re.findall(r"(?:\\[ #]|\$\$|\S)+", prerequisites)
    return [re.sub(r"\\([ #])", r"\1", name).replace("$$", "$") for name in names]


def changed_since(read: Read, cwd: Path | None, since_ns: int) -> bool:
    """Whether one was written while the compiler ran: who knows which half of it was read."""
    with suppress(OSError):
        return any(_place(name, cwd).stat().st_mtime_ns >= since_ns for name in read.names)
    return True


def object_of(folder: Path, key: str, read: Read) -> Path:
    """Return the path of the object that was made of these files."""
    text = "\0".join([key, *read.names, read.digest])
    return folder / f"{hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()}.o"


def find_object(folder: Path, key: str, cwd: Path | None) -> Path | None:
    """One that is there, and whose files all have the contents that it was made of."""
    for read in _known(folder, key):
        path = object_of(folder, key, read)
        if path.is_file() and _digest(read.names, cwd) == read.digest:
            return path
    return None


def remember(folder: Path, key: str, read: Read) -> None:
    """Another run may do the same at this moment: what is lost is compiled again."""
    every = [read, *(known for known in _known(folder, key) if known != read)]
    with atomic_write(memory_of(folder, key)) as scratch:
        scratch.write_text(json.dumps([asdict(entry) for entry in every[:MOST]]), encoding="ascii")


def memory_of(folder: Path, key: str) -> Path:
    return folder / f"{key}.read"


def _known(folder: Path, key: str) -> list[Read]:
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(memory_of(folder, key).read_text(encoding="ascii"))
        return [Read(tuple(map(str, entry["names"])), str(entry["digest"])) for entry in known]
    return []


def _place(name: str, cwd: Path | None) -> Path:
    return cwd / name if cwd else Path(name)


def _digest(names: Sequence[str], cwd: Path | None) -> str:
    """Return the digest of the contents of files in this order; missing files count as such."""
    parts = []
    for name in names:
        try:
            parts.append(hashlib.sha256(_place(name, cwd).read_bytes()).hexdigest())
        except OSError:
            parts.append("")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
