# SPDX-License-Identifier: MIT
"""Lock file of an archive: exact versions with their sha256, as a file to commit."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from everycore.environment.errors import EverycoreError

FORMAT = 1
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class File:
    """A file of an archive."""

    path: str  # below the mirror: pool/main/o/openssl/...
    sha256: str
    size: int  # bytes

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Pinned:
    """A package (one file) or a source package (a .dsc and what belongs to it)."""

    name: str
    version: str
    files: tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A request, by Debian's relations: `a`, `a (>= 1.0)`; packages also `a | b`."""

    suites: tuple[str, ...]
    architecture: str  # as Debian calls it: amd64, arm64
    packages: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()  # taken where the suites have them with all that they need
    sources: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()  # left out, with what only these need


@dataclass(frozen=True, slots=True)
class Lock:
    """The answer to a request."""

    request: Request
    date: str  # of the Release of each suite
    packages: tuple[Pinned, ...]
    sources: tuple[Pinned, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()  # which optional packages are not here, and why

    def digest(self) -> str:
        """Changes with the files of the packages, and only with them."""
        sums = sorted(file.sha256 for pinned in self.packages for file in pinned.files)
        return hashlib.sha256("\n".join(sums).encode()).hexdigest()


def to_text(lock: Lock) -> str:
    """JSON, one package a line, so that the difference of two locks can be read."""
    head = {"format": FORMAT, "date": lock.date, "request": asdict(lock.request)}
    lists = {
        "packages": [asdict(pin) for pin in lock.packages],
        "sources": [asdict(pin) for pin in lock.sources],
        "absent": lock.absent,
    }
    return written(head, lists)


def from_text(text: str, name: str) -> Lock:
    """A lock from the text of a file, which errors name."""
    return parsed(text, name, FORMAT, "write it anew with --update", _lock)


def written(head: Mapping[str, Any], lists: Mapping[str, Iterable[Any]]) -> str:
    """JSON for people, too: a line for each member of the head and each item of the lists."""
    members = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    for key, items in lists.items():
        lines = ",".join(f"\n  {json.dumps(item)}" for item in items)
        members.append(f' "{key}": [{lines}\n ]')
    return "{\n" + ",\n".join(members) + "\n}\n"


def parsed(text: str, name: str, known: int, remedy: str, make: Callable[[Any], T]) -> T:
    """Apply `make` to the JSON of a lock file of the known format."""
    try:
        value = json.loads(text)
        if value["format"] != known:
            raise EverycoreError(
                f"{name} has format {value['format']}, this everycore reads format {known}",
                f"use the everycore that wrote it, or {remedy}",
            )
        return make(value)
    except (ValueError, KeyError, TypeError) as error:
        raise EverycoreError(
            f"{name} is no lock file: {type(error).__name__} {error}", remedy
        ) from error


def pinned(item: Mapping[str, Any]) -> Pinned:
    return Pinned(item["name"], item["version"], tuple(File(**file) for file in item["files"]))


def _lock(value: Mapping[str, Any]) -> Lock:
    return Lock(
        _request(value["request"]),
        str(value["date"]),
        tuple(map(pinned, value["packages"])),
        tuple(map(pinned, value["sources"])),
        tuple((name, why) for name, why in value["absent"]),
    )


def _request(item: Mapping[str, Any]) -> Request:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in item.items()}
    return Request(**values)
