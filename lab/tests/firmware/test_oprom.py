# SPDX-License-Identifier: MIT
"""The reader of option ROMs: images, what is around them, and what it refuses."""

import random
import time
from contextlib import suppress
from typing import Any

import pytest
from firmware.pe_images import AARCH64, make_pe
from firmware.rom_images import bios, image, patched, rom

from everycore.binary.malformed import MalformedError
from everycore.firmware import oprom

TWO = rom(bios(), image(machine=AARCH64), size=0x2000)


def test_the_fields_of_every_image_are_read() -> None:
    found = oprom.read(TWO)
    first, second = found.images
    assert first.pci is not None
    assert second.pci is not None
    assert second.efi is not None
    assert (first.code_name, first.machine_name, first.checksum) == ("BIOS", "x86", 0)
    assert (second.code_name, second.machine_name, second.checksum) == ("EFI", "aarch64", None)
    assert (second.pci.vendor, second.pci.device, second.pci.class_code) == (
        0x8086,
        0x100E,
        0x20000,
    )
    assert (second.offset, second.end, second.pci.is_last) == (1024, 1024 + 0xA00, True)
    assert (second.efi.machine, second.efi.subsystem, second.efi.driver_offset) == (
        0xAA64,
        11,
        0x38,
    )
    assert found.fault is None
    assert found.tail == b"\xff" * (0x2000 - second.end)


@pytest.mark.parametrize("before", [4, 0x200, 0x604, 0x9400])
def test_a_rom_is_found_behind_the_data_of_its_vendor(before: int) -> None:
    prefix = (b"NVGI" + b"\x55\xaa" * before)[:before]  # signatures without PCIR
    found = oprom.read(prefix + TWO + b"vendor data")
    assert (found.start, found.prefix) == (before, prefix)
    assert [rom_image.offset for rom_image in found.images] == [before, before + 1024]
    assert found.tail.endswith(b"vendor data")


def test_a_bios_image_of_the_time_before_pci_is_read_as_one_image() -> None:
    found = oprom.read(b"\x55\xaa\x02" + bytes(1021))
    assert [(rom_image.pci, len(rom_image.data)) for rom_image in found.images] == [(None, 1024)]
    assert found.fault is None


def test_a_structure_at_the_end_of_an_image_is_found() -> None:
    found = oprom.read(rom(bios(pcir=0x39C, pcir_bytes=0x18, revision=0)))
    assert found.images[0].pci is not None
    assert found.images[0].pci.offset == 0x39C


def test_a_dump_in_the_shape_of_a_graphics_card_is_read() -> None:
    """As cards of AMD have it: ATOM tables in the BIOS image, two drivers, data of the vendor."""
    atom = patched(bios(pcir=0x244, bios_bytes=44032), 0x30, "8s", b" 7613000")
    atom = patched(atom, len(atom) - 1, "B", (atom[-1] - sum(atom)) & 0xFF)
    data = rom(atom, image(class_code=0x030000), image(machine=AARCH64, class_code=0x030000))
    found = oprom.read(data + b"ATOMBIOSBK-AMD" + bytes(range(256)))
    names = [(rom_image.code_name, rom_image.machine_name) for rom_image in found.images]
    assert names == [("BIOS", "x86"), ("EFI", "x86-64"), ("EFI", "aarch64")]
    assert [rom_image.checksum for rom_image in found.images] == [0, None, None]
    assert found.tail.startswith(b"ATOMBIOSBK")


def test_a_file_of_signatures_alone_takes_no_longer_than_its_limit() -> None:
    begin = time.process_time()
    with pytest.raises(MalformedError, match="nowhere a header"):
        oprom.read(b"\0\0" + b"\x55\xaa" * (1 << 20))
    many = rom(bios()) + b"\x55\xaa" * (1 << 20)
    assert oprom.read(many).hidden == ()
    assert time.process_time() - begin < 10  # less than a second


def test_bytes_between_images_belong_to_the_gap_of_the_first() -> None:
    data = bios() + b"\xee" * 1024 + rom(image())
    found = oprom.read(data)
    assert [len(rom_image.gap) for rom_image in found.images] == [1024, 0]
    assert found.fault is None
    together = b"".join(rom_image.data + rom_image.gap for rom_image in found.images)
    assert found.prefix + together + found.tail == data


def test_the_length_in_the_header_counts_where_the_structure_leads_nowhere() -> None:
    first = bios(units=1)  # of two
    assert [rom_image.offset for rom_image in oprom.read(first + rom(image())).images] == [0, 1024]


def test_a_length_that_leads_to_an_image_counts_whatever_the_header_says() -> None:
    first = patched(bios(), 2, "B", 9)
    assert [rom_image.offset for rom_image in oprom.read(first + rom(image())).images] == [0, 1024]


def test_images_behind_the_last_are_named_and_not_read() -> None:
    found = oprom.read(rom(bios()) + rom(image()))
    assert len(found.images) == 1
    assert found.hidden == (1024,)
    assert oprom.read(rom(bios()) + bytes(256) + rom(image())).hidden == ()  # not at 512 bytes


def test_the_device_list_of_revision_3_is_read() -> None:
    found = oprom.read(rom(image(device_list=(0x1234, 0x5678), driver_offset=0x60)))
    assert oprom.device_list(found.images[0]) == (0x1234, 0x5678)
    endless = patched(rom(image(driver=b"MZ" + b"\x11" * 2000)), 0x1C + 8, "<H", 0x1C)
    with pytest.raises(MalformedError, match="list of devices"):
        oprom.device_list(oprom.read(endless).images[0])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bios(), "not marked last, and no image follows"),
        (bios() + bytes(512), "not marked last, and no image follows"),
        (bios() + rom(image())[:0x600], "the file ends"),
        (rom(image(units=0)), "length of the image is 0"),
        (rom(image(units=0xFFFF)), "takes 0x1fffe00 bytes"),
        (bios(bios_bytes=512) * 65, "more than 64 images"),
    ],
)
def test_a_chain_of_images_that_breaks_tells_where(data: bytes, words: str) -> None:
    found = oprom.read(data)
    assert found.fault is not None
    assert words in found.fault.rule
    assert found.fault.hint
    assert found.fault.offset < len(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty file"),
        (b"\x55\xaa", "header of an image takes"),
        (bios(pcir=0x300)[:0x200], "cut short"),
        (bytes(4096), "all 4096 bytes are 0x00"),
        (b"\xff" * 4096, "all 4096 bytes are 0xff"),
        (make_pe(), "but a PE image"),
        (b"\x7fELF" + bytes(60), "but an ELF file"),
        (b"PK\x03\x04 and more", "but a ZIP archive"),
        (b"# some text\n", "nowhere a header 55 AA"),
        (b"NVGI" + bytes(4092), "nowhere a header 55 AA"),
    ],
)
def test_bytes_without_an_option_rom_are_refused(data: bytes, words: str) -> None:
    with pytest.raises(MalformedError) as caught:
        oprom.read(data)
    assert words in caught.value.rule
    assert caught.value.hint


@pytest.mark.parametrize(
    ("changes", "offset", "words"),
    [
        ({"driver_offset": 0x4000, "driver": b"MZ", "init_units": 3}, 0x16, "behind the init"),
        ({"init_units": 9}, 2, "initialization size is 0x1200"),
        ({"compression": 2}, 0x0C, "compression 0x0002 is reserved"),
        ({"compression": 1, "driver": b"\0\4\0\0\0\4\0\0"}, 0x38, "compressed size 0x400"),
        ({"compression": 1, "driver": bytes(64)}, 0x3C, "decompressed size 0"),
        ({"compression": 1, "driver": bytes(4) + b"\xff" * 9}, 0x3C, "size 0xffffffff"),
        ({"driver": b"ZZ" + bytes(99)}, 0x38, "does not begin with MZ"),
        ({"driver": b"\x7fELF"}, 0x38, "an ELF file"),
    ],
)
def test_a_driver_that_cannot_be_read_tells_the_offset_in_the_file(
    changes: dict[str, Any], offset: int, words: str
) -> None:
    def refuse(stream: bytes) -> bytes:
        raise AssertionError(f"{len(stream)} bytes must not reach the codec")

    found = oprom.read(bytes(512) + rom(image(**changes)))
    result = oprom.driver(found.images[0], refuse)
    assert result.fault is not None
    assert words in result.fault.rule
    assert result.fault.offset == 512 + offset


def test_what_firmware_takes_goes_to_the_end_of_the_initialization_size() -> None:
    driver = make_pe()
    found = oprom.read(rom(image(driver=driver)))
    taken = oprom.payload(found.images[0])
    assert taken.startswith(driver)
    assert len(taken) == len(found.images[0].data) - 0x38
    shorter = oprom.read(rom(image(driver=driver, init_units=4))).images[0]
    assert len(oprom.payload(shorter)) == 4 * 512 - 0x38


def test_any_bytes_are_read_or_refused_and_all_of_them_are_kept() -> None:
    chance = random.Random(20)
    seeds = [TWO, rom(bios(pcir=0x100)), rom(image(device_list=(1, 2), driver_offset=0x60))]
    for _ in range(4000):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randrange(1, 6)):
            data[chance.choice((chance.randrange(64), chance.randrange(len(data))))] = (
                chance.randrange(256)
            )
        data = data[: chance.choice((len(data), chance.randrange(len(data) + 1)))]
        read_fully(bytes(data))


def read_fully(data: bytes) -> None:
    """Read a ROM and its drivers; the only error is MalformedError."""

    def codec(stream: bytes) -> bytes:
        return stream

    try:
        found = oprom.read(data)
    except MalformedError:
        return
    parts = [
        found.prefix,
        *(rom_image.data + rom_image.gap for rom_image in found.images),
        found.tail,
    ]
    assert b"".join(parts) == data
    for rom_image in found.images:
        with suppress(MalformedError):
            oprom.device_list(rom_image)
        if rom_image.efi:
            result = oprom.driver(rom_image, codec)
            assert (result.pe is None) == (result.fault is not None)
