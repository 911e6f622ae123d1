# SPDX-License-Identifier: MIT
"""Changes of option ROMs: each is a function of a ROM that returns new bytes and the plan in words.

Images that a change does not concern stay as they are, byte by byte; so does the data of a vendor
around them, which also stays at its offset. Only the mark of the last image is kept right, and with
it the checksum of a BIOS image.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.environment.errors import EverycoreError
from everycore.firmware import oprom, vendor_tables
from everycore.firmware.oprom import LAST, UNIT, Rom, RomImage
from everycore.firmware.vendor_tables import Tables

PCIR_OFFSET = 0x1C  # of images that are built here, as UEFI 2.10, table 14.12, recommends
DRIVER_OFFSET = 0x38
LEAST_BYTES = 4096
PADDING_RUN = 8  # so many equal bytes before the last one are taken for padding
BLANK = (0xFF, 0x00)
_COMPRESS = "rom insert and rom replace take --compress"
MOST_UNITS = 0xFFFF


@dataclass(frozen=True, slots=True)
class Edited:
    """A changed ROM, and what was done to it."""

    data: bytes = field(repr=False)
    plan: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """An image on its way into a ROM, with the bytes between it and the next."""

    name: str
    data: bytes = field(repr=False)
    gap: bytes = field(repr=False, default=b"")


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of the device that an image is for; None: as they are."""

    vendor: int | None = None
    device: int | None = None
    class_code: int | None = None


def parts_of(rom: Rom) -> list[Part]:
    """Return the images of a ROM that can be changed: one with a chain that does not break."""
    if rom.fault is not None:
        raise rom.fault
    if rom.images[0].pci is None:
        rule = "the image has no PCI data structure: one for ISA, which has no place in a chain"
        raise MalformedError(rom.images[0].offset, rule, "name the ROM of a PCI card")
    return [_part(image) for image in rom.images]


def _part(image: RomImage) -> Part:
    return Part(f"image {image.number}", image.data, image.gap)


# ---- One image


def make_image(
    driver: bytes, ids: Ids, stream: bytes | None = None, code_revision: int = 0
) -> bytes:
    """Return the image of an EFI driver; `stream` is its compressed form, if it shall have that.

    An uncompressed driver ends where the image ends, if its length allows: firmware then hashes
    the bytes of the .efi file and no padding, and the place of a signature stays right.
    """
    image = read_driver(driver)
    body = driver if stream is None else stream
    units = -(-(DRIVER_OFFSET + len(body)) // UNIT)
    if units > MOST_UNITS:
        rule = f"a driver of {len(body):#x} bytes; an image has at most {MOST_UNITS * UNIT:#x}"
        raise MalformedError(0, rule, "compress it: --compress")
    offset = DRIVER_OFFSET
    if stream is None and len(body) % 4 == 0:
        offset = units * UNIT - len(body)
    compression = oprom.UNCOMPRESSED if stream is None else oprom.COMPRESSED
    head = struct.pack(
        "<HHIHHH8xHH",
        0xAA55, units, oprom.EFI_SIGNATURE, image.subsystem, image.machine, compression,
        offset, PCIR_OFFSET,
    )  # fmt: skip
    vendor, device, class_code = ids.vendor or 0, ids.device or 0, ids.class_code or 0
    pcir = struct.pack(
        "<4sHHHHB3sHHBBHHH",
        b"PCIR", vendor, device, 0, oprom.PCIR_3_BYTES, 3, class_code.to_bytes(3, "little"),
        units, code_revision, oprom.CODE_EFI, 0, units, 0, 0,
    )  # fmt: skip
    front = (head.ljust(PCIR_OFFSET, b"\0") + pcir).ljust(offset, b"\0")
    return (front + body).ljust(units * UNIT, b"\xff")


def read_driver(data: bytes) -> pe.Image:
    """Read a PE image that firmware loads from an option ROM."""
    image = pe.read(data)
    if image.subsystem not in (pe.EFI_BOOT_DRIVER, pe.EFI_RUNTIME_DRIVER):
        rule = f"subsystem {image.subsystem_name}: firmware loads only drivers from option ROMs"
        remedy = "link it as efi_boot_service_driver or efi_runtime_driver"
        raise MalformedError(image.subsystem_offset, rule, remedy)
    if image.is_too_narrow:
        rule = f"PE32, and UEFI's images for {image.machine_name} are PE32+ (UEFI 2.1.1)"
        raise MalformedError(image.optional_offset, rule, "link it for a 64-bit target")
    return image


def with_mark(data: bytes, is_last: bool) -> bytes:
    """Return an image that is marked last, or not; a BIOS image keeps the sum of its bytes."""
    pci = _pci(data)
    at = pci.offset + 0x15
    mark = data[at] | LAST if is_last else data[at] & ~LAST
    return data if mark == data[at] else _repaired(_put(data, at, bytes([mark])), pci.code)


def with_ids(data: bytes, ids: Ids) -> bytes:
    """Return an image for another device; a BIOS image keeps the sum of its bytes."""
    pci = _pci(data)
    changed = data
    if ids.vendor is not None:
        changed = _put(changed, pci.offset + 4, ids.vendor.to_bytes(2, "little"))
    if ids.device is not None:
        changed = _put(changed, pci.offset + 6, ids.device.to_bytes(2, "little"))
    if ids.class_code is not None:
        changed = _put(changed, pci.offset + 13, ids.class_code.to_bytes(3, "little"))
    return data if changed == data else _repaired(changed, pci.code)


def _pci(data: bytes) -> oprom.PciData:
    image = oprom.read_image(data)
    assert image.pci is not None
    return image.pci


def _put(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def _repaired(data: bytes, code: int) -> bytes:
    """Return an image whose bytes add to 0 again, if they have to.

    The byte that is changed is the last one that the length in the header covers. It is padding,
    or the checksum of other tools, if equal bytes stand before it; otherwise it may be code.
    """
    if code != oprom.CODE_BIOS:
        return data
    size = data[2] * UNIT
    if not 0 < size <= len(data):
        rule = f"the header's length {size:#x} does not fit the image of {len(data):#x} bytes"
        raise MalformedError(2, rule, "its checksum cannot be repaired: leave the image as it is")
    wrong = sum(data[:size]) & 0xFF
    if wrong == 0:
        return data
    before = data[size - 1 - PADDING_RUN : size - 1]
    if before.count(before[:1]) != PADDING_RUN or before[0] not in BLANK:
        rule = "no padding at the end of the image, so that no byte can take the checksum"
        remedy = "keep the image as the card has it"
        alone = Rom(data, 0, (oprom.read_image(data),), None)
        if not vendor_tables.keeps_first(alone):
            remedy = f"drop the image, or {remedy}"
        raise MalformedError(size - 1, rule, remedy)
    return _put(data, size - 1, bytes([(data[size - 1] - wrong) & 0xFF]))


def has_npde(image: RomImage) -> bool:
    """Whether the image has NVIDIA's structure NPDE, with a length and a last mark of its own."""
    if image.pci is None:
        return False
    at = (image.pci.offset + image.pci.length_bytes + 15) & ~15
    return image.data[at : at + 4] == b"NPDE"


# ---- A whole ROM


def compose(
    rom: Rom,
    parts: Sequence[Part],
    plan: list[str],
    size: int | None = None,
    last: int = -1,
    force: bool = False,
) -> Edited:
    """Put images into a ROM in the place of its own.

    size: of the ROM; None: as it is. last: the number of the image that is marked last. force: do
    it although a driver of Linux then misses its tables.
    """
    if not parts:
        raise EverycoreError("no image would be left", "keep at least one")
    if len(parts) > oprom.MOST_IMAGES:
        raise EverycoreError(f"more than {oprom.MOST_IMAGES} images", "drop some")
    last %= len(parts)
    body = b""
    for number, part in enumerate(parts):
        try:
            data = with_mark(part.data, number == last)
        except MalformedError as error:
            first = [
                tables for tables in vendor_tables.find(rom) if tables.image == 0 and tables.is_read
            ]
            if first and not force and parts[0].data != rom.images[0].data:
                raise _taken(rom, first[0]) from None
            raise error.named(part.name) from None
        if data != part.data:
            changed = [f"{at:#x}" for at in _differences(part.data, data)]
            does = "mark it last" if number == last else "mark it not last"
            plan.append(f"{part.name}: {does} (bytes {', '.join(changed)} of the image)")
        body += data
        if number < len(parts) - 1:
            body += part.gap
    plan += [
        f"image {image.number}: its structure NPDE (NVIDIA) stays as it is, and may say otherwise"
        for image in rom.images
        if has_npde(image)
    ]
    data = rom.prefix + body + _tail(rom, len(body), size)
    if len(data) != len(rom.data) and not any(line.startswith("size: ") for line in plan):
        plan.append(f"size: {len(rom.data):#x} to {len(data):#x}")
    found = _proved(data, body, rom.start, last)
    plan += _tables_kept(rom, found, force)
    return Edited(data, tuple(plan))


def _tables_kept(old: Rom, new: Rom, force: bool) -> list[str]:
    """Refuse a change that takes tables from the drivers of Linux, or return lines that tell it."""
    taken = vendor_tables.lost(old, new) if old.images else None
    if taken is not None and not force:
        raise _taken(old, taken)
    text = vendor_tables.missing(new)
    is_moved = vendor_tables.keeps_first(old) and not vendor_tables.keeps_first(new)
    if is_moved and not text and not vendor_tables.find(old):
        text = "the first image was a graphics card's BIOS image, which drivers may read there"
    return [f"warning: {text}"] if text else []


def _taken(old: Rom, tables: Tables) -> MalformedError:
    rule = (
        f"image {tables.image} has {tables.text}; without that, the card does not start under Linux"
    )
    remedy = "keep the image"
    if tables.is_first_only and tables.is_read:
        remedy = "keep it the first, and put EFI drivers behind it"
    remedy += "; if room is short, `rom replace N driver.efi --compress` makes some"
    remedy += "; --force does it all the same"
    return MalformedError(old.images[tables.image].offset, rule, remedy)


def _differences(old: bytes, new: bytes) -> list[int]:
    """Return the offsets at which bytes of equal length differ."""
    blocks = [at for at in range(0, len(old), UNIT) if old[at : at + UNIT] != new[at : at + UNIT]]
    return [at for block in blocks for at in range(block, block + UNIT) if old[at] != new[at]]


def _tail(rom: Rom, used: int, size: int | None) -> bytes:
    """Return what is behind the images: what was there, at its old offset, and blank bytes."""
    old = rom.end - rom.start
    room = len(rom.data) - rom.start if size is None else size
    blank = _blank(rom.tail)
    if used > room:
        need = power_of_two(used)
        rule = f"the images take {used:#x} bytes, and there is room for {room:#x}"
        remedy = _room(rom)
        if len(rom.tail) == blank:
            remedy += f"; if the flash is larger: --size {need:#x}"
        raise MalformedError(rom.start + room, rule, remedy)
    if used > old + blank and blank < len(rom.tail):
        rule = f"the images take {used:#x} bytes; data of the vendor begin at {old + blank:#x}"
        raise MalformedError(rom.end + blank, rule, _room(rom))
    if room < old + len(rom.tail) and blank < len(rom.tail):
        rule = f"the size {room:#x} would cut the vendor's data, which reach to {len(rom.data):#x}"
        raise MalformedError(
            rom.end + blank, rule, "name a larger size, or leave them out: --strip"
        )
    fill = rom.tail[:1] if blank else b"\xff"
    kept = rom.data[rom.start + max(used, old) : rom.start + room]
    return (fill * max(old - used, 0) + kept).ljust(room - used, b"\xff")[: room - used]


def _room(rom: Rom) -> str:
    """Return what makes room in a ROM."""
    if vendor_tables.keeps_first(rom):
        return (
            f"{_COMPRESS}; rom drop removes an EFI driver; keep image 0: drivers of Linux read it"
        )
    return f"rom drop removes an image; {_COMPRESS}"


def _blank(tail: bytes) -> int:
    """Return how many bytes at the beginning of a tail are blank."""
    if not tail or tail[0] not in BLANK:
        return 0
    return len(tail) - len(tail.lstrip(tail[:1]))


def _proved(data: bytes, body: bytes, start: int, last: int) -> Rom:
    """Return the ROM that the reader finds in the result, if it is what was put there."""
    found = oprom.read(data)
    read_back = b"".join(image.data + image.gap for image in found.images)
    as_meant = found.start == start and len(found.images) == last + 1
    if found.fault is not None or not as_meant or not body.startswith(read_back):
        raise EverycoreError(
            "the images would not be found again in this place: their lengths are wrong",
            "everycore rom check says which; nothing is written",
        )
    return found


def new_rom(images: Sequence[bytes], names: Sequence[str], size: int | None = None) -> Edited:
    """Return a ROM of images, padded to a power of two and at least 4 KiB, or to a size."""
    used = sum(map(len, images))
    total = power_of_two(used) if size is None else size
    plan = [f"{name}: {len(data):#x} bytes" for name, data in zip(names, images, strict=True)]
    empty = Rom(b"\xff" * total, 0, (), None)
    parts = [Part(name, data) for name, data in zip(names, images, strict=True)]
    return compose(empty, parts, plan)


def insert(
    rom: Rom,
    images: Sequence[bytes],
    names: Sequence[str],
    at: int | None,
    size: int | None,
    force: bool = False,
) -> Edited:
    parts = parts_of(rom)
    at = len(parts) if at is None else at
    if not 0 <= at <= len(parts):
        raise EverycoreError(f"--at {at}: the ROM has {len(parts)} images", "count from 0")
    new = [Part(name, data) for name, data in zip(names, images, strict=True)]
    plan = [f"insert {p.name} as image {at + i}, {len(p.data):#x} bytes" for i, p in enumerate(new)]
    return compose(rom, [*parts[:at], *new, *parts[at:]], plan, size, force=force)


def replace_image(
    rom: Rom, number: int, data: bytes, name: str, size: int | None, force: bool = False
) -> Edited:
    parts = parts_of(rom)
    need_number(rom, number)
    old = len(parts[number].data)
    plan = [f"replace image {number}, {old:#x} bytes, by {name}, {len(data):#x} bytes"]
    parts[number] = replace(parts[number], name=name, data=data)
    return compose(rom, parts, plan, size, force=force)


def drop(rom: Rom, numbers: Sequence[int], force: bool = False) -> Edited:
    parts = parts_of(rom)
    for number in numbers:
        need_number(rom, number)
    kept = [part for i, part in enumerate(parts) if i not in numbers]
    plan = [
        f"drop image {i}: {rom.images[i].code_name}, {rom.images[i].machine_name}, "
        f"{len(rom.images[i].data):#x} bytes"
        for i in dict.fromkeys(numbers)
    ]
    return compose(rom, kept, plan, force=force)


def reorder(rom: Rom, order: Sequence[int], force: bool = False) -> Edited:
    parts = parts_of(rom)
    if sorted(order) != list(range(len(parts))):
        every = " ".join(str(i) for i in range(len(parts)))
        raise EverycoreError(
            f"the order {' '.join(map(str, order))} does not name each image once",
            f"name each of: {every}",
        )
    plan = [f"image {old} becomes image {new}" for new, old in enumerate(order) if new != old]
    return compose(rom, [parts[i] for i in order], plan, force=force)


def set_last(rom: Rom, number: int | None, force: bool = False) -> Edited:
    """Mark an image last; without a number, the last one that is found."""
    if rom.fault is not None and not isinstance(rom.fault, oprom.UnmarkedError):
        raise rom.fault
    if rom.images[0].pci is None:
        parts_of(rom)
    number = len(rom.images) - 1 if number is None else number
    need_number(rom, number)
    plan = [
        f"image {image.number}: firmware does not find it any more"
        for image in rom.images[number + 1 :]
    ]
    return compose(rom, [_part(image) for image in rom.images], plan, last=number, force=force)


def set_ids(rom: Rom, ids: Ids, numbers: Sequence[int]) -> Edited:
    parts = parts_of(rom)
    plan: list[str] = []
    for number in numbers or range(len(parts)):
        need_number(rom, number)
        part = parts[number]
        try:
            data = with_ids(part.data, ids)
        except MalformedError as error:
            raise error.named(part.name) from None
        if data != part.data:
            old, new = _pci(part.data), _pci(data)
            plan.append(
                f"{part.name}: {old.vendor:04x}:{old.device:04x} class {old.class_code:06x} "
                f"to {new.vendor:04x}:{new.device:04x} class {new.class_code:06x}"
            )
            parts[number] = replace(part, data=data)
    return compose(rom, parts, plan, force=True)  # tables stay where they are


def fit(rom: Rom, size: int | None, strip: bool, force: bool = False) -> Edited:
    """Give a ROM the size of a flash: a power of two, at least 4 KiB, or the one that is named.

    strip: leave out what a vendor has before and behind the images.
    """
    parts = parts_of(rom)
    plan: list[str] = []
    used = rom.end - rom.start
    has_data_behind = _blank(rom.tail) < len(rom.tail)
    if rom.prefix and not strip:
        rule = f"{len(rom.prefix):#x} bytes before the first image: no ROM, but a dump of a flash"
        raise MalformedError(0, rule, "--strip leaves them out")
    if strip and rom.prefix:
        plan.append(f"leave out {len(rom.prefix):#x} bytes before the first image")
    if strip and has_data_behind:
        plan.append(f"leave out {len(rom.tail):#x} bytes behind the last image")
    keeps_tail = has_data_behind and not strip
    chosen = power_of_two(len(rom.data) if keeps_tail else used) if size is None else size
    if chosen & (chosen - 1) or chosen < LEAST_BYTES:
        raise EverycoreError(
            f"--size {chosen:#x} is no power of two of at least 4096", "a flash has such a size"
        )
    plan.append(f"size: {len(rom.data):#x} to {chosen:#x}")
    place = rom if keeps_tail else Rom(b"\xff" * chosen, 0, (), None)
    edited = compose(place, parts, plan, chosen)
    taken = vendor_tables.lost(rom, oprom.read(edited.data))
    if taken is not None and not force:
        raise _taken(rom, taken)
    return edited


def power_of_two(length: int) -> int:
    """Return the smallest size of a flash that holds `length` bytes."""
    return 1 << max(length - 1, LEAST_BYTES - 1).bit_length()


def need_number(rom: Rom, number: int) -> None:
    if not 0 <= number < len(rom.images):
        raise EverycoreError(
            f"no image {number}: the ROM has {len(rom.images)}", "everycore rom list numbers them"
        )
