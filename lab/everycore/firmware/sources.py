# SPDX-License-Identifier: MIT
"""Sources of option ROMs: files, and the `rom` files of PCI devices in sysfs.

Linux, Documentation/PCI/sysfs-pci.rst: reading `rom` fails with EINVAL until a 1 is written to it;
a 0 ends that.
"""

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.firmware.rom_rules import DeviceIds

MOST_FILE_BYTES = 64 << 20  # of a dump with all that a vendor puts around the ROM
DEVICES = Path("bus/pci/devices")  # below the root of sysfs
SYSFS = Path("/sys")
_ADDRESS = re.compile(r"([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
SUFFIX = ".rom"  # of the files that are read of a folder
_IDS = ("vendor", "device", "class")  # files beside `rom`


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes that may hold an option ROM, and where they are from."""

    name: str  # as the user gave it, or the device's address
    path: Path
    data: bytes = field(repr=False)
    ids: DeviceIds | None  # of the PCI device


class Files:
    """Reads and writes files of this machine."""

    def read(self, path: Path, most: int) -> bytes:
        with path.open("rb", buffering=0) as file:
            parts: list[bytes] = []
            while most > 0 and (part := file.read(min(most, 1 << 20))):
                parts.append(part)
                most -= len(part)
        return b"".join(parts)

    def write(self, path: Path, data: bytes) -> None:
        handle = os.open(path, os.O_WRONLY)  # neither made nor emptied
        try:
            os.write(handle, data)
        finally:
            os.close(handle)


def load(
    given: str, cwd: Path, sysfs: Path, say: Callable[[str], None], files: Files | None = None
) -> list[Source]:
    """Return the ROMs of what is given: a file, a device or its address, a folder of devices
    or of files *.rom.

    `say` gets a line when a device's ROM is made readable, and when that ends.
    """
    files = files or Files()
    try:
        return _load(given, cwd, sysfs, say, files)
    except OSError as error:  # a folder that may not be read
        raise EverycoreError(
            f"{given}: cannot be read: {error.strerror}", "name a file, or run it as root"
        ) from error


def _load(
    given: str, cwd: Path, sysfs: Path, say: Callable[[str], None], files: Files
) -> list[Source]:
    place = cwd / given
    if _ADDRESS.fullmatch(given) and not place.exists():
        # lspci leaves the domain out, where there is only one.
        full = given.lower() if given.count(":") == 2 else f"0000:{given.lower()}"
        place = sysfs / DEVICES / full
        if not place.is_dir():
            raise EverycoreError(f"{given}: no such PCI device here", "lspci -D lists them")
    if place.is_dir():
        return _folder(given, place, say, files)
    if place.name == "rom" and _is_device(place.parent):
        return [_device(given, place.parent, say, files)]
    return [Source(given, place, _read_file(given, place, files), None)]


def _is_device(folder: Path) -> bool:
    return all((folder / name).exists() for name in _IDS)


def _folder(given: str, folder: Path, say: Callable[[str], None], files: Files) -> list[Source]:
    if _is_device(folder):
        if not (folder / "rom").exists():
            raise EverycoreError(f"{given}: the device has no option ROM", "name another device")
        return [_device(given, folder, say, files)]
    inside = sorted(folder.iterdir())
    devices = [path for path in inside if _is_device(path) and (path / "rom").exists()]
    if not devices:
        roms = [path for path in inside if path.suffix.lower() == SUFFIX and path.is_file()]
        if roms:
            return [
                Source(name, path, _read_file(name, path, files), None)
                for path in roms
                for name in [str(Path(given, path.name))]
            ]
        raise EverycoreError(
            f"{given}: no PCI device with an option ROM in it, and no file *{SUFFIX}",
            "name a ROM file, a PCI device, or a folder of either",
        )
    found: list[Source] = []
    errors: list[EverycoreError] = []
    for device in devices:
        try:
            found.append(_device(device.name, device, say, files))
        except EverycoreError as error:
            errors.append(error)
            say(f"skipped: {error.message}; {error.hint}")
    if not found:
        raise errors[0]
    return found


def _read_file(name: str, path: Path, files: Files) -> bytes:
    try:
        data = files.read(path, MOST_FILE_BYTES + 1)
    except FileNotFoundError:
        raise EverycoreError(
            f"{name}: no such file", "name a ROM file, or a PCI device such as 0000:01:00.0"
        ) from None
    except OSError as error:
        raise EverycoreError(f"{name}: cannot be read: {error.strerror}", "name a file") from error
    return _bounded(name, data)


def _bounded(name: str, data: bytes) -> bytes:
    if len(data) > MOST_FILE_BYTES:
        raise EverycoreError(
            f"{name}: more than {MOST_FILE_BYTES >> 20} MiB", "no option ROM is in a file so large"
        )
    return data


def _device(name: str, folder: Path, say: Callable[[str], None], files: Files) -> Source:
    path = folder / "rom"
    numbers = []
    for file_name in _IDS:
        try:
            text = files.read(folder / file_name, 64).decode("ascii", errors="replace").strip()
            numbers.append(int(text, 16))
        except (OSError, ValueError):
            raise EverycoreError(
                f"{name}: its file '{file_name}' holds no number", "name a PCI device of sysfs"
            ) from None
    try:
        data = _read_rom(path, name, say, files)
    except OSError as error:
        raise _unreadable(name, path, error) from error
    if not data:
        raise EverycoreError(
            f"{name}: its ROM reads as nothing", "the firmware keeps it hidden: dump it elsewhere"
        )
    return Source(name, path, _bounded(name, data), DeviceIds(numbers[0], numbers[1], numbers[2]))


def _read_rom(path: Path, name: str, say: Callable[[str], None], files: Files) -> bytes:
    try:
        return files.read(path, MOST_FILE_BYTES + 1)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    with _enabled(path, name, say, files):
        return files.read(path, MOST_FILE_BYTES + 1)


@contextmanager
def _enabled(path: Path, name: str, say: Callable[[str], None], files: Files) -> Iterator[None]:
    """The ROM of a device can be read in this block; afterwards it cannot, as before."""
    files.write(path, b"1\n")
    say(f"{name}: reading of its ROM is enabled")
    try:
        yield
    finally:
        with suppress(OSError):
            files.write(path, b"0\n")
            say(f"{name}: reading of its ROM is disabled again")


def _unreadable(name: str, path: Path, error: OSError) -> EverycoreError:
    remedies = {
        errno.EACCES: "run it as root",
        errno.EPERM: "run it as root; a locked-down kernel allows it to nobody",
        errno.EBUSY: "the device is busy: unbind its driver, or read the ROM before it starts",
        errno.EIO: "the device is busy or asleep: unbind its driver and wake it up",
        errno.EINVAL: "the kernel finds no ROM in it: dump the ROM on another machine",
        errno.ENODEV: "the device is gone: look at lspci",
    }
    remedy = remedies.get(error.errno or 0, "dump the ROM on another machine")
    return EverycoreError(f"{name}: cannot read {path.name}: {error.strerror}", remedy)
