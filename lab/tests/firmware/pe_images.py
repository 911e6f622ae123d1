# SPDX-License-Identifier: MIT
"""PE images made field by field, so that tests need no compiler and can break any field."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

X86, X86_64, AARCH64, EBC, RISCV64 = 0x14C, 0x8664, 0xAA64, 0xEBC, 0x5064
TEXT, DATA, RELOC = 0x6000_0020, 0xC000_0040, 0x4200_0040
HEADER = 0x80  # offset of the PE signature


@dataclass(frozen=True)
class Part:
    """A section: its bytes, and what the loader makes of it."""

    name: str
    contents: bytes
    flags: int
    memory_bytes: int | None = None
    gap_before: int = 0  # unused bytes of the file


@dataclass(frozen=True)
class Plan:
    """The fields of an image; the defaults make a driver without fault."""

    machine: int = X86_64
    subsystem: int = 11
    alignment: int = 0x1000
    characteristics: int = 0x2022
    dll_characteristics: int = 0x100
    n_directories: int = 16
    relocations: Sequence[int] = (0x2000,)  # addresses
    reloc_kind: int = 10
    certificate: bytes = b""
    trailing: bytes = b""
    is_64_bit: bool | None = None  # None: as the machine is
    parts: Sequence[Part] = (
        Part(".text", b"\x90" * 0x1F0 + b"\xc3" * 0x10, TEXT),
        Part(".data", bytes(range(64)) * 4, DATA, 0x400),
    )


def relocation_table(addresses: Sequence[int], kind: int = 10) -> bytes:
    """One block for each page, padded to words with entries of no effect."""
    table = b""
    for page in sorted({address & ~0xFFF for address in addresses}):
        entries = [kind << 12 | (a & 0xFFF) for a in addresses if a & ~0xFFF == page]
        entries += [0] * (len(entries) % 2)
        table += struct.pack("<II", page, 8 + 2 * len(entries))
        table += struct.pack(f"<{len(entries)}H", *entries)
    return table


def make_pe(plan: Plan | None = None, **changes: object) -> bytes:
    """Return the image of a plan, with some of its fields changed."""
    plan = replace(plan or Plan(), **changes)  # type: ignore[arg-type]
    is_64_bit = plan.machine not in (X86, EBC) if plan.is_64_bit is None else plan.is_64_bit
    parts = list(plan.parts)
    if plan.relocations:
        parts.append(Part(".reloc", relocation_table(plan.relocations, plan.reloc_kind), RELOC))
    optional_bytes = (112 if is_64_bit else 96) + 8 * plan.n_directories
    file_alignment = min(plan.alignment, 0x200)
    headers = HEADER + 24 + optional_bytes + 40 * len(parts)
    headers = _up(headers, file_alignment)
    address, offset = _up(headers, plan.alignment), headers
    table, body, directories = b"", b"", [(0, 0)] * plan.n_directories
    for part in parts:
        size = _up(len(part.contents), file_alignment)
        memory = len(part.contents) if part.memory_bytes is None else part.memory_bytes
        offset += part.gap_before
        name = part.name.encode()
        table += struct.pack("<8sIIII12xI", name, memory, address, size, offset, part.flags)
        body += b"\xa5" * part.gap_before + part.contents.ljust(size, b"\0")
        if part.name == ".reloc" and plan.n_directories > 5:
            directories[5] = (address, len(part.contents))
        offset += size
        address = _up(address + max(memory, size), plan.alignment)
    if plan.certificate:
        body += bytes(-offset % 8)
        offset += -offset % 8
        directories[4] = (offset, len(plan.certificate))
    optional = struct.pack(
        "<HBBIIIII",
        0x20B if is_64_bit else 0x10B,
        14,
        0,
        0x200,
        0,
        0,
        _up(headers, plan.alignment),
        0,
    )
    optional = optional[:24] + struct.pack(*(("<Q", 0) if is_64_bit else ("<II", 0, 0)))
    optional += struct.pack("<II8xHHI", plan.alignment, file_alignment, 0, 0, 0)
    optional += struct.pack("<IIIHH", address, headers, 0, plan.subsystem, plan.dll_characteristics)
    optional = optional.ljust(108 if is_64_bit else 92, b"\0")
    optional += struct.pack("<I", plan.n_directories)
    optional += b"".join(struct.pack("<II", *d) for d in directories)
    coff = struct.pack(
        "<4sHHIIIHH", b"PE\0\0", plan.machine, len(parts), 0, 0, 0,
        len(optional), plan.characteristics,
    )  # fmt: skip
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", HEADER)
    head = dos.ljust(HEADER, b"\0") + coff + optional + table
    return head.ljust(headers, b"\0") + body + plan.certificate + plan.trailing


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
