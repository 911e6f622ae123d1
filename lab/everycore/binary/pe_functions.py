# SPDX-License-Identifier: MIT
"""Names and bounds of functions in a PE image.

Sources: Microsoft, "PE Format", 2024, sections "COFF Symbol Table" and "The .pdata Section";
"x64 exception handling" and "ARM64 exception handling", 2024.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress

from everycore.binary import pe
from everycore.binary.malformed import MalformedError

_EXCEPTION_DIRECTORY = 3
_SYMBOL_BYTES = 18
_IS_FUNCTION = 0x20
_EXTERNAL, _STATIC = 2, 3
_CHAINED = 4  # UNW_FLAG_CHAININFO: the entry goes on with another function


def symbols(image: pe.Image) -> dict[int, str]:
    """Names by addresses relative to the base, from the table that GNU ld leaves."""
    data = image.data
    place, count = struct.unpack_from("<II", data, image.header_offset + 12)
    end = place + count * _SYMBOL_BYTES
    if not place or end > len(data):
        return {}
    found: dict[int, str] = {}
    index = 0
    while index < count:
        at = place + index * _SYMBOL_BYTES
        raw, value, section, kind, storage, extra = struct.unpack_from("<8sIhHBB", data, at)
        index += 1 + extra
        if storage not in (_EXTERNAL, _STATIC) or not 1 <= section <= len(image.sections):
            continue
        if storage == _STATIC and kind != _IS_FUNCTION:  # names of sections and files
            continue
        text = _text(data, raw, end)
        if text:
            found.setdefault(image.sections[section - 1].address + value, text)
    return found


def _text(data: bytes, raw: bytes, strings: int) -> str:
    if raw[:4] == bytes(4):
        begin = strings + int.from_bytes(raw[4:], "little")
        end = data.find(b"\0", begin)
        raw = data[begin:end] if begin < len(data) and end >= 0 else b""
    return raw.rstrip(b"\0").decode("utf-8", errors="replace")


def exceptions(image: pe.Image) -> Iterator[tuple[int, ...]]:
    """Yield the lines of the table for exceptions, which begin with the place of a function.

    The image is for x86-64 or AArch64, whose lines have three words and two.
    """
    directory = image.directory(_EXCEPTION_DIRECTORY)
    if directory is None:
        return
    with suppress(MalformedError):
        table = pe.bytes_at(image, directory.address, directory.size_bytes)
        form, size = ("<III", 12) if image.machine_name == "x86-64" else ("<II", 8)
        yield from struct.iter_unpack(form, table[: len(table) // size * size])


def spans(image: pe.Image) -> list[tuple[int, int]]:
    """Begin and end of functions, relative to the base, from the table for exceptions."""
    found: list[tuple[int, int]] = []
    for begin, *more in exceptions(image):
        if image.machine_name == "x86-64":
            end, unwind = more
            flags = (_word(image, unwind) & 0xFF) >> 3
            length = 0 if flags & _CHAINED else end - begin
        else:
            is_packed, packed = bool(more[0] & 3), more[0]
            length = (packed >> 2 & 0x7FF if is_packed else _word(image, packed) & 0x3FFFF) * 4
            length = length if begin else 0
        if length > 0:
            found.append((begin, begin + length))
    return found


def _word(image: pe.Image, address: int) -> int:
    try:
        return int.from_bytes(pe.bytes_at(image, address, 4), "little")
    except MalformedError:
        return 0
