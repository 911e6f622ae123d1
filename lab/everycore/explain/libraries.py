# SPDX-License-Identifier: MIT
"""Identifies libraries: name and version of a file, and the instructions in it."""

import mmap
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from everycore.explain.regions import GENERATORS
from everycore.model.toml_tables import expect, read_toml

FILE = Path(__file__).with_name("libraries.toml")
_SHAPE = {"name": str, "file": str, "contains": str, "version": str, "masks": tuple[str, ...]}
# Encodings of the Intel SDM, volume 2, as bytes of 64-bit code; `.` stands for a byte of registers.
_ENCODINGS = {
    "aes": rb"\x66[\x40-\x4f]?\x0f\x38[\xdc\xde]",
    "clmul": rb"\x66[\x40-\x4f]?\x0f\x3a\x44",
    "sha": rb"[\x40-\x4f]?\x0f\x38\xcb",
    "mulx": rb"\xc4[\x42\x62\xc2\xe2]"
    rb"[\x83\x8b\x93\x9b\xa3\xab\xb3\xbb\xc3\xcb\xd3\xdb\xe3\xeb\xf3\xfb]"
    rb"\xf6",
    "vaes": rb"\x62[\x02-\xf2].[\x20-\x5f]\xdc|\xc4[\x42\x62\xc2\xe2][\x05-\x7d]\xdc",
    "ifma": rb"\x62.[\x85-\xfd].\xb4",
}
_FEWEST = {"aes": 1, "clmul": 1}  # of the others four: fewer may be data
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
    by_name = next((one for one in known() if re.match(one.file, place.name)), None)
    if any(place.name.startswith(one) for one in GENERATORS):
        return Identity(place.name)
    data = contents(path)
    if data is None:
        return Identity(by_name.name) if by_name else Identity()
    if b"\xff Go buildinf:" in data[:_LARGEST]:
        match = re.search(rb"go(1\.\d+(?:\.\d+)?)", data[data.find(b"\xff Go buildinf:") :][:4096])
        return Identity("Go", match[1].decode() if match else "")
    chosen = by_name or next(
        (one for one in known() if data.find(one.contains.encode()) >= 0), None
    )
    if chosen is None:
        return Identity()
    match = re.search(chosen.version.encode(), data)
    if match:
        return Identity(chosen.name, match[1].decode(errors="replace"))
    real = place.resolve().name  # libnettle.so.8.6
    number = re.search(r"\.so\.([\d.]+)$|-(\d[\d.]*)\.so$", real)
    return Identity(chosen.name, f"({real})" if number else "")


@lru_cache(maxsize=256)
def instructions_in(path: str) -> dict[str, int]:
    """Count encodings of instructions in a file. Few may be data: they become 0."""
    data = contents(path)
    if data is None:
        return {}
    found = {}
    for name, pattern in _ENCODINGS.items():
        count = 0
        for _ in re.finditer(pattern, data, re.S):
            count += 1
            if count >= 64:
                break
        found[name] = count if count >= _FEWEST.get(name, 4) else 0
    return found


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


def lacking(path: str, wanted: Sequence[str]) -> bool:
    """Whether a file that can be read has none of some instructions."""
    counts = instructions_in(path)
    return bool(counts) and not any(counts.get(one) for one in wanted)
