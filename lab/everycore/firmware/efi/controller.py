# SPDX-License-Identifier: MIT
"""A PCI function: configuration space, BARs, attributes, and the registers behind them.

Sources: PCI Local Bus Specification 3.0 (2004), section 6; UEFI 2.10, section 14.4.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from everycore.firmware.efi.devices import Bus, Device
from everycore.firmware.efi.dma import Dma
from everycore.firmware.efi.platforms import Platform

COMMAND, FIRST_BAR, N_BARS = 0x04, 0x10, 6
IO_SPACE, MEMORY_SPACE, BUS_MASTER = 1, 2, 4  # of the command register
# EFI_PCI_IO_PROTOCOL_ATTRIBUTE_*: section 14.4.
IO, MEMORY, MASTER, DUAL_ADDRESS_CYCLE = 0x100, 0x200, 0x400, 0x8000
SUPPORTED = IO | MEMORY | MASTER | DUAL_ADDRESS_CYCLE
DEVICE_WINDOW = 16 << 20  # between the registers of two devices
PORTS, PORT_WINDOW = 0xC000, 0x200
CONFIG_BYTES = 256

Report = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Window:
    """A BAR in use: its number, and where it is."""

    bar: int  # of the device's list
    index: int  # of the register in configuration space
    length: int
    is_memory: bool
    cpu: int
    pci: int


class DeviceBus:
    """Memory as one function reaches it: only if bus mastering is enabled."""

    def __init__(self, dma: Dma, report: Report) -> None:
        self.dma, self.report = dma, report
        self.controller: Controller | None = None

    def _is_allowed(self, what: str, address: int) -> bool:
        if self.controller and not self.controller.command & BUS_MASTER:
            text = f"the device {what} {address:#x}, and bus mastering is off"
            self.report("pci-not-enabled", text)
            return False
        return True

    def read(self, address: int, length: int) -> bytes:
        return (
            self.dma.read(address, length) if self._is_allowed("reads", address) else bytes(length)
        )

    def write(self, address: int, data: bytes) -> None:
        if self._is_allowed("writes", address):
            self.dma.write(address, data)

    def check(self, address: int, length: int) -> bool:
        return self.dma.check(address, length)


class Controller:
    """A device with its configuration space; `number` is that of the device on bus 0."""

    def __init__(
        self, device: Device, number: int, platform: Platform, bus: Bus, report: Report
    ) -> None:
        self.device, self.number, self.bus, self.report = device, number, bus, report
        self.handle = self.interface = 0
        self.attributes = 0
        self.writes = 0  # to configuration space and registers
        self.accesses = 0
        self.config = bytearray(CONFIG_BYTES)
        self.windows: list[Window] = []
        self._lay_out(platform)
        identity = device.identity
        struct.pack_into("<HH", self.config, 0, identity.vendor, identity.device)
        self.config[8:12] = bytes([1]) + identity.class_code.to_bytes(3, "little")
        struct.pack_into("<HH", self.config, 0x2C, identity.vendor, identity.device)

    def _lay_out(self, platform: Platform) -> None:
        offset, port, index = self.number * DEVICE_WINDOW, PORTS + self.number * PORT_WINDOW, 0
        for number, bar in enumerate(self.device.bars):
            if bar.is_memory:
                offset = (offset + bar.length - 1) & -bar.length
                cpu, pci = platform.bar_cpu + offset, platform.bar_pci + offset
                offset += bar.length
            else:
                port = (port + bar.length - 1) & -bar.length
                cpu = pci = port
                port += bar.length
            self.windows.append(Window(number, index, bar.length, bar.is_memory, cpu, pci))
            low = 4 if bar.is_64_bit else 0 if bar.is_memory else 1
            struct.pack_into("<I", self.config, FIRST_BAR + 4 * index, pci | low)
            index += 2 if bar.is_64_bit else 1

    @property
    def command(self) -> int:
        return self.config[COMMAND]

    def window(self, index: int) -> Window | None:
        """The BAR whose register has a number."""
        return next((w for w in self.windows if w.index == index), None)

    # ---- Registers

    def read(self, window: Window, offset: int, length: int) -> int:
        self._need_enabled(window)
        self.accesses += 1
        return self.device.read(window.bar, offset, length)

    def write(self, window: Window, offset: int, length: int, value: int) -> None:
        self._need_enabled(window)
        self.accesses += 1
        self.writes += 1
        self.device.write(window.bar, offset, length, value)
        if self.device.name == "unknown device":
            self._judge_value(window, offset, length, value)

    def _judge_value(self, window: Window, offset: int, length: int, value: int) -> None:
        """Judge addresses that are written to registers of which nothing is known."""
        values = [value] if length == 8 else []
        if length == 4:
            values = [self.device.pair(window.bar, at) for at in (offset, offset - 4)]
        for address in values:
            if address >> 32 and self._is_cpu_address(address):
                self.bus.check(address, 1)

    def _is_cpu_address(self, value: int) -> bool:
        dma = self.bus.dma if isinstance(self.bus, DeviceBus) else None
        return bool(dma and dma.platform.device_offset and dma.memory.is_ours(value))

    def _need_enabled(self, window: Window) -> None:
        if not self.command & (MEMORY_SPACE if window.is_memory else IO_SPACE):
            kind = "memory" if window.is_memory else "I/O"
            text = f"access to BAR {window.index} of {self.device.name}, {kind} decoding is off"
            self.report("pci-not-enabled", text)

    # ---- Configuration space

    def read_config(self, offset: int, length: int) -> bytes:
        return bytes(self.config[offset : offset + length])

    def write_config(self, offset: int, data: bytes) -> None:
        self.writes += 1
        last_bar = FIRST_BAR + 4 * N_BARS
        if offset < last_bar and offset + len(data) > FIRST_BAR:
            text = f"write of {data[::-1].hex()} to offset {offset:#x} of configuration space"
            self.report("bar-written", text)
            return
        for at, byte in enumerate(data, offset):
            if at >= 0x3C or at in (COMMAND, COMMAND + 1, 0x0C, 0x0D):
                self.config[at] = byte

    # ---- Attributes

    def enable(self, attributes: int, on: bool) -> None:
        if on:
            self.attributes |= attributes
        else:
            self.attributes &= ~attributes
        for attribute, bit in ((IO, IO_SPACE), (MEMORY, MEMORY_SPACE), (MASTER, BUS_MASTER)):
            if attributes & attribute:
                value = self.config[COMMAND]
                self.config[COMMAND] = value | bit if on else value & ~bit
