# SPDX-License-Identifier: MIT
"""everycore rom, as a user types it."""

import json
import struct
import uuid
from pathlib import Path

import pytest
from firmware.pe_images import AARCH64, make_pe
from firmware.rom_images import bios, image, rom
from world import Lab

from everycore.context import SystemRunner
from everycore.firmware import esl, pe
from everycore.firmware.malformed import MalformedError

GOOD = rom(bios(), image(), image(machine=AARCH64), size=0x4000)


@pytest.fixture
def here(tmp_path: Path) -> Lab:
    (tmp_path / "card.rom").write_bytes(GOOD)
    return Lab(SystemRunner(), tmp_path, {}, width=120)


def objects(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_list_shows_every_image_with_its_facts(here: Lab) -> None:
    shown = here("rom", "list", "card.rom")
    assert shown.code == 0
    assert ["BIOS" in shown.out, "x86-64" in shown.out, "aarch64" in shown.out] == [True] * 3
    assert shown.out.count("SHA-256") == 2
    assert "blank, ff" in shown.out
    lines = objects(here("rom", "list", "card.rom", "--json").out)
    assert [line["type"] for line in lines] == ["rom", "image", "image", "image"]
    assert [line["machine"] for line in lines[1:]] == ["x86", "x86-64", "aarch64"]
    assert lines[3]["last"] is True
    assert lines[1]["checksum"] == 0
    driver = lines[2]["driver"]
    assert isinstance(driver, dict)
    taken = make_pe().ljust(-(-(0x38 + len(make_pe())) // 512) * 512 - 0x38, b"\xff")
    assert driver["sha256"] == pe.authenticode(pe.read(taken)).hex()


def test_check_ends_with_1_if_a_rule_is_broken_and_with_0_if_none_is(here: Lab) -> None:
    assert here("rom", "check", "card.rom").code == 0
    assert here("rom", "check", "card.rom", "--machine", "aarch64").code == 0
    outcome = here("rom", "check", "card.rom", "--machine", "riscv64")
    assert outcome.code == 1
    assert "does not work on riscv64: no driver" in outcome.out
    (here.folder / "bad.rom").write_bytes(GOOD[:100] + b"\0" + GOOD[101:])
    outcome = here("rom", "check", "bad.rom", "card.rom")
    assert outcome.code == 1
    assert "checksum" in outcome.out
    lines = objects(here("rom", "check", "bad.rom", "--json", "--machine", "x86-64").out)
    assert [line["type"] for line in lines] == ["finding", "verdict"]
    assert lines[0]["offset"] == 1023
    assert lines[1]["works"] is True


def test_advice_counts_only_if_strict(here: Lab) -> None:
    (here.folder / "odd.rom").write_bytes(GOOD + b"\xff" * 512)
    assert here("rom", "check", "odd.rom").code == 0
    assert here("rom", "check", "odd.rom", "--strict").code == 1


def test_hash_prints_the_hash_of_each_driver_and_writes_a_list_for_db(here: Lab) -> None:
    (here.folder / "one.efi").write_bytes(make_pe())
    outcome = here("rom", "hash", "card.rom", "one.efi", "--esl", "card.esl")
    assert outcome.code == 0
    hashes = [line.split()[0] for line in outcome.out.splitlines()]
    assert hashes[2] == pe.authenticode(pe.read(make_pe())).hex()
    written = (here.folder / "card.esl").read_bytes()
    assert [one.hex() for one in esl.hashes_of(written)] == hashes
    assert "sign-efi-sig-list" in outcome.err
    assert f"--add-db-hash {uuid.UUID(bytes_le=written[28:44])} {hashes[0]}" in outcome.err
    lines = objects(here("rom", "hash", "card.rom", "--json").out)
    assert [(line["image"], line["sha256"]) for line in lines] == [(1, hashes[0]), (2, hashes[1])]


def test_the_list_of_hashes_has_the_layout_of_uefi() -> None:
    owner = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    data = esl.signature_list([b"a" * 32, b"b" * 32, b"a" * 32], owner)
    head = "2616c4c14c509240aca941f936934328" + "7c000000" + "00000000" + "30000000"
    assert data[:28].hex() == head
    assert data[28:76].hex() == "33221100554477668899aabbccddeeff" + "61" * 32
    assert len(data) == 0x7C
    assert esl.hashes_of(data + data) == [b"a" * 32, b"b" * 32] * 2
    for cut in (10, 20, 60, 123):
        with pytest.raises(MalformedError):
            esl.hashes_of(data[:cut])
    with pytest.raises(MalformedError):
        esl.hashes_of(data[:24] + struct.pack("<I", 31) + data[28:])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "gone.rom"), "gone.rom: no such file"),
        (("list", "text"), "text: offset 0x0: no option ROM"),
        (("check", "cut.rom"), "cut.rom: offset 0x18: the PCI data structure is at 0x300"),
        (("check", "card.rom", "--machine", "arm64"), "unknown machine 'arm64'"),
        (("hash", "bios.rom"), "no EFI driver in what was given"),
        (("hash", "card.rom", "--owner", "me"), "--owner 'me' is no GUID"),
        (("hash", "bad.efi"), "bad.efi: offset 0x80: "),
        (("hash", "bad.rom"), "bad.rom: image 0: offset 0x38: no PE image"),
        (("list", "--sysfs-root", ".", "0000:01:00.0"), "0000:01:00.0: no such file"),
        (("hash", "card.rom", "--esl", "."), ""),
    ],
)
def test_bad_input_is_one_line_with_a_remedy_and_exit_code_2(
    here: Lab, words: tuple[str, ...], message: str
) -> None:
    (here.folder / "text").write_text("# no ROM\n")
    (here.folder / "cut.rom").write_bytes(bios(pcir=0x300)[:0x200])
    (here.folder / "bios.rom").write_bytes(rom(bios()))
    (here.folder / "bad.efi").write_bytes(make_pe()[:0x90])
    (here.folder / "bad.rom").write_bytes(rom(image(driver=b"no driver")))
    outcome = here("rom", *words)
    assert outcome.code == 2
    first, *hints = outcome.err.splitlines()
    assert first.startswith(f"everycore: {message}"), outcome.err
    assert len(hints) == 1
    assert "Traceback" not in outcome.err
