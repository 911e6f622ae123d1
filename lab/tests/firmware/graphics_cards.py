# SPDX-License-Identifier: MIT
"""ROMs of graphics cards with the tables that Linux's drivers look for, made byte by byte."""

from typing import Any

from firmware.pe_images import AARCH64
from firmware.rom_images import bios, image, rom

from everycore.firmware.vendor_tables import AMD, NVIDIA

SIZE = 0x4000
VGA, NETWORK = 0x030000, 0x020000
HEADER = 0x200  # where AMD's pointer leads
BIT_AT = 0x180
BIT = b"\xff\xb8BIT\0"


def card(vendor: int, at: int = 0, text: bytes = b"", class_code: int = VGA, **more: Any) -> bytes:
    """Return a BIOS image with some bytes of tables in it; its checksum is right."""
    whole = bytearray(bios(vendor=vendor, class_code=class_code, **more))
    if text:
        whole[at : at + len(text)] = text
    whole[-1] = (whole[-1] - sum(whole)) & 0xFF
    return bytes(whole)


def atom(pointer: int = HEADER, magic: bytes = b"ATOM", **more: Any) -> bytes:
    """Return a BIOS image with the pointer and the header that amdgpu looks for."""
    whole = bytearray(card(AMD, **more))
    whole[0x48:0x4A] = pointer.to_bytes(2, "little")
    if pointer + 8 < len(whole):
        whole[pointer + 4 : pointer + 8] = magic
    whole[-1] = (whole[-1] - sum(whole)) & 0xFF
    return bytes(whole)


def efi(vendor: int, **more: Any) -> bytes:
    return image(vendor=vendor, class_code=VGA, **more)


def graphics(first: bytes, vendor: int) -> bytes:
    return rom(first, efi(vendor), efi(vendor, machine=AARCH64), size=SIZE)


ATOM_CARD = graphics(atom(), AMD)
BIT_CARD = graphics(card(NVIDIA, BIT_AT, BIT), NVIDIA)
