# SPDX-License-Identifier: MIT
"""The compilers that can be fetched, and the exact files of each: a file to commit."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from everycore.compile.debs.lock import Pinned, parsed, pinned, written
from everycore.compile.toolchains.parts import HEADERS

FORMAT = 1
REMEDY = "everycore toolchain lock writes it anew"


@dataclass(frozen=True, slots=True)
class Part:
    """A compiler for one target, or the headers of one: what is fetched and removed as a whole."""

    name: str  # "gcc-16", or HEADERS
    target: str  # "host", "qemu-aarch64"
    provider: str  # "debian" or "wheel"
    source: str  # where it is from: "Debian trixie", "PyPI"
    package: str  # "gcc-16-aarch64-linux-gnu"
    version: str
    files: tuple[Pinned, ...]  # of Debian all that it needs, with itself; the wheel

    @property
    def origin(self) -> str:
        return f"{self.source}, {self.package} {self.version}"

    @property
    def n_bytes(self) -> int:
        return sum(file.size for pinned in self.files for file in pinned.files)


@dataclass(frozen=True, slots=True)
class Lock:
    """All parts that were found, for one kind of machine."""

    architecture: str  # as Debian calls it
    date: str  # of the Release of each suite
    parts: tuple[Part, ...]

    def names(self) -> list[str]:
        return list(dict.fromkeys(part.name for part in self.parts if part.name != HEADERS))

    def part(self, name: str, target: str) -> Part | None:
        return next((p for p in self.parts if (p.name, p.target) == (name, target)), None)


def to_text(lock: Lock) -> str:
    """JSON, one part and one package a line; packages that parts share are there once."""
    pins: dict[str, Pinned] = {}
    parts: list[dict[str, Any]] = []
    for part in lock.parts:
        pins |= {_key(pin): pin for pin in part.files}
        plain = {k: v for k, v in asdict(part).items() if k != "files"}
        parts.append(plain | {"files": [_key(pin) for pin in part.files]})
    packages = [asdict(pins[key]) for key in sorted(pins)]
    head = {"format": FORMAT, "architecture": lock.architecture, "date": lock.date}
    return written(head, {"parts": parts, "packages": packages})


def from_text(text: str, name: str) -> Lock:
    """A lock from the text of a file, which errors name."""
    return parsed(text, name, FORMAT, REMEDY, _lock)


def _lock(value: Mapping[str, Any]) -> Lock:
    pins = {_key(pin): pin for pin in map(pinned, value["packages"])}
    parts = tuple(_part(item, pins) for item in value["parts"])
    return Lock(str(value["architecture"]), str(value["date"]), parts)


def _key(pin: Pinned) -> str:
    return f"{pin.name}_{pin.version}"


def _part(item: dict[str, Any], pins: dict[str, Pinned]) -> Part:
    needs: Sequence[str] = item["files"]
    words = {key: str(value) for key, value in item.items() if key != "files"}
    return Part(**words, files=tuple(pins[key] for key in needs))
