# SPDX-License-Identifier: MIT
"""Option ROMs made field by field, independently of the code under test."""

import struct
from dataclasses import dataclass, replace
from typing import Any

from firmware.pe_images import X86_64, make_pe

VENDOR, DEVICE, CLASS = 0x8086, 0x100E, 0x020000


@dataclass(frozen=True)
class RomPlan:
    """The fields of an image; the defaults break no rule."""

    code: int = 3
    vendor: int = VENDOR
    device: int = DEVICE
    class_code: int = CLASS
    revision: int = 3
    pcir_bytes: int = 0x1C
    pcir: int = 0x1C
    code_revision: int = 0
    last: int = 0
    units: int | None = None  # None: as long as the contents
    init_units: int | None = None
    machine: int = X86_64
    subsystem: int = 11
    signature: int = 0xEF1
    compression: int = 0
    driver_offset: int = 0x38
    device_list: tuple[int, ...] = ()
    driver: bytes = b""
    fill: int = 0xFF
    bios_bytes: int = 1024


def image(plan: RomPlan | None = None, **changes: object) -> bytes:
    """Return one image; the checksum of a BIOS image is right."""
    plan = replace(plan or RomPlan(), **changes)  # type: ignore[arg-type]
    if plan.code == 3:
        driver = plan.driver or make_pe(machine=plan.machine, subsystem=plan.subsystem)
        size = plan.driver_offset + len(driver)
    else:
        driver, size = b"", plan.bios_bytes
    length = -(-size // 512)
    units = length if plan.units is None else plan.units
    init = length if plan.init_units is None else plan.init_units
    whole = bytearray([plan.fill]) * (length * 512)
    if plan.code == 3:
        head = struct.pack(
            "<HHIHHH8sHH",
            0xAA55, init, plan.signature, plan.subsystem, plan.machine, plan.compression,
            bytes(8), plan.driver_offset, plan.pcir,
        )  # fmt: skip
    else:
        head = struct.pack("<HB21xH", 0xAA55, init & 0xFF, plan.pcir)
    whole[: len(head)] = head
    whole[len(head) : plan.pcir] = (
        bytes(plan.pcir - len(head)) if plan.code == 3 else b"\x90" * (plan.pcir - len(head))
    )
    pcir = struct.pack(
        "<4sHHHHB3sHHBBHHH",
        b"PCIR", plan.vendor, plan.device, plan.pcir_bytes if plan.device_list else 0,
        plan.pcir_bytes, plan.revision, plan.class_code.to_bytes(3, "little"), units,
        plan.code_revision, plan.code, plan.last, units, 0, 0,
    )[: max(plan.pcir_bytes, 0x18)]  # fmt: skip
    ids = b"".join(
        struct.pack("<H", identifier) for identifier in (*plan.device_list, 0) if plan.device_list
    )
    if plan.code == 3:
        whole[plan.driver_offset : plan.driver_offset + len(driver)] = driver
    whole[plan.pcir : plan.pcir + len(pcir + ids)] = pcir + ids
    if plan.code != 3:
        whole[-1] = 0
        whole[-1] = -sum(whole) & 0xFF
    return bytes(whole)


def bios(**changes: Any) -> bytes:
    return image(code=0, **changes)


def rom(*images: bytes, size: int = 0) -> bytes:
    """Return images as a ROM: the last one is marked, blank bytes follow up to `size`."""
    parts = [bytearray(content) for content in images]
    for number, part in enumerate(parts):
        at = int.from_bytes(part[0x18:0x1A], "little") + 0x15
        is_last = number == len(parts) - 1
        before = part[at]
        part[at] = before | 0x80 if is_last else before & 0x7F
        if part[at - 1] == 0:
            part[-1] = (part[-1] + before - part[at]) & 0xFF
    return b"".join(parts).ljust(size, b"\xff")


def patched(data: bytes, offset: int, form: str, *values: int | bytes) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, offset, *values)
    return bytes(changed)
