# SPDX-License-Identifier: MIT
"""Settings of a finished EFI module: found, changed, and listed in an INF for EDK2.

EDK2 calls such settings PatchableInModule PCDs.

Its AutoGen makes two variables of each such setting: `_gPcd_BinaryPatch_NAME`, which holds its
value, and `_gPcd_BinaryPatch_Size_NAME`, which holds its size. The linker's map says where they
are; the image says which bytes of the file that is. Functions of bytes and text alone.

Sources: EDK II Module Information (INF) File Specification 1.27, 2017, section 2.9 (PatchPcd), 2.6
([Binaries]); EDK II Build Specification 1.28, 2017, section 8.4 (AutoGen of PCDs).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

from everycore.binary import pe
from everycore.environment.errors import EverycoreError
from everycore.firmware.efi import linker_map

VALUE, SIZE = "_gPcd_BinaryPatch_", "_gPcd_BinaryPatch_Size_"
_SECTION = re.compile(r"^ \.\w+\.(_gPcd_BinaryPatch_\w+)\s+0x([0-9a-f]+)", re.M)  # GNU ld
_INF_SECTION = re.compile(r"^\s*\[(\w+)(?:\.(\w+))?")
_INF_LINE = re.compile(r"^\s*(\w+)\.(\w+)\s*\|\s*(.+?)\s*\|\s*(0[xX][0-9a-fA-F]+|\d+)\s*$")
_INF_TYPE = re.compile(r"#\s*(BOOLEAN|UINT8|UINT16|UINT32|UINT64|VOID\*)(?:\s+(\d+))?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FILE_NAME = re.compile(r"[A-Za-z_][\w.-]*")
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ARCHITECTURES = {"x86": "IA32", "x86-64": "X64", "arm": "ARM", "aarch64": "AARCH64",
                 "riscv64": "RISCV64"}  # fmt: skip
# The MODULE_TYPEs that EDK2 links with the subsystems of images, other than UEFI_DRIVER.
MODULE_TYPES = {
    pe.EFI_APPLICATION: "UEFI_APPLICATION",
    pe.EFI_RUNTIME_DRIVER: "DXE_RUNTIME_DRIVER",
}
_NAMED_SIZES = {1: "UINT8", 2: "UINT16", 4: "UINT32", 8: "UINT64"}
MOST_BYTES = 0x10000


class Type(StrEnum):
    """The types of settings, as EDK2 names them."""

    BOOLEAN = "BOOLEAN"
    UINT8 = "UINT8"
    UINT16 = "UINT16"
    UINT32 = "UINT32"
    UINT64 = "UINT64"
    VOID = "VOID*"

    @property
    def size(self) -> int | None:
        """The bytes that it takes; None: any."""
        return None if self == Type.VOID else 1 if self == Type.BOOLEAN else int(self[4:]) // 8


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting in a file. token_space: of EDK2, empty if the file does not know it."""

    name: str
    type: Type
    offset: int
    size: int
    value: bytes
    token_space: str = ""

    @property
    def text(self) -> str:
        """The value, as an INF has it."""
        return as_text(self.value, self.type)


def as_text(value: bytes, kind: Type) -> str:
    if kind == Type.VOID:
        return "{" + ", ".join(f"0x{byte:02X}" for byte in value) + "}"
    return f"0x{int.from_bytes(value, 'little'):0{2 * len(value)}X}"


# ---- The map


def find(image: pe.Image, map_text: str, map_name: str, types: Mapping[str, Type]) -> list[Setting]:
    """The settings of an image by its linker's map; `types`: what the user knows of them."""
    places = _places(image, map_text, map_name)
    names = [
        name.removeprefix(VALUE)
        for name in places
        if name.startswith(VALUE) and not name.startswith(SIZE)
    ]
    if not names:
        raise EverycoreError(
            f"{map_name}: no settings ({VALUE}...) in it",
            "PCDs must be PatchableInModule, and the map that of this image",
        )
    for name in types:
        if name not in names:
            raise EverycoreError(f"no setting '{name}'", f"there are: {', '.join(sorted(names))}")
    found = [_setting(image, places, name, types.get(name)) for name in names]
    return sorted(found, key=lambda setting: setting.offset)


def _places(image: pe.Image, text: str, map_name: str) -> dict[str, int]:
    table = linker_map.read(text, map_name, image.base)
    places = {
        name: address
        for address, name in zip(table.addresses, table.names, strict=True)
        if name.startswith(VALUE)
    }
    for name, address in _SECTION.findall(text):  # of static variables there is no other line
        at = int(address, 16)
        if at:
            places.setdefault(name, at - image.base if at >= image.base else at)
    return places


def _setting(image: pe.Image, places: Mapping[str, int], name: str, kind: Type | None) -> Setting:
    word = 8 if image.is_64_bit else 4
    size = kind.size if kind is not None else None
    if SIZE + name in places:
        size_at = _offset(image, places[SIZE + name], SIZE + name, word)
        stored = int.from_bytes(image.data[size_at : size_at + word], "little")
        if size is not None and stored != size:
            raise EverycoreError(f"{name} has {stored} bytes, {kind} has {size}", "name its type")
        size = stored
    if size is None:
        raise EverycoreError(
            f"{name}: the map has no {SIZE}{name}, so its size is not known",
            f"name its type: --type {name}=UINT32",
        )
    if not 1 <= size <= MOST_BYTES:
        raise EverycoreError(
            f"{name}: {SIZE}{name} is {size}", "the map is not that of this image: build both again"
        )
    offset = _offset(image, places[VALUE + name], name, size)
    value = image.data[offset : offset + size]
    return Setting(name, kind or Type(_NAMED_SIZES.get(size, "VOID*")), offset, size, value)


def _offset(image: pe.Image, address: int, name: str, size: int) -> int:
    """The place in the file of a variable, all of whose bytes are in it."""
    offset, last = pe.file_offset(image, address), pe.file_offset(image, address + size - 1)
    if offset is None or last != offset + size - 1:
        if any(s.address <= address < s.memory_end for s in image.sections):
            raise EverycoreError(
                f"{name} is in memory that is filled with zeros, not in the file",
                "give it a default that is not 0, or put it into .data",
            )
        raise EverycoreError(
            f"{name}: its address {address:#x} is not in the image",
            "the map is not that of this image: build both again",
        )
    return offset


# ---- Values


def changed(image: pe.Image, settings: Sequence[Setting], values: Mapping[str, str]) -> bytes:
    """The bytes of the image with other values; each is checked against type and size."""
    known = {setting.name: setting for setting in settings}
    if image.directory(pe.DIRECTORY_CERTIFICATES) is not None:
        raise EverycoreError(
            "the image is signed, and a change would make the signature wrong",
            "change the unsigned image, and sign it after that",
        )
    moved = [(r.address, 8 if r.kind == pe.RELOC_DIR64 else 4) for r in pe.relocations(image)]
    data = bytearray(image.data)
    for name, text in values.items():
        if name not in known:
            raise EverycoreError(f"no setting '{name}'", f"there are: {', '.join(sorted(known))}")
        setting = known[name]
        for address, size in moved:
            at = pe.file_offset(image, address)
            if at is not None and at < setting.offset + setting.size and setting.offset < at + size:
                raise EverycoreError(
                    f"{name} holds an address, which the loader changes", "change its source"
                )
        data[setting.offset : setting.offset + setting.size] = parsed(setting, text)
    return bytes(data)


def parsed(setting: Setting, text: str) -> bytes:
    """The bytes of a value that a user writes."""
    text = text.strip()
    if setting.type == Type.VOID:
        value = _buffer(setting, text)
        if len(value) > setting.size:
            raise EverycoreError(
                f"{setting.name}: {len(value)} bytes do not fit; it has {setting.size}",
                "shorten the value",
            )
        return value.ljust(setting.size, b"\0")
    number = {"TRUE": 1, "FALSE": 0}.get(text.upper()) if setting.size == 1 else None
    if number is None:
        try:
            number = int(text, 0)
        except ValueError:
            raise EverycoreError(
                f"{setting.name}: '{text}' is no value of type {setting.type}",
                _example(setting.type),
            ) from None
    most = 1 if setting.type == Type.BOOLEAN else (1 << 8 * setting.size) - 1
    if not 0 <= number <= most:
        raise EverycoreError(
            f"{setting.name}: {text} does not fit into {setting.type}", f"0 to {most:#x} do"
        )
    return number.to_bytes(setting.size, "little")


def _example(kind: Type) -> str:
    return "TRUE or FALSE" if kind == Type.BOOLEAN else "a number: 10, 0x1F"


def _buffer(setting: Setting, text: str) -> bytes:
    try:
        if text.startswith("{") and text.endswith("}"):
            return bytes(int(part, 0) for part in text[1:-1].split(",") if part.strip())
        if text.startswith('L"') and text.endswith('"') and len(text) > 2:
            return (text[2:-1] + "\0").encode("utf-16-le")
        if text.startswith('"') and text.endswith('"') and len(text) > 1:
            return (text[1:-1] + "\0").encode("ascii")
    except ValueError:
        pass
    raise EverycoreError(
        f"{setting.name}: '{text}' is no value of type VOID*",
        'bytes {0x01, 0x02}, a text "..." or L"...": quote it for the shell',
    )


# ---- The INF


def inf(
    image: pe.Image, file_name: str, guid: str, token_space: str, settings: Sequence[Setting]
) -> str:
    """The INF of a binary module, which has the name of its file and the type of its subsystem."""
    name = PurePath(file_name).stem
    if not _FILE_NAME.fullmatch(name):
        raise EverycoreError(
            f"{file_name}: its name is no BASE_NAME",
            "name the file with letters, digits, _ . and -",
        )
    if not _NAME.fullmatch(token_space):
        raise EverycoreError(
            f"--token-space {token_space}: no name of EDK2", "letters, digits and _"
        )
    if not _GUID.fullmatch(guid):
        raise EverycoreError(f"--guid {guid}: no GUID", "as uuidgen prints it, 8-4-4-4-12 digits")
    arch = ARCHITECTURES.get(image.machine_name)
    if arch is None:
        raise EverycoreError(f"EDK2 has no name for {image.machine_name}", "name an EFI image")
    defines = {
        "INF_VERSION": "0x00010005",
        "BASE_NAME": name,
        "FILE_GUID": guid,
        "MODULE_TYPE": MODULE_TYPES.get(image.subsystem, "UEFI_DRIVER"),
        "VERSION_STRING": "1.0",
    }
    lines = ["[Defines]", *(f"  {name:14} = {text}" for name, text in defines.items()), ""]
    lines += [f"[Binaries.{arch}]", f"  PE32|{file_name}|*", "", f"[PatchPcd.{arch}]"]
    for setting in settings:
        lines.append(f"  # {setting.type} {setting.size}")
        lines.append(f"  {token_space}.{setting.name}|{setting.text}|0x{setting.offset:X}")
    return "\n".join(lines) + "\n"


def read_inf(text: str, name: str, image: pe.Image) -> list[Setting]:
    """The settings of an INF, for the machine of an image; values are those of the INF."""
    found: list[Setting] = []
    section, kind, size = "", None, None
    arch = ARCHITECTURES.get(image.machine_name, "")
    for number, line in enumerate(text.splitlines(), 1):
        if match := _INF_SECTION.match(line):
            is_ours = (match[2] or arch).upper() in (arch, "COMMON")
            section = match[1].lower() if is_ours else ""
        elif section == "patchpcd":
            if match := _INF_TYPE.search(line):
                kind, size = Type(match[1]), int(match[2]) if match[2] else None
            plain = line.partition("#")[0]
            if not plain.strip():
                continue
            match = _INF_LINE.match(plain)
            if match is None:
                raise EverycoreError(
                    f"{name}:{number}: no line of [PatchPcd]", "TokenSpace.Name|value|offset"
                )
            found.append(_inf_setting(match, kind, size, f"{name}:{number}"))
            kind, size = None, None
    if not found:
        raise EverycoreError(f"{name}: no [PatchPcd.{arch}] in it", "everycore pcd inf writes one")
    return found


def _inf_setting(match: re.Match[str], kind: Type | None, size: int | None, place: str) -> Setting:
    text = match[3]
    digits = re.fullmatch(r"0[xX]([0-9a-fA-F]+)", text)
    if size is None and kind is not None:
        size = kind.size
    if size is None:
        if text.startswith("{"):
            size = len(text.split(","))
        elif digits and len(digits[1]) // 2 in _NAMED_SIZES and len(digits[1]) % 2 == 0:
            size = len(digits[1]) // 2
        else:
            raise EverycoreError(
                f"{place}: the size of {match[2]} is not known",
                "write all digits of the value (0x00000001 for 32 bits), or a comment: # UINT32",
            )
    kind = kind or Type(_NAMED_SIZES.get(size, "VOID*"))
    blank = Setting(match[2], kind, int(match[4], 0), size, bytes(size), match[1])
    return Setting(blank.name, kind, blank.offset, size, parsed(blank, text), match[1])


# ---- Comparison


@dataclass(frozen=True, slots=True)
class Fault:
    """A difference between an INF and the image that it describes."""

    name: str
    text: str


def verify(
    image: pe.Image, described: Sequence[Setting], mapped: Sequence[Setting] | None
) -> Iterator[Fault]:
    """Compare an INF with its image, and with the linker's map if there is one."""
    known = {setting.name: setting for setting in mapped or ()}
    ends: list[tuple[int, int, str]] = []
    for setting in sorted(described, key=lambda s: s.offset):
        section = _section(image, setting.offset)
        if (
            section is None
            or setting.offset + setting.size > section.file_offset + section.loaded_bytes
        ):
            yield Fault(setting.name, f"offset {setting.offset:#x} is in no section of the file")
            continue
        if section.is_executable:
            yield Fault(setting.name, f"offset {setting.offset:#x} is in the code ({section.name})")
        found = image.data[setting.offset : setting.offset + setting.size]
        if found != setting.value:
            has = as_text(found, setting.type)
            yield Fault(setting.name, f"the image has {has}, the INF {setting.text}")
        if ends and setting.offset < ends[-1][1]:
            yield Fault(setting.name, f"its bytes are also those of {ends[-1][2]}")
        ends.append((setting.offset, setting.offset + setting.size, setting.name))
        if mapped is not None:
            yield from _against_map(setting, known.pop(setting.name, None))
    for name in known:
        yield Fault(name, "in the map, and not in the INF")


def _section(image: pe.Image, offset: int) -> pe.Section | None:
    for section in image.sections:
        if section.file_offset <= offset < section.file_offset + section.loaded_bytes:
            return section
    return None


def _against_map(setting: Setting, other: Setting | None) -> Iterator[Fault]:
    if other is None:
        yield Fault(setting.name, "in the INF, and not in the map")
        return
    if setting.offset != other.offset:
        yield Fault(
            setting.name, f"offset {setting.offset:#x} in the INF, {other.offset:#x} by the map"
        )
    if setting.size != other.size:
        yield Fault(setting.name, f"{setting.size} bytes in the INF, {other.size} in the image")
