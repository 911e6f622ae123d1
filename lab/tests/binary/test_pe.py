# SPDX-License-Identifier: MIT
"""The reader of PE images: fields, hashes, and what it refuses."""

import hashlib
import re
import struct

import pytest
from firmware.pe_images import (
    AARCH64,
    DATA,
    HEADER,
    RELOC,
    TEXT,
    X86,
    X86_64,
    Part,
    make_pe,
    relocation_table,
)
from firmware.rom_images import patched

from everycore.binary import pe
from everycore.binary.malformed import MalformedError

OPTIONAL = HEADER + 24
CERTIFICATE = struct.pack("<IHH", 24, 0x200, 2) + bytes(16)


def refusal(data: bytes) -> MalformedError:
    with pytest.raises(MalformedError) as caught:
        list(pe.relocations(pe.read(data)))
    assert caught.value.hint, "each refusal names a remedy"
    assert "\n" not in caught.value.message
    return caught.value


def test_every_field_of_both_kinds_of_image_is_read() -> None:
    image = pe.read(make_pe(machine=AARCH64, subsystem=12))
    assert (image.machine_name, image.subsystem_name) == ("aarch64", "runtime driver")
    assert pe.read(make_pe(subsystem=3)).subsystem_name == "Windows console program"
    assert pe.read(make_pe(subsystem=99)).subsystem_name == "unknown, 99"
    assert image.is_64_bit
    assert image.is_nx_compatible
    assert (image.entry, image.memory_bytes, image.headers_bytes) == (0x1000, 0x4000, 0x200)
    assert [s.name for s in image.sections] == [".text", ".data", ".reloc"]
    text, data, _ = image.sections
    assert (text.is_executable, text.is_writable) == (True, False)
    assert (data.is_executable, data.is_writable) == (False, True)
    assert (data.address, data.memory_bytes, data.file_bytes) == (0x2000, 0x400, 0x200)
    image = pe.read(make_pe(machine=X86, reloc_kind=3))
    assert not image.is_64_bit
    assert image.machine_name == "x86"
    assert [(r.address, r.kind) for r in pe.relocations(image)] == [(0x2000, 3)]


def test_relocations_of_several_pages_come_in_their_order() -> None:
    addresses = (0x1008, 0x1010, 0x1100, 0x2000, 0x2FF8)
    image = pe.read(make_pe(relocations=addresses))
    assert tuple(r.address for r in pe.relocations(image)) == addresses
    assert list(pe.relocations(pe.read(make_pe(relocations=())))) == []


def test_the_loaded_image_has_every_section_at_its_address_and_zeros_behind() -> None:
    image = pe.read(make_pe())
    loaded = pe.memory(image)
    assert len(loaded) == image.memory_bytes
    assert loaded[:0x200] == image.data[:0x200]
    assert loaded[0x1000:0x1200] == image.data[0x200:0x400]
    assert loaded[0x2000:0x2100] == bytes(range(64)) * 4
    assert not any(loaded[0x2100:0x3000])
    assert pe.bytes_at(image, 0x20F0, 0x20) == bytes(range(48, 64)) + bytes(16)
    assert pe.file_offset(image, 0x2010) == 0x410
    assert pe.file_offset(image, 0x2300) is None  # zeros that no file holds
    with pytest.raises(MalformedError):
        pe.bytes_at(image, 0x11F8, 0x20)
    with pytest.raises(MalformedError, match="SizeOfImage"):
        pe.memory(image, most_bytes=0x3FFF)


def test_the_hash_leaves_out_checksum_certificate_line_and_certificates_alone() -> None:
    data = make_pe(certificate=CERTIFICATE)
    image = pe.read(data)
    digest = pe.authenticode(image)
    line = image.directories[4].header_offset
    certificate = image.directories[4].address
    hashed = data[: image.checksum_offset] + data[image.checksum_offset + 4 : line]
    hashed += data[line + 8 : certificate]
    assert digest == hashlib.sha256(hashed).digest()
    assert pe.authenticode(image, "sha1") == hashlib.sha1(hashed).digest()
    left_out = {*range(image.checksum_offset, image.checksum_offset + 4)}
    left_out |= {*range(certificate + 8, len(data))}
    lengths = {*range(line, line + 8), *range(certificate, certificate + 8)}
    for offset in {*range(len(data))} - lengths:
        changed = patched(data, offset, "B", data[offset] ^ 0x40)
        try:
            other = pe.authenticode(pe.read(changed))
        except MalformedError:
            continue
        assert (other == digest) == (offset in left_out), hex(offset)


def test_bytes_behind_the_image_are_hashed() -> None:
    plain, padded = make_pe(), make_pe(trailing=b"\xff" * 512)
    assert pe.authenticode(pe.read(plain)) == hashlib_without_checksum(plain)
    assert pe.authenticode(pe.read(padded)) == hashlib_without_checksum(padded)
    assert pe.authenticode(pe.read(plain)) != pe.authenticode(pe.read(padded))


def hashlib_without_checksum(data: bytes) -> bytes:
    """The hash of an unsigned image without gaps."""
    line = OPTIONAL + 112 + 4 * 8
    parts = data[: OPTIONAL + 64] + data[OPTIONAL + 68 : line] + data[line + 8 :]
    return hashlib.sha256(parts).digest()


def test_an_image_with_few_directories_has_no_certificate_line_to_leave_out() -> None:
    data = make_pe(n_directories=4, relocations=())
    expected = hashlib.sha256(data[: OPTIONAL + 64] + data[OPTIONAL + 68 :]).digest()
    assert pe.authenticode(pe.read(data)) == expected


def test_sections_are_hashed_by_their_place_in_the_file() -> None:
    data = make_pe()
    text, second = (s.header_offset for s in pe.read(data).sections[:2])
    swapped_lines = (
        data[:text] + data[second : second + 40] + data[text:second] + data[second + 40 :]
    )
    assert pe.authenticode(pe.read(swapped_lines)) == hashlib_without_checksum(swapped_lines)
    swapped_places = patched(patched(data, text + 20, "<I", 0x400), second + 20, "<I", 0x200)
    assert pe.authenticode(pe.read(swapped_places)) == hashlib_without_checksum(swapped_places)


def test_a_gap_between_sections_is_named_and_the_count_of_hashed_bytes_is_the_offset() -> None:
    parts = (Part(".text", b"\x90" * 512, TEXT), Part(".data", bytes(512), DATA, gap_before=512))
    data = make_pe(parts=parts, relocations=())
    image = pe.read(data)
    assert pe.gaps(image) == ((0x400, 0x600),)
    assert pe.authenticode_ranges(image)[-3:] == ((0x200, 0x400), (0x600, 0x800), (0x600, 0x800))
    assert pe.gaps(pe.read(make_pe())) == ()


@pytest.mark.parametrize(
    ("offset", "form", "value", "words"),
    [
        (0, "<H", 0x5A56, "terse executable"),
        (0, "<I", 0x464C457F, "ELF"),
        (0, "<H", 0, "does not begin with MZ"),
        (0x3C, "<I", 0x3F, "offset of the PE header"),
        (0x3C, "<I", 0x82, "offset of the PE header"),
        (0x3C, "<I", 0xFFFFFFF0, "COFF|signature"),
        (HEADER, "<I", 0x4550 + 1, "no PE signature"),
        (HEADER + 6, "<H", 0, "0 sections"),
        (HEADER + 6, "<H", 97, "97 sections"),
        (HEADER + 20, "<H", 0xFFFF, "optional header"),
        (HEADER + 20, "<H", 1, "optional header of 1"),
        (HEADER + 20, "<H", 100, "optional header of 100"),
        (OPTIONAL, "<H", 0x107, "neither PE32"),
        (OPTIONAL + 16, "<I", 0x4000, "entry point"),
        (OPTIONAL + 32, "<I", 0x1800, "SectionAlignment"),
        (OPTIONAL + 36, "<I", 0, "FileAlignment"),
        (OPTIONAL + 56, "<I", 0x100, "SizeOfImage"),
        (OPTIONAL + 56, "<I", 0x3000, "ends at address"),
        (OPTIONAL + 60, "<I", 0x100, "SizeOfHeaders"),
        (OPTIONAL + 60, "<I", 0x10000, "SizeOfHeaders"),
        (OPTIONAL + 60, "<I", 0x300, "inside the headers"),
        (OPTIONAL + 108, "<I", 17, "17 data directories"),
        (0x188 + 8, "<I", 0x1001, "inside section '.text'"),
        (0x188 + 12, "<I", 0x100, "inside the headers"),
        (0x188 + 16, "<I", 0x10000, "section '.text' ends"),
        (0x188 + 20, "<I", 0xFFFFFE00, "section '.text' ends"),
        (0x188 + 20, "<I", 0x400, "inside section '.text'"),
        (0x130, "<II", (0x3FF0, 12), "relocation table"),
        (0x130, "<II", (0x3000, 0x1000), "relocation table"),
        (0x604, "<I", 0, "block of relocations"),
        (0x604, "<I", 9, "block of relocations"),
        (0x604, "<I", 0x80000000, "block of relocations"),
        (0x600, "<I", 0x4000, "behind the image"),
        (0x128, "<II", (0x800, 24), "certificates at"),
        (0x128, "<II", (0x400, 24), "certificates at"),
    ],
)
def test_a_field_that_no_loader_should_accept_is_refused_with_its_offset(
    offset: int, form: str, value: int | tuple[int, int], words: str
) -> None:
    values = value if isinstance(value, tuple) else (value,)
    error = refusal(patched(make_pe(), offset, form, *values))
    assert re.search(words, error.rule), error.rule
    assert f"offset {error.offset:#x}: " in error.message


@pytest.mark.parametrize(
    "certificates",
    [
        struct.pack("<IHH", 7, 0x200, 2),
        struct.pack("<IHH", 64, 0x200, 2) + bytes(16),
        CERTIFICATE + bytes(4),
    ],
)
def test_certificates_that_do_not_fill_their_table_are_refused(certificates: bytes) -> None:
    assert "certificate" in refusal(make_pe(certificate=certificates)).rule


def test_certificates_are_read_one_after_the_other() -> None:
    odd = struct.pack("<IHH", 13, 0x200, 2) + bytes(5)
    image = pe.read(make_pe(certificate=odd + bytes(3) + CERTIFICATE))
    assert [c.length_bytes for c in pe.certificates(image)] == [13, 24]


@pytest.mark.parametrize("length", range(0, 0x600, 3))
def test_an_image_cut_at_any_length_is_refused(length: int) -> None:
    refusal(make_pe()[:length])


def test_relocations_that_are_padded_to_words_keep_their_order() -> None:
    table = relocation_table((0x2000,)) + relocation_table((0x1008, 0x1010))
    parts = (
        Part(".text", b"\x90" * 64, TEXT),
        Part(".data", bytes(64), DATA),
        Part(".reloc", table, RELOC),
    )
    image = pe.read(make_pe(machine=X86_64, parts=parts, relocations=()))
    assert [r.address for r in pe.relocations(image)] == [0x2000, 0x1008, 0x1010]


def test_an_error_of_a_part_tells_its_offset_in_the_file() -> None:
    error = MalformedError(0x10, "wrong", "repair it").moved(0x200)
    assert error.offset == 0x210
    assert error.named("card.rom").message == "card.rom: offset 0x210: wrong"
    assert error.named("card.rom").hint == "repair it"
