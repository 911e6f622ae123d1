# SPDX-License-Identifier: MIT
"""A strict reader of PE images, which is what EFI applications and drivers are.

Functions of bytes: no file, no process. Bytes that no loader should accept raise MalformedError
with the offset of the field. Images that only break advice (alignment, W+X, no relocations) are
read; other modules judge them.

Sources: Microsoft, "PE Format", 2024 (sections are cited as PE); Microsoft, "Windows Authenticode
Portable Executable Signature Format", version 1.0, 2008 (cited as Authenticode); UEFI Specification
2.10, 2022, section 2.1.1 (images) and 32.2 (signatures).
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from everycore.binary.malformed import MalformedError

# PE, "Machine Types"; RISC-V and LoongArch also in UEFI 2.10, section 2.1.1.
MACHINES = {
    0x014C: "x86",
    0x01C0: "arm",
    0x01C2: "arm",  # Thumb, which is what UEFI has for Arm
    0x01C4: "arm",
    0x0200: "ia64",
    0x0EBC: "ebc",
    0x5032: "riscv32",
    0x5064: "riscv64",
    0x5128: "riscv128",
    0x6232: "loongarch32",
    0x6264: "loongarch64",
    0x8664: "x86-64",
    0xAA64: "aarch64",
}
MACHINES_64 = (0x5064, 0x6264, 0x8664, 0xAA64)  # whose images are PE32+
# Other names that users may give a machine: those of Linux and Go, and of EDK2.
OTHER_NAMES = {"arm64": "aarch64", "x64": "x86-64"}
# PE, "Windows Subsystem"; the first three are the kinds of EFI images.
EFI_APPLICATION, EFI_BOOT_DRIVER, EFI_RUNTIME_DRIVER, EFI_ROM = 10, 11, 12, 13
SUBSYSTEMS = {
    1: "Windows driver",
    2: "Windows program",
    3: "Windows console program",
    EFI_APPLICATION: "application",
    EFI_BOOT_DRIVER: "boot-service driver",
    EFI_RUNTIME_DRIVER: "runtime driver",
    EFI_ROM: "ROM image",
}

# PE, "Characteristics" and "DLL Characteristics".
RELOCS_STRIPPED = 0x0001
NX_COMPAT = 0x0100
# PE, "Section Flags".
SECTION_EXECUTABLE, SECTION_WRITABLE = 0x2000_0000, 0x8000_0000
# PE, "Base Relocation Types" that UEFI's machines use.
RELOC_ABSOLUTE, RELOC_HIGHLOW, RELOC_DIR64 = 0, 3, 10
# PE, "Optional Header Data Directories".
DIRECTORY_CERTIFICATES, DIRECTORY_RELOCATIONS = 4, 5
MAGIC_PE32, MAGIC_PE32_PLUS = 0x10B, 0x20B  # PE, "Optional Header"

DOS_BYTES = 0x40  # of the DOS header, whose last field is the offset of the PE header
COFF_BYTES = 24  # signature and COFF file header
SECTION_BYTES = 40
MOST_SECTIONS = 96  # as the Windows loader has it
MOST_DIRECTORIES = 16
MOST_MEMORY_BYTES = 64 << 20  # of a loaded image: the largest of EDK2 and iPXE is 4 MiB

_CUT = "the file is cut short, or is no EFI image: take it from its source again"
_BUILD = "build the image again; its linker or a tool after it wrote this field"


@dataclass(frozen=True, slots=True)
class Section:
    """One section. Addresses are relative to the image's base."""

    name: str
    address: int
    memory_bytes: int  # what it takes when loaded; more than file_bytes: zeros follow
    file_offset: int
    file_bytes: int
    flags: int
    header_offset: int  # of its line in the section table

    @property
    def is_executable(self) -> bool:
        return bool(self.flags & SECTION_EXECUTABLE)

    @property
    def is_writable(self) -> bool:
        return bool(self.flags & SECTION_WRITABLE)

    @property
    def file_end(self) -> int:
        return self.file_offset + self.file_bytes

    @property
    def loaded_bytes(self) -> int:
        """How many bytes of the file a loader copies."""
        return min(self.file_bytes, self.memory_bytes) if self.memory_bytes else self.file_bytes

    @property
    def memory_end(self) -> int:
        return self.address + max(self.memory_bytes, self.loaded_bytes)


@dataclass(frozen=True, slots=True)
class Directory:
    """A line of the table of data directories; the address of certificates is a file offset."""

    address: int
    size_bytes: int
    header_offset: int

    @property
    def is_present(self) -> bool:
        return self.address != 0 and self.size_bytes != 0


@dataclass(frozen=True, slots=True)
class Relocation:
    """An address in the image that changes with the image's base."""

    address: int
    kind: int
    table_address: int  # of its entry


@dataclass(frozen=True, slots=True)
class Certificate:
    """A WIN_CERTIFICATE: UEFI 2.10, section 32.2.4."""

    offset: int
    length_bytes: int
    kind: int


@dataclass(frozen=True, slots=True)
class Image:
    """A PE image. Offsets of fields are kept, so that a finding can say where it is."""

    data: bytes = field(repr=False)
    header_offset: int  # of the signature PE\0\0
    machine: int
    characteristics: int
    is_64_bit: bool  # PE32+
    optional_offset: int  # of the optional header
    optional_bytes: int
    entry: int
    base: int
    section_alignment: int
    file_alignment: int
    memory_bytes: int  # SizeOfImage
    headers_bytes: int  # SizeOfHeaders
    subsystem: int
    dll_characteristics: int
    directories: tuple[Directory, ...]
    sections: tuple[Section, ...]

    @property
    def machine_name(self) -> str:
        return MACHINES.get(self.machine, f"{self.machine:#06x}")

    @property
    def is_too_narrow(self) -> bool:
        """Whether it is PE32, with addresses of 32 bits, for a machine whose images are PE32+."""
        return not self.is_64_bit and self.machine in MACHINES_64

    @property
    def subsystem_name(self) -> str:
        return SUBSYSTEMS.get(self.subsystem, f"unknown, {self.subsystem}")

    @property
    def is_nx_compatible(self) -> bool:
        return bool(self.dll_characteristics & NX_COMPAT)

    @property
    def has_stripped_relocations(self) -> bool:
        return bool(self.characteristics & RELOCS_STRIPPED)

    @property
    def checksum_offset(self) -> int:
        return self.optional_offset + 64

    @property
    def subsystem_offset(self) -> int:
        return self.optional_offset + 68

    @property
    def machine_offset(self) -> int:
        return self.header_offset + 4

    @property
    def sections_offset(self) -> int:
        """Return the offset of the section table."""
        return self.optional_offset + self.optional_bytes

    @property
    def file_end(self) -> int:
        """Return the offset behind headers and sections; certificates and padding come after."""
        return max([self.headers_bytes, *(s.file_end for s in self.sections if s.file_bytes)])

    def directory(self, number: int) -> Directory | None:
        """A data directory that is there and not empty."""
        if number < len(self.directories) and self.directories[number].is_present:
            return self.directories[number]
        return None


def is_pe(data: bytes) -> bool:
    """Whether bytes begin like a PE image; read() says whether they are one."""
    return data[:2] == b"MZ"


def read(data: bytes) -> Image:
    """Read a whole PE image: headers, section table and data directories, all within the bytes."""
    header = _find_header(data)
    _need(data, header, COFF_BYTES, "the COFF file header")
    machine, n_sections = struct.unpack_from("<HH", data, header + 4)
    optional_bytes, characteristics = struct.unpack_from("<HH", data, header + 20)
    optional = header + COFF_BYTES
    _need(data, optional, optional_bytes, "the optional header")
    if optional_bytes < 2:
        raise MalformedError(header + 20, f"optional header of {optional_bytes} bytes", _BUILD)
    magic = struct.unpack_from("<H", data, optional)[0]
    if magic not in (MAGIC_PE32, MAGIC_PE32_PLUS):
        rule = f"optional header's magic is {magic:#06x}, neither PE32 (0x010b) nor PE32+ (0x020b)"
        raise MalformedError(optional, rule, _BUILD)
    is_64_bit = magic == MAGIC_PE32_PLUS
    fixed = 112 if is_64_bit else 96
    if optional_bytes < fixed:
        rule = f"optional header of {optional_bytes} bytes; its magic asks for {fixed}"
        raise MalformedError(header + 20, rule, _BUILD)
    form = "<I4xQII" if is_64_bit else "<I8xIII"
    entry, base, section_alignment, file_alignment = struct.unpack_from(form, data, optional + 16)
    memory_bytes, headers_bytes = struct.unpack_from("<II", data, optional + 56)
    subsystem, dll_characteristics = struct.unpack_from("<HH", data, optional + 68)
    image = Image(
        data=data,
        header_offset=header,
        machine=machine,
        characteristics=characteristics,
        is_64_bit=is_64_bit,
        optional_offset=optional,
        optional_bytes=optional_bytes,
        entry=entry,
        base=base,
        section_alignment=section_alignment,
        file_alignment=file_alignment,
        memory_bytes=memory_bytes,
        headers_bytes=headers_bytes,
        subsystem=subsystem,
        dll_characteristics=dll_characteristics,
        directories=_directories(data, optional, fixed, optional_bytes),
        sections=_sections(data, optional + optional_bytes, n_sections, header + 6),
    )
    _check_sizes(image)
    _check_overlaps(image)
    _check_certificates(image)
    return image


def _need(data: bytes, offset: int, length: int, what: str) -> None:
    if offset + length > len(data):
        rule = f"{what} takes {length:#x} bytes, and the data end at {len(data):#x}"
        raise MalformedError(offset, rule, _CUT)


def _find_header(data: bytes) -> int:
    if data[:2] == b"VZ":
        rule = "a terse executable (TE), which firmware volumes hold"
        raise MalformedError(0, rule, "take the PE image that it was made of")
    if data[:4] == b"\x7fELF":
        raise MalformedError(0, "an ELF file, not a PE image", "link for a PE target")
    if data[:2] != b"MZ":
        raise MalformedError(0, "no PE image: it does not begin with MZ", "name an .efi file")
    _need(data, 0, DOS_BYTES, "the DOS header")
    header: int = struct.unpack_from("<I", data, DOS_BYTES - 4)[0]
    if header < DOS_BYTES or header % 4:  # Windows asks for 4, and UEFI's loaders read it as words
        rule = f"offset of the PE header is {header:#x}: below {DOS_BYTES:#x}, or no multiple of 4"
        raise MalformedError(DOS_BYTES - 4, rule, _BUILD)
    _need(data, header, 4, "the PE signature")
    if data[header : header + 4] != b"PE\0\0":
        rule = "no PE signature: a DOS program, or another kind of file that begins with MZ"
        raise MalformedError(header, rule, "name an .efi file")
    return header


def _directories(data: bytes, optional: int, fixed: int, size: int) -> tuple[Directory, ...]:
    count = struct.unpack_from("<I", data, optional + fixed - 4)[0]
    if count > MOST_DIRECTORIES:
        rule = f"{count} data directories; the format has {MOST_DIRECTORIES}"
        raise MalformedError(optional + fixed - 4, rule, _BUILD)
    if fixed + 8 * count > size:
        rule = f"{count} data directories do not fit into an optional header of {size} bytes"
        raise MalformedError(optional + fixed - 4, rule, _BUILD)
    begin = optional + fixed
    pairs = enumerate(struct.iter_unpack("<II", data[begin : begin + 8 * count]))
    return tuple(Directory(address, length, begin + 8 * i) for i, (address, length) in pairs)


def _sections(data: bytes, table: int, count: int, count_offset: int) -> tuple[Section, ...]:
    if not 1 <= count <= MOST_SECTIONS:
        rule = f"{count} sections; an image has 1 to {MOST_SECTIONS}"
        raise MalformedError(count_offset, rule, _BUILD)
    _need(data, table, SECTION_BYTES * count, "the section table")
    return tuple(_section(data, table + SECTION_BYTES * i) for i in range(count))


def _section(data: bytes, at: int) -> Section:
    name, memory, address, size, offset = struct.unpack_from("<8sIIII", data, at)
    flags = struct.unpack_from("<I", data, at + 36)[0]
    text = name.rstrip(b"\0").decode("latin-1")
    section = Section(text, address, memory, offset, size, flags, at)
    if size and section.file_end > len(data):
        rule = f"section {text!r} ends at {section.file_end:#x}, the data at {len(data):#x}"
        raise MalformedError(at + 16, rule, _CUT)
    return section


def _check_sizes(image: Image) -> None:
    place = image.optional_offset
    table_end = image.sections_offset + SECTION_BYTES * len(image.sections)
    if not table_end <= image.headers_bytes <= len(image.data):
        rule = (
            f"SizeOfHeaders is {image.headers_bytes:#x}; headers end at {table_end:#x}, "
            f"the data at {len(image.data):#x}"
        )
        raise MalformedError(place + 60, rule, _BUILD)
    for alignment, offset, name in (
        (image.section_alignment, place + 32, "SectionAlignment"),
        (image.file_alignment, place + 36, "FileAlignment"),
    ):
        if alignment == 0 or alignment & (alignment - 1):
            rule = f"{name} is {alignment:#x}, which is no power of two"
            raise MalformedError(offset, rule, _BUILD)
    if image.headers_bytes > image.memory_bytes:
        rule = f"SizeOfImage is {image.memory_bytes:#x}, below SizeOfHeaders"
        raise MalformedError(place + 56, rule, _BUILD)
    for section in image.sections:
        if section.memory_end > image.memory_bytes:
            rule = (
                f"section {section.name!r} ends at address {section.memory_end:#x}, "
                f"SizeOfImage is {image.memory_bytes:#x}"
            )
            raise MalformedError(section.header_offset + 8, rule, _BUILD)
    if image.entry >= image.memory_bytes:
        rule = f"entry point {image.entry:#x} lies behind SizeOfImage {image.memory_bytes:#x}"
        raise MalformedError(place + 16, rule, _BUILD)


def _check_overlaps(image: Image) -> None:
    """Bytes of the file belong to one section: else tools and firmware differ over the hash."""
    end, what = image.headers_bytes, "the headers"
    for section in sorted(
        (s for s in image.sections if s.file_bytes), key=lambda s: (s.file_offset, s.file_end)
    ):
        if section.file_offset < end:
            rule = (
                f"section {section.name!r} begins at {section.file_offset:#x} of the file, "
                f"inside {what}"
            )
            raise MalformedError(section.header_offset + 20, rule, _BUILD)
        end, what = section.file_end, f"section {section.name!r}"
    end, what = image.headers_bytes, "the headers"
    for section in sorted(image.sections, key=lambda s: (s.address, s.memory_end)):
        if section.memory_end == section.address:
            continue
        if section.address < end:
            rule = f"section {section.name!r} begins at address {section.address:#x}, inside {what}"
            raise MalformedError(section.header_offset + 12, rule, _BUILD)
        end, what = section.memory_end, f"section {section.name!r}"


def _check_certificates(image: Image) -> None:
    """PE, "The Attribute Certificate Table": behind all sections, aligned to 8 bytes."""
    found = image.directory(DIRECTORY_CERTIFICATES)
    if found is None:
        return
    if found.address < image.file_end or found.address + found.size_bytes > len(image.data):
        rule = (
            f"certificates at {found.address:#x}, {found.size_bytes:#x} bytes; sections end at "
            f"{image.file_end:#x}, the data at {len(image.data):#x}"
        )
        raise MalformedError(found.header_offset, rule, "sign the image again")
    for _ in certificates(image):  # their lengths add up
        pass


def certificates(image: Image) -> Iterator[Certificate]:
    """The certificates of an image, in order; each begins at a multiple of 8 bytes."""
    found = image.directory(DIRECTORY_CERTIFICATES)
    if found is None:
        return
    at, end = found.address, found.address + found.size_bytes
    while at < end:
        if at + 8 > end:
            raise MalformedError(at, "a certificate is cut short", "sign the image again")
        length, kind = struct.unpack_from("<I2xH", image.data, at)
        if length < 8 or at + length > end:
            rule = f"certificate of {length:#x} bytes; {end - at:#x} are left in its table"
            raise MalformedError(at, rule, "sign the image again")
        yield Certificate(at, length, kind)
        at += (length + 7) & ~7


def bytes_at(image: Image, address: int, length: int) -> bytes:
    """Return the bytes that a loader puts at an address of the image; behind file data are zeros.

    They lie in one section, or in the headers.
    """
    if address >= 0 and address + length <= image.headers_bytes:
        return image.data[address : address + length]
    for section in image.sections:
        if section.address <= address and address + length <= section.memory_end:
            skip = address - section.address
            have = image.data[section.file_offset : section.file_offset + section.loaded_bytes]
            return have[skip : skip + length].ljust(length, b"\0")
    rule = f"{length:#x} bytes at address {address:#x} lie in no section"
    raise MalformedError(image.optional_offset, rule, _BUILD)


def file_offset(image: Image, address: int) -> int | None:
    """Return the place in the file of an address of the image; None if it is in none."""
    if 0 <= address < image.headers_bytes:
        return address
    for section in image.sections:
        if section.address <= address < section.address + section.loaded_bytes:
            return section.file_offset + address - section.address
    return None


def memory(image: Image, most_bytes: int = MOST_MEMORY_BYTES) -> bytearray:
    """Return the image as a loader lays it out, not relocated."""
    if image.memory_bytes > most_bytes:
        rule = f"SizeOfImage is {image.memory_bytes:#x}; more than {most_bytes:#x} is not loaded"
        raise MalformedError(image.optional_offset + 56, rule, _BUILD)
    loaded = bytearray(image.memory_bytes)
    loaded[: image.headers_bytes] = image.data[: image.headers_bytes]
    for section in image.sections:
        source = section.file_offset
        part = image.data[source : source + section.loaded_bytes]
        loaded[section.address : section.address + len(part)] = part
    return loaded


def relocations(image: Image) -> Iterator[Relocation]:
    """The base relocations, in the order of their table; padding entries are left out.

    PE, "The .reloc Section (Image Only)". An entry must name an address within the image.
    """
    found = image.directory(DIRECTORY_RELOCATIONS)
    if found is None:
        return
    place = found.header_offset
    try:
        table = bytes_at(image, found.address, found.size_bytes)
    except MalformedError as error:
        raise MalformedError(place, f"relocation table: {error.rule}", _BUILD) from None
    at = 0
    while at < len(table):
        where = file_offset(image, found.address + at) or place
        if at + 8 > len(table):
            raise MalformedError(where, "a block of relocations is cut short", _BUILD)
        page, size = struct.unpack_from("<II", table, at)
        if size < 8 or size % 2 or at + size > len(table):
            rule = f"block of relocations of {size:#x} bytes; {len(table) - at:#x} are left"
            raise MalformedError(where, rule, _BUILD)
        for entry_at in range(at + 8, at + size, 2):
            entry = struct.unpack_from("<H", table, entry_at)[0]
            kind, address = entry >> 12, page + (entry & 0xFFF)
            if kind == RELOC_ABSOLUTE:
                continue
            if address + (8 if kind == RELOC_DIR64 else 4) > image.memory_bytes:
                rule = f"relocation of address {address:#x}, behind the image"
                raise MalformedError(where + entry_at - at, rule, _BUILD)
            yield Relocation(address, kind, found.address + entry_at)
        at += size


def authenticode_ranges(image: Image) -> tuple[tuple[int, int], ...]:
    """The parts of the file, as (begin, end), that the Authenticode hash is made of.

    Authenticode, "Calculating the PE Image Hash": headers without checksum and without the line of
    the certificate table; sections by their place in the file; then all bytes from the count that
    was hashed so far to the certificates. The count is used as an offset there. If the file has
    gaps between its parts, that offset lies before the end of the last section; firmware, sbsign
    and this function then hash the same bytes twice and others never.
    """
    line = image.checksum_offset
    ranges = [(0, line)]
    begin = line + 4
    if len(image.directories) > DIRECTORY_CERTIFICATES:
        entry = image.directories[DIRECTORY_CERTIFICATES].header_offset
        ranges.append((begin, entry))
        begin = entry + 8
    ranges.append((begin, image.headers_bytes))
    count = image.headers_bytes
    for section in sorted(image.sections, key=lambda s: s.file_offset):
        if section.file_bytes:
            ranges.append((section.file_offset, section.file_end))
            count += section.file_bytes
    certificate = image.directory(DIRECTORY_CERTIFICATES)
    end = len(image.data) - (certificate.size_bytes if certificate else 0)
    if count < end:
        ranges.append((count, end))
    return tuple(ranges)


def gaps(image: Image) -> tuple[tuple[int, int], ...]:
    """The parts of the file, as (begin, end), between headers and sections that no hash covers."""
    found = []
    end = image.headers_bytes
    for section in sorted((s for s in image.sections if s.file_bytes), key=lambda s: s.file_offset):
        if section.file_offset > end:
            found.append((end, section.file_offset))
        end = section.file_end
    return tuple(found)


def authenticode(image: Image, algorithm: str = "sha256") -> bytes:
    """Return the Authenticode hash: what signatures sign, and db and dbx list."""
    digest = hashlib.new(algorithm)
    view = memoryview(image.data)
    for begin, end in authenticode_ranges(image):
        digest.update(view[begin:end])
    return digest.digest()
