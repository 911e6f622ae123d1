# SPDX-License-Identifier: MIT
"""Sources of ROMs: files, devices of sysfs, and errors of both."""

import errno
from pathlib import Path

import pytest

from everycore.environment.errors import EverycoreError
from everycore.firmware import sources
from everycore.firmware.rom_rules import DeviceIds
from everycore.firmware.sources import Files, load

ROM = b"\x55\xaa a rom"


def make_device(folder: Path, rom: bytes | None = ROM) -> Path:
    folder.mkdir(parents=True)
    for name, text in (("vendor", "0x8086\n"), ("device", "0x100e\n"), ("class", "0x020000\n")):
        (folder / name).write_text(text)
    if rom is not None:
        (folder / "rom").write_bytes(rom)
    return folder


class Kernel(Files):
    """A `rom` file as the kernel has it: EINVAL until 1 is written."""

    def __init__(self, reading: int = 0, writing: int = 0, while_enabled: int = 0) -> None:
        self.enabled = False
        self.written: list[bytes] = []
        self.reading, self.writing, self.while_enabled = reading, writing, while_enabled

    def read(self, path: Path, most: int) -> bytes:
        if path.name == "rom":
            number = self.while_enabled if self.enabled else self.reading or errno.EINVAL
            if number:
                raise OSError(number, "as the kernel says")
        return super().read(path, most)

    def write(self, path: Path, data: bytes) -> None:
        assert path.name == "rom"
        if self.writing:
            raise OSError(self.writing, "as the kernel says")
        self.written.append(data)
        self.enabled = data == b"1\n"


def load_said(given: str, root: Path, kernel: Kernel) -> tuple[list[sources.Source], list[str]]:
    said: list[str] = []
    return load(given, root, root, said.append, kernel), said


def test_the_rom_of_a_device_is_enabled_read_and_disabled_and_both_is_said(tmp_path: Path) -> None:
    make_device(tmp_path / "bus/pci/devices/0000:01:00.0")
    kernel = Kernel()
    found, said = load_said("0000:01:00.0", tmp_path, kernel)
    assert [source.data for source in found] == [ROM]
    assert found[0].ids == DeviceIds(0x8086, 0x100E, 0x020000)
    assert kernel.written == [b"1\n", b"0\n"]
    assert ["enabled" in said[0], "disabled" in said[1], len(said)] == [True, True, 2]


def test_reading_that_fails_leaves_the_rom_disabled(tmp_path: Path) -> None:
    make_device(tmp_path / "device")
    kernel = Kernel(while_enabled=errno.EIO)
    with pytest.raises(EverycoreError) as caught:
        load_said("device", tmp_path, kernel)
    assert kernel.written == [b"1\n", b"0\n"]
    assert "busy or asleep" in caught.value.hint


def test_a_rom_that_can_be_read_is_not_written_to(tmp_path: Path) -> None:
    device = make_device(tmp_path / "device")
    for given in ("device", "device/rom"):
        found, said = load_said(given, tmp_path, Kernel(reading=0))
        assert said  # EINVAL at first
    said = []
    found = load("device/rom", tmp_path, tmp_path, said.append)  # a plain file
    assert (found[0].data, said) == (ROM, [])
    assert (device / "rom").read_bytes() == ROM


@pytest.mark.parametrize(
    ("kernel", "remedy"),
    [
        (Kernel(reading=errno.EACCES), "run it as root"),
        (Kernel(writing=errno.EPERM), "locked-down"),
        (Kernel(reading=errno.EBUSY), "the device is busy"),
        (Kernel(while_enabled=errno.EINVAL), "no ROM in it"),
        (Kernel(reading=errno.ENODEV), "the device is gone"),
        (Kernel(reading=errno.ENOMEM), "dump the ROM"),
    ],
)
def test_a_rom_that_cannot_be_read_has_a_remedy(
    tmp_path: Path, kernel: Kernel, remedy: str
) -> None:
    make_device(tmp_path / "device")
    with pytest.raises(EverycoreError) as caught:
        load_said("device", tmp_path, kernel)
    assert remedy in caught.value.hint
    assert caught.value.code == 2


def test_a_folder_of_devices_gives_every_rom_and_names_what_is_skipped(tmp_path: Path) -> None:
    make_device(tmp_path / "all/0000:00:01.0")
    make_device(tmp_path / "all/0000:00:02.0", None)
    make_device(tmp_path / "all/0000:00:03.0", b"")
    said: list[str] = []
    found = load("all", tmp_path, tmp_path, said.append)
    assert [source.name for source in found] == ["0000:00:01.0"]
    assert len(said) == 1
    assert "0000:00:03.0" in said[0]


def test_a_folder_of_rom_files_gives_each_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    for name in ("b.ROM", "a.rom", "README"):
        (tmp_path / "cards" / name).write_bytes(ROM)
    (tmp_path / "cards" / "c.rom").mkdir()
    found = load("cards", tmp_path, tmp_path, print)
    assert [(source.name, source.data) for source in found] == [
        ("cards/a.rom", ROM),
        ("cards/b.ROM", ROM),
    ]


def test_links_to_devices_are_followed_as_sysfs_has_them(tmp_path: Path) -> None:
    real = make_device(tmp_path / "devices/pci0000:00/0000:00:01.0")
    (tmp_path / "bus/pci/devices").mkdir(parents=True)
    (tmp_path / "bus/pci/devices/0000:00:01.0").symlink_to(real)
    for given in ("0000:00:01.0", "bus/pci/devices", str(real)):
        assert [source.data for source in load(given, tmp_path, tmp_path, print)] == [ROM]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("missing.rom", "no such file"),
        ("empty", "no PCI device with an option ROM"),
        ("without", "has no option ROM"),
        ("odd", "holds no number"),
    ],
)
def test_what_holds_no_rom_is_refused(tmp_path: Path, given: str, words: str) -> None:
    (tmp_path / "empty").mkdir()
    make_device(tmp_path / "without", None)
    (make_device(tmp_path / "odd") / "vendor").write_bytes(b"\xff\xfe")
    with pytest.raises(EverycoreError, match=words) as caught:
        load(given, tmp_path, tmp_path, print)
    assert caught.value.hint


def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EverycoreError, match="more than 64 MiB"):
        load("/dev/zero", tmp_path, tmp_path, print)
