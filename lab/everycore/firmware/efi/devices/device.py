# SPDX-License-Identifier: MIT
"""The parts that all models of devices share."""

from dataclasses import dataclass
from typing import Protocol

from everycore.environment.errors import EverycoreError


class Bus(Protocol):
    """Memory as a device reaches it; dma.Dma is one."""

    def read(self, address: int, length: int) -> bytes: ...

    def write(self, address: int, data: bytes) -> None: ...

    def check(self, address: int, length: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a device is: PCI Local Bus Specification 3.0, section 6.2.1."""

    vendor: int
    device: int
    class_code: int  # 24 bits: class, subclass, interface

    def __str__(self) -> str:
        return f"{self.vendor:04x}:{self.device:04x}:{self.class_code:06x}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A base address register: how many bytes, of memory (32 or 64 bits) or of ports."""

    length: int
    is_memory: bool = True
    is_64_bit: bool = False


class Device:
    """A device: 32-bit registers in BARs; a model overrides what it needs."""

    name = "device"
    bars: tuple[Bar, ...] = ()

    def __init__(self, bus: Bus, identity: Identity) -> None:
        self.bus = bus
        self.identity = identity
        self.words: dict[tuple[int, int], int] = {}  # (BAR, offset) -> the last value written

    def word(self, bar: int, offset: int) -> int:
        """Read the 32-bit register at an offset."""
        return self.words.get((bar, offset), 0)

    def set_word(self, bar: int, offset: int, value: int) -> None:
        """Write the 32-bit register at an offset."""
        self.words[bar, offset] = value

    def pair(self, bar: int, offset: int) -> int:
        """The 64-bit value of two registers, as last written."""
        low, high = self.words.get((bar, offset), 0), self.words.get((bar, offset + 4), 0)
        return low | high << 32

    def read(self, bar: int, offset: int, length: int) -> int:
        """Read 1, 2, 4 or 8 bytes of registers."""
        first = offset & ~3
        value = self.word(bar, first)
        if offset + length > first + 4:
            value |= self.word(bar, first + 4) << 32
        return value >> 8 * (offset - first) & ((1 << 8 * length) - 1)

    def write(self, bar: int, offset: int, length: int, value: int) -> None:
        """Write 1, 2, 4 or 8 bytes of registers."""
        first = offset & ~3
        if length == 8:
            self.set_word(bar, first, value & 0xFFFF_FFFF)
            self.set_word(bar, first + 4, value >> 32)
            return
        shift, mask = 8 * (offset - first), (1 << 8 * length) - 1
        if length < 4:
            value = self.word(bar, first) & ~(mask << shift) | (value & mask) << shift
        self.set_word(bar, first, value & 0xFFFF_FFFF)

    def tick(self) -> None:
        """Do what the device does by itself; called when time passes."""

    def is_active(self) -> bool:
        """Whether the device may access memory without being told again."""
        return False


class Unknown(Device):
    """A device of which only the identity is known: registers return what was written last.

    Addresses that are written to them are judged.
    """

    name = "unknown device"
    bars = (Bar(1 << 20), Bar(256, is_memory=False))


def read_identity(text: str) -> Identity:
    """Read VENDOR:DEVICE[:CLASS] in hexadecimal digits."""
    parts = text.split(":")
    try:
        numbers = [int(part, 16) for part in parts]
    except ValueError:
        numbers = []
    limits = (0xFFFF, 0xFFFF, 0xFF_FFFF)
    if len(numbers) == 2:
        numbers.append(0)
    fits = len(numbers) == 3 and all(
        0 <= n <= most for n, most in zip(numbers, limits, strict=True)
    )
    if not fits:
        hint = "give hexadecimal digits, such as 8086:100e:020000 (lspci -n shows them)"
        raise EverycoreError(f"'{text}' is no VENDOR:DEVICE:CLASS", hint)
    return Identity(*numbers)
