# SPDX-License-Identifier: MIT
"""Identifies libraries: name and version of what a file holds."""

import mmap
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from everycore.environment.toml_tables import expect, read_toml
from everycore.explain.regions import GENERATORS

FILE = Path(__file__).with_name("libraries.toml")
_SHAPE = {"name": str, "file": str, "contains": str, "version": str, "masks": tuple[str, ...]}
_LARGEST = 64 << 20


@dataclass(frozen=True, slots=True)
class Library:
    """One entry of libraries.toml."""

    name: str
    file: str
    contains: str
    version: str
    masks: tuple[str, ...]


@lru_cache(maxsize=1)
def known() -> tuple[Library, ...]:
    rows = read_toml(FILE)["library"]
    return tuple(Library(**expect(FILE.name, row, _SHAPE, tuple(_SHAPE))) for row in rows)


@dataclass(frozen=True, slots=True)
class Identity:
    """Name and version of what a file holds; the name is empty where nothing tells it."""

    name: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}".strip()


@lru_cache(maxsize=256)
def identify(path: str) -> Identity:
    """Return the library that a file is, or that a program has linked into itself."""
    place = Path(path)
    by_name = next((library for library in known() if re.match(library.file, place.name)), None)
    if any(place.name.startswith(generator) for generator in GENERATORS):
        return Identity(place.name)
    data = contents(path)
    if data is None:
        return Identity(by_name.name) if by_name else Identity()
    if b"\xff Go buildinf:" in data[:_LARGEST]:
        match = re.search(rb"go(1\.\d+(?:\.\d+)?)", data[data.find(b"\xff Go buildinf:") :][:4096])
        return Identity("Go", match[1].decode() if match else "")
    chosen = by_name or next(
        (library for library in known() if re.search(library.contains.encode(), data)), None
    )
    if chosen is None:
        return Identity()
    match = re.search(chosen.version.encode(), data)
    if match:
        return Identity(chosen.name, match[1].decode(errors="replace"))
    real = place.resolve().name  # libnettle.so.8.6
    number = re.search(r"\.so\.([\d.]+)$|-(\d[\d.]*)\.so$", real)
    return Identity(chosen.name, f"({real})" if number else "")


@lru_cache(maxsize=64)
def contents(path: str) -> mmap.mmap | None:
    with suppress(OSError, ValueError), Path(path).open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    return None


def cpu_flags(text: str) -> list[str]:
    """Return the flags of a /proc/cpuinfo, of x86 or of Arm."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return value.split()
    return []
