# SPDX-License-Identifier: MIT
"""ROMs of graphics cards: drivers of Linux read tables in them, which no change may take away."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from firmware.graphics_cards import (
    ATOM_CARD,
    BIT,
    BIT_AT,
    BIT_CARD,
    HEADER,
    NETWORK,
    SIZE,
    VGA,
    atom,
    card,
    efi,
    graphics,
)
from firmware.pe_images import AARCH64, make_pe
from firmware.rom_images import bios, image, patched, rom
from world import Lab

from everycore.binary.malformed import MalformedError
from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.firmware import edit, oprom, rom_rules, vendor_tables
from everycore.firmware.oprom import Rom
from everycore.firmware.vendor_tables import AMD, INTEL, NVIDIA

NETWORK_CARD = rom(bios(), image(), image(machine=AARCH64), size=SIZE)
READ_FIRST = {
    "ATOM": (ATOM_CARD, "AMD's ATOM tables at 0x200"),
    "ATOM, bytes swapped": (graphics(atom(magic=b"MOTA"), AMD), "AMD's ATOM tables at 0x200"),
    "before ATOM": (graphics(atom(magic=b"????"), AMD), "AMD's tables at 0x200"),
    "BIT": (BIT_CARD, "NVIDIA's table BIT at 0x180"),
    "BMP": (graphics(card(NVIDIA, BIT_AT, b"\xff\x7fNV\0"), NVIDIA), "NVIDIA's table BMP at 0x180"),
    "BIT behind the images": (graphics(card(NVIDIA), NVIDIA) + BIT, "NVIDIA's table BIT at 0x4000"),
}


def read(data: bytes) -> Rom:
    found = oprom.read(data)
    assert found.fault is None
    return found


def rules(data: bytes) -> list[str]:
    found = oprom.read(data)
    drivers = [
        oprom.driver(rom_image, lambda stream: stream)
        for rom_image in found.images
        if rom_image.efi
    ]
    return [finding.rule.name for finding in rom_rules.check(found, drivers)]


@pytest.mark.parametrize("name", READ_FIRST)
def test_tables_are_found_and_named_with_the_drivers_that_read_them(name: str) -> None:
    data, text = READ_FIRST[name]
    first = vendor_tables.find(read(data))[0]
    assert (first.image, first.is_first_only, first.is_read) == (0, True, True)
    assert first.text.startswith(f"{text}, which Linux's ")
    assert first.text.endswith((" reads from the first image", " read from the first image"))
    assert not {"tables-missing", "tables-not-first"} & set(rules(data))


@pytest.mark.parametrize("name", READ_FIRST)
def test_no_change_takes_the_image_with_tables_from_its_place(name: str) -> None:
    data, text = READ_FIRST[name]
    new = edit.make_image(make_pe(), edit.Ids(AMD, 1, VGA))
    found = read(data)
    changes: tuple[Callable[[bool], edit.Edited], ...] = (
        lambda force: edit.drop(found, [0], force),
        lambda force: edit.reorder(found, [2, 0, 1], force),
        lambda force: edit.reorder(found, [1, 0, 2], force),
        lambda force: edit.replace_image(found, 0, new, "new.efi", None, force),
        lambda force: edit.insert(found, [new], ["new.efi"], 0, None, force),
    )
    for change in changes:
        with pytest.raises(MalformedError) as caught:
            change(False)
        assert f"image 0 has {text}" in caught.value.rule
        assert "keep it the first, and put EFI drivers behind it" in caught.value.remedy
        done = change(True)
        assert oprom.read(done.data).images[0].data != found.images[0].data
        assert any(line.startswith("warning: ") for line in done.plan)


@pytest.mark.parametrize("name", READ_FIRST)
def test_changes_that_keep_the_image_with_tables_first_are_made(name: str) -> None:
    data, _ = READ_FIRST[name]
    new = edit.make_image(make_pe(), edit.Ids(AMD, 1, VGA))
    found = read(data)
    for done in (
        edit.drop(found, [1]),
        edit.reorder(found, [0, 2, 1]),
        edit.reorder(found, [0, 1, 2]),
        edit.replace_image(found, 1, new, "new.efi", None),
        edit.insert(found, [new], ["new.efi"], None, None),
        edit.insert(found, [new], ["new.efi"], 1, None),
        edit.set_last(found, 0),
        edit.set_ids(found, edit.Ids(device=0x1234), []),
        edit.fit(found, 0x8000, strip=name != "BIT behind the images"),
    ):
        assert not any(line.startswith("warning: ") for line in done.plan)
        assert vendor_tables.lost(found, oprom.read(done.data)) is None


def test_tables_among_the_data_of_the_vendor_are_not_left_out_with_it() -> None:
    found = read(READ_FIRST["BIT behind the images"][0])
    with pytest.raises(MalformedError) as caught:
        edit.fit(found, 0x8000, strip=True)
    assert "table BIT" in caught.value.rule
    assert edit.fit(found, 0x8000, strip=True, force=True).plan[-1].startswith("warning: ")


def test_a_card_that_is_no_graphics_card_may_lose_its_bios_image() -> None:
    for vendor in (AMD, NVIDIA, 0x8086):
        data = rom(bios(vendor=vendor), image(vendor=vendor), size=SIZE)
        assert vendor_tables.find(read(data)) == []
        done = edit.drop(read(data), [0])
        assert not any("warning" in line for line in done.plan)


def test_a_graphics_cards_bios_image_without_known_tables_is_moved_with_a_warning() -> None:
    matrox = 0x102B
    found = read(graphics(card(matrox), matrox))
    for done in (edit.drop(found, [0]), edit.reorder(found, [1, 0, 2])):
        assert done.plan[-1].startswith("warning: the first image was a graphics card's BIOS image")
    assert not any("warning" in line for line in edit.reorder(found, [0, 2, 1]).plan)


def test_tables_that_are_not_first_are_told_and_stay_where_they_are() -> None:
    data = rom(efi(AMD), atom(), efi(AMD, machine=AARCH64), size=SIZE)
    found = read(data)
    (tables,) = vendor_tables.find(found)
    assert (tables.image, tables.is_read) == (1, False)
    assert rules(data) == ["tables-not-first"]
    done = edit.reorder(found, [2, 1, 0])
    (line,) = [line for line in done.plan if line.startswith("warning: ")]
    assert "image 1 has AMD's ATOM tables" in line
    assert not any("warning" in line for line in edit.reorder(found, [1, 0, 2]).plan)
    with pytest.raises(MalformedError) as caught:
        edit.drop(found, [1])  # they would be gone
    assert caught.value.remedy.startswith("keep the image; ")
    assert edit.drop(found, [1], force=True).plan[-1].startswith("warning: ")
    twice = rom(atom(), atom(), efi(AMD), size=SIZE)
    assert oprom.read(edit.drop(read(twice), [0]).data).images[0].data == found.images[1].data


def test_images_of_nvidias_own_before_the_bios_image_do_not_make_it_the_second() -> None:
    own = image(code=0xE0, vendor=NVIDIA, class_code=VGA)
    data = b"L" * 512 + rom(own, own, card(NVIDIA, BIT_AT, BIT), efi(NVIDIA), size=SIZE)
    found = read(data)
    (tables,) = vendor_tables.find(found)
    assert (tables.image, tables.is_read) == (2, True)
    assert not {"tables-missing", "tables-not-first"} & set(rules(data))
    assert edit.drop(found, [0, 3]).data
    with pytest.raises(MalformedError):
        edit.drop(found, [2])
    with pytest.raises(MalformedError):
        edit.reorder(found, [0, 1, 3, 2])


def test_the_reason_of_the_tables_comes_before_that_of_a_checksum() -> None:
    whole = bytearray(card(NVIDIA, BIT_AT, BIT, fill=0x90))
    whole[-9:-1] = bytes(range(1, 9))  # code up to the checksum: no byte is free
    whole[-1] = (whole[-1] - sum(whole)) & 0xFF
    found = read(rom(bytes(whole), efi(NVIDIA), size=SIZE))
    with pytest.raises(MalformedError) as caught:
        edit.reorder(found, [1, 0])
    assert "table BIT" in caught.value.rule
    with pytest.raises(EverycoreError) as refused:
        edit.reorder(found, [1, 0], force=True)
    assert "no padding" in refused.value.message
    assert "drop" not in refused.value.hint


def test_the_verdict_tells_of_tables_that_are_lost() -> None:
    lost = rom(efi(AMD, machine=AARCH64), size=SIZE)
    for data, is_told in ((lost, True), (graphics(atom(), AMD), False)):
        found = oprom.read(data)
        drivers = [
            oprom.driver(rom_image, lambda stream: stream)
            for rom_image in found.images
            if rom_image.efi
        ]
        verdict = rom_rules.verdict(found, drivers, rom_rules.check(found, drivers), "aarch64")
        assert verdict.works
        assert ("Linux's driver finds no tables" in verdict.text) == is_told


def test_a_card_without_its_tables_is_advised_to_have_them() -> None:
    for vendor in (AMD, NVIDIA):
        assert rules(rom(efi(vendor), size=SIZE)) == ["tables-missing"]
        assert rules(graphics(card(vendor), vendor)) == ["tables-missing"]
    assert rules(graphics(card(0x102B), 0x102B)) == []
    assert rules(NETWORK_CARD) == []
    done = edit.new_rom([edit.make_image(make_pe(), edit.Ids(AMD, 1, VGA))], ["a.efi"])
    assert "amdgpu and radeon find no tables of the card" in done.plan[-1]


def test_tables_that_a_driver_looks_for_in_the_whole_rom_may_move_but_not_go() -> None:
    data = graphics(card(INTEL, 0x100, b"$VBT"), INTEL)
    found = read(data)
    (tables,) = vendor_tables.find(found)
    assert (tables.drivers, tables.is_first_only) == (("i915", "xe"), False)
    assert not any("warning" in line for line in edit.reorder(found, [2, 0, 1]).plan)
    with pytest.raises(MalformedError):
        edit.drop(found, [0])
    with pytest.raises(MalformedError):
        edit.set_last(read(rom(efi(INTEL), card(INTEL, 0x100, b"$VBT"), size=SIZE)), 0)


def test_damaged_images_have_no_tables_and_break_nothing() -> None:
    for pointer in (0, 0x3FC, 0x3FF, 0x400, 0xFFF8, 0xFFFF):
        data = rom(atom(pointer, class_code=NETWORK), size=0x1000)
        assert [tables.offset for tables in vendor_tables.find(oprom.read(data))] == []
    whole = ATOM_CARD
    for length in (0x40, 0x47, 0x49, 0x4A, HEADER + 4, HEADER + 7, HEADER + 8, 0x3FF, 0x401):
        try:
            found = oprom.read(whole[:length])
        except MalformedError:
            continue
        names = [tables.name for tables in vendor_tables.find(found)]
        assert names == (["AMD's ATOM tables"] if length >= HEADER + 8 else [])
    cut = patched(BIT_CARD, 0x1C + 0x10, "<H", 0xFFFF)  # the image ends behind the file
    assert [tables.name for tables in vendor_tables.find(oprom.read(cut))] == ["NVIDIA's table BIT"]


def test_a_pointer_may_lead_behind_the_length_that_an_image_names() -> None:
    data = graphics(atom(pointer=0x500), AMD)  # where the next image is
    assert [tables.name for tables in vendor_tables.find(read(data))] == ["AMD's tables"]
    data = patched(data, 0x504, "4s", b"ATOM")
    assert [tables.offset for tables in vendor_tables.find(read(data))] == [0x500]


# ---- As a user types it


@pytest.fixture
def here(tmp_path: Path) -> Lab:
    (tmp_path / "amd.rom").write_bytes(ATOM_CARD)
    (tmp_path / "nic.rom").write_bytes(NETWORK_CARD)
    (tmp_path / "a.efi").write_bytes(make_pe())
    return Lab(SystemRunner(), tmp_path, {}, width=200)


def test_list_names_the_tables_and_their_readers(here: Lab) -> None:
    text = (
        "image 0: AMD's ATOM tables at 0x200, which Linux's amdgpu and radeon read from the first"
    )
    assert text in here("rom", "list", "amd.rom").out
    assert "tables" not in here("rom", "list", "nic.rom").out
    lines = [json.loads(line) for line in here("rom", "list", "amd.rom", "--json").out.splitlines()]
    (about,) = lines[1]["tables"]
    assert about["drivers"] == ["amdgpu", "radeon"]
    assert about["read"] is True
    assert all("tables" not in line for line in lines[2:])


@pytest.mark.parametrize("name", ["amd.rom", "nic.rom"])
def test_the_hint_of_a_machine_keeps_the_bios_image_first_and_says_for_whom_it_is(
    here: Lab, name: str
) -> None:
    shown = here("rom", "check", name, "--machine", "aarch64")
    assert "rom reorder ROM 0 2 1" in shown.out
    assert "EDK2 before edk2-stable202602" in shown.out
    done = here("rom", "reorder", name, "0", "2", "1", "--out", "new.rom")
    assert done.code == 0
    assert "reorder" not in here("rom", "check", "new.rom", "--machine", "aarch64").out


@pytest.mark.parametrize(
    "words",
    [
        ("drop", "amd.rom", "0"),
        ("reorder", "amd.rom", "2", "0", "1"),
        ("replace", "amd.rom", "0", "a.efi"),
        ("insert", "amd.rom", "a.efi", "--at", "0"),
    ],
)
def test_a_refused_change_says_why_and_what_to_do_and_force_makes_it(
    here: Lab, words: tuple[str, ...]
) -> None:
    done = here("rom", *words, "--out", "new.rom")
    assert done.code == 2
    assert done.err.startswith("everycore: amd.rom: offset 0x0: image 0 has AMD's ATOM tables at ")
    assert "--force does it all the same" in done.err
    assert not (here.folder / "new.rom").exists()
    done = here("rom", *words, "--out", "new.rom", "--force")
    assert done.code == 0
    assert "warning: " in done.out
    assert (here.folder / "new.rom").exists()


def test_a_rom_without_room_does_not_ask_to_drop_the_image_with_tables(here: Lab) -> None:
    many = ("a.efi",) * 12
    done = here("rom", "insert", "amd.rom", *many, "--out", "new.rom")
    assert done.code == 2
    assert "keep image 0" in done.err
    assert "rom drop removes an EFI driver" in done.err
    done = here("rom", "insert", "nic.rom", *many, "--out", "new.rom")
    assert "rom drop removes an image" in done.err


def test_a_folder_whose_image_with_tables_is_not_first_is_refused(here: Lab) -> None:
    assert here("rom", "extract", "amd.rom", "parts").code == 0
    table = here.folder / "parts/rom.json"
    original = table.read_text()
    assert here("rom", "build", "--from", "parts", "--out", "same.rom").code == 0
    assert (here.folder / "same.rom").read_bytes() == ATOM_CARD
    for keep in ([2, 0, 1], [1, 2]):
        content = json.loads(original)
        content["images"] = [content["images"][number] for number in keep]
        table.write_text(json.dumps(content))
        done = here("rom", "build", "--from", "parts", "--out", "new.rom")
        assert done.code == 2
        assert "another image is the first" in done.err
        done = here("rom", "build", "--from", "parts", "--out", f"{len(keep)}.rom", "--force")
        assert done.code == 0
        assert "warning: " in done.out
    assert here("rom", "extract", "nic.rom", "other").code == 0
    assert "first" not in json.loads((here.folder / "other/rom.json").read_text())
