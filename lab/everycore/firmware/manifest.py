# SPDX-License-Identifier: MIT
"""A ROM as a folder of files, from which the same ROM is built again.

rom.json lists the parts of the ROM in their order. An image is kept as it is, or as the .efi file
of its driver with the bytes before it. take_apart() keeps only what put_together() makes the same
bytes of.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.environment.errors import EverycoreError
from everycore.firmware import edit, oprom, vendor_tables
from everycore.firmware.oprom import UNIT, Driver, Rom, RomImage

NAME = "rom.json"
FORMAT = "everycore-rom-1"
MOST_FRONT_BYTES = 1 << 16  # before a driver: offsets have 16 bits

Compress = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of a ROM that is taken apart, and notes on what could not be."""

    files: Mapping[str, bytes] = field(repr=False)
    notes: tuple[str, ...]


def take_apart(rom: Rom, drivers: Sequence[Driver], compress: Compress | None) -> Folder:
    """Return the files of a ROM; `compress`: keep drivers decompressed, if that is reversible."""
    files: dict[str, bytes] = {}
    notes: list[str] = []
    by_number = {driver.image.number: driver for driver in drivers}
    images = []
    for image in rom.images:
        entry: dict[str, object] | None = None
        driver = by_number.get(image.number)
        if compress is not None and driver is not None:
            try:
                entry = _driver_entry(image, driver, compress, files)
            except MalformedError as error:
                notes.append(f"image {image.number} is kept as it is: {error.message}")
        if entry is None:
            name = f"{image.number:02}-{_word(image.code_name)}-{_word(image.machine_name)}.img"
            files[name] = image.data
            entry = {"image": name}
        entry["gap"] = _kept(image.gap, f"{image.number:02}-gap.bin", files)
        images.append(entry)
    table = {
        "format": FORMAT,
        **_first_file(rom, images),
        "prefix": _kept(rom.prefix, "prefix.bin", files),
        "images": images,
        "tail": _kept(rom.tail, "tail.bin", files),
    }
    files[NAME] = (json.dumps(table, indent=2) + "\n").encode()
    return Folder(files, tuple(notes))


def _first_file(rom: Rom, images: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return the member that names the image which drivers of Linux read as the first one."""
    found = [
        tables for tables in vendor_tables.find(rom) if tables.image == 0 and tables.is_first_only
    ]
    return {"first": images[0]["image"]} if found and "image" in images[0] else {}


def _missing_tables(data: bytes) -> list[str]:
    try:
        text = vendor_tables.missing(oprom.read(data))
    except MalformedError:  # `rom check` tells more of such a folder
        return []
    return [f"warning: {text}"] if text else []


def _refuse_another_first(table: Mapping[str, Any]) -> None:
    """Refuse a folder whose image with tables for drivers of Linux is not the first any more."""
    first = table.get("first")
    if first is not None and table["images"][0].get("image") != first:
        raise EverycoreError(
            f"{first!r} has tables that Linux's drivers read from the first image, but in {NAME} "
            "another image is the first: they would not start the card",
            "name it first; --force builds the ROM all the same",
        )


def _word(name: str) -> str:
    return "".join(c if c.isalnum() or c == "-" else "-" for c in name.lower())


def _kept(data: bytes, name: str, files: dict[str, bytes]) -> dict[str, object]:
    """Return bytes as an entry: as a count of equal bytes if they are, else as a file."""
    if not data or data.count(data[:1]) == len(data):
        return {"fill": data[0] if data else 0xFF, "bytes": len(data)}
    files[name] = data
    return {"file": name}


def _driver_entry(
    image: RomImage, driver: Driver, compress: Compress, files: dict[str, bytes]
) -> dict[str, object]:
    efi = image.efi
    assert efi is not None
    if driver.fault is not None:
        raise driver.fault
    name = f"{image.number:02}-{_word(image.machine_name)}.efi"
    is_packed = efi.compression == oprom.COMPRESSED
    stream = compress(driver.data) if is_packed else driver.data
    front = image.data[: efi.driver_offset]
    behind = image.data[efi.driver_offset + len(stream) :]
    entry: dict[str, object] = {
        "driver": name,
        "compressed": is_packed,
        "front": front.hex(),
        "behind": _kept(behind, f"{image.number:02}-behind.bin", files),
    }
    if front + stream + behind != image.data:
        rule = "another compressor made it, so that it cannot be compressed to the same bytes"
        raise MalformedError(image.offset + efi.driver_offset, rule)
    files[name] = driver.data
    return entry


def put_together(
    table: Any, read: Callable[[str], bytes], compress: Compress, force: bool = False
) -> tuple[bytes, tuple[str, ...]]:
    """Return the ROM of a folder, and what differs from the ROM it was taken from.

    read: the contents of a file of the folder. force: another image may be the first than the one
    that drivers of Linux read. A driver of another length changes the lengths in its headers, and
    the marks of last images are set right.
    """
    if not isinstance(table, dict) or table.get("format") != FORMAT:
        raise EverycoreError(f"{NAME} is not of the format {FORMAT}", "everycore rom extract")
    images, gaps, notes = [], [], []
    try:
        for number, entry in enumerate(table["images"]):
            if "image" in entry:
                images.append(read(_file(entry["image"])))
            else:
                data, note = _built(entry, read, compress)
                images.append(data)
                notes += [f"image {number}: {note}"] if note else []
            gaps.append(_bytes(entry["gap"], read))
        prefix, tail = _bytes(table["prefix"], read), _bytes(table["tail"], read)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EverycoreError(
            f"{NAME} lacks a member or has a wrong one: {error}", "everycore rom extract"
        ) from error
    if not images:
        raise EverycoreError(f"{NAME} names no image", "everycore rom extract")
    if not force:
        _refuse_another_first(table)
    marked = [edit.with_mark(image, False) for image in images[:-1]]
    marked.append(edit.with_mark(images[-1], True))
    for number, (old, new) in enumerate(zip(images, marked, strict=True)):
        if old != new:
            notes.append(f"image {number}: its mark of the last image is set right")
    body = b"".join(image + gap for image, gap in zip(marked, gaps, strict=True))
    if notes and len(tail) and tail.count(tail[:1]) == len(tail):
        size = edit.power_of_two(len(prefix + body))
        tail = tail[:1] * max(0, size - len(prefix + body))
    data = prefix + body + tail
    return data, (*notes, *_missing_tables(data))


def _file(name: object) -> str:
    """Return the name of a file of the folder: no path leads out of it."""
    if not isinstance(name, str) or not name or "/" in name or "\0" in name or name[0] == ".":
        raise ValueError(f"{name!r} is no name of a file in the folder")
    return name


def _bytes(entry: Mapping[str, Any], read: Callable[[str], bytes]) -> bytes:
    if "file" in entry:
        return read(_file(entry["file"]))
    count, fill = int(entry["bytes"]), int(entry["fill"])
    if not 0 <= count <= oprom.MOST_BYTES * 4 or not 0 <= fill <= 255:
        raise ValueError(f"{count} bytes of {fill}")
    return bytes([fill]) * count


def _built(
    entry: Mapping[str, Any], read: Callable[[str], bytes], compress: Compress
) -> tuple[bytes, str]:
    """Return the image of a driver, and a note if its length changed."""
    front = bytes.fromhex(entry["front"])
    if not oprom.HEADER_BYTES < len(front) <= MOST_FRONT_BYTES:
        raise ValueError(f"{len(front)} bytes before a driver")
    driver = read(_file(entry["driver"]))
    image = pe.read(driver)
    stream = compress(driver) if entry["compressed"] else driver
    behind = _bytes(entry["behind"], read)
    whole = front + stream + behind
    found = oprom.read_image(front + bytes(oprom.HEADER_BYTES))
    if found.efi is None or found.pci is None:
        raise ValueError("the bytes before a driver are no header of an EFI image")
    note = ""
    if len(whole) != found.pci.image_units * UNIT:
        whole = (front + stream).ljust(-(-len(front + stream) // UNIT) * UNIT, b"\xff")
        note = f"new length {len(whole):#x}"
    units = len(whole) // UNIT
    if units > edit.MOST_UNITS:
        raise ValueError(f"a driver of {len(driver)} bytes")
    changed = bytearray(whole)
    if note:
        at = found.pci.offset + 0x10
        changed[2:4] = changed[at : at + 2] = units.to_bytes(2, "little")
    if found.efi.machine != image.machine or found.efi.subsystem != image.subsystem:
        changed[8:10] = image.subsystem.to_bytes(2, "little")
        changed[10:12] = image.machine.to_bytes(2, "little")
        note = f"{note}, for {image.machine_name}".lstrip(", ")
    return bytes(changed), note
