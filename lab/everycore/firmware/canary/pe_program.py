# SPDX-License-Identifier: MIT
"""Makes a Program of a PE image: names come from its symbol table, or from the linker's map."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from everycore.binary import pe, pe_functions
from everycore.environment.errors import EverycoreError
from everycore.firmware.canary.program import GUARD_NAMES, Function, Part, Program, Region

MACHINES = {"x86-64": "x86-64", "aarch64": "aarch64"}
_IMPORTED = "__imp_"  # GNU ld lets pointers to a variable of a DLL point here, until the start


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
    symbols = dict(map_names) or pe_functions.symbols(image)
    spans = pe_functions.spans(image)
    guards = GUARD_NAMES | frozenset(guard_names)
    functions = list(_functions(image, symbols, spans))
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
        has_names=bool(symbols),
        knows_imports=bool(symbols),
        code_bytes=sum(section.loaded_bytes for section in image.sections if section.is_executable),
    )


def _regions(image: pe.Image) -> list[Region]:
    found = []
    for section in image.sections:
        data = image.data[section.file_offset : section.file_offset + section.loaded_bytes]
        is_constant = not section.is_writable or section.name == ".rdata"
        found.append(Region(image.base + section.address, data, is_constant))
    return sorted(found, key=lambda region: region.address)


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
