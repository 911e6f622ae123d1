# SPDX-License-Identifier: MIT
"""The rules that an option ROM keeps or breaks, each with its place and its source.

Functions of a ROM that is read. A violation is of a specification, or keeps firmware from loading
an image; advice is the rest. Sources are named as follows.

FW: PCI Firmware Specification 3.0, 2005. PCI: PCI Local Bus Specification 3.0, 2004.
UEFI: UEFI Specification 2.10, 2022. PE: Microsoft, "PE Format", 2024.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.firmware import oprom, signatures, vendor_tables
from everycore.firmware.findings import Finding, Level, Place, Rule
from everycore.firmware.oprom import UNIT, Driver, Rom, RomImage
from everycore.firmware.sarif import Inspected

VIOLATION, ADVICE = Level.ERROR, Level.NOTE
LEAST_BYTES = 4096  # EDK2 on QEMU ignores ROMs of 1 and 2 KiB
PAGE_BYTES = 4096
NO_VENDOR = (0x0000, 0xFFFF)
REVISIONS = {0: oprom.PCIR_BYTES, 3: oprom.PCIR_3_BYTES}  # and the length that each asks for
BLANK = (0x00, 0xFF)
REMEDY = "make the bytes as expected: build the image anew, or change it with everycore rom"

FW_HEADER, FW_PCIR = "FW 5.1.1", "FW 5.1.2"
FW_BIOS, UEFI_ROM = "FW 5.2.1", "UEFI 14.4.21"
UEFI_IMAGE = "UEFI 2.1.1"
UEFI_ATTRIBUTES, UEFI_HASH, UEFI_SIGNATURES = "UEFI 2.3", "UEFI 32.2.3", "UEFI 32.2.4"
LINUX = "Linux, drivers/gpu/drm"
PCI_IDS, PCI_ROM_SIZE = "PCI 6.2.1", "PCI 6.2.5.2"


@dataclass(frozen=True, slots=True)
class DeviceIds:
    """The ids that a device has itself, to compare with its ROM."""

    vendor: int
    device: int
    class_code: int


def check(rom: Rom, drivers: Sequence[Driver], ids: DeviceIds | None = None) -> list[Finding]:
    """Every finding of a ROM, in the order of its images; `drivers`: of its EFI images."""
    found = list(_chain(rom))
    by_number = {driver.image.number: driver for driver in drivers}
    for image in rom.images:
        found += _header(image)
        if image.pci is None:
            continue
        found += _pci_data(image)
        if image.pci.code == oprom.CODE_BIOS:
            found += _bios(image)
        if image.efi is not None:
            found += _efi(image)
            if driver := by_number.get(image.number):
                found += _driver(driver)
    found += _between(rom)
    found += _around(rom)
    found += _tables(rom)
    if ids is not None:
        found += _device(rom, ids)
    return found


def comparison(one: Finding) -> str:
    """Return what a finding of a ROM expects, and what is there."""
    return f"expected {one.rule.remedy}; found {one.evidence}"


def inspected(name: str, findings: Sequence[Finding]) -> Inspected:
    """A ROM as SARIF has it."""
    told = [replace(one, evidence=comparison(one)) for one in findings]
    return Inspected(name, name, told)


def broken(roms: Iterable[Inspected]) -> list[Rule]:
    """The rules of some findings, each once; what is expected is another for each finding."""
    rules = {one.rule.name: one.rule for rom in roms for one in rom.findings}
    return [replace(rule, remedy=REMEDY) for rule in rules.values()]


def _finding(
    level: Level,
    rule: str,
    image: RomImage | None,
    offset: int,
    text: str,
    expected: str,
    found: str,
    section: str,
) -> Finding:
    place = Place(offset=offset, image=image.number if image else None)
    return Finding(Rule(rule, level, text, section, expected), place, found)


_violation = partial(_finding, VIOLATION)
_advice = partial(_finding, ADVICE)


# ---- The chain of images


def _chain(rom: Rom) -> Iterator[Finding]:
    last = rom.images[-1]
    if isinstance(rom.fault, oprom.UnmarkedError):
        # LoadOpRomImage of EDK2's PciBusDxe goes on by 512 bytes up to the end of the ROM.
        yield _violation(
            *("last-unmarked", last, rom.fault.offset),
            f"{rom.fault.rule}. EDK2 accepts this and searches the ROM to its end. Other firmware "
            "need not: the specification gives the chain no other end than the mark",
            *(f"bit {oprom.LAST:#04x} set in the last image", "in none", FW_PCIR),
        )
    elif rom.fault is not None:
        yield _violation(
            *("chain", last, rom.fault.offset, rom.fault.rule),
            *("images up to one that is marked last", "a chain that breaks", FW_PCIR),
        )
    for at in rom.hidden[:1]:
        yield _violation(
            *("image-behind-last", None, at, "an image behind the one that is marked last"),
            *("none: firmware does not look there", f"headers: {len(rom.hidden)}", FW_PCIR),
        )
    for image in rom.images:
        if image.gap:
            yield _advice(
                *("gap", image, image.end, "the next image does not follow at once"),
                *(f"an image at {image.end:#x}", f"at {image.end + len(image.gap):#x}", FW_HEADER),
            )


def _header(image: RomImage) -> Iterator[Finding]:
    if image.pci is not None:
        if image.pci.offset % 4:
            yield _violation(
                *("pcir-alignment", image, image.offset + 0x18),
                "EDK2 stops here if the PCI data structure is not aligned",
                *("a multiple of 4", f"{image.pci.offset:#x}", FW_HEADER),
            )
        if image.pci.offset < oprom.HEADER_BYTES:
            yield _violation(
                *("pcir-overlap", image, image.offset + 0x18),
                "the PCI data structure overlaps the header",
                *(f"at least {oprom.HEADER_BYTES:#x}", f"{image.pci.offset:#x}", FW_HEADER),
            )
        if image.pci.offset + image.pci.length_bytes > len(image.data):
            yield _violation(
                *("pcir-outside", image, image.offset + 0x18),
                "the PCI data structure does not end within the image",
                f"at most {len(image.data):#x}",
                f"{image.pci.offset + image.pci.length_bytes:#x}",
                FW_PCIR,
            )
        return
    pointer = int.from_bytes(image.data[0x18:0x1A], "little")
    yield _violation(
        *("pcir-missing", image, image.offset + 0x18),
        "no PCI data structure: an image for ISA, which PCI firmware does not run",
        *("a pointer to PCIR", f"{pointer:#x}", FW_HEADER),
    )


# ---- The PCI data structure


def _pci_data(image: RomImage) -> Iterator[Finding]:
    pci = image.pci
    assert pci is not None
    at = image.offset + pci.offset
    if pci.revision not in REVISIONS:
        yield _advice(
            *("pcir-revision", image, at + 12, "an unknown revision"),
            *("0 or 3", str(pci.revision), FW_PCIR),
        )
    need = REVISIONS.get(pci.revision, oprom.PCIR_3_BYTES if pci.revision > 3 else 0)
    if pci.length_bytes < max(need, oprom.PCIR_BYTES):
        yield _violation(
            *("pcir-length", image, at + 10, "the structure is shorter than its revision"),
            *(f"at least {max(need, oprom.PCIR_BYTES):#x}", f"{pci.length_bytes:#x}", FW_PCIR),
        )
    if pci.revision == 0 and pci.length_bytes > oprom.PCIR_BYTES:
        yield _advice(
            *("pcir-length", image, at + 10, "the structure is longer than its revision"),
            *(f"{oprom.PCIR_BYTES:#x}", f"{pci.length_bytes:#x}", FW_PCIR),
        )
    if pci.vendor in NO_VENDOR:
        yield _violation(
            *("vendor-none", image, at + 4, "the id is no vendor's: no device has it"),
            *("the vendor id of the device", f"{pci.vendor:04x}", PCI_IDS),
        )
    if pci.indicator & 0x7F:
        yield _advice(
            *("indicator-reserved", image, at + 21, "reserved bits of the indicator are set"),
            *("0x00 or 0x80", f"{pci.indicator:#04x}", FW_PCIR),
        )
    if pci.code not in oprom.CODES:
        yield _advice(
            *("code-type", image, at + 20, "a reserved code type; firmware skips the image"),
            *("0 to 3", str(pci.code), FW_PCIR),
        )
    try:
        oprom.device_list(image)
    except MalformedError as error:
        yield _violation(
            *("device-list", image, error.offset, error.rule),
            *("a list that ends with 0", "one without end", FW_PCIR),
        )


def _bios(image: RomImage) -> Iterator[Finding]:
    size = image.init_units * UNIT
    if size == 0:
        yield _violation(
            *("init-size", image, image.offset + 2, "the image has no length to be loaded"),
            *("1 or more", "0", FW_BIOS),
        )
    elif size > len(image.data):
        yield _violation(
            *("init-size", image, image.offset + 2, "the length to load goes beyond the image"),
            *(f"at most {len(image.data):#x}", f"{size:#x}", FW_BIOS),
        )
    elif image.checksum:
        yield _violation(
            *("checksum", image, image.offset + size - 1, "the bytes of the image do not add to 0"),
            *("0x00", f"{image.checksum:#04x}", FW_BIOS),
        )


# ---- EFI images


def _efi(image: RomImage) -> Iterator[Finding]:
    efi, pci = image.efi, image.pci
    assert efi is not None
    assert pci is not None
    at = image.offset
    if efi.signature != oprom.EFI_SIGNATURE:
        yield _violation(
            *("efi-signature", image, at + 4, "firmware skips the image"),
            *(f"{oprom.EFI_SIGNATURE:#010x}", f"{efi.signature:#010x}", UEFI_ROM),
        )
    if efi.subsystem not in (pe.EFI_BOOT_DRIVER, pe.EFI_RUNTIME_DRIVER):
        yield _violation(
            *("efi-subsystem", image, at + 8, "firmware loads only drivers from option ROMs"),
            *("11 or 12", str(efi.subsystem), UEFI_ROM),
        )
    if efi.machine not in pe.MACHINES:
        yield _advice(
            *("efi-machine", image, at + 10, "an unknown machine"),
            *("a machine type of PE", f"{efi.machine:#06x}", UEFI_IMAGE),
        )
    if any(efi.reserved):
        yield _advice(
            *("efi-reserved", image, at + 14, "reserved bytes of the header are set"),
            *("zeros", efi.reserved.hex(), UEFI_ROM),
        )
    begin, end = pci.offset, pci.offset + pci.length_bytes
    if efi.driver_offset < oprom.HEADER_BYTES or begin <= efi.driver_offset < end:
        yield _violation(
            *("efi-overlap", image, at + 0x16, "the driver overlaps a header"),
            *("an offset behind both headers", f"{efi.driver_offset:#x}", UEFI_ROM),
        )
    elif efi.driver_offset < begin < efi.init_units * UNIT:
        yield _violation(
            *("efi-overlap", image, at + 0x18, "the PCI data structure lies in the driver"),
            *("one before the driver, or behind it", f"{begin:#x}", UEFI_ROM),
        )


def _driver(driver: Driver) -> Iterator[Finding]:
    image = driver.image
    if driver.fault is not None:
        fault = driver.fault
        found = _violation(
            *("driver", image, fault.offset, fault.rule),
            *("a driver that can be read", "one that cannot", UEFI_ROM),
        )
        yield replace(found, place=replace(found.place, part=driver.fault_place))
    if driver.pe is not None:
        for finding in pe_findings(driver.pe, image):
            yield _placed(finding, driver)


def _placed(finding: Finding, driver: Driver) -> Finding:
    """A finding of a PE image, at its place in the file if that image is not compressed."""
    efi, offset = driver.image.efi, finding.place.offset
    assert efi is not None
    assert offset is not None
    if efi.compression == oprom.COMPRESSED:
        place = replace(finding.place, part="decompressed driver")
    else:
        offset += driver.image.offset + efi.driver_offset
        place = replace(finding.place, offset=offset)
    return replace(finding, place=place)


def pe_findings(image: pe.Image, within: RomImage | None = None) -> Iterator[Finding]:
    """The findings of a PE image; `within`: the image of a ROM whose header is compared."""
    efi = within.efi if within else None
    if efi is not None and efi.machine != image.machine:
        yield _violation(
            *("machine-differs", within, image.machine_offset),
            "the header of the ROM's image names another machine than the driver",
            *(f"{efi.machine:#06x}", f"{image.machine:#06x}", UEFI_ROM),
        )
    if efi is not None and efi.subsystem != image.subsystem:
        yield _violation(
            *("subsystem-differs", within, image.subsystem_offset),
            "the header of the ROM's image names another subsystem than the driver",
            *(str(efi.subsystem), str(image.subsystem), UEFI_ROM),
        )
    if image.is_too_narrow:
        yield _violation(
            *("pe-format", within, image.optional_offset),
            f"the driver is PE32, and UEFI's images for {image.machine_name} are PE32+",
            *(f"{pe.MAGIC_PE32_PLUS:#06x}", f"{pe.MAGIC_PE32:#06x}", UEFI_IMAGE),
        )
    yield from _relocations(image, within)
    if image.section_alignment < PAGE_BYTES:
        yield _advice(
            *("section-alignment", within, image.optional_offset + 32),
            "sections share pages, so that firmware cannot protect code from writes",
            *(f"at least {PAGE_BYTES:#x}", f"{image.section_alignment:#x}", UEFI_ATTRIBUTES),
        )
    if not image.is_nx_compatible:
        yield _advice(
            *("nx-compatible", within, image.optional_offset + 70),
            "not marked NX_COMPAT: firmware that asks for it refuses the driver",
            *("bit 8 set", f"{image.dll_characteristics:#06x}", "PE, DLL characteristics"),
        )
    for section in image.sections:
        if section.is_writable and section.is_executable:
            yield _advice(
                *("writable-code", within, section.header_offset + 36),
                f"section {section.name!r} is writable and executable",
                *("one of the two", f"{section.flags:#010x}", "PE, section flags"),
            )
    signature = image.directory(pe.DIRECTORY_CERTIFICATES)
    if signature is not None and signature.address + signature.size_bytes < len(image.data):
        end = signature.address + signature.size_bytes
        yield _violation(
            *("signature-padding", within, end),
            "bytes behind the signature: firmware hashes others than were signed",
            *("none", f"{len(image.data) - end:#x} bytes", UEFI_HASH),
        )
    yield from _signatures(image, within)
    for begin, end in pe.gaps(image):
        yield _advice(
            *("hash-gap", within, begin, "bytes between sections, which the hash leaves out"),
            *("sections that follow each other", f"{end - begin:#x} bytes", UEFI_HASH),
        )


def _signatures(image: pe.Image, within: RomImage | None) -> Iterator[Finding]:
    for one, text in signatures.problems(image):
        if one.problem:
            yield _advice(
                *("signature-unread", within, one.offset, text),
                *("a PKCS #7 signature of an image's hash", "another certificate", UEFI_SIGNATURES),
            )
        else:
            # Any certificate may let firmware load the image, if it is for this image.
            severity = _advice if signatures.read(image).is_for_this else _violation
            yield severity(
                *("signature-differs", within, one.offset, text),
                *(one.own.hex(), one.digest.hex(), UEFI_HASH),
            )


def _relocations(image: pe.Image, within: RomImage | None) -> Iterator[Finding]:
    try:
        count = sum(1 for _ in pe.relocations(image))
    except MalformedError as error:
        yield _violation(
            *("relocations", within, error.offset, error.rule),
            *("a table that can be read", "one that cannot", "PE, .reloc"),
        )
        return
    if image.has_stripped_relocations:
        yield _violation(
            *("relocations", within, image.header_offset + 22),
            "relocations are stripped: firmware loads it at one address only, or not at all",
            *("bit 0 clear", f"{image.characteristics:#06x}", UEFI_IMAGE),
        )
    elif count == 0:
        yield _advice(
            *("relocations", within, image.header_offset + 22),
            "no relocations: right only for code that holds no address at all",
            *("1 or more", "0", UEFI_IMAGE),
        )


# ---- The ROM


def _between(rom: Rom) -> Iterator[Finding]:
    """Differences between images that belong to one device."""
    first = rom.images[0].pci
    if first is None:
        return
    for image in rom.images[1:]:
        pci = image.pci
        if pci is None:
            continue
        ids, own = (first.vendor, first.device), (pci.vendor, pci.device)
        if ids != own:
            yield _advice(
                *("ids-differ", image, image.offset + pci.offset + 4),
                "other ids than the first image: right only if the ROM serves several devices",
                *("{:04x}:{:04x}".format(*ids), "{:04x}:{:04x}".format(*own), FW_PCIR),
            )
        if pci.class_code != first.class_code:
            yield _advice(
                *("class-differs", image, image.offset + pci.offset + 13),
                "another class than the first image",
                *(f"{first.class_code:06x}", f"{pci.class_code:06x}", FW_PCIR),
            )


def _around(rom: Rom) -> Iterator[Finding]:
    size = len(rom.data) - rom.start
    images = rom.end - rom.start
    if rom.prefix[:2] == b"\x55\xaa":
        # LoadOpRomImage of EDK2's PciBusDxe ends at the first pointer that leads nowhere.
        yield _violation(
            *("pcir-missing", None, 0x18),
            "the header at 0x0 leads to no PCI data structure, and firmware looks no further",
            *("an offset of PCIR", f"{int.from_bytes(rom.prefix[0x18:0x1A], 'little'):#x}"),
            FW_HEADER,
        )
    elif rom.start:
        yield _advice(
            *("prefix", None, 0, "data before the first image: a dump of a flash, not a ROM"),
            *("an image at 0x0", f"at {rom.start:#x}", FW_HEADER),
        )
    tail = rom.tail
    if tail and not rom.hidden and (tail[0] not in BLANK or tail.count(tail[:1]) != len(tail)):
        yield _advice(
            *("tail", None, rom.end, "data behind the last image"),
            *("none, or bytes of 00 or of ff", f"{len(tail):#x} bytes", FW_HEADER),
        )
    if size < LEAST_BYTES:
        yield _violation(
            *("rom-size", None, rom.start, "EDK2 on QEMU ignores ROMs below 4 KiB"),
            *(f"at least {LEAST_BYTES:#x}", f"{size:#x}", PCI_ROM_SIZE),
        )
    elif size & (size - 1):
        yield _advice(
            *("rom-size", None, rom.start, "the size is no power of two, as that of a flash is"),
            *(f"{1 << (size - 1).bit_length():#x}", f"{size:#x}", PCI_ROM_SIZE),
        )
    if images > oprom.MOST_BYTES:
        yield _violation(
            *("rom-size", None, rom.start, "the images are larger than any ROM"),
            *(f"at most {oprom.MOST_BYTES:#x}", f"{images:#x}", UEFI_ROM),
        )


TABLE_RULES = ("tables-not-first", "tables-missing")


def _tables(rom: Rom) -> Iterator[Finding]:
    """Whether the drivers of Linux find the tables of a graphics card."""
    text = vendor_tables.missing(rom)
    if not text:
        return
    known = vendor_tables.find(rom)
    image = rom.images[known[0].image if known else 0]
    rule = TABLE_RULES[0] if known else TABLE_RULES[1]
    yield _advice(
        *(rule, image, image.offset, text),
        *("a BIOS image with the tables, as the first image", "another image", LINUX),
    )


def _device(rom: Rom, ids: DeviceIds) -> Iterator[Finding]:
    """Whether images name the device that holds them."""
    for image in rom.images:
        pci = image.pci
        if pci is None:
            continue
        try:
            devices = (pci.device, *oprom.device_list(image))
        except MalformedError:
            devices = (pci.device,)
        if pci.vendor != ids.vendor or ids.device not in devices:
            yield _advice(
                *("ids-of-device", image, image.offset + pci.offset + 4),
                "the image does not name the device that holds it: a BIOS does not run it",
                f"{ids.vendor:04x}:{ids.device:04x}",
                f"{pci.vendor:04x}:{pci.device:04x}",
                FW_PCIR,
            )


# ---- Whether a machine has a driver


# Violations with which EDK2 loads the image; those of signatures count under Secure Boot alone.
SIGNATURE_RULES = ("signature-differs", "signature-padding")
STILL_LOADED = ("vendor-none", "last-unmarked", *SIGNATURE_RULES)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether firmware of a machine finds a driver in the ROM."""

    machine: str
    works: bool
    text: str

    def line(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "type": "verdict",
            "machine": self.machine,
            "works": self.works,
            "text": self.text,
        }


NATIVE_FIRST = "edk2-stable202602"  # of EDK2, which looks for a native driver in all images first


def verdict(
    rom: Rom, drivers: Sequence[Driver], findings: Sequence[Finding], machine: str
) -> Verdict:
    """Answer whether the ROM has a driver that firmware of a machine loads."""
    native = [d for d in drivers if d.image.machine_name == machine]
    if not native:
        present = list(dict.fromkeys(d.image.machine_name for d in drivers))
        text = f"no driver for {machine}; EFI drivers in the ROM: {', '.join(present) or 'none'}"
        return Verdict(machine, False, text)
    violations = [f for f in findings if f.is_violation]
    broken = {f.place.image for f in violations if f.rule.name not in STILL_LOADED}
    of_rom = [f for f in violations if f.place.image is None]
    stop = next((f for f in of_rom if f.rule.name in ("rom-size", "pcir-missing")), None)
    if stop is not None:
        return Verdict(machine, False, f"firmware does not read the ROM: {stop.rule.text}")
    sound = [d for d in native if d.image.number not in broken and d.pe is not None]
    stops = [f.place.image for f in findings if f.rule.name == "pcir-alignment"]
    if numbers := [number for number in stops if number is not None]:
        sound = [d for d in sound if d.image.number < min(numbers)]
    if not sound:
        number = native[0].image.number
        return Verdict(machine, False, f"image {number} is for {machine}, and breaks rules above")
    image = sound[0].image
    text = f"image {image.number} is a driver for {machine}"
    others = [d.image.number for d in drivers if d.image.number < image.number]
    if others:
        order = [one.number for one in rom.images if one.number != image.number]
        order.insert(others[0], image.number)  # BIOS images stay where Linux's drivers want them
        text += (
            f"; firmware that emulates other machines, as EDK2 before {NATIVE_FIRST} can, takes "
            f"image {others[0]} before it: everycore rom reorder ROM {' '.join(map(str, order))}"
        )
    wrong = {f.place.image for f in violations if f.rule.name in SIGNATURE_RULES}
    if image.number in wrong:
        text += "; its signature is for another file, so that Secure Boot asks for its hash in db"
    if any(f.rule.name == "last-unmarked" for f in findings):
        text += "; no image is marked last, which EDK2 accepts: everycore rom set-last"
    if any(f.rule.name in TABLE_RULES for f in findings):
        text += "; but Linux's driver finds no tables, so that the screen stays dark after firmware"
    return Verdict(machine, True, text)
