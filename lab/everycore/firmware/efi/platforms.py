# SPDX-License-Identifier: MIT
"""Machines as drivers meet them: where memory and devices are, and how each sees the other."""

from dataclasses import dataclass
from enum import StrEnum

from everycore.environment.errors import EverycoreError, unknown_name

PAGE = 4096
MIB = 1 << 20


class Translation(StrEnum):
    """How GetBarAttributes describes a BAR whose CPU and PCI addresses differ.

    UEFI 14.4 (GetBarAttributes): the range is that of the CPU, and CPU address plus offset is the
    PCI address. Some firmware follows ACPI 6.4, section 6.4.3.5.1, where the range is that of PCI
    and the CPU address is PCI address plus offset.
    """

    UEFI = "uefi"
    ACPI = "acpi"


@dataclass(frozen=True, slots=True)
class Platform:
    """A model of a machine.

    memory: the CPU address at which RAM begins. low_memory: RAM also lies below it, from 0.
    device_offset: device address of RAM minus its CPU address. bar_cpu, bar_pci: where the first
    device's registers are, for the CPU and on the bus. is_coherent: the CPU and devices see the
    same bytes at all times. most_map_bytes: what one Map of a streaming transfer covers at most.
    fixed: ranges (address, length) below `memory` that this firmware keeps for its own.
    """

    name: str
    memory: int
    low_memory: bool
    device_offset: int
    bar_cpu: int
    bar_pci: int
    is_coherent: bool
    most_map_bytes: int
    translation: Translation = Translation.UEFI
    fixed: tuple[tuple[int, int], ...] = ()

    @property
    def needs_dual_address_cycle(self) -> bool:
        return self.memory + self.device_offset >= 1 << 32


PLATFORMS = {
    platform.name: platform
    for platform in (
        Platform(
            name="pc",
            memory=16 * MIB,
            low_memory=True,
            device_offset=0,
            bar_cpu=0xC000_0000,
            bar_pci=0xC000_0000,
            is_coherent=True,
            most_map_bytes=1 << 40,
        ),
        Platform(
            name="arm-server",
            memory=0x80_0000_0000,
            low_memory=False,
            device_offset=0x10_0000_0000 - 0x80_0000_0000,
            bar_cpu=0x70_C000_0000,
            bar_pci=0xC000_0000,
            is_coherent=True,
            most_map_bytes=0x1_0000,
        ),
        Platform(
            name="non-coherent",
            memory=0x8000_0000,
            low_memory=False,
            device_offset=0,
            bar_cpu=0x6000_0000,
            bar_pci=0x6000_0000,
            is_coherent=False,
            most_map_bytes=1 << 40,
        ),
    )
}


def platform_of(name: str) -> Platform:
    """Return a platform by its name."""
    if name not in PLATFORMS:
        raise unknown_name("platform", name, PLATFORMS)
    return PLATFORMS[name]


def read_range(text: str) -> tuple[int, int]:
    """Read ADDRESS+LENGTH as whole pages below 4 GiB."""
    address, plus, length = text.partition("+")
    try:
        begin, size = int(address, 0), int(length, 0)
    except ValueError:
        plus, begin, size = "", 0, 0
    if not plus or begin % PAGE or size % PAGE or size <= 0 or begin < 0:
        message = f"'{text}' is no range of whole pages"
        raise EverycoreError(message, "give ADDRESS+LENGTH, such as 0x80b000+0x1000")
    if begin + size > 1 << 31 or size > 16 * MIB:
        message = f"'{text}' is too large, or ends above 2 GiB"
        raise EverycoreError(message, "fixed memory of firmware lies low: at most 16 MiB")
    return begin, size
