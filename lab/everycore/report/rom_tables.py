# SPDX-License-Identifier: MIT
"""Facts of option ROMs as JSON lines and as tables for the terminal."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.firmware import oprom, signatures, vendor_tables
from everycore.firmware.oprom import Driver, Rom, RomImage
from everycore.report.table_style import plain_table

BLANK = {b"\xff": "blank, ff", b"\x00": "blank, 00"}


def image_line(name: str, rom: Rom, image: RomImage, driver: Driver | None) -> dict[str, object]:
    """Return the facts of an image, as JSON has them."""
    pci, efi = image.pci, image.efi
    line: dict[str, object] = {
        "type": "image",
        "file": name,
        "image": image.number,
        "offset": image.offset,
        "length": len(image.data),
        "code": image.code_name,
        "machine": image.machine_name,
        "init_bytes": image.init_units * oprom.UNIT,
        "checksum": image.checksum,
        "gap": len(image.gap),
    }
    if pci is not None:
        line |= {
            "vendor": pci.vendor,
            "device": pci.device,
            "devices": _devices(image),
            "class": pci.class_code,
            "pcir_offset": pci.offset,
            "pcir_revision": pci.revision,
            "pcir_bytes": pci.length_bytes,
            "code_revision": pci.code_revision,
            "indicator": pci.indicator,
            "last": pci.is_last,
        }
    if efi is not None:
        line |= {
            "subsystem": efi.subsystem,
            "compression": efi.compression,
            "driver_offset": efi.driver_offset,
        }
    if tables := [
        vendor_table.line()
        for vendor_table in vendor_tables.find(rom)
        if vendor_table.image == image.number
    ]:
        line["tables"] = tables
    if driver is not None:
        line |= driver_facts(driver)
    return line


def driver_facts(driver: Driver) -> dict[str, object]:
    """Return what is known of a driver: the PE image, or why there is none."""
    if driver.pe is None:
        return {"driver": None, "error": driver.fault.message if driver.fault else ""}
    return {
        "driver": {
            "bytes": len(driver.data),
            "machine": driver.pe.machine_name,
            "subsystem": driver.pe.subsystem,
            "memory_bytes": driver.pe.memory_bytes,
            "section_alignment": driver.pe.section_alignment,
            "nx_compatible": driver.pe.is_nx_compatible,
            **signatures.read(driver.pe).facts(),
            "sha256": pe.authenticode(driver.pe).hex(),
        }
    }


def _devices(image: RomImage) -> list[int]:
    try:
        return list(oprom.device_list(image))
    except MalformedError:
        return []


def rom_line(name: str, rom: Rom) -> dict[str, object]:
    """Return the facts of a ROM as a whole, as JSON has them."""
    return {
        "type": "rom",
        "file": name,
        "bytes": len(rom.data),
        "start": rom.start,
        "images": len(rom.images),
        "end": rom.end,
        "tail": len(rom.tail),
        "error": rom.fault.message if rom.fault else None,
        "behind_last": list(rom.hidden),
    }


def list_table(name: str, rom: Rom, drivers: Sequence[Driver]) -> Group:
    """Return the table of a ROM's images, with what is around them."""
    grid = plain_table()
    for column in ("#", "at", "bytes", "code", "machine", "id", "class", "driver", "last", "sum"):
        grid.add_column(column, no_wrap=True, justify="right" if column in "#atbytes" else "left")
    by_number = {driver.image.number: driver for driver in drivers}
    notes = []
    tables = vendor_tables.find(rom)
    for image in rom.images:
        driver = by_number.get(image.number)
        _add_row(grid, image, driver)
        notes += _image_notes(image, driver)
        notes += [
            f"image {vendor_table.image}: {vendor_table.text}"
            for vendor_table in tables
            if vendor_table.image == image.number
        ]
    if rom.start:
        notes.insert(0, f"{rom.start:#x} bytes before the first image: {_magic(rom.prefix)}")
    if rom.tail:
        kind = _magic(rom.tail)
        notes.append(f"{len(rom.tail):#x} bytes behind the last image: {kind}")
    if text := vendor_tables.missing(rom):
        notes.append(text)
    if rom.fault:
        notes.append(rom.fault.message)
    lines = [Text(note, style="dim") for note in notes]
    title = Text(f"{name}, {len(rom.data)} bytes", style="bold")
    return Group(title, grid, *lines, Text())


def _add_row(grid: Table, image: RomImage, driver: Driver | None) -> None:
    pci, efi = image.pci, image.efi
    cells = [str(image.number), f"{image.offset:#x}", str(len(image.data)), image.code_name]
    cells.append(image.machine_name)
    cells.append(f"{pci.vendor:04x}:{pci.device:04x}" if pci else "no PCIR")
    cells.append(f"{pci.class_code:06x}" if pci else "")
    if efi is None:
        cells.append("")
    else:
        packed = {0: "plain", 1: "compressed"}.get(efi.compression, f"{efi.compression:#x}")
        cells.append("unreadable" if driver and driver.fault else packed)
    cells.append("last" if pci and pci.is_last else "")
    cells.append("" if image.checksum is None else f"{image.checksum:02x}")
    grid.add_row(*cells)


def _image_notes(image: RomImage, driver: Driver | None) -> list[str]:
    notes = []
    if devices := _devices(image):
        notes.append(f"image {image.number}: also {', '.join(f'{d:04x}' for d in devices)}")
    if image.gap:
        notes.append(f"image {image.number}: {len(image.gap):#x} bytes before the next image")
    if driver and driver.fault:
        notes.append(f"image {image.number}: {driver.fault.message}")
    if driver and driver.pe:
        signed = signatures.read(driver.pe).text
        own = f"SHA-256 {pe.authenticode(driver.pe).hex()}"
        notes.append(f"image {image.number}: {f'{signed}, ' if signed else ''}{own}")
    return notes


def _magic(data: bytes) -> str:
    """Describe bytes around a ROM by their beginning."""
    if data.count(data[:1]) == len(data):
        return BLANK.get(data[:1], f"all {data[0]:02x}")
    begin = data[:8]
    text = "".join(chr(b) if 32 <= b < 127 else "." for b in begin)
    return f"begin with {begin.hex(' ')} {text}"
