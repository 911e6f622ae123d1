# SPDX-License-Identifier: MIT
"""The rules that an option ROM keeps or breaks, each with its place and its source.

Functions of a ROM that is read. A violation is of a specification, or keeps firmware from loading
an image; advice is the rest. Sources are named as follows.

FW: PCI Firmware Specification 3.0, 2005. PCI: PCI Local Bus Specification 3.0, 2004.
UEFI: UEFI Specification 2.10, 2022. PE: Microsoft, "PE Format", 2024.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.firmware import oprom, signatures, vendor_tables
from everycore.firmware.findings import CheckedFile, Finding, Level, Place, Rule
from everycore.firmware.oprom import UNIT, Driver, EfiHeader, PciData, Rom, RomImage

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

# The name of a rule and, if it is broken in several ways, a word for this one; the level; what is
# wrong; what is expected; the section. Empty: each finding has its own.
_E, _N = VIOLATION, ADVICE
_ROWS = (
    ("last-unmarked", _E, "", f"bit {oprom.LAST:#04x} set in the last image", FW_PCIR),
    ("chain", _E, "", "images up to one that is marked last", FW_PCIR),
    ("image-behind-last", _E, "an image behind the one that is marked last",
     "none: firmware does not look there", FW_PCIR),
    ("gap", _N, "the next image does not follow at once", "", FW_HEADER),
    ("pcir-alignment", _E, "EDK2 stops here if the PCI data structure is not aligned",
     "a multiple of 4", FW_HEADER),
    ("pcir-overlap", _E, "the PCI data structure overlaps the header",
     f"at least {oprom.HEADER_BYTES:#x}", FW_HEADER),
    ("pcir-outside", _E, "the PCI data structure does not end within the image", "", FW_PCIR),
    ("pcir-missing", _E, "no PCI data structure: an image for ISA, which PCI firmware does not run",
     "a pointer to PCIR", FW_HEADER),
    ("pcir-missing first", _E,
     "the header at 0x0 leads to no PCI data structure, and firmware looks no further",
     "an offset of PCIR", FW_HEADER),
    ("pcir-revision", _N, "an unknown revision", "0 or 3", FW_PCIR),
    ("pcir-length", _E, "the structure is shorter than its revision", "", FW_PCIR),
    ("pcir-length long", _N, "the structure is longer than its revision",
     f"{oprom.PCIR_BYTES:#x}", FW_PCIR),
    ("vendor-none", _E, "the id is no vendor's: no device has it", "the vendor id of the device",
     PCI_IDS),
    ("indicator-reserved", _N, "reserved bits of the indicator are set", "0x00 or 0x80", FW_PCIR),
    ("code-type", _N, "a reserved code type; firmware skips the image", "0 to 3", FW_PCIR),
    ("device-list", _E, "", "a list that ends with 0", FW_PCIR),
    ("init-size", _E, "the image has no length to be loaded", "1 or more", FW_BIOS),
    ("init-size beyond", _E, "the length to load goes beyond the image", "", FW_BIOS),
    ("checksum", _E, "the bytes of the image do not add to 0", "0x00", FW_BIOS),
    ("efi-signature", _E, "firmware skips the image", f"{oprom.EFI_SIGNATURE:#010x}", UEFI_ROM),
    ("efi-subsystem", _E, "firmware loads only drivers from option ROMs", "11 or 12", UEFI_ROM),
    ("efi-machine", _N, "an unknown machine", "a machine type of PE", UEFI_IMAGE),
    ("efi-reserved", _N, "reserved bytes of the header are set", "zeros", UEFI_ROM),
    ("efi-overlap", _E, "the driver overlaps a header", "an offset behind both headers", UEFI_ROM),
    ("efi-overlap inside", _E, "the PCI data structure lies in the driver",
     "one before the driver, or behind it", UEFI_ROM),
    ("driver", _E, "", "a driver that can be read", UEFI_ROM),
    ("machine-differs", _E, "the header of the ROM's image names another machine than the driver",
     "", UEFI_ROM),
    ("subsystem-differs", _E,
     "the header of the ROM's image names another subsystem than the driver", "", UEFI_ROM),
    ("pe-format", _E, "", f"{pe.MAGIC_PE32_PLUS:#06x}", UEFI_IMAGE),
    ("section-alignment", _N,
     "sections share pages, so that firmware cannot protect code from writes",
     f"at least {PAGE_BYTES:#x}", UEFI_ATTRIBUTES),
    ("nx-compatible", _N, "not marked NX_COMPAT: firmware that asks for it refuses the driver",
     "bit 8 set", "PE, DLL characteristics"),
    ("writable-code", _N, "", "one of the two", "PE, section flags"),
    ("signature-padding", _E,
     "bytes behind the signature: firmware hashes others than were signed", "none", UEFI_HASH),
    ("hash-gap", _N, "bytes between sections, which the hash leaves out",
     "sections that follow each other", UEFI_HASH),
    ("signature-unread", _N, "", "a PKCS #7 signature of an image's hash", UEFI_SIGNATURES),
    ("signature-differs", _E, "", "", UEFI_HASH),
    ("signature-differs beside", _N, "", "", UEFI_HASH),
    ("relocations", _E, "", "a table that can be read", "PE, .reloc"),
    ("relocations stripped", _E,
     "relocations are stripped: firmware loads it at one address only, or not at all",
     "bit 0 clear", UEFI_IMAGE),
    ("relocations none", _N, "no relocations: right only for code that holds no address at all",
     "1 or more", UEFI_IMAGE),
    ("ids-differ", _N,
     "other ids than the first image: right only if the ROM serves several devices", "", FW_PCIR),
    ("class-differs", _N, "another class than the first image", "", FW_PCIR),
    ("prefix", _N, "data before the first image: a dump of a flash, not a ROM", "an image at 0x0",
     FW_HEADER),
    ("tail", _N, "data behind the last image", "none, or bytes of 00 or of ff", FW_HEADER),
    ("rom-size", _E, "EDK2 on QEMU ignores ROMs below 4 KiB", f"at least {LEAST_BYTES:#x}",
     PCI_ROM_SIZE),
    ("rom-size odd", _N, "the size is no power of two, as that of a flash is", "", PCI_ROM_SIZE),
    ("rom-size large", _E, "the images are larger than any ROM", f"at most {oprom.MOST_BYTES:#x}",
     UEFI_ROM),
    ("tables-not-first", _N, "", "a BIOS image with the tables, as the first image", LINUX),
    ("tables-missing", _N, "", "a BIOS image with the tables, as the first image", LINUX),
    ("ids-of-device", _N,
     "the image does not name the device that holds it: a BIOS does not run it", "", FW_PCIR),
)  # fmt: skip
RULES = {
    key: Rule(key.split()[0], level, text, section, expected)
    for key, level, text, expected, section in _ROWS
}


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
        found += _pci_data(image, image.pci)
        if image.pci.code == oprom.CODE_BIOS:
            found += _bios(image)
        if image.efi is not None:
            found += _efi(image, image.efi, image.pci)
            if driver := by_number.get(image.number):
                found += _driver(driver, image.efi)
    found += _between(rom)
    found += _around(rom)
    found += _tables(rom)
    if ids is not None:
        found += _device(rom, ids)
    return found


def broken(roms: Iterable[CheckedFile]) -> list[Rule]:
    """The rules of some findings, each once; what is expected is another for each finding."""
    rules = {finding.rule.name: finding.rule for rom in roms for finding in rom.findings}
    return [replace(rule, remedy=REMEDY) for rule in rules.values()]


def _finding(
    rule: str,
    image: RomImage | None,
    offset: int,
    evidence: str,
    text: str = "",
    expected: str = "",
) -> Finding:
    """Return what breaks a rule; `text`, `expected`: of this finding, where the table has none."""
    known = RULES[rule]
    known = replace(known, text=text or known.text, remedy=expected or known.remedy)
    return Finding(known, Place(offset=offset, image=image.number if image else None), evidence)


# ---- The chain of images


def _chain(rom: Rom) -> Iterator[Finding]:
    last = rom.images[-1]
    if isinstance(rom.fault, oprom.UnmarkedError):
        # LoadOpRomImage of EDK2's PciBusDxe goes on by 512 bytes up to the end of the ROM.
        text = (
            f"{rom.fault.rule}. EDK2 accepts this and searches the ROM to its end. Other firmware "
            "need not: the specification gives the chain no other end than the mark"
        )
        yield _finding("last-unmarked", last, rom.fault.offset, "in none", text)
    elif rom.fault is not None:
        yield _finding("chain", last, rom.fault.offset, "a chain that breaks", rom.fault.rule)
    for at in rom.hidden[:1]:
        yield _finding("image-behind-last", None, at, f"headers: {len(rom.hidden)}")
    for image in rom.images:
        if image.gap:
            evidence = f"at {image.end + len(image.gap):#x}"
            expected = f"an image at {image.end:#x}"
            yield _finding("gap", image, image.end, evidence, expected=expected)


def _header(image: RomImage) -> Iterator[Finding]:
    at, pci = image.offset + 0x18, image.pci
    if pci is None:
        pointer = int.from_bytes(image.data[0x18:0x1A], "little")
        yield _finding("pcir-missing", image, at, f"{pointer:#x}")
        return
    if pci.offset % 4:
        yield _finding("pcir-alignment", image, at, f"{pci.offset:#x}")
    if pci.offset < oprom.HEADER_BYTES:
        yield _finding("pcir-overlap", image, at, f"{pci.offset:#x}")
    end = pci.offset + pci.length_bytes
    if end > len(image.data):
        expected = f"at most {len(image.data):#x}"
        yield _finding("pcir-outside", image, at, f"{end:#x}", expected=expected)


# ---- The PCI data structure


def _pci_data(image: RomImage, pci: PciData) -> Iterator[Finding]:
    at = image.offset + pci.offset
    if pci.revision not in REVISIONS:
        yield _finding("pcir-revision", image, at + 12, str(pci.revision))
    need = REVISIONS.get(pci.revision, oprom.PCIR_3_BYTES if pci.revision > 3 else 0)
    length, need = f"{pci.length_bytes:#x}", max(need, oprom.PCIR_BYTES)
    if pci.length_bytes < need:
        yield _finding("pcir-length", image, at + 10, length, expected=f"at least {need:#x}")
    if pci.revision == 0 and pci.length_bytes > oprom.PCIR_BYTES:
        yield _finding("pcir-length long", image, at + 10, length)
    if pci.vendor in NO_VENDOR:
        yield _finding("vendor-none", image, at + 4, f"{pci.vendor:04x}")
    if pci.indicator & 0x7F:
        yield _finding("indicator-reserved", image, at + 21, f"{pci.indicator:#04x}")
    if pci.code not in oprom.CODES:
        yield _finding("code-type", image, at + 20, str(pci.code))
    try:
        oprom.device_list(image)
    except MalformedError as error:
        yield _finding("device-list", image, error.offset, "one without end", error.rule)


def _bios(image: RomImage) -> Iterator[Finding]:
    size, at = image.init_units * UNIT, image.offset + 2
    if size == 0:
        yield _finding("init-size", image, at, "0")
    elif size > len(image.data):
        expected = f"at most {len(image.data):#x}"
        yield _finding("init-size beyond", image, at, f"{size:#x}", expected=expected)
    elif image.checksum:
        yield _finding("checksum", image, image.offset + size - 1, f"{image.checksum:#04x}")


# ---- EFI images


def _efi(image: RomImage, efi: EfiHeader, pci: PciData) -> Iterator[Finding]:
    at = image.offset
    if efi.signature != oprom.EFI_SIGNATURE:
        yield _finding("efi-signature", image, at + 4, f"{efi.signature:#010x}")
    if efi.subsystem not in (pe.EFI_BOOT_DRIVER, pe.EFI_RUNTIME_DRIVER):
        yield _finding("efi-subsystem", image, at + 8, str(efi.subsystem))
    if efi.machine not in pe.MACHINES:
        yield _finding("efi-machine", image, at + 10, f"{efi.machine:#06x}")
    if any(efi.reserved):
        yield _finding("efi-reserved", image, at + 14, efi.reserved.hex())
    begin, end = pci.offset, pci.offset + pci.length_bytes
    if efi.driver_offset < oprom.HEADER_BYTES or begin <= efi.driver_offset < end:
        yield _finding("efi-overlap", image, at + 0x16, f"{efi.driver_offset:#x}")
    elif efi.driver_offset < begin < efi.init_units * UNIT:
        yield _finding("efi-overlap inside", image, at + 0x18, f"{begin:#x}")


def _driver(driver: Driver, efi: EfiHeader) -> Iterator[Finding]:
    """Yield the findings of a driver, at places of the file if it is not compressed."""
    if (fault := driver.fault) is not None:
        found = _finding("driver", driver.image, fault.offset, "one that cannot", fault.rule)
        yield replace(found, place=replace(found.place, part=driver.fault_place))
    for found in pe_findings(driver.pe, driver.image) if driver.pe is not None else ():
        if efi.compression == oprom.COMPRESSED:
            place = replace(found.place, part="decompressed driver")
        else:
            base = driver.image.offset + efi.driver_offset
            place = replace(found.place, offset=base + (found.place.offset or 0))
        yield replace(found, place=place)


def pe_findings(image: pe.Image, within: RomImage | None = None) -> Iterator[Finding]:
    """The findings of a PE image; `within`: the image of a ROM whose header is compared."""
    efi, optional = within.efi if within else None, image.optional_offset
    if efi is not None and efi.machine != image.machine:
        own, expected = f"{image.machine:#06x}", f"{efi.machine:#06x}"
        yield _finding("machine-differs", within, image.machine_offset, own, expected=expected)
    if efi is not None and efi.subsystem != image.subsystem:
        own, expected = str(image.subsystem), str(efi.subsystem)
        yield _finding("subsystem-differs", within, image.subsystem_offset, own, expected=expected)
    if image.is_too_narrow:
        text = f"the driver is PE32, and UEFI's images for {image.machine_name} are PE32+"
        yield _finding("pe-format", within, optional, f"{pe.MAGIC_PE32:#06x}", text)
    yield from _relocations(image, within)
    if image.section_alignment < PAGE_BYTES:
        alignment = f"{image.section_alignment:#x}"
        yield _finding("section-alignment", within, optional + 32, alignment)
    if not image.is_nx_compatible:
        yield _finding("nx-compatible", within, optional + 70, f"{image.dll_characteristics:#06x}")
    for section in image.sections:
        if section.is_writable and section.is_executable:
            at, text = section.header_offset, f"section {section.name!r} is writable and executable"
            yield _finding("writable-code", within, at + 36, f"{section.flags:#010x}", text)
    signature = image.directory(pe.DIRECTORY_CERTIFICATES)
    if signature is not None:
        end = signature.address + signature.size_bytes
        if end < len(image.data):
            yield _finding("signature-padding", within, end, f"{len(image.data) - end:#x} bytes")
    yield from _signatures(image, within)
    for begin, end in pe.gaps(image):
        yield _finding("hash-gap", within, begin, f"{end - begin:#x} bytes")


def _signatures(image: pe.Image, within: RomImage | None) -> Iterator[Finding]:
    for signature, text in signatures.problems(image):
        if signature.problem:
            yield _finding(
                "signature-unread", within, signature.offset, "another certificate", text
            )
        else:
            # Any certificate may let firmware load the image, if it is for this image.
            beside = " beside" if signatures.read(image).is_for_this else ""
            rule, signed, own = (
                f"signature-differs{beside}",
                signature.digest.hex(),
                signature.own.hex(),
            )
            yield _finding(rule, within, signature.offset, signed, text, own)


def _relocations(image: pe.Image, within: RomImage | None) -> Iterator[Finding]:
    try:
        count = sum(1 for _ in pe.relocations(image))
    except MalformedError as error:
        yield _finding("relocations", within, error.offset, "one that cannot", error.rule)
        return
    at = image.header_offset + 22
    if image.has_stripped_relocations:
        yield _finding("relocations stripped", within, at, f"{image.characteristics:#06x}")
    elif count == 0:
        yield _finding("relocations none", within, at, "0")


# ---- The ROM


def _between(rom: Rom) -> Iterator[Finding]:
    """Differences between images that belong to one device."""
    first = rom.images[0].pci
    for image in rom.images[1:] if first else ():
        pci = image.pci
        if pci is None or first is None:
            continue
        at = image.offset + pci.offset
        if pci.ids != first.ids:
            yield _finding("ids-differ", image, at + 4, pci.ids, expected=first.ids)
        if pci.class_code != first.class_code:
            own, expected = f"{pci.class_code:06x}", f"{first.class_code:06x}"
            yield _finding("class-differs", image, at + 13, own, expected=expected)


def _around(rom: Rom) -> Iterator[Finding]:
    size, images = len(rom.data) - rom.start, rom.end - rom.start
    if rom.prefix[:2] == b"\x55\xaa":
        # LoadOpRomImage of EDK2's PciBusDxe ends at the first pointer that leads nowhere.
        pointer = int.from_bytes(rom.prefix[0x18:0x1A], "little")
        yield _finding("pcir-missing first", None, 0x18, f"{pointer:#x}")
    elif rom.start:
        yield _finding("prefix", None, 0, f"at {rom.start:#x}")
    tail = rom.tail
    if tail and not rom.hidden and (tail[0] not in BLANK or tail.count(tail[:1]) != len(tail)):
        yield _finding("tail", None, rom.end, f"{len(tail):#x} bytes")
    if size < LEAST_BYTES:
        yield _finding("rom-size", None, rom.start, f"{size:#x}")
    elif size & (size - 1):
        expected = f"{1 << (size - 1).bit_length():#x}"
        yield _finding("rom-size odd", None, rom.start, f"{size:#x}", expected=expected)
    if images > oprom.MOST_BYTES:
        yield _finding("rom-size large", None, rom.start, f"{images:#x}")


TABLE_RULES = ("tables-not-first", "tables-missing")


def _tables(rom: Rom) -> Iterator[Finding]:
    """Whether the drivers of Linux find the tables of a graphics card."""
    text = vendor_tables.missing(rom)
    if not text:
        return
    known = vendor_tables.find(rom)
    image = rom.images[known[0].image if known else 0]
    rule = TABLE_RULES[0] if known else TABLE_RULES[1]
    yield _finding(rule, image, image.offset, "another image", text)


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
            at, expected = image.offset + pci.offset + 4, f"{ids.vendor:04x}:{ids.device:04x}"
            yield _finding("ids-of-device", image, at, pci.ids, expected=expected)


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
        order = [
            other_image.number for other_image in rom.images if other_image.number != image.number
        ]
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


# ---- What is told of a ROM


@dataclass(frozen=True, slots=True)
class CheckedRom(CheckedFile):
    """A ROM with its findings. is_strict: advice counts as violations do."""

    verdict: Verdict | None
    is_strict: bool

    @property
    def has_violations(self) -> bool:
        is_broken = any(self.is_strict or finding.is_violation for finding in self.findings)
        return is_broken or (self.verdict is not None and not self.verdict.works)

    def sarif_findings(self) -> list[Finding]:
        return [replace(finding, evidence=_comparison(finding)) for finding in self.findings]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each finding with its place and source, their counts, the verdict."""
        if self.findings:
            yield "bold", self.name
        for finding in self.findings:
            style = "bold red" if finding.is_violation else ""
            yield style, f"{_severity(finding)}: {finding.rule.text} [{finding.rule.name}]"
            image = "" if finding.place.image is None else f"image {finding.place.image}, "
            within = f" of {finding.place.part}" if finding.place.part else ""
            place = f"{image}offset {finding.place.offset:#x}{within}"
            yield "", f"    {place}: {_comparison(finding)} ({finding.rule.basis})"
        n_violations = sum(finding.is_violation for finding in self.findings)
        n_advice = len(self.findings) - n_violations
        yield "", f"{self.name}: violations: {n_violations}, advice: {n_advice}"
        if self.verdict:
            answer = "works" if self.verdict.works else "does not work"
            yield "", f"{self.name}: {answer} on {self.verdict.machine}: {self.verdict.text}"

    def json_lines(self) -> Iterator[str]:
        """One object for each finding, and one for the verdict."""
        for finding in self.findings:
            line = {
                "type": "finding",
                "rule": finding.rule.name,
                "severity": _severity(finding),
                "image": finding.place.image,
                "offset": finding.place.offset,
                "offset_in": finding.place.part or "file",
                "text": finding.rule.text,
                "expected": finding.rule.remedy,
                "found": finding.evidence,
                "section": finding.rule.basis,
            }
            yield json.dumps({"file": self.name, **line})
        if self.verdict:
            yield json.dumps({"file": self.name, "type": "verdict", **asdict(self.verdict)})


def _severity(finding: Finding) -> str:
    return "violation" if finding.is_violation else "advice"


def _comparison(finding: Finding) -> str:
    return f"expected {finding.rule.remedy}; found {finding.evidence}"
