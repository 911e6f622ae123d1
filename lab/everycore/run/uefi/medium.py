# SPDX-License-Identifier: MIT
"""A USB stick or SD card as a file: a partition table and a FAT file system, by mtools.

Source: UEFI Specification 2.10, section 5.2: a legacy MBR whose partition has the OS type 0xEF;
section 13.3: FAT. Microsoft's FAT specification 1.03 (2000): the fields of the first sector, and
the table of clusters.
"""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError

SECTOR_BYTES = 512
FIRST_SECTOR = 64
LEAST_BYTES, MOST_BYTES = 1 << 20, 1 << 31
VOLUME_BYTES = 32 << 20  # of trimmed images
CLUSTER_SECTORS = 8  # of trimmed images, which have FAT16 so
ROOT_SECTORS = 4
EFI_PARTITION = 0xEF
HINT = "Debian: apt-get install mtools"


def partition_table(n_sectors: int) -> bytes:
    """The first sector: one partition up to the end; cylinders and heads are those of LBA alone."""
    entry = bytes((0, 0xFE, 0xFF, 0xFF, EFI_PARTITION, 0xFE, 0xFF, 0xFF))
    entry += FIRST_SECTOR.to_bytes(4, "little") + (n_sectors - FIRST_SECTOR).to_bytes(4, "little")
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def write(
    context: Context,
    path: Path,
    size_bytes: int,
    files: Mapping[str, Path],
    options: Sequence[str] = (),
) -> None:
    """Make the image `path` with these files; the folders above them are made.

    options: further words for mformat.
    """
    n_sectors = size_bytes // SECTOR_BYTES
    with path.open("wb") as file:
        file.write(partition_table(n_sectors))
        file.truncate(n_sectors * SECTOR_BYTES)
    geometry = ["-T", str(n_sectors - FIRST_SECTOR), "-h", "16", "-s", "63", *options]
    _mtools(context, ["mformat", *geometry, "-v", "EVERYCORE", "-i", _inside(path), "::"])
    folders: dict[str, None] = {}
    for name in files:
        parents = [str(parent) for parent in Path(name).parents if str(parent) != "."]
        folders.update(dict.fromkeys(reversed(parents)))
    for folder in folders:
        _mtools(context, ["mmd", "-i", _inside(path), f"::{folder}"])
    for name, source in files.items():
        done = _run(context, ["mcopy", "-i", _inside(path), str(source), f"::{name}"])
        if done.code != 0:
            why = "the image is full" if "full" in done.stderr.lower() else done.stderr.strip()
            raise EverycoreError(f"cannot put {name} into {path}: {why}", "make it larger: --size")


def write_trimmed(context: Context, path: Path, files: Mapping[str, Path]) -> None:
    """Make an image of a volume of VOLUME_BYTES, and cut it off behind the files.

    Free clusters may hold anything, so that such an image may be copied to any larger stick.
    """
    options = ("-c", str(CLUSTER_SECTORS), "-r", str(ROOT_SECTORS))
    write(context, path, VOLUME_BYTES, files, options)
    with path.open("r+b") as file:
        file.seek(FIRST_SECTOR * SECTOR_BYTES)
        boot = file.read(SECTOR_BYTES)
        reserved, n_tables, n_root, table_sectors = struct.unpack_from("<HBH3xH", boot, 14)
        file.seek((FIRST_SECTOR + reserved) * SECTOR_BYTES)
        table = file.read(table_sectors * SECTOR_BYTES).rstrip(b"\0")
        n_clusters = (len(table) + 1) // 2 - 2  # the first two entries stand for none
        before = FIRST_SECTOR + reserved + n_tables * table_sectors + n_root * 32 // SECTOR_BYTES
        file.truncate((before + n_clusters * CLUSTER_SECTORS) * SECTOR_BYTES)


def read(context: Context, path: Path, name: str) -> bytes | None:
    """A file of the image; None if it is not there."""
    copy = path.with_name(path.name + ".copy")
    copy.unlink(missing_ok=True)
    done = _run(context, ["mcopy", "-n", "-i", _inside(path), f"::{name}", str(copy)])
    if done.code != 0:
        return None
    data = copy.read_bytes()
    copy.unlink()
    return data


def _inside(path: Path) -> str:
    return f"{path}@@{FIRST_SECTOR * SECTOR_BYTES}"


def _run(context: Context, argv: list[str]) -> Completed:
    try:
        return context.runner.run(argv)
    except EverycoreError as error:
        raise EverycoreError(error.message, HINT) from error


def _mtools(context: Context, argv: list[str]) -> None:
    done = _run(context, argv)
    if done.code != 0:
        raise EverycoreError(f"{argv[0]} failed: {done.stderr.strip()}", HINT)
