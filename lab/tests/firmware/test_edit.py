# SPDX-License-Identifier: MIT
"""Changes of option ROMs: the result, and the bytes that no change may touch."""

import random

import pytest
from firmware.pe_images import AARCH64, RISCV64, make_pe
from firmware.rom_images import bios, image, patched, rom

from everycore.binary import pe
from everycore.environment.errors import EverycoreError
from everycore.firmware import edit, oprom, rom_rules
from everycore.firmware.edit import Edited, Ids

SIZE = 0x4000
IDS = Ids(0x8086, 0x100E, 0x020000)
BIOS, X64, ARM = bios(fill=0xFF), image(), image(machine=AARCH64)
THREE = rom(BIOS, X64, ARM, size=SIZE)
NVGI = (b"NVGI" + bytes(range(256)) * 6)[:0x600]  # as some dumps of NVIDIA cards begin
ATOM = b"ATOMBIOSBK-AMD VER" + bytes(range(256))  # as what follows images on some AMD cards


def images(data: bytes) -> list[oprom.RomImage]:
    found = oprom.read(data)
    assert found.fault is None
    return list(found.images)


def marks(data: bytes) -> list[bool]:
    return [rom_image.pci is not None and rom_image.pci.is_last for rom_image in images(data)]


def without_mark(data: bytes) -> bytes:
    """An image without what follows from its place: the mark, and the checksum."""
    return edit.with_mark(data, False)


def only_rules(data: bytes) -> set[str]:
    found = oprom.read(data)
    drivers = [
        oprom.driver(rom_image, lambda stream: stream)
        for rom_image in found.images
        if rom_image.efi
    ]
    return {finding.rule.name for finding in rom_rules.check(found, drivers)}


def read(data: bytes) -> oprom.Rom:
    return oprom.read(data)


def test_an_inserted_driver_is_the_last_image_and_nothing_else_changes() -> None:
    new = edit.make_image(make_pe(machine=RISCV64), IDS)
    done = edit.insert(read(THREE), [new], ["riscv.efi"], None, None)
    assert len(done.data) == SIZE
    assert marks(done.data) == [False, False, False, True]
    old = images(THREE)
    now = images(done.data)
    assert now[0].data == old[0].data
    assert now[1].data == old[1].data
    differs = [i for i, (a, b) in enumerate(zip(THREE, done.data, strict=True)) if a != b]
    mark = old[2].offset + 0x1C + 0x15
    assert [i for i in differs if i < old[2].end] == [mark]
    assert now[3].machine_name == "riscv64"
    assert only_rules(done.data) == set()
    assert any("riscv.efi as image 3" in line for line in done.plan)


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_a_driver_can_be_inserted_anywhere(at: int) -> None:
    new = edit.make_image(make_pe(machine=RISCV64), IDS)
    done = edit.insert(read(THREE), [new], ["new"], at, None)
    assert images(done.data)[at].machine_name == "riscv64"
    assert marks(done.data) == [False, False, False, True]


def test_inserting_and_dropping_again_gives_the_same_rom() -> None:
    for data in (THREE, rom(BIOS, size=SIZE), rom(bios(fill=0), X64, size=SIZE)):
        new = edit.make_image(make_pe(), IDS)
        more = edit.insert(read(data), [new], ["new"], None, None).data
        last = len(images(more)) - 1
        assert edit.drop(read(more), [last]).data == data


def test_a_bios_image_that_gets_the_mark_keeps_its_sum_in_its_last_byte() -> None:
    done = edit.drop(read(THREE), [1, 2])
    only = images(done.data)[0]
    assert only.checksum == 0
    differs = [i for i, (a, b) in enumerate(zip(BIOS, only.data, strict=True)) if a != b]
    assert differs == [0x1C + 0x15, 1023]
    assert done.data[1024:] == b"\xff" * (SIZE - 1024)
    assert any("mark it last (bytes 0x31, 0x3ff" in line for line in done.plan)


def test_a_bios_image_without_padding_is_not_changed() -> None:
    full = bytearray(BIOS)
    full[900:1023] = bytes(range(1, 124))
    full[-1] = 0
    full[-1] = -sum(full) & 0xFF
    with pytest.raises(EverycoreError, match=r"image 0: offset 0x3ff: no padding") as caught:
        edit.drop(read(rom(bytes(full), X64, size=SIZE)), [1])
    assert "drop the image" in caught.value.hint


def test_images_of_a_new_order_are_the_same_images() -> None:
    done = edit.reorder(read(THREE), [2, 0, 1])
    assert [rom_image.machine_name for rom_image in images(done.data)] == [
        "aarch64",
        "x86",
        "x86-64",
    ]
    assert marks(done.data) == [False, False, True]
    before = [without_mark(rom_image.data) for rom_image in images(THREE)]
    after = [without_mark(rom_image.data) for rom_image in images(done.data)]
    assert after == [before[2], before[0], before[1]]
    assert edit.reorder(read(done.data), [1, 2, 0]).data == THREE


def test_a_replaced_driver_stands_where_the_old_one_stood() -> None:
    longer = make_pe(machine=AARCH64, trailing=bytes(3000))
    new = edit.make_image(longer, IDS)
    done = edit.replace_image(read(THREE), 1, new, "new.efi", None)
    now = images(done.data)
    assert [rom_image.machine_name for rom_image in now] == ["x86", "aarch64", "aarch64"]
    assert (now[0].data, now[2].data) == (images(THREE)[0].data, images(THREE)[2].data)
    assert oprom.driver(now[1], lambda stream: stream).data == longer


def test_the_hash_of_an_uncompressed_driver_in_a_rom_is_that_of_its_file() -> None:
    certificate = (24).to_bytes(4, "little") + b"\0\2\2\0" + bytes(16)
    for driver in (make_pe(), make_pe(trailing=bytes(100)), make_pe(certificate=certificate)):
        done = edit.new_rom([edit.make_image(driver, IDS)], ["one"])
        found = oprom.driver(images(done.data)[0], lambda stream: stream)
        assert found.data == driver
        assert found.pe is not None
        assert pe.authenticode(found.pe) == pe.authenticode(pe.read(driver))


def test_a_driver_of_odd_length_is_padded_behind() -> None:
    driver = make_pe(trailing=b"x")
    found = images(edit.new_rom([edit.make_image(driver, IDS)], ["one"]).data)[0]
    assert oprom.payload(found).rstrip(b"\xff") == driver


def test_a_new_rom_breaks_no_rule_and_has_the_size_of_a_flash() -> None:
    for_x64 = edit.make_image(make_pe(), IDS)
    for_arm = edit.make_image(make_pe(machine=AARCH64), IDS, stream=b"packed" * 100)
    done = edit.new_rom([for_x64, for_arm], ["x64", "arm"])
    assert len(done.data) == 4096
    assert only_rules(edit.new_rom([for_x64, for_x64], ["x64", "again"]).data) == set()
    assert [i.efi.compression for i in images(done.data) if i.efi] == [0, 1]
    assert len(edit.new_rom([for_x64], ["x64"], 1 << 16).data) == 1 << 16
    with pytest.raises(EverycoreError, match="there is room for 0x1000"):
        edit.new_rom([for_x64] * 3, ["x64"] * 3, 4096)


def test_ids_are_changed_in_all_images_or_in_those_that_are_named() -> None:
    done = edit.set_ids(read(THREE), Ids(device=0x10D3), [])
    assert [(i.pci.vendor, i.pci.device) for i in images(done.data) if i.pci] == [
        (0x8086, 0x10D3)
    ] * 3
    assert images(done.data)[0].checksum == 0
    done = edit.set_ids(read(THREE), Ids(0x1234, 0x5678, 0x030000), [2])
    assert [i.data for i in images(done.data)[:2]] == [i.data for i in images(THREE)[:2]]
    third = images(done.data)[2].pci
    assert third is not None
    assert (third.vendor, third.device, third.class_code) == (0x1234, 0x5678, 0x030000)
    assert edit.set_ids(read(THREE), IDS, []) == Edited(THREE, ())


def test_the_mark_of_the_last_image_is_repaired_or_moved() -> None:
    unmarked = patched(THREE, images(THREE)[2].offset + 0x31, "B", 0)
    assert read(unmarked).fault is not None
    assert edit.set_last(read(unmarked), None).data == THREE
    moved = edit.set_last(read(THREE), 0)
    assert len(images(moved.data)) == 1
    assert images(moved.data)[0].checksum == 0
    assert [line for line in moved.plan if "does not find it" in line]
    assert read(moved.data).hidden


@pytest.mark.parametrize("vendor", [ATOM, bytes(512) + ATOM, b"\xff" * 512 + ATOM])
def test_data_of_a_vendor_stay_at_their_offset(vendor: bytes) -> None:
    data = NVGI + rom(BIOS, X64) + vendor
    dropped = edit.drop(read(data), [0]).data
    assert len(dropped) == len(data)
    assert dropped[: len(NVGI)] == NVGI
    assert dropped[-len(vendor) :] == vendor
    changed = edit.set_ids(read(data), Ids(device=1), []).data
    assert changed[-len(vendor) :] == vendor
    new = edit.make_image(make_pe(), IDS)
    with pytest.raises(EverycoreError, match=r"room|data of the vendor begin"):
        edit.insert(read(data), [new], ["new"], None, None)


def test_data_of_a_vendor_are_not_written_over_where_the_file_has_room() -> None:
    data = rom(BIOS, X64) + bytes(512) + ATOM + b"\xff" * 0x4000
    new = edit.make_image(make_pe(), IDS)
    with pytest.raises(EverycoreError, match="data of the vendor begin at 0x1000"):
        edit.insert(read(data), [new], ["new"], None, None)


def test_bytes_between_images_move_with_the_image_before_them() -> None:
    last = edit.drop(read(BIOS + b"\xee" * 512 + rom(X64, size=SIZE)), [1]).data
    assert last[1024:] == b"\xff" * (len(last) - 1024)
    data = BIOS + b"\xee" * 512 + rom(X64, ARM, size=SIZE - 1536)
    done = edit.drop(read(data), [2])
    assert images(done.data)[0].gap == b"\xee" * 512
    assert edit.drop(read(data), [0]).data[: len(X64)] == X64


def test_a_flash_has_room_for_a_power_of_two_and_at_least_4_kib() -> None:
    small = rom(X64)
    assert len(small) < 4096
    assert edit.fit(read(small), None, False).data == small.ljust(4096, b"\xff")
    assert edit.fit(read(THREE), None, False).data == THREE[:0x2000]
    assert edit.fit(read(THREE), 1 << 16, False).data == THREE.ljust(1 << 16, b"\xff")
    for size in (5000, 2048):
        with pytest.raises(EverycoreError, match="no power of two"):
            edit.fit(read(THREE), size, False)
    with pytest.raises(EverycoreError, match="there is room for 0x1000"):
        edit.fit(read(THREE), 4096, False)


def test_vendor_data_are_kept_or_left_out_if_asked_for() -> None:
    data = NVGI + rom(BIOS, X64) + ATOM
    with pytest.raises(EverycoreError, match="no ROM, but a dump of a flash"):
        edit.fit(read(data), None, False)
    assert edit.fit(read(data), None, True).data == rom(BIOS, X64).ljust(4096, b"\xff")
    behind = rom(BIOS, X64) + ATOM
    assert edit.fit(read(behind), None, False).data == behind.ljust(4096, b"\xff")
    with pytest.raises(EverycoreError, match="would cut the vendor's data"):
        edit.fit(read(rom(BIOS, X64, size=8000) + ATOM), 4096, False)


def test_the_structure_of_nvidia_is_named_in_the_plan() -> None:
    special = patched(image(), 0x200, "<B", 0)
    special = special[:0x40] + b"NPDE" + special[0x44:]  # behind the structure, at 16 bytes
    assert any("NPDE" in line for line in edit.drop(read(rom(special, X64)), [1]).plan)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: edit.drop(r, [3]), "no image 3"),
        (lambda r: edit.drop(r, [0, 1, 2]), "no image would be left"),
        (lambda r: edit.reorder(r, [0, 1]), "does not name each image once"),
        (lambda r: edit.reorder(r, [0, 1, 1]), "does not name each image once"),
        (lambda r: edit.insert(r, [X64], ["x"], 4, None), "--at 4"),
        (lambda r: edit.insert(r, [X64] * 9, ["x"] * 9, None, None), "there is room for 0x4000"),
        (lambda r: edit.insert(r, [X64] * 65, ["x"] * 65, None, 1 << 24), "more than 64"),
        (lambda r: edit.replace_image(r, 7, X64, "x", None), "no image 7"),
        (lambda r: edit.set_ids(r, Ids(device=1), [9]), "no image 9"),
        (lambda r: edit.set_last(r, 5), "no image 5"),
    ],
)
def test_a_change_that_makes_no_sense_is_refused(change: object, words: str) -> None:
    assert callable(change)
    with pytest.raises(EverycoreError, match=words) as caught:
        change(read(THREE))
    assert caught.value.hint


@pytest.mark.parametrize(
    "data",
    [
        rom(image(units=0), size=SIZE),
        rom(BIOS, X64)[:-512],
        b"\x55\xaa\x02" + bytes(1021),
    ],
)
def test_a_rom_whose_chain_breaks_is_not_changed(data: bytes) -> None:
    found = read(data)
    with pytest.raises(EverycoreError):
        edit.drop(found, [0])
    with pytest.raises(EverycoreError):
        edit.set_ids(found, Ids(device=1), [])
    with pytest.raises(EverycoreError):
        edit.fit(found, None, False)
    with pytest.raises(EverycoreError):
        edit.set_last(found, None)


@pytest.mark.parametrize(
    ("driver", "words"),
    [
        (make_pe(subsystem=10), "subsystem application"),
        (make_pe(subsystem=3), "subsystem Windows console program"),
        (make_pe()[:500], "section"),
        (b"text", "no PE image"),
    ],
)
def test_only_drivers_are_put_into_a_rom(driver: bytes, words: str) -> None:
    with pytest.raises(EverycoreError, match=words):
        edit.make_image(driver, IDS)


def test_any_sequence_of_changes_leaves_a_sound_rom_with_the_images_that_were_kept() -> None:
    chance = random.Random(11)
    new = edit.make_image(make_pe(machine=RISCV64), IDS)
    for _ in range(60):
        data = NVGI + THREE.ljust(0x8000, b"\xff") + ATOM
        kept = [without_mark(rom_image.data) for rom_image in images(data)]
        for _ in range(6):
            match chance.randrange(4):
                case 0 if len(kept) > 1:
                    number = chance.randrange(len(kept))
                    data, _ = edit.drop(read(data), [number]).data, kept.pop(number)
                case 1:
                    order = chance.sample(range(len(kept)), len(kept))
                    data = edit.reorder(read(data), order).data
                    kept = [kept[i] for i in order]
                case 2 if len(kept) < 8:
                    at = chance.randrange(len(kept) + 1)
                    data = edit.insert(read(data), [new], ["new"], at, None).data
                    kept.insert(at, new)
                case _:
                    number = chance.randrange(len(kept))
                    data = edit.replace_image(read(data), number, new, "new", None).data
                    kept[number] = new
            assert [without_mark(rom_image.data) for rom_image in images(data)] == kept
            assert marks(data) == [False] * (len(kept) - 1) + [True]
            assert all(not rom_image.checksum for rom_image in images(data))
            assert data.startswith(NVGI)
            assert data.endswith(ATOM)
            assert len(data) == len(NVGI) + 0x8000 + len(ATOM)
