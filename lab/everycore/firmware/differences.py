# SPDX-License-Identifier: MIT
"""Differences between two option ROMs, image by image."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from everycore.firmware import pe
from everycore.firmware.oprom import Driver, Rom, RomImage

HEXADECIMAL = ("vendor", "device", "class_code", "machine", "indicator", "offset", "signature")


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that two ROMs have different values of."""

    image: int | None  # None: of the ROM
    what: str
    first: str
    second: str

    def line(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "type": "difference",
            "image": self.image,
            "what": self.what,
            "first": self.first,
            "second": self.second,
        }

    def text(self) -> str:
        place = "" if self.image is None else f"image {self.image}: "
        return f"{place}{self.what}: {self.first} and {self.second}"


def differences(
    first: Rom, first_drivers: Sequence[Driver], second: Rom, second_drivers: Sequence[Driver]
) -> list[Difference]:
    """Return what differs; images are compared by their numbers."""
    found = list(_sizes(first, second))
    drivers = [{d.image.number: d for d in ds} for ds in (first_drivers, second_drivers)]
    for number in range(max(len(first.images), len(second.images))):
        pair = [rom.images[number] if number < len(rom.images) else None for rom in (first, second)]
        if pair[0] is None or pair[1] is None:
            texts = [f"{i.code_name} {i.machine_name}" if i else "no image" for i in pair]
            found.append(Difference(number, "image", *texts))
        else:
            found += _of_images(pair[0], pair[1])
            found += _of_drivers(number, drivers[0].get(number), drivers[1].get(number))
    if first.data != second.data and not found:
        at = _first_difference(first.data, second.data)
        found.append(Difference(None, f"bytes, first at {at:#x}", *_bytes_at(first, second, at)))
    return found


def _sizes(first: Rom, second: Rom) -> Iterator[Difference]:
    if len(first.data) != len(second.data):
        yield Difference(None, "bytes of the file", str(len(first.data)), str(len(second.data)))
    if first.prefix != second.prefix:
        sizes = [f"{len(rom.prefix)} bytes" for rom in (first, second)]
        yield Difference(None, "data before the first image", *sizes)
    if first.tail != second.tail and len(first.data) == len(second.data):
        sizes = [f"{len(rom.tail)} bytes" for rom in (first, second)]
        yield Difference(None, "data behind the last image", *sizes)
    faults = [rom.fault.message if rom.fault else "none" for rom in (first, second)]
    if faults[0] != faults[1]:
        yield Difference(None, "fault of the chain", *faults)


def _of_images(first: RomImage, second: RomImage) -> Iterator[Difference]:
    number = first.number
    for name, a, b in (
        ("offset", first.offset, second.offset),
        ("bytes", len(first.data), len(second.data)),
        ("gap", len(first.gap), len(second.gap)),
    ):
        if a != b:
            yield Difference(number, name, _shown(name, a), _shown(name, b))
    fields_differ = False
    for name, a, b in (*_fields(first.pci, second.pci), *_fields(first.efi, second.efi)):
        fields_differ = True
        yield Difference(number, name, _shown(name, a), _shown(name, b))
    if first.data != second.data and not fields_differ:
        at = _first_difference(first.data, second.data)
        count = sum(a != b for a, b in zip(first.data, second.data, strict=False))
        texts = [f"{len(one.data)} bytes" for one in (first, second)]
        yield Difference(number, f"contents, {count} bytes from {at:#x} of the image", *texts)


def _fields(first: Any, second: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the members of two records that differ."""
    if is_dataclass(first) and is_dataclass(second):
        for one in fields(first):
            a, b = getattr(first, one.name), getattr(second, one.name)
            if a != b:
                yield one.name, a, b
    elif first != second:
        yield "header", "none" if first is None else "one", "none" if second is None else "one"


def _shown(name: str, value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:#x}" if name in HEXADECIMAL and isinstance(value, int) else str(value)


def _of_drivers(number: int, first: Driver | None, second: Driver | None) -> Iterator[Difference]:
    if first is None or second is None:
        return
    texts = [pe.authenticode(one.pe).hex() if one.pe else str(one.fault) for one in (first, second)]
    if texts[0] != texts[1]:
        yield Difference(number, "SHA-256 of the driver", *texts)


def _first_difference(first: bytes, second: bytes) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def _bytes_at(first: Rom, second: Rom, at: int) -> tuple[str, str]:
    return first.data[at : at + 8].hex(" "), second.data[at : at + 8].hex(" ")
