# SPDX-License-Identifier: MIT
"""Every rule of option ROMs: one change breaks exactly one rule, at its place."""

import struct

import pytest
from firmware.pe_images import AARCH64, DATA, EBC, RISCV64, TEXT, X86, X86_64, Part, make_pe
from firmware.rom_images import bios, image, patched, rom

from everycore.binary import pe
from everycore.firmware import oprom, rom_rules
from everycore.firmware.findings import Finding
from everycore.firmware.rom_rules import ADVICE, VIOLATION, DeviceIds

SIZE = 8192
GOOD = rom(bios(), image(), size=SIZE)
EFI = 1024  # where the EFI image begins
PCIR = EFI + 0x1C
DRIVER = EFI + 0x38
OPTIONAL = DRIVER + 0x98


def check(data: bytes, ids: DeviceIds | None = None) -> list[Finding]:
    found = oprom.read(data)
    drivers = [
        oprom.driver(rom_image, lambda stream: stream[8:])
        for rom_image in found.images
        if rom_image.efi
    ]
    return rom_rules.check(found, drivers, ids)


def test_a_rom_that_keeps_all_rules_has_no_finding() -> None:
    assert check(GOOD) == []
    assert check(rom(bios(), image(), image(machine=AARCH64), size=SIZE)) == []


W_X = Part(".text", bytes(64), TEXT | 0x8000_0000)
APART = (Part(".text", bytes(512), TEXT), Part(".data", bytes(512), DATA, gap_before=512))


@pytest.mark.parametrize(
    ("rule", "severity", "offset", "data"),
    [
        ("last-unmarked", VIOLATION, PCIR + 21, patched(GOOD, PCIR + 21, "B", 0)),
        ("image-behind-last", VIOLATION, 8192, GOOD + rom(bios(), size=SIZE)),
        ("gap", ADVICE, 1024, bios() + bytes(512) + rom(image(), size=SIZE - 1536)),
        (
            "pcir-alignment",
            VIOLATION,
            EFI + 0x18,
            rom(bios(), image(pcir=0x1E, driver_offset=0x40), size=SIZE),
        ),
        ("pcir-outside", VIOLATION, 0x18, rom(bios(pcir=0x3F0 - 12, pcir_bytes=0x60), size=SIZE)),
        ("pcir-missing", VIOLATION, 0x18, b"\x55\xaa\x10" + bytes(8189)),
        ("pcir-revision", ADVICE, PCIR + 12, patched(GOOD, PCIR + 12, "B", 1)),
        ("pcir-length", VIOLATION, PCIR + 10, patched(GOOD, PCIR + 10, "<H", 0x18)),
        ("pcir-length", ADVICE, PCIR + 10, patched(GOOD, PCIR + 12, "B", 0)),
        ("indicator-reserved", ADVICE, PCIR + 21, patched(GOOD, PCIR + 21, "B", 0x81)),
        ("code-type", ADVICE, PCIR + 20, patched(GOOD, PCIR + 20, "B", 5)),
        ("checksum", VIOLATION, 1023, patched(GOOD, 0x200, "B", 0)),
        ("init-size", VIOLATION, 2, patched(GOOD, 2, "B", 3)),
        ("init-size", VIOLATION, 2, patched(GOOD, 2, "B", 0)),
        ("efi-signature", VIOLATION, EFI + 4, patched(GOOD, EFI + 4, "<I", 0xEF2)),
        ("efi-reserved", ADVICE, EFI + 14, patched(GOOD, EFI + 14, "B", 1)),
        ("efi-overlap", VIOLATION, EFI + 0x18, rom(bios(), image(pcir=0x78), size=SIZE)),
        ("driver", VIOLATION, EFI + 2, patched(GOOD, EFI + 2, "<H", 99)),
        ("driver", VIOLATION, EFI + 12, patched(GOOD, EFI + 12, "<H", 2)),
        ("driver", VIOLATION, DRIVER, patched(GOOD, DRIVER, "B", 0)),
        ("machine-differs", VIOLATION, DRIVER + 0x84, patched(GOOD, EFI + 10, "<H", AARCH64)),
        ("subsystem-differs", VIOLATION, OPTIONAL + 68, patched(GOOD, EFI + 8, "<H", 12)),
        (
            "pe-format", VIOLATION, OPTIONAL,
            rom(bios(), image(driver=make_pe(is_64_bit=False)), size=SIZE),
        ),
        (
            "relocations", VIOLATION, OPTIONAL - 2,
            patched(GOOD, OPTIONAL - 2, "<H", 0x2023),
        ),
        (
            "relocations", ADVICE, OPTIONAL - 2,
            rom(bios(), image(driver=make_pe(relocations=())), size=SIZE),
        ),
        ("relocations", VIOLATION, DRIVER + 0x600, patched(GOOD, DRIVER + 0x604, "<I", 2)),
        (
            "section-alignment", ADVICE, OPTIONAL + 32,
            rom(bios(), image(driver=make_pe(alignment=0x20, relocations=(0x300,))), size=SIZE),
        ),
        ("nx-compatible", ADVICE, OPTIONAL + 70, patched(GOOD, OPTIONAL + 70, "<H", 0)),
        (
            "writable-code", ADVICE, OPTIONAL + 0xF0 + 36,
            rom(bios(), image(driver=make_pe(parts=(W_X,), relocations=(0x1000,))), size=SIZE),
        ),
        (
            "hash-gap", ADVICE, DRIVER + 0x400,
            rom(bios(), image(driver=make_pe(parts=APART, relocations=(0x1000,))), size=SIZE),
        ),
        ("ids-differ", ADVICE, PCIR + 4, rom(bios(), image(device=1), size=SIZE)),
        ("class-differs", ADVICE, PCIR + 13, rom(bios(), image(class_code=1), size=SIZE)),
        ("pcir-missing", VIOLATION, 0x18, b"\x55\xaa" + bytes(8190) + GOOD),
        ("prefix", ADVICE, 0, bytes(8192) + rom(bios(), image(), size=SIZE)),
        ("tail", ADVICE, EFI + 0xA00, GOOD[:-1] + b"x"),
        ("rom-size", VIOLATION, 0, rom(image(driver=make_pe(parts=(), relocations=(0,))))),
        ("rom-size", ADVICE, 0, GOOD + b"\xff" * 512),
        ("device-list", VIOLATION, PCIR + 8, patched(GOOD, PCIR + 8, "<H", 0x9D4)),
    ],
)  # fmt: skip
def test_one_change_breaks_one_rule(rule: str, severity: str, offset: int, data: bytes) -> None:
    found = check(data)
    assert [(finding.rule.name, finding.rule.level, finding.place.offset) for finding in found] == [
        (rule, severity, offset)
    ], found
    assert found[0].rule.remedy
    assert found[0].evidence
    assert found[0].rule.basis
    assert found[0].place.part == ""


def test_a_subsystem_or_machine_that_firmware_does_not_load_is_found_in_header_and_driver() -> None:
    found = check(rom(bios(), image(subsystem=10), size=SIZE))
    assert [finding.rule.name for finding in found] == ["efi-subsystem"]
    found = check(patched(GOOD, EFI + 10, "<H", 0x1234))
    assert [finding.rule.name for finding in found] == ["efi-machine", "machine-differs"]


@pytest.mark.parametrize("vendor", [0, 0xFFFF])
def test_the_id_of_no_vendor_is_a_violation(vendor: int) -> None:
    data = rom(bios(vendor=vendor), image(vendor=vendor), size=SIZE)
    assert [finding.rule.name for finding in check(data)] == ["vendor-none"] * 2


def test_a_finding_in_a_compressed_driver_says_that_its_offset_is_in_that() -> None:
    driver = make_pe(dll_characteristics=0)
    stream = struct.pack("<II", len(driver), len(driver)) + driver
    found = check(rom(image(driver=stream, compression=1), size=SIZE))
    assert [(finding.rule.name, finding.place.offset, finding.place.part) for finding in found] == [
        ("nx-compatible", 0x98 + 70, "decompressed driver")
    ]


def test_images_are_compared_with_the_device_that_holds_them() -> None:
    assert check(GOOD, DeviceIds(0x8086, 0x100E, 0x020000)) == []
    found = check(GOOD, DeviceIds(0x8086, 0x10D3, 0x020000))
    assert [finding.rule.name for finding in found] == ["ids-of-device"] * 2
    listed = rom(image(device_list=(0x10D3,), driver_offset=0x60), size=SIZE)
    assert check(listed, DeviceIds(0x8086, 0x10D3, 0x020000)) == []


def test_pe_images_are_checked_without_a_rom() -> None:
    found = list(rom_rules.pe_findings(pe.read(make_pe(dll_characteristics=0))))
    assert [
        (finding.rule.name, finding.place.image, finding.place.offset) for finding in found
    ] == [("nx-compatible", None, 0x98 + 70)]


@pytest.mark.parametrize(
    ("machine", "is_64_bit", "rules"),
    [
        (AARCH64, False, ["pe-format"]),
        (X86_64, False, ["pe-format"]),
        (RISCV64, False, ["pe-format"]),
        (AARCH64, True, []),
        (X86, False, []),
        (EBC, False, []),
        (EBC, True, []),
    ],
)
def test_images_for_machines_of_64_bits_are_pe32_plus(
    machine: int, is_64_bit: bool, rules: list[str]
) -> None:
    found = rom_rules.pe_findings(pe.read(make_pe(machine=machine, is_64_bit=is_64_bit)))
    assert [(finding.rule.name, finding.rule.level) for finding in found] == [
        (rule, VIOLATION) for rule in rules
    ]


def verdict(data: bytes, machine: str) -> rom_rules.Verdict:
    found = oprom.read(data)
    drivers = [
        oprom.driver(rom_image, lambda stream: stream)
        for rom_image in found.images
        if rom_image.efi
    ]
    return rom_rules.verdict(found, drivers, rom_rules.check(found, drivers), machine)


def test_a_machine_works_if_the_rom_has_its_driver_in_a_sound_image() -> None:
    two = rom(bios(), image(), image(machine=AARCH64), size=SIZE)
    answer = verdict(two, "aarch64")
    assert answer.works
    assert "image 2 is a driver for aarch64; firmware that emulates" in answer.text
    assert verdict(two, "x86-64").text == "image 1 is a driver for x86-64"
    assert not verdict(GOOD, "aarch64").works
    assert "EFI drivers in the ROM: x86-64" in verdict(GOOD, "aarch64").text
    assert "none" in verdict(rom(bios(), size=SIZE), "x86-64").text


def test_a_driver_that_firmware_does_not_reach_does_not_work() -> None:
    assert not verdict(patched(GOOD, EFI + 4, "<I", 0), "x86-64").works
    assert not verdict(rom(image(driver=make_pe(parts=(), relocations=(0,)))), "x86-64").works
    odd = rom(image(pcir=0x1E), image(machine=AARCH64), size=SIZE)
    assert not verdict(odd, "aarch64").works  # behind the image at which EDK2 stops
    assert verdict(rom(image(machine=AARCH64), image(pcir=0x1E), size=SIZE), "aarch64").works
    assert verdict(b"NVGI" * 128 + GOOD, "x86-64").works
    narrow = rom(image(driver=make_pe(is_64_bit=False)), size=SIZE)
    assert not verdict(narrow, "x86-64").works
    hidden = verdict(patched(GOOD, 0x18, "<H", 0xFFF0), "x86-64")
    assert not hidden.works  # firmware stops at the first header
    assert hidden.text.startswith("firmware does not read the ROM: the header at 0x0 leads to no")


def test_a_chain_without_end_is_a_violation_that_edk2_accepts() -> None:
    unmarked = patched(GOOD, PCIR + 21, "B", 0)
    (finding,) = check(unmarked)
    assert "EDK2 accepts this" in finding.rule.text
    assert "no other end than the mark" in finding.rule.text
    assert (finding.place.image, finding.rule.basis) == (1, "FW 5.1.2")
    answer = verdict(unmarked, "x86-64")
    assert answer.works
    assert answer.text.endswith(
        "no image is marked last, which EDK2 accepts: everycore rom set-last"
    )
    assert "marked" not in verdict(GOOD, "x86-64").text
    broken = patched(unmarked, EFI + 4, "<I", 0)
    assert not verdict(broken, "x86-64").works


def test_the_machines_of_headers_are_compared_by_name() -> None:
    assert pe.MACHINES[X86_64] == "x86-64"
    assert verdict(GOOD, "x86-64").works


def test_an_image_of_length_0_is_one_finding_of_the_chain() -> None:
    for data in (rom(bios(units=0), size=SIZE), rom(image(units=0), size=SIZE)):
        assert "chain" in [finding.rule.name for finding in check(data)]
