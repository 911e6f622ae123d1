# SPDX-License-Identifier: MIT
"""Static rules of the PE image: functions of its headers."""

from collections.abc import Iterator

from everycore.binary import pe
from everycore.firmware import signatures
from everycore.firmware.efi.driver_rules import finding
from everycore.firmware.findings import Finding

PAGE = 4096
LARGE_BYTES = 1 << 20  # of memory without bytes in the file
LARGE_RATIO = 8
MACHINES = ("x86-64", "aarch64")  # that efi check knows
APPLIED = (pe.RELOC_ABSOLUTE, pe.RELOC_DIR64)


def check(image: pe.Image) -> list[Finding]:
    """All violations of the rules of headers and sections."""
    parts = (_subsystem, _format, _relocations, _protection, _size, _signatures)
    return [efi_finding for part in parts for efi_finding in part(image)]


def _subsystem(image: pe.Image) -> Iterator[Finding]:
    if image.subsystem not in (pe.EFI_BOOT_DRIVER, pe.EFI_RUNTIME_DRIVER):
        yield finding("pe-subsystem", None, f"subsystem {image.subsystem} ({image.subsystem_name})")


def _format(image: pe.Image) -> Iterator[Finding]:
    if image.is_too_narrow:
        text = f"the magic at {image.optional_offset:#x} is {pe.MAGIC_PE32:#06x}"
        yield finding("pe-format", None, f"{text}, not {pe.MAGIC_PE32_PLUS:#06x}")


def _relocations(image: pe.Image) -> Iterator[Finding]:
    # A missing table alone is no violation: an image without addresses in it needs none.
    if image.has_stripped_relocations:
        yield finding("pe-relocations", None, "the headers say that relocations are stripped")
    wrong = [relocation for relocation in pe.relocations(image) if relocation.kind not in APPLIED]
    if wrong:
        text = f"type {wrong[0].kind} at {wrong[0].address:#x}"
        yield finding("pe-relocation-type", wrong[0].address, text, len(wrong))


def _protection(image: pe.Image) -> Iterator[Finding]:
    if image.section_alignment % PAGE:
        text = f"aligned to {image.section_alignment:#x} bytes"
        yield finding("pe-section-alignment", None, text)
    for section in image.sections:
        if section.is_writable and section.is_executable:
            yield finding("pe-writable-code", section.address, f"section {section.name}")
    if not image.is_nx_compatible:
        yield finding(
            "pe-nx-compatible", None, f"DLL characteristics {image.dll_characteristics:#x}"
        )


def _size(image: pe.Image) -> Iterator[Finding]:
    memory, file = image.memory_bytes, len(image.data)
    if memory > file + LARGE_BYTES and memory > LARGE_RATIO * file:
        yield finding("pe-memory-size", None, f"{memory:,} bytes of memory, {file:,} of the file")


def _signatures(image: pe.Image) -> Iterator[Finding]:
    is_for_this = signatures.read(image).is_for_this
    for signature, text in signatures.problems(image):
        if signature.problem:
            yield finding("pe-signature-unread", None, text)
        elif not is_for_this:  # one that is for this image is enough
            yield finding("pe-signature-differs", None, text)
