# SPDX-License-Identifier: MIT
"""A reader of PCI option ROMs (expansion ROMs): their images, headers and limits.

Functions of bytes. read() accepts what a dump of a card holds: bytes of the vendor before the first
image and behind the last, images that break rules. Only bytes without any option ROM are refused.

Sources: PCI Firmware Specification 3.0, 2005, sections 5.1 and 5.2 (PCI Local Bus Specification
3.0, 2004, section 6.3, has the same structures without those of revision 3); UEFI Specification
2.10, 2022, section 14.4.21 (PCI option ROMs). EDK2's PciBusDxe, which most machines run, finds
images as read() does, if the first one is at the beginning.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from everycore.binary import pe
from everycore.binary.malformed import MalformedError

UNIT = 512  # bytes that lengths count, and that images begin at multiples of
MOST_BYTES = 16 << 20  # of a ROM: UEFI 2.10, section 14.4.21
MOST_PREFIX_BYTES = 16 << 20  # of a vendor, before the first image
MOST_IMAGES = 64  # more are an attack, not a card
MOST_DRIVER_BYTES = 16 << 20  # of a decompressed driver
HEADER_BYTES = 0x1A  # of the header that all kinds of images share
PCIR_BYTES = 0x18  # of the PCI data structure before revision 3
PCIR_3_BYTES = 0x1C
EFI_SIGNATURE = 0x0EF1
LAST = 0x80  # bit of the indicator
MOST_DEVICES = 256  # of a device list

CODE_BIOS, CODE_OPEN_FIRMWARE, CODE_HP, CODE_EFI = 0, 1, 2, 3
CODES = {
    CODE_BIOS: "BIOS",
    CODE_OPEN_FIRMWARE: "Open Firmware",
    CODE_HP: "HP PA-RISC",
    CODE_EFI: "EFI",
}
UNCOMPRESSED, COMPRESSED = 0, 1

# First bytes of files that are taken for option ROMs, and the remedy for each.
OTHER_FILES = (
    (b"MZ", "a PE image", "everycore rom build makes a ROM of it"),
    (b"\x7fELF", "an ELF file", "name a dump of a card's ROM"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it, and name the ROM in it"),
    (b"\x1f\x8b", "a gzip file", "unpack it, and name the ROM in it"),
    (b"\xfd7zXZ", "an xz file", "unpack it, and name the ROM in it"),
)
_DUMP = "dump the card's ROM again, with its driver unloaded"


class NoRomError(MalformedError):
    """Bytes that are no option ROM at all. what: the kind of file that they are; empty: unknown."""

    def __init__(self, what: str, rule: str, remedy: str) -> None:
        super().__init__(0, rule, remedy)
        self.what = what


class UnmarkedError(MalformedError):
    """No image follows the last one that is found, which is not marked last."""


@dataclass(frozen=True, slots=True)
class PciData:
    """The PCI data structure of an image: PCI Firmware 3.0, section 5.1.2."""

    offset: int  # in the image
    vendor: int
    device: int
    device_list: int  # offset from this structure; before revision 3: of vital product data
    length_bytes: int
    revision: int
    class_code: int
    image_units: int
    code_revision: int
    code: int
    indicator: int

    @property
    def is_last(self) -> bool:
        return bool(self.indicator & LAST)

    @property
    def code_name(self) -> str:
        return CODES.get(self.code, f"code {self.code:#04x}")

    @property
    def ids(self) -> str:
        """The vendor and the device, as lspci -n has them."""
        return f"{self.vendor:04x}:{self.device:04x}"


@dataclass(frozen=True, slots=True)
class EfiHeader:
    """The part of an image's header that EFI images have: UEFI 2.10, section 14.4.21."""

    init_units: int
    signature: int
    subsystem: int
    machine: int
    compression: int
    reserved: bytes
    driver_offset: int  # of the PE image, or of its compressed form


@dataclass(frozen=True, slots=True)
class RomImage:
    """One image of an option ROM."""

    number: int
    offset: int  # in the file
    data: bytes = field(repr=False)
    gap: bytes = field(repr=False)  # bytes between this image and the next
    pci: PciData | None  # None: an image of the time before PCI
    efi: EfiHeader | None
    is_cut: bool = False  # the file ends before the image does

    @property
    def end(self) -> int:
        return self.offset + len(self.data)

    @property
    def init_units(self) -> int:
        """The length that the header has, beside that of the PCI data structure."""
        if self.efi:
            return self.efi.init_units
        return self.data[2] if self.data else 0  # its length may be given as 0

    @property
    def code_name(self) -> str:
        return self.pci.code_name if self.pci else "BIOS"

    @property
    def machine_name(self) -> str:
        """The machine that the header names."""
        if self.efi:
            return pe.MACHINES.get(self.efi.machine, f"{self.efi.machine:#06x}")
        return "x86" if self.pci is None or self.pci.code == CODE_BIOS else "-"

    @property
    def checksum(self) -> int | None:
        """The sum of the bytes that INIT covers, which must be 0; EFI images have none."""
        if self.pci is not None and self.pci.code != CODE_BIOS:
            return None
        return sum(self.data[: self.init_units * UNIT]) & 0xFF


@dataclass(frozen=True, slots=True)
class Rom:
    """An option ROM in a file."""

    data: bytes = field(repr=False)
    start: int  # of the first image
    images: tuple[RomImage, ...]
    fault: MalformedError | None  # why the chain of images ends where it should not
    hidden: tuple[int, ...] = ()  # offsets of headers behind the last image

    @property
    def prefix(self) -> bytes:
        return self.data[: self.start]

    @property
    def end(self) -> int:
        return self.images[-1].end if self.images else self.start

    @property
    def tail(self) -> bytes:
        return self.data[self.end :]


def read(data: bytes) -> Rom:
    """Read the option ROM in a file, which may begin with other data."""
    start = _find_start(data)
    images: list[RomImage] = []
    offset: int | None = start
    fault = None
    while offset is not None:
        if len(images) == MOST_IMAGES:
            rule = f"more than {MOST_IMAGES} images"
            fault = MalformedError(offset, rule, "no card has so many: take another dump")
            break
        image = _image(data, offset, len(images))
        images.append(image)
        try:
            offset = _next(data, image)
        except MalformedError as error:
            fault, offset = error, None
        if offset is not None:
            images[-1] = replace(image, gap=data[image.end : offset])
    hidden = tuple(_headers(data, images[-1].end)) if fault is None else ()
    return Rom(data, start, tuple(images), fault, hidden)


def read_image(data: bytes) -> RomImage:
    """Read bytes that are one image with a PCI data structure, alone."""
    if not _has_pcir(data, 0):
        raise MalformedError(0, "no image with a PCI data structure", _DUMP)
    return _image(data, 0, 0)


def _find_start(data: bytes) -> int:
    if not data:
        raise MalformedError(0, "an empty file", _DUMP)
    if _has_pcir(data, 0):
        return 0
    found = next((at for at in _signatures(data) if _has_pcir(data, at)), None)
    if found is not None:
        return found
    _refuse_what_is_cut(data)
    if data[:2] == b"\x55\xaa":
        return 0  # an image of the time before PCI
    for magic, what, remedy in OTHER_FILES:
        if data.startswith(magic):
            raise NoRomError(what, f"no option ROM, but {what}", remedy)
    if data.count(data[:1]) == len(data):
        rule = f"no option ROM: all {len(data)} bytes are {data[0]:#04x}"
        raise MalformedError(0, rule, "the card's ROM was not readable: " + _DUMP)
    rule = "no option ROM: nowhere a header 55 AA whose pointer leads to PCIR"
    raise NoRomError("", rule, "name a dump of a card's ROM")


def _refuse_what_is_cut(data: bytes) -> None:
    """A header whose PCI data structure would lie behind the end of a file that is cut short."""
    if data[:2] != b"\x55\xaa":
        return
    if len(data) < HEADER_BYTES:
        rule = f"the header of an image takes {HEADER_BYTES:#x} bytes, the file has {len(data):#x}"
        raise MalformedError(0, rule, _DUMP)
    pointer = _pointer(data, 0)
    if pointer and pointer + PCIR_BYTES > len(data) and data[2] * UNIT > len(data):
        rule = (
            f"the PCI data structure is at {pointer:#x}, and the file ends at {len(data):#x}: "
            "it is cut short"
        )
        raise MalformedError(0x18, rule, _DUMP)


def _signatures(data: bytes) -> Iterator[int]:
    """Yield offsets of 55 AA at multiples of 4, if there is a PCI data structure at all."""
    if b"PCIR" not in data:
        return
    at = data.find(b"\x55\xaa", 0, MOST_PREFIX_BYTES)
    while at >= 0:
        if at % 4 == 0:
            yield at
        at = data.find(b"\x55\xaa", at + 1, MOST_PREFIX_BYTES)


def _headers(data: bytes, begin: int) -> Iterator[int]:
    """Yield offsets of images with a PCI data structure, at multiples of 512 from `begin`."""
    return (at for at in range(begin, len(data), UNIT) if _has_pcir(data, at))


def _pointer(data: bytes, offset: int) -> int:
    return int.from_bytes(data[offset + 0x18 : offset + 0x1A], "little")


def _has_pcir(data: bytes, offset: int) -> bool:
    """Whether an image begins here, with a PCI data structure that is all there."""
    if data[offset : offset + 2] != b"\x55\xaa":
        return False
    at = offset + _pointer(data, offset)
    return at > offset and data[at : at + 4] == b"PCIR" and at + PCIR_BYTES <= len(data)


def _image(data: bytes, offset: int, number: int) -> RomImage:
    if not _has_pcir(data, offset):
        end = min(offset + data[offset + 2] * UNIT, len(data))
        is_cut = offset + data[offset + 2] * UNIT > len(data)
        return RomImage(number, offset, data[offset:end], b"", None, None, is_cut)
    pci = _pci_data(data, offset)
    length = _length(data, offset, pci)
    body = data[offset : offset + length]
    efi = _efi_header(data, offset) if pci.code == CODE_EFI else None
    return RomImage(number, offset, body, b"", pci, efi, len(body) < length)


def _pci_data(data: bytes, offset: int) -> PciData:
    pointer = _pointer(data, offset)
    at = offset + pointer
    vendor, device, device_list, length, revision = struct.unpack_from("<HHHHB", data, at + 4)
    class_code = int.from_bytes(data[at + 13 : at + 16], "little")
    units, code_revision, code, indicator = struct.unpack_from("<HHBB", data, at + 16)
    return PciData(
        pointer, vendor, device, device_list, length, revision, class_code,
        units, code_revision, code, indicator,
    )  # fmt: skip


def _efi_header(data: bytes, offset: int) -> EfiHeader:
    units, signature, subsystem, machine, compression = struct.unpack_from(
        "<HIHHH", data, offset + 2
    )
    driver = int.from_bytes(data[offset + 0x16 : offset + 0x18], "little")
    reserved = data[offset + 0x0E : offset + 0x16]
    return EfiHeader(units, signature, subsystem, machine, compression, reserved, driver)


def _length(data: bytes, offset: int, pci: PciData) -> int:
    """The length of an image in bytes.

    The PCI data structure has it. Some BIOS images name a length there that is too short, and the
    right one in the header's third byte; if only that leads to another image, it is taken.
    """
    length = pci.image_units * UNIT
    init = data[offset + 2] * UNIT
    is_short = pci.code == CODE_BIOS and not pci.is_last and init > length
    if is_short and not _has_pcir(data, offset + length) and _has_pcir(data, offset + init):
        return init
    return length


def _next(data: bytes, image: RomImage) -> int | None:
    """Return the offset of the next image; None behind the last.

    As EDK2 does, this looks for it at multiples of 512 bytes if it is not where it should be.
    """
    if image.pci is None:
        return None
    if not image.data:
        rule = "the length of the image is 0, so that no image behind it is found"
        at = image.offset + image.pci.offset + 0x10
        raise MalformedError(at, rule, "repair the length; the image's build shows it")
    if image.is_cut:
        need = image.pci.image_units * UNIT
        rule = (
            f"the image takes {need:#x} bytes, the file ends {len(image.data):#x} after its start"
        )
        raise MalformedError(image.offset + image.pci.offset + 0x10, rule, _DUMP)
    if image.pci.is_last:
        return None
    found = next(_headers(data, image.end), None)
    if found is None:
        rule = f"the image is not marked last, and no image follows at {image.end:#x}"
        at = image.offset + image.pci.offset + 0x15
        raise UnmarkedError(at, rule, "everycore rom set-last marks it")
    return found


def device_list(image: RomImage) -> tuple[int, ...]:
    """Device ids that an image of revision 3 names beside its own."""
    if image.pci is None or image.pci.revision < 3 or not image.pci.device_list:
        return ()
    found: list[int] = []
    at = image.pci.offset + image.pci.device_list
    while len(found) < MOST_DEVICES:
        if at + 2 > len(image.data):
            rule = "the list of devices has no end within the image"
            raise MalformedError(image.offset + image.pci.offset + 8, rule, _DUMP)
        device = int.from_bytes(image.data[at : at + 2], "little")
        if device == 0:
            return tuple(found)
        found.append(device)
        at += 2
    rule = f"the list of devices has more than {MOST_DEVICES} entries"
    raise MalformedError(image.offset + image.pci.offset + 8, rule, _DUMP)


def payload(image: RomImage) -> bytes:
    """Return what firmware takes from an EFI image: a PE image, or its compressed form.

    It goes to the end of the initialization size, padding included: EDK2 passes all of it to the
    loader, and the Authenticode hash covers it.
    """
    efi = image.efi
    if efi is None:
        raise MalformedError(image.offset, "not an EFI image", "everycore rom list names them")
    end = efi.init_units * UNIT
    if efi.driver_offset >= end:
        rule = f"the driver is at {efi.driver_offset:#x}, behind the initialization size {end:#x}"
        raise MalformedError(image.offset + 0x16, rule, _DUMP)
    if end > len(image.data):
        rule = f"the initialization size is {end:#x}, the image has {len(image.data):#x} bytes"
        raise MalformedError(image.offset + 2, rule, _DUMP)
    if efi.compression not in (UNCOMPRESSED, COMPRESSED):
        rule = f"compression {efi.compression:#06x} is reserved"
        raise MalformedError(image.offset + 0x0C, rule, _DUMP)
    return image.data[efi.driver_offset : end]


def compressed_sizes(stream: bytes) -> tuple[int, int]:
    """Return the sizes that a compressed stream begins with: compressed, and original.

    UEFI 2.10, section 19.2: the compressed size leaves these 8 bytes out.
    """
    if len(stream) < 8:
        raise MalformedError(0, f"a compressed driver of {len(stream)} bytes", _DUMP)
    compressed, original = struct.unpack_from("<II", stream)
    if compressed + 8 > len(stream):
        rule = f"compressed size {compressed:#x}; {len(stream) - 8:#x} bytes are there"
        raise MalformedError(0, rule, _DUMP)
    if original == 0:  # for which the codec would write behind its buffer
        raise MalformedError(4, "decompressed size 0", _DUMP)
    if original > MOST_DRIVER_BYTES:
        rule = (
            f"decompressed size {original:#x}; no ROM's driver has more than {MOST_DRIVER_BYTES:#x}"
        )
        raise MalformedError(4, rule, "the stream is damaged or an attack: take another dump")
    return compressed, original


@dataclass(frozen=True, slots=True)
class Driver:
    """The EFI driver of an image, as far as it can be read."""

    image: RomImage
    data: bytes = field(repr=False)  # of the PE image, decompressed
    pe: pe.Image | None
    fault: MalformedError | None
    fault_place: str = ""  # of the fault's offset: "" in the file, else of what


def driver(image: RomImage, decompress: Callable[[bytes], bytes]) -> Driver:
    """Read the driver of an EFI image; `decompress` gets a compressed stream."""
    efi = image.efi
    assert efi is not None
    try:
        data = payload(image)
    except MalformedError as error:
        return Driver(image, b"", None, error)
    place, base = "", image.offset + efi.driver_offset
    if efi.compression == COMPRESSED:
        try:
            used = compressed_sizes(data)[0] + 8
            data = decompress(data[:used])
        except MalformedError as error:
            return Driver(image, b"", None, error.moved(base))
        place, base = "decompressed driver", 0
    try:
        return Driver(image, data, pe.read(data), None)
    except MalformedError as error:
        return Driver(image, data, None, error.moved(base), place)
