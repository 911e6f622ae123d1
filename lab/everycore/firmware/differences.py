# SPDX-License-Identifier: MIT
"""Differences between two option ROMs, image by image."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.firmware import edit, oprom
from everycore.firmware.oprom import Driver, PciData, Rom, RomImage

MOVED = "moved"
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
        return {"type": "difference", **asdict(self)}

    def text(self) -> str:
        if self.what == MOVED:
            return f"image {self.first}: moved, it is image {self.second} of the other ROM"
        place = "" if self.image is None else f"image {self.image}: "
        return f"{place}{self.what}: {self.first} and {self.second}"


def differences(
    first: Rom, first_drivers: Sequence[Driver], second: Rom, second_drivers: Sequence[Driver]
) -> list[Difference]:
    """Return what differs. Images are compared with their equals, wherever these are."""
    found = list(_sizes(first, second))
    drivers = [{d.image.number: d for d in ds} for ds in (first_drivers, second_drivers)]
    for first_image, second_image in _pairs(first, drivers[0], second, drivers[1]):
        if first_image is None or second_image is None:
            texts = [
                f"{i.code_name} {i.machine_name}" if i else "no image"
                for i in (first_image, second_image)
            ]
            found += [
                Difference(i.number, "image", *texts) for i in (first_image, second_image) if i
            ]
            continue
        if first_image.number != second_image.number:
            found.append(
                Difference(
                    first_image.number, MOVED, str(first_image.number), str(second_image.number)
                )
            )
            found += _of_moved(first_image, second_image)
        else:
            found += _of_images(first_image, second_image)
        found += _of_drivers(
            first_image.number,
            drivers[0].get(first_image.number),
            drivers[1].get(second_image.number),
        )
    if first.data != second.data and not found:
        at = _first_difference(first.data, second.data)
        found.append(Difference(None, f"bytes, first at {at:#x}", *_bytes_at(first, second, at)))
    return found


Drivers = dict[int, Driver]  # by the numbers of their images


def _pairs(
    first: Rom, first_drivers: Drivers, second: Rom, second_drivers: Drivers
) -> Iterator[tuple[RomImage | None, RomImage | None]]:
    """Yield images with their equals in the other ROM, in the order of the first ROM.

    Equal is first an image with the same bytes, then one with the same driver. What has no equal
    is compared with the image of the same number, if that has none either.
    """
    to: dict[int, int] = {}
    _match(to, [_unmarked(i) for i in first.images], [_unmarked(i) for i in second.images])
    _match(to, _driver_hashes(first, first_drivers), _driver_hashes(second, second_drivers))
    _match(to, range(len(first.images)), range(len(second.images)))
    for image in first.images:
        if image.number in to:
            yield image, second.images[to[image.number]]
        else:
            yield image, None
    taken = set(to.values())
    yield from ((None, image) for image in second.images if image.number not in taken)


def _match(to: dict[int, int], first: Sequence[object], second: Sequence[object]) -> None:
    """Add matches of equal keys: first those at the same place, then in order; None has no equal.

    to: places in `second` by those in `first`; matches that are in it stay.
    """
    free = {n for n, key in enumerate(second) if key is not None} - set(to.values())
    for n, key in enumerate(first):
        if n not in to and n in free and key == second[n]:
            to[n] = n
            free.remove(n)
    for n, key in enumerate(first):
        at = next((m for m in sorted(free) if n not in to and key == second[m]), None)
        if at is not None:
            to[n] = at
            free.remove(at)


def _unmarked(image: RomImage) -> bytes:
    """The bytes of an image as they are where it is not the last one."""
    if image.pci is None:
        return image.data
    try:
        return edit.with_mark(image.data, is_last=False)
    except MalformedError:  # a checksum that cannot be repaired
        return image.data


def _driver_hashes(rom: Rom, drivers: Drivers) -> list[bytes | None]:
    found = [drivers.get(image.number) for image in rom.images]
    return [pe.authenticode(driver.pe) if driver and driver.pe else None for driver in found]


def _of_moved(first: RomImage, second: RomImage) -> Iterator[Difference]:
    """Differences that do not follow from another place: of offset, mark and checksum."""
    if _unmarked(first) != _unmarked(second):
        yield from _of_contents(first, second, _unmarked_data(first), _unmarked_data(second))


def _unmarked_data(image: RomImage) -> PciData | None:
    return image.pci and replace(image.pci, indicator=image.pci.indicator & ~oprom.LAST)


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
    for name, a, b in (
        ("offset", first.offset, second.offset),
        ("gap", len(first.gap), len(second.gap)),
    ):
        if a != b:
            yield Difference(first.number, name, _shown(name, a), _shown(name, b))
    yield from _of_contents(first, second, first.pci, second.pci)


def _of_contents(
    first: RomImage, second: RomImage, first_pci: PciData | None, second_pci: PciData | None
) -> Iterator[Difference]:
    number = first.number
    if len(first.data) != len(second.data):
        yield Difference(number, "bytes", str(len(first.data)), str(len(second.data)))
    fields_differ = False
    for name, a, b in (*_fields(first_pci, second_pci), *_fields(first.efi, second.efi)):
        fields_differ = True
        yield Difference(number, name, _shown(name, a), _shown(name, b))
    if first.data != second.data and not fields_differ:
        at = _first_difference(first.data, second.data)
        count = sum(a != b for a, b in zip(first.data, second.data, strict=False))
        texts = [f"{len(image.data)} bytes" for image in (first, second)]
        yield Difference(number, f"contents, {count} bytes from {at:#x} of the image", *texts)


def _fields(first: Any, second: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the members of two records that differ."""
    if is_dataclass(first) and is_dataclass(second):
        for field in fields(first):
            a, b = getattr(first, field.name), getattr(second, field.name)
            if a != b:
                yield field.name, a, b
    elif first != second:
        yield "header", "none" if first is None else "one", "none" if second is None else "one"


def _shown(name: str, value: object) -> str:
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:#x}" if name in HEXADECIMAL and isinstance(value, int) else str(value)


def _of_drivers(number: int, first: Driver | None, second: Driver | None) -> Iterator[Difference]:
    if first is None or second is None:
        return
    texts = [
        pe.authenticode(driver.pe).hex() if driver.pe else str(driver.fault)
        for driver in (first, second)
    ]
    if texts[0] != texts[1]:
        yield Difference(number, "SHA-256 of the driver", *texts)


def _first_difference(first: bytes, second: bytes) -> int:
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


def _bytes_at(first: Rom, second: Rom, at: int) -> tuple[str, str]:
    return first.data[at : at + 8].hex(" "), second.data[at : at + 8].hex(" ")
