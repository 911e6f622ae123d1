# SPDX-License-Identifier: MIT
"""Reads a PE image into a Program: names come from its symbol table, or from the linker's map.

Sources: Microsoft, "PE Format", 2024, sections "COFF Symbol Table" and "The .pdata Section";
"x64 exception handling" and "ARM64 exception handling", 2024.
"""

import struct
from collections.abc import Iterable, Mapping
from itertools import pairwise

from everycore.environment.errors import EverycoreError
from everycore.firmware import pe
from everycore.firmware.canary.program import GUARD_NAMES, Function, Part, Program, Region
from everycore.firmware.malformed import MalformedError

MACHINES = {"x86-64": "x86-64", "aarch64": "aarch64"}
_EXCEPTION_DIRECTORY = 3
_SYMBOL_BYTES = 18
_IS_FUNCTION = 0x20
_IMPORTED = "__imp_"  # GNU ld lets pointers to a variable of a DLL point here, until the start
_EXTERNAL, _STATIC = 2, 3
_CHAINED = 4  # UNW_FLAG_CHAININFO: the entry goes on with another function


def read(
    image: pe.Image, name: str, map_names: Mapping[int, str], guard_names: Iterable[str] = ()
) -> Program:
    """Read a PE image; `map_names`: of its linker's map, by addresses relative to the base."""
    machine = MACHINES.get(image.machine_name)
    if machine is None:
        raise EverycoreError(
            f"{name}: built for {image.machine_name}",
            f"canary check knows PE images for {', '.join(MACHINES)}",
        )
    symbols = dict(map_names) or _symbols(image)
    spans = _spans(image, machine)
    guards = GUARD_NAMES | frozenset(guard_names)
    functions = list(_functions(image, symbols, spans))
    notes = []
    if not symbols:
        notes.append("no symbols: give the linker's map with --map, or guards are not recognised")
    return Program(
        name=name,
        kind="PE image",
        machine=machine,
        functions=functions,
        names={image.base + address: text for address, text in symbols.items()},
        variables={
            image.base + address: text.removeprefix(_IMPORTED)
            for address, text in symbols.items()
            if text.removeprefix(_IMPORTED) in guards
        },
        regions=_regions(image),
        guard_names=guards,
        notes=tuple(notes),
        has_names=bool(symbols),
    )


def _regions(image: pe.Image) -> list[Region]:
    found = []
    for section in image.sections:
        data = image.data[section.file_offset : section.file_offset + section.loaded_bytes]
        is_constant = not section.is_writable or section.name == ".rdata"
        found.append(Region(image.base + section.address, data, is_constant))
    return sorted(found, key=lambda region: region.address)


def _symbols(image: pe.Image) -> dict[int, str]:
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


def _spans(image: pe.Image, machine: str) -> list[tuple[int, int]]:
    """Begin and end of functions, relative to the base, from the table for exceptions."""
    found = image.directory(_EXCEPTION_DIRECTORY)
    if found is None:
        return []
    try:
        table = pe.bytes_at(image, found.address, found.size_bytes)
    except MalformedError:
        return []
    spans: list[tuple[int, int]] = []
    if machine == "x86-64":
        for begin, end, unwind in struct.iter_unpack("<III", table[: len(table) // 12 * 12]):
            flags = _byte(image, unwind) >> 3
            if begin < end and not flags & _CHAINED:
                spans.append((begin, end))
        return spans
    for begin, packed in struct.iter_unpack("<II", table[: len(table) // 8 * 8]):
        is_packed = bool(packed & 3)
        length = (packed >> 2 & 0x7FF if is_packed else _word(image, packed) & 0x3FFFF) * 4
        if begin and length:
            spans.append((begin, begin + length))
    return spans


def _byte(image: pe.Image, address: int) -> int:
    return _word(image, address) & 0xFF


def _word(image: pe.Image, address: int) -> int:
    try:
        return int.from_bytes(pe.bytes_at(image, address, 4), "little")
    except MalformedError:
        return 0


def _functions(
    image: pe.Image, symbols: Mapping[int, str], spans: list[tuple[int, int]]
) -> Iterable[Function]:
    """Functions of the table for exceptions, and names in code that it does not cover."""
    for section in image.sections:
        if not section.is_executable or not section.loaded_bytes:
            continue
        first, last = section.address, section.address + section.loaded_bytes
        own = sorted(span for span in spans if first <= span[0] < last)
        covered = {begin for begin, _ in own}
        names = sorted(a for a in symbols if first <= a < last and a not in covered)
        loose = [a for a in names if not any(begin < a < end for begin, end in own)]
        begins = sorted([*covered, *loose, last])
        following = dict(pairwise(begins))
        for begin, end in sorted([*own, *((a, following[a]) for a in loose)]):
            code = pe.bytes_at(image, begin, min(end, last) - begin)
            name = symbols.get(begin, f"function at {begin:#x}")
            yield Function(name, image.base + begin, (Part(image.base + begin, code),))
