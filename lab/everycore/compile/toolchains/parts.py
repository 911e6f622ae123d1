# SPDX-License-Identifier: MIT
"""Records of added compilers: a small file for each, written when it was proven to work."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from everycore.compile.toolchains.cache_lock import folder_of
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError

FORMAT = 1
HEADERS = "headers"  # the C library of a target, which its compilers share
PATH = "path"  # the provider of compilers that lie elsewhere


@dataclass(frozen=True, slots=True)
class Added:
    """A compiler, or the headers of a target, in the cache; or a compiler that a path names."""

    name: str
    target: str
    provider: str
    origin: str
    root: str  # its folder below roots/, or the folder of a path
    store: tuple[str, ...] = ()  # folders below store/ that it needs
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by target
    proofs: Mapping[str, str] = field(default_factory=dict)  # by target: how far the probe came

    @property
    def key(self) -> str:
        return f"{self.name}.{self.target}"


def all_added(context: Context) -> list[Added]:
    found = []
    for folder in _folders(context):
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            with suppress(OSError, ValueError, KeyError, TypeError):
                found.append(_from_text(path.read_text(encoding="utf-8")))
    return found


def find_added(context: Context, name: str, target: str) -> Added | None:
    own = (added for added in all_added(context) if (added.name, added.target) == (name, target))
    return next(own, None)


def write_added(context: Context, added: Added) -> None:
    with atomic_write(_place(context, added)) as scratch:
        scratch.write_text(json.dumps({"format": FORMAT, **asdict(added)}), encoding="utf-8")


def forget(context: Context, added: Added) -> None:
    try:
        _place(context, added).unlink(missing_ok=True)
    except OSError as error:
        raise EverycoreError(f"cannot remove {added.name}: {error}") from error


def _folders(context: Context) -> tuple[Path, Path]:
    """Return the two folders. Their location must not be lost with the cache."""
    return folder_of(context, "parts"), context.state_dir() / "toolchains" / "paths"


def _place(context: Context, added: Added) -> Path:
    return _folders(context)[added.provider == PATH] / f"{added.key}.json"


def _from_text(text: str) -> Added:
    table = json.loads(text)
    if table.pop("format") != FORMAT:
        raise ValueError
    table["store"] = tuple(table["store"])
    table["commands"] = {target: tuple(words) for target, words in table["commands"].items()}
    return Added(**table)
