# SPDX-License-Identifier: MIT
"""Tables of graphics cards in option ROMs, which the drivers of Linux read from the card.

A graphics card without its tables stays dark under Linux, whatever firmware makes of its ROM.

Sources: Linux, drivers/gpu/drm. amdgpu/amdgpu_bios.c and radeon/radeon_bios.c want code type 0
in the image at the beginning of the ROM, and take the word at 0x48 for the offset of a header with
"ATOM" or "MOTA" at 4; radeon/radeon_combios.c reads cards from before ATOM by the same word.
nouveau/nvkm/subdev/bios/base.c looks for BIT or BMP in all images, and counts the offsets in them
from the beginning of the ROM. i915/display/intel_bios.c looks for $VBT in the whole ROM.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from everycore.firmware import oprom
from everycore.firmware.oprom import Rom, RomImage

AMD, NVIDIA, INTEL = 0x1002, 0x10DE, 0x8086
DISPLAY = 0x03  # the base class of display controllers
_POINTER = 0x48  # in AMD's images: of the header of the tables
_ATOM = (b"ATOM", b"MOTA")
_NVIDIA = (("NVIDIA's table BIT", b"\xff\xb8BIT"), ("NVIDIA's table BMP", b"\xff\x7fNV\0"))
_VBT = b"$VBT"


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of one image."""

    image: int  # its number
    name: str
    offset: int  # from the beginning of the image; NVIDIA's may lie behind its end
    drivers: tuple[str, ...]  # of Linux
    is_first_only: bool  # the drivers read them only from the first image
    is_first: bool  # this is that image

    @property
    def is_read(self) -> bool:
        """Whether the drivers find the tables where they are."""
        return self.is_first or not self.is_first_only

    @property
    def text(self) -> str:
        """The words for what the image holds, and who reads it."""
        place = "the first image" if self.is_first_only else "the ROM"
        reads = "reads" if len(self.drivers) == 1 else "read"
        who = " and ".join(self.drivers)
        return f"{self.name} at {self.offset:#x}, which Linux's {who} {reads} from {place}"

    def line(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "name": self.name,
            "offset": self.offset,
            "drivers": list(self.drivers),
            "first_only": self.is_first_only,
            "read": self.is_read,
        }


def find(rom: Rom) -> list[Tables]:
    """Return the tables of all images of a ROM; pointers that lead nowhere find none."""
    base = _base(rom)
    found = [tables for image in rom.images for tables in _of_image(rom, image, base)]
    if base is None or not is_bios(base) or _vendor(base) != NVIDIA:
        return found
    if not any(tables.is_first for tables in found):
        # Tables elsewhere have offsets that count from the first image, so that it has to stay.
        for name, magic in _NVIDIA:
            at = rom.data.find(magic, base.offset)
            if at >= 0:
                own = Tables(base.number, name, at - base.offset, ("nouveau",), True, True)
                return [own, *found]
    return found


def _base(rom: Rom) -> RomImage | None:
    """Return the image that Linux takes for the first one.

    Dumps of a whole flash of NVIDIA's newer cards have images of NVIDIA's own before it.
    """
    if not rom.images or _vendor(rom.images[0]) != NVIDIA:
        return rom.images[0] if rom.images else None
    known = (image for image in rom.images if image.pci is None or image.pci.code in oprom.CODES)
    return next(known, rom.images[0])


def is_bios(image: RomImage) -> bool:
    """Whether an image is of code type 0, which Linux's drivers look for."""
    return image.pci is not None and image.pci.code == oprom.CODE_BIOS


def is_display(image: RomImage) -> bool:
    """Whether an image names a device that drives displays."""
    return image.pci is not None and image.pci.class_code >> 16 == DISPLAY


def keeps_first(rom: Rom) -> bool:
    """Whether the first image may be read by a driver of Linux, so that no hint may move it."""
    base = _base(rom)
    if base is None:
        return False
    return (is_bios(base) and is_display(base)) or any(tables.is_first for tables in find(rom))


def missing(rom: Rom) -> str:
    """The words for what drivers miss in the ROM of an AMD or NVIDIA card; empty: nothing."""
    found = find(rom)
    if any(tables.is_read for tables in found):
        return ""
    if found:
        return f"image {found[0].image} has {found[0].text}, and it is not the first"
    first = rom.images[0]
    drivers = {AMD: "amdgpu and radeon find", NVIDIA: "nouveau finds"}.get(_vendor(first))
    if drivers is None or not is_display(first):
        return ""
    return f"Linux's {drivers} no tables of the card in the first image"


def lost(old: Rom, new: Rom) -> Tables | None:
    """Return tables that a change takes away from the drivers of Linux; None: there are none."""
    after = find(new)
    for tables in find(old):
        same = [other for other in after if other.name == tables.name]
        if not same or (tables.is_read and not any(other.is_read for other in same)):
            return tables
    return None


def _vendor(image: RomImage) -> int:
    return image.pci.vendor if image.pci else 0


def _of_image(rom: Rom, image: RomImage, base: RomImage | None) -> Iterator[Tables]:
    number, data, is_first = image.number, image.data, image is base
    if is_bios(image):
        yield from _of_amd(rom, image, is_first)
    if image.efi is None:  # its code is mostly compressed: equal bytes in it are chance
        for name, magic in _NVIDIA:
            at = data.find(magic)
            if at >= 0:
                yield Tables(number, name, at, ("nouveau",), is_bios(image), is_first)
                break
    if _vendor(image) == INTEL and is_display(image):
        at = data.find(_VBT)
        if at >= 0:
            yield Tables(number, "Intel's table VBT", at, ("i915", "xe"), False, is_first)


def _of_amd(rom: Rom, image: RomImage, is_first: bool) -> Iterator[Tables]:
    """The tables behind AMD's pointer, which may lead behind the length that the image names."""
    data = rom.data[image.offset : max(image.end, rom.end)]
    at = int.from_bytes(data[_POINTER : _POINTER + 2], "little")
    if at and data[at + 4 : at + 8] in _ATOM:
        drivers = ("amdgpu", "radeon")
        yield Tables(image.number, "AMD's ATOM tables", at, drivers, True, is_first)
    elif _vendor(image) == AMD and is_display(image) and _POINTER < at <= len(data) - 8:
        yield Tables(image.number, "AMD's tables", at, ("radeon",), True, is_first)
