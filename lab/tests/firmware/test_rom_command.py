# SPDX-License-Identifier: MIT
"""everycore rom, as a user types it."""

import json
import os
import struct
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from firmware.pe_images import AARCH64, make_pe
from firmware.rom_images import bios, image, patched, rom
from library_reads import reads_all
from world import PACKAGE, Lab, objects

from everycore.binary import pe
from everycore.environment.context import SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.firmware import esl, manifest, oprom, sources

UNREACHABLE = "x" * 300  # no file system takes such a name
GOOD = rom(bios(), image(), image(machine=AARCH64), size=0x4000)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(sources, "SYSFS", tmp_path / "sys")
    (tmp_path / "card.rom").write_bytes(GOOD)
    return Lab(SystemRunner(), tmp_path, {}, width=120)


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


@pytest.mark.parametrize(("given", "name"), [("arm64", "aarch64"), ("x64", "x86-64")])
def test_a_machine_has_the_names_that_others_give_it(here: Lab, given: str, name: str) -> None:
    named, other = (
        here("rom", "check", "card.rom", "--machine", machine) for machine in (name, given)
    )
    assert (other.code, other.out) == (0, named.out)
    assert f"works on {name}: " in other.out


def test_a_terminal_of_80_columns_shows_lists_and_findings_unbroken(here: Lab) -> None:
    packed = image(compression=1, driver=struct.pack("<II", 8, 64) + bytes(8))
    wide = rom(bios(), packed, image(machine=AARCH64), size=0x4000)
    (here.folder / "odd.rom").write_bytes(b"x" * (12 << 20) + wide + b"\xff" * 512)
    narrow = Lab(here.runner, here.folder, {}, width=80)
    shown = narrow("rom", "list", "odd.rom")
    assert shown.code == 0
    rows = [line.split() for line in shown.out.splitlines() if " 8086:" in line]
    assert [row[5] for row in rows] == ["8086:100e"] * 3
    assert rows[1][7] == "unreadable"
    assert rows[2][7:] == ["plain", "last"]
    hashes = [line for line in shown.out.splitlines() if line.startswith("image 2: SHA-256 ")]
    assert len(hashes[0].split()[-1]) == 64
    lines = narrow("rom", "check", "odd.rom").out.splitlines()
    at = lines.index("advice: the size is no power of two, as that of a flash is [rom-size]")
    assert lines[at + 1].startswith("    offset 0xc00000: expected 0x8000; found 0x4200 (PCI ")


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
    assert [written[at : at + 32].hex() for at in range(44, len(written), 48)] == hashes
    assert "sign-efi-sig-list" in outcome.err
    assert f"--add-db-hash {uuid.UUID(bytes_le=written[28:44])} {hashes[0]}" in outcome.err
    spaced = here("rom", "hash", "card.rom", "--esl", "my card.esl")
    assert "db 'my card.esl' 'my card.auth'\nefi-updatevar -a -f 'my card.auth' db\n" in spaced.err
    lines = objects(here("rom", "hash", "card.rom", "--json").out)
    assert [(line["image"], line["sha256"]) for line in lines] == [(1, hashes[0]), (2, hashes[1])]


def test_the_list_of_hashes_never_replaces_a_file_that_is_read(here: Lab) -> None:
    (here.folder / "link.esl").symlink_to("card.rom")
    for name in ("card.rom", "./card.rom", "link.esl"):
        outcome = here("rom", "hash", "card.rom", "--esl", name)
        assert (outcome.code, outcome.out) == (2, "")
        assert "would replace a file that is read" in outcome.err
        assert (here.folder / "card.rom").read_bytes() == GOOD
    (here.folder / "old.esl").write_bytes(b"of an earlier run")
    assert here("rom", "hash", "card.rom", "--esl", "old.esl").code == 0


def make_device(here: Lab) -> Path:
    """A network card in a folder that looks like sysfs."""
    device = here.folder / "sys/bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    for name, text in (("vendor", "0x8086"), ("device", "0x10d3"), ("class", "0x020000")):
        (device / name).write_text(text)
    (device / "rom").write_bytes(GOOD)
    return device


def test_a_device_of_sysfs_is_named_by_its_address(here: Lab) -> None:
    device = make_device(here)
    for given in (
        "0000:01:00.0",
        "01:00.0",
        "sys/bus/pci/devices",
        "sys/bus/pci/devices/0000:01:00.0/rom",
    ):
        outcome = here("rom", "check", given, "--json")
        assert outcome.code == 0
        assert [line["rule"] for line in objects(outcome.out)] == ["ids-of-device"] * 3
    assert (device / "rom").read_bytes() == GOOD


def test_list_works_without_the_codec_and_says_what_it_lacks(
    here: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uefi_firmware", None)
    packed = image(compression=1, driver=struct.pack("<II", 8, 64) + bytes(8))
    (here.folder / "packed.rom").write_bytes(rom(bios(), packed, size=0x2000))
    outcome = here("rom", "list", "packed.rom")
    assert outcome.code == 0
    assert "needs Python packages that are not installed" in " ".join(outcome.out.split())
    outcome = here("rom", "check", "packed.rom", "card.rom")
    assert outcome.code == 2
    assert outcome.err.startswith("everycore: packed.rom: ")
    assert "needs Python packages" in outcome.err
    assert "card.rom: violations: 0" in outcome.out


def test_sarif_has_each_finding_at_its_offset(here: Lab) -> None:
    (here.folder / "bad.rom").write_bytes(patched(GOOD, 100, "B", 0))
    assert here("rom", "check", "bad.rom", "card.rom", "--sarif", "found.sarif").code == 1
    (run,) = json.loads((here.folder / "found.sarif").read_text())["runs"]
    assert run["tool"]["driver"]["name"] == "everycore rom check"
    (rule,), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert rule["id"] == result["ruleId"] == "checksum"
    assert result["level"] == "error"
    assert "expected 0x00; found 0x" in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "bad.rom"
    (found,) = [
        json.loads(line)
        for line in here("rom", "check", "bad.rom", "--json").out.split("\n")
        if line
    ]
    assert place["region"]["byteOffset"] == found["offset"]
    assert here("rom", "check", "card.rom", "--sarif", "card.rom").code == 2


def test_the_list_of_hashes_has_the_layout_of_uefi() -> None:
    owner = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    data = esl.signature_list([b"a" * 32, b"b" * 32, b"a" * 32], owner)
    head = "2616c4c14c509240aca941f936934328" + "7c000000" + "00000000" + "30000000"
    assert data[:28].hex() == head
    assert data[28:76].hex() == "33221100554477668899aabbccddeeff" + "61" * 32
    assert len(data) == 0x7C
    assert data[76:124].hex() == "33221100554477668899aabbccddeeff" + "62" * 32


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("list", "gone.rom"), "gone.rom: no such file"),
        (("list", "long" * 60), "long" * 60 + ": no such file"),
        (("list", "text"), "text: offset 0x0: no option ROM"),
        (("check", "cut.rom"), "cut.rom: offset 0x18: the PCI data structure is at 0x300"),
        (("check", "card.rom", "--machine", "arm46"), "unknown machine 'arm46'"),
        (("hash", "bios.rom"), "no EFI driver in what was given"),
        (("hash", "card.rom", "--owner", "me"), "--owner 'me' is no GUID"),
        (("hash", "bad.efi"), "bad.efi: offset 0x80: "),
        (("hash", "bad.rom"), "bad.rom: image 0: offset 0x38: no PE image"),
        (("list", "0000:01:00.0"), "0000:01:00.0: no such PCI device here"),
        (("list", "01:00.0"), "01:00.0: no such PCI device here"),
        (("list", UNREACHABLE), f"{UNREACHABLE}: cannot be read: File name too long"),
        (("hash", "card.rom", "--esl", UNREACHABLE), "cannot write "),
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


UNREADABLE = {
    "gone.rom": "gone.rom: no such file",
    "text": "text: offset 0x0: no option ROM",
    "0000:09:00.0": "0000:09:00.0: no such PCI device here",
}


@pytest.mark.parametrize("action", ["list", "check", "hash"])
def test_what_cannot_be_read_does_not_stop_work_on_the_others(here: Lab, action: str) -> None:
    (here.folder / "text").write_text("# no ROM\n")
    (here.folder / "second.rom").write_bytes(GOOD)
    names = ["text", "card.rom", "gone.rom", "0000:09:00.0", "second.rom"]
    mixed = here("rom", action, *names)
    assert mixed.code == 2
    assert mixed.out == here("rom", action, "card.rom", "second.rom").out
    told = [line for line in mixed.err.splitlines() if line.startswith("everycore: ")]
    assert len(told) == len(UNREADABLE)
    for text in UNREADABLE.values():
        assert sum(line.startswith(f"everycore: {text}") for line in told) == 1
    assert len(mixed.err.splitlines()) == 2 * len(told)
    bad = patched(GOOD, 100, "B", 0)  # a violation is 1 only if everything was read
    (here.folder / "bad.rom").write_bytes(bad)
    assert here("rom", action, "bad.rom", "gone.rom").code == 2


def test_a_list_of_hashes_is_not_written_if_it_would_lack_one(here: Lab) -> None:
    (here.folder / "bad.rom").write_bytes(rom(image(driver=b"no driver")))
    done = here("rom", "hash", "card.rom", "bad.rom", "--esl", "card.esl")
    assert done.code == 2
    assert done.out == here("rom", "hash", "card.rom").out
    assert "everycore: bad.rom: image 0: offset 0x38: no PE image" in done.err
    assert "warning: card.esl is not written" in done.err
    assert not (here.folder / "card.esl").exists()


@reads_all
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: Linux has one")
@pytest.mark.parametrize(
    "words",
    [
        ("rom", "list", "card.rom"),
        ("rom", "check", "--json", "bad.rom"),
        ("rom", "diff", "card.rom", "bad.rom"),
        ("rom", "drop", "card.rom", "0", "--out", "new.rom"),
        ("efi", "check", "--static", "x64.efi", "--sarif", "new.sarif"),
    ],
)
def test_a_full_standard_output_is_one_line(here: Lab, words: tuple[str, ...]) -> None:
    (here.folder / "bad.rom").write_bytes(patched(GOOD, 100, "B", 0))
    (here.folder / "x64.efi").write_bytes(make_pe())
    before = sorted(here.folder.iterdir())
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            (sys.executable, "-m", "everycore", *words),
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=here.folder,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
            text=True,
            check=False,
        )
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, last) == (
        2,
        "everycore: cannot write standard output: No space left on device",
    )
    assert done.stderr.count("everycore:") == 1
    assert sorted(here.folder.iterdir()) == before


# ---- Changes


def machines(path: Path) -> list[str]:
    return [rom_image.machine_name for rom_image in oprom.read(path.read_bytes()).images]


@pytest.fixture
def drivers(here: Lab) -> Lab:
    (here.folder / "x64.efi").write_bytes(make_pe())
    (here.folder / "arm.efi").write_bytes(make_pe(machine=AARCH64))
    return here


BUILD = ("rom", "build", "x64.efi", "arm.efi", "--vendor", "8086", "--device", "100e")


def test_build_makes_a_rom_that_check_and_hash_agree_with(drivers: Lab) -> None:
    done = drivers(*BUILD, "--class", "020000", "--out", "new.rom")
    assert done.code == 0, done.err
    assert "x64.efi for x86-64" in done.out
    assert drivers("rom", "check", "--strict", "--machine", "aarch64", "new.rom").code == 0
    hashes = drivers("rom", "hash", "new.rom", "x64.efi", "arm.efi").out.split("\n")
    assert [line[:64] for line in hashes[:2]] == [line[:64] for line in hashes[2:4]]


def test_compressed_drivers_have_the_hash_of_their_files(drivers: Lab) -> None:
    pytest.importorskip("uefi_firmware")
    done = drivers(*BUILD, "--class", "020000", "--compress", "--out", "new.rom", "--size", "64K")
    assert done.code == 0, done.err
    assert (drivers.folder / "new.rom").stat().st_size == 1 << 16
    hashes = drivers("rom", "hash", "new.rom", "x64.efi", "arm.efi").out.split("\n")
    assert [line[:64] for line in hashes[:2]] == [line[:64] for line in hashes[2:4]]
    found = oprom.read((drivers.folder / "new.rom").read_bytes())
    assert [rom_image.efi.compression for rom_image in found.images if rom_image.efi] == [1, 1]


@pytest.mark.parametrize("given", ["card.rom", "01:00.0"])
@pytest.mark.parametrize(
    ("command", "words", "expected"),
    [
        ("insert", ("arm.efi",), ["x86", "x86-64", "aarch64", "aarch64"]),
        ("insert", ("arm.efi", "--at", "1"), ["x86", "aarch64", "x86-64", "aarch64"]),
        ("replace", ("1", "arm.efi"), ["x86", "aarch64", "aarch64"]),
        ("drop", ("0", "1"), ["aarch64"]),
        ("reorder", ("2", "0", "1"), ["aarch64", "x86", "x86-64"]),
        ("set-last", ("1",), ["x86", "x86-64"]),
        ("set-ids", ("--device", "10d3"), ["x86", "x86-64", "aarch64"]),
        ("set-ids", ("--class", "0x010802"), ["x86", "x86-64", "aarch64"]),
        ("fit", (), ["x86", "x86-64", "aarch64"]),
        ("fit", ("--size", "64k"), ["x86", "x86-64", "aarch64"]),
    ],
)
def test_each_change_writes_a_new_rom_and_leaves_the_old_one(
    drivers: Lab, given: str, command: str, words: tuple[str, ...], expected: list[str]
) -> None:
    device = make_device(drivers)
    before = {path.name for path in drivers.folder.iterdir()}
    plan = drivers("rom", command, given, *words, "--out", "new.rom", "--dry-run")
    assert plan.code == 0, plan.err
    assert "nothing is written" in plan.out
    assert not (drivers.folder / "new.rom").exists()
    done = drivers("rom", command, given, *words, "--out", "new.rom")
    assert done.code == 0, done.err
    assert done.out.splitlines()[:-1] == plan.out.splitlines()[:-1]
    assert machines(drivers.folder / "new.rom") == expected
    assert (drivers.folder / "card.rom").read_bytes() == (device / "rom").read_bytes() == GOOD
    assert {path.name for path in drivers.folder.iterdir()} == before | {"new.rom"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("reorder", "card.rom", "2", "0", "1"),
            [
                "image 0: moved, it is image 1 of the other ROM",
                "image 1: moved, it is image 2 of the other ROM",
                "image 2: moved, it is image 0 of the other ROM",
            ],
        ),
        (
            ("reorder", "card.rom", "1", "0", "2"),
            [
                "image 0: moved, it is image 1 of the other ROM",
                "image 1: moved, it is image 0 of the other ROM",
            ],
        ),
        (
            ("insert", "card.rom", "arm.efi", "--at", "0"),
            [
                "image 0: moved, it is image 1 of the other ROM",
                "image 1: moved, it is image 2 of the other ROM",
                "image 2: moved, it is image 3 of the other ROM",
                "image 0: image: no image and EFI aarch64",
            ],
        ),
        (
            ("drop", "card.rom", "1"),
            [
                "image 1: image: EFI x86-64 and no image",
                "image 2: moved, it is image 1 of the other ROM",
            ],
        ),
    ],
)
def test_diff_shows_images_that_are_elsewhere_as_moved(
    drivers: Lab, words: tuple[str, ...], expected: list[str]
) -> None:
    drivers("rom", *words, "--out", "new.rom")
    differs = drivers("rom", "diff", "card.rom", "new.rom")
    assert differs.code == 1
    shown = differs.out.splitlines()
    assert [line for line in shown if not line.startswith("data behind")] == expected
    moved = objects(drivers("rom", "diff", "card.rom", "new.rom", "--json").out)
    assert [(o["image"], o["first"], o["second"]) for o in moved if o["what"] == "moved"] == [
        (int(line.split()[1][0]), line.split()[1][0], line.split()[6])
        for line in expected
        if "moved" in line
    ]


def test_diff_tells_what_else_of_a_moved_image_differs(drivers: Lab) -> None:
    changed = patched(GOOD, 0x100, "B", 0x91)  # code of the BIOS image
    (drivers.folder / "odd.rom").write_bytes(changed)
    drivers("rom", "reorder", "odd.rom", "0", "2", "1", "--out", "new.rom")
    ids = ("set-ids", "new.rom", "--device", "10d3", "--image", "2", "--out", "last.rom")
    assert drivers("rom", *ids).code == 0
    shown = drivers("rom", "diff", "card.rom", "last.rom").out.splitlines()
    assert shown == [
        "image 0: contents, 1 bytes from 0x100 of the image: 1024 bytes and 1024 bytes",
        "image 1: moved, it is image 2 of the other ROM",
        "image 1: device: 0x100e and 0x10d3",
        "image 2: moved, it is image 1 of the other ROM",
    ]


def test_diff_does_not_cross_images_that_are_there_twice(here: Lab) -> None:
    twice = rom(bios(), image(), image(), size=0x4000)
    (here.folder / "a.rom").write_bytes(twice)
    (here.folder / "b.rom").write_bytes(patched(twice, 0x400 + 0x20, "<H", 0x1234))
    shown = here("rom", "diff", "a.rom", "b.rom").out.splitlines()
    assert shown == ["image 1: vendor: 0x8086 and 0x1234"]


def test_diff_takes_devices(here: Lab) -> None:
    device = make_device(here)
    words = ("rom", "diff", "01:00.0", "card.rom")
    assert here(*words).code == 0
    (device / "rom").write_bytes(GOOD[:-1] + b"x")
    assert here(*words).code == 1


@pytest.mark.parametrize("how", [(), ("--decompressed",)])
@pytest.mark.parametrize("data", [GOOD, b"NVGI" * 128 + GOOD + b"ATOM", bios() + bytes(512) + GOOD])
def test_a_rom_that_is_taken_apart_is_built_again_byte_by_byte(
    here: Lab, data: bytes, how: tuple[str, ...]
) -> None:
    (here.folder / "old.rom").write_bytes(data)
    assert here("rom", "extract", "old.rom", "parts", *how).code == 0
    kinds = {path.suffix for path in (here.folder / "parts").iterdir()}
    assert kinds == {".img", ".json", *([".efi"] if how else []), *([".bin"] * (b"NV" in data))}
    done = here("rom", "build", "--from", "parts", "--out", "new.rom")
    assert done.code == 0, done.err
    assert (here.folder / "new.rom").read_bytes() == data


def test_a_driver_that_changed_in_a_folder_changes_the_lengths_of_its_image(drivers: Lab) -> None:
    drivers("rom", "extract", "card.rom", "parts", "--decompressed")
    longer = make_pe(machine=AARCH64, trailing=bytes(2000))
    (drivers.folder / "parts/02-aarch64.efi").write_bytes(longer)
    done = drivers("rom", "build", "--from", "parts", "--out", "new.rom")
    assert "image 2: new length" in done.out
    assert drivers("rom", "check", "new.rom").code == 0
    last = oprom.read((drivers.folder / "new.rom").read_bytes()).images[2]
    assert oprom.driver(last, lambda stream: stream).data.startswith(longer)


def test_diff_names_what_differs_and_ends_with_1(drivers: Lab) -> None:
    same = drivers("rom", "diff", "card.rom", "card.rom")
    assert (same.code, same.out) == (0, "")
    drivers("rom", "set-ids", "card.rom", "--device", "10d3", "--image", "1", "--out", "new.rom")
    differs = drivers("rom", "diff", "card.rom", "new.rom")
    assert (differs.code, differs.out) == (1, "image 1: device: 0x100e and 0x10d3\n")
    drivers("rom", "replace", "card.rom", "1", "arm.efi", "--out", "arm.rom")
    lines = objects(drivers("rom", "diff", "card.rom", "arm.rom", "--json").out)
    assert {"machine", "SHA-256 of the driver"} <= {line["what"] for line in lines}
    (drivers.folder / "odd.rom").write_bytes(GOOD[:-1] + b"x")
    assert "behind the last image" in drivers("rom", "diff", "card.rom", "odd.rom").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("drop", "card.rom", "0"), "nowhere to write the new ROM"),
        (("drop", "card.rom", "0", "--out", "card.rom"), "card.rom is there already"),
        (("drop", "card.rom", "9", "--out", "n"), "no image 9: the ROM has 3"),
        (("replace", "card.rom", "9", "x64.efi", "--out", "n"), "no image 9: the ROM has 3"),
        (("set-ids", "card.rom", "--out", "n"), "no id is given"),
        (("set-ids", "card.rom", "--device", "12345", "--out", "n"), "--device '12345' is not"),
        (("set-ids", "card.rom", "--device", "xyz", "--out", "n"), "--device 'xyz' is not within"),
        (("set-ids", "card.rom", "--device", "8_6", "--out", "n"), "--device '8_6' is not within"),
        (("set-ids", "card.rom", "--device", "0x", "--out", "n"), "--device '0x' is not within"),
        (("set-ids", "card.rom", "--class", "0200", "--out", "n"), "--class '0200' has not 6"),
        (("set-ids", "card.rom", "--class", "-20000", "--out", "n"), "--class '-20000' is not"),
        (("fit", "card.rom", "--size", "5000", "--out", "n"), "--size 0x1388 is no power of two"),
        (("fit", "card.rom", "--size", "lots", "--out", "n"), "--size 'lots' is not within"),
        (
            ("fit", "card.rom", "--size", "4K", "--out", "n"),
            "card.rom: offset 0x1000: the images take",
        ),
        (("insert", "card.rom", "app.efi", "--out", "n"), "app.efi: offset 0xdc: subsystem appl"),
        (("insert", "card.rom", "card.rom", "--out", "n"), "card.rom: offset 0x0: no PE image"),
        (("insert", "card.rom", "32.efi", "--out", "n"), "32.efi: offset 0x98: PE32, and UEFI's"),
        (("insert", "old.rom", "x64.efi", "--out", "n"), "old.rom: offset 0x0: the image has no"),
        (
            ("insert", "full.rom", "x64.efi", "--out", "n"),
            "full.rom: offset 0x2000: the images take",
        ),
        ((*BUILD[1:], "--out", "n"), "the ROM needs the ids of its device"),
        (("build", "--out", "n"), "no driver is named"),
        (("build", "absent.efi", "--out", "n"), "absent.efi: no such file"),
        (("build", "--from", "gone", "--out", "n"), "gone/rom.json: cannot be read: No such"),
        (("build", "--from", "bad", "--out", "n"), "bad/rom.json: Expecting"),
        (("build", "--from", "evil", "--out", "n"), "rom.json lacks a member or has a wrong one"),
        (("extract", "card.rom", "bad"), "bad is there already"),
        (("extract", "old.rom", "new"), "old.rom: offset 0x0: no PCI data structure"),
        (("diff", "card.rom", "gone.rom"), "gone.rom: no such file"),
        (("drop", "card.rom", "0", "--out", UNREACHABLE), "cannot write "),
        (("extract", "card.rom", UNREACHABLE), "cannot write "),
        (("extract", "short.rom", "new", "--decompressed"), "short.rom: offset 0x0: no image with"),
        (("build", "--from", "deep", "--out", "n"), "deep/rom.json: maximum recursion depth"),
    ],
)
def test_a_change_that_cannot_be_made_writes_nothing(
    drivers: Lab, words: tuple[str, ...], message: str
) -> None:
    folder = drivers.folder
    (folder / "app.efi").write_bytes(make_pe(subsystem=10))
    (folder / "32.efi").write_bytes(make_pe(machine=AARCH64, is_64_bit=False))
    (folder / "old.rom").write_bytes(b"\x55\xaa\x08" + bytes(4093))
    (folder / "short.rom").write_bytes(rom(bios(), image(units=0)))
    (folder / "full.rom").write_bytes(rom(*[image()] * 3, size=0x2000))
    for name, text in (("bad", "{"), ("evil", json.dumps(EVIL)), ("deep", "[" * 100_000)):
        (folder / name).mkdir()
        (folder / name / "rom.json").write_text(text)
    before = sorted(str(path) for path in folder.rglob("*"))
    outcome = drivers("rom", *words)
    assert outcome.code == 2, outcome.out
    assert outcome.err.startswith(f"everycore: {message}"), outcome.err
    assert len(outcome.err.splitlines()) == 2
    if "take" in message:
        assert "rom drop removes an image; rom insert" in outcome.err
    assert sorted(str(path) for path in folder.rglob("*")) == before
    assert (folder / "card.rom").read_bytes() == GOOD


BLANK = {"fill": 255, "bytes": 0}
EVIL = {
    "format": "everycore-rom-1",
    "prefix": BLANK,
    "images": [{"image": "../card.rom", "gap": BLANK}],
    "tail": BLANK,
}


@pytest.mark.parametrize(
    "table",
    [
        [],
        {},
        {"format": "other"},
        {**EVIL, "images": []},
        {**EVIL, "images": [{}]},
        {**EVIL, "images": [{"image": "/etc/passwd", "gap": BLANK}]},
        {**EVIL, "images": [{"image": ".hidden", "gap": BLANK}]},
        {**EVIL, "tail": {"fill": 255, "bytes": 1 << 40}},
        {**EVIL, "tail": {"fill": 256, "bytes": 1}},
        {**EVIL, "images": [{"driver": "a", "front": "zz", "compressed": False, "gap": BLANK}]},
        {**EVIL, "images": [{"driver": "a", "front": "", "compressed": False, "gap": BLANK}]},
        {**EVIL, "images": [{"driver": "a", "front": "00" * 40, "compressed": 0, "gap": BLANK}]},
    ],
)
def test_a_folder_from_a_stranger_cannot_lead_out_of_itself_or_fill_the_memory(
    table: object,
) -> None:
    def read(name: str) -> bytes:
        assert name == "a"
        return make_pe()

    with pytest.raises(EverycoreError) as caught:
        manifest.put_together(table, read, lambda data: data)
    assert "\n" not in caught.value.message
