# SPDX-License-Identifier: MIT
"""PciIo and the root bridge: UEFI 2.10, sections 14.4 and 14.2."""

from functools import partialmethod

from everycore.firmware.efi import guids
from everycore.firmware.efi.allocations import Kind
from everycore.firmware.efi.controller import (
    CONFIG_BYTES,
    DEVICE_WINDOW,
    DUAL_ADDRESS_CYCLE,
    MEMORY,
    SUPPORTED,
    Controller,
    Window,
)
from everycore.firmware.efi.cpu import MASK, READ, WRITE, Arguments, Service, pack
from everycore.firmware.efi.dma import Mapping, Operation
from everycore.firmware.efi.guest import PAGE, Guest
from everycore.firmware.efi.platforms import Translation

GET, SET, ENABLE, DISABLE, ATTRIBUTES_SUPPORTED = range(5)
FIFO, FILL, WIDTHS = 4, 8, 12  # EFI_PCI_IO_PROTOCOL_WIDTH: of buffers, of registers
MOST_COUNT = 1 << 20
QWORD_DESCRIPTOR, END_TAG = 0x8A, b"\x79\0"  # ACPI 6.4, sections 6.4.3.5.1 and 6.4.2.9
MEMORY_RANGE, PORT_RANGE, BUS_RANGE = 0, 1, 2
MOST_POLLS = 1000


class Transfers:
    """Map, Unmap and buffers; PciIo and the root bridge have them alike."""

    def __init__(self, guest: Guest, controller: Controller | None = None) -> None:
        self.guest, self.cpu, self.controller = guest, guest.cpu, controller

    def _has_long_addresses(self, operation: int) -> bool:
        if self.controller:
            return bool(self.controller.attributes & DUAL_ADDRESS_CYCLE)
        return operation >= 3  # EfiPciOperationBusMasterRead64 and on

    def Map(self, a: Arguments) -> int:  # noqa: N802
        guest, number, host = self.guest, a(1) & 0xFFFF_FFFF, a(2)
        most = Operation.COMMON_BUFFER if self.controller else Operation.COMMON_BUFFER + 3
        if number > most or not a(3) or not a(4) or not a(5):
            return guids.INVALID_PARAMETER
        operation = Operation(number % 3)
        length = self.cpu.read_word(a(3))
        if guest.platform.needs_dual_address_cycle and not self._has_long_addresses(number):
            guest.report("dma-dual-address-cycle", f"Map of {host:#x}")
        if not self._is_owned(host, length):
            return guids.INVALID_PARAMETER
        if operation == Operation.COMMON_BUFFER:
            block = guest.memory.block(host)
            if not block or block.kind != Kind.COMMON or host + length > block.end:
                owner = block.kind if block else "no allocation"
                guest.report("dma-common-buffer", f"{length:#x} bytes at {host:#x} ({owner})")
        mapping = Mapping(
            guest.new_handle(), host, 0, length, length, operation,
            self.controller.handle if self.controller else 0, guest.phase, guest.where(),
        )  # fmt: skip
        guest.dma.map(mapping)
        self.cpu.write_word(a(3), mapping.length)
        self.cpu.write_word(a(4), mapping.device)
        self.cpu.write_word(a(5), mapping.token)
        return guids.SUCCESS

    def _is_owned(self, host: int, length: int) -> bool:
        end = self.guest.memory.owned_end(host)
        if length and end is not None and host + length <= end:
            return True
        text = f"{length:#x} bytes at {host:#x}"
        self.guest.report("dma-map-unowned", text if end is None else f"{text}, owned to {end:#x}")
        if end is None:
            return False
        try:  # beyond the end of what is owned may be memory of others
            self.cpu.read(host, min(length, 1 << 26))
        except Exception:
            return False
        return length <= 1 << 26

    def Unmap(self, a: Arguments) -> int:  # noqa: N802
        mapping = self.guest.dma.mappings.get(a(1))
        if mapping is None:
            self.guest.report("dma-unmap-unknown", f"Unmap of {a(1):#x}")
            return guids.INVALID_PARAMETER
        self.guest.dma.unmap(mapping)
        return guids.SUCCESS

    def AllocateBuffer(self, a: Arguments) -> int:  # noqa: N802
        return self.allocate(a(3), a(4))

    def allocate(self, pages: int, place: int) -> int:
        """Allocate a common buffer, and write its address to a place; returns the status."""
        guest = self.guest
        if not 0 < pages <= 1 << 14 or not place:
            return guids.OUT_OF_RESOURCES if pages else guids.INVALID_PARAMETER
        self.cpu.read(place, 8)
        block = guest.allocate(pages * PAGE, Kind.COMMON)
        if block is None:
            return guids.OUT_OF_RESOURCES
        self.cpu.write_word(place, block.address)
        return guids.SUCCESS

    def FreeBuffer(self, a: Arguments) -> int:  # noqa: N802
        guest, length, address = self.guest, a(1) * PAGE, a(2)
        block = guest.memory.arenas[Kind.COMMON].begins(address)
        if block is None or block.is_free or block.length != length:
            guest.report("memory-free-unknown", f"{length:#x} bytes at {address:#x} by FreeBuffer")
            return guids.INVALID_PARAMETER
        return guest.free(block)

    def Flush(self, a: Arguments) -> int:  # noqa: N802
        del a
        return guids.SUCCESS

    def services(self, names: tuple[str, ...]) -> dict[str, Service]:
        return {name: getattr(self, name) for name in names if hasattr(self, name)}


class PciIo(Transfers):
    """EFI_PCI_IO_PROTOCOL of one controller."""

    def __init__(self, guest: Guest, controller: Controller) -> None:
        super().__init__(guest, controller)
        self.of = controller

    # ---- Registers

    def _range(self, a: Arguments, is_memory: bool) -> tuple[Window, int, int, int] | None:
        """The BAR, offset, width and count of an access; None: there is nothing."""
        width, count = a(1) & 0xFFFF_FFFF, a(4)
        window = self.of.window(a(2) & 0xFF)
        if width >= WIDTHS or not window or window.is_memory != is_memory or count > MOST_COUNT:
            return None
        size = 1 << width % 4
        span = size if FIFO <= width < FILL else size * count
        offset = a(3)
        if offset + span > window.length or offset % size:
            return None
        return window, offset, width, count

    def _access(self, a: Arguments, is_memory: bool, is_write: bool) -> int:
        """Arguments: this, width, BAR, offset, count, buffer."""
        found = self._range(a, is_memory)
        if not found:
            return guids.UNSUPPORTED
        window, offset, width, count = found
        size, buffer, is_fill = 1 << width % 4, a(5), width >= FILL
        length = size if is_fill else size * count
        self.guest.judge_range(READ if is_write else WRITE, buffer, length)
        for i in range(count):
            at = offset if FIFO <= width < FILL else offset + size * i
            place = buffer if is_fill else buffer + size * i
            if is_write:
                self.of.write(window, at, size, self.cpu.read_word(place, size))
            else:
                self.cpu.write_word(place, self.of.read(window, at, size), size)
        return guids.SUCCESS

    MemRead = partialmethod(_access, is_memory=True, is_write=False)
    MemWrite = partialmethod(_access, is_memory=True, is_write=True)
    IoRead = partialmethod(_access, is_memory=False, is_write=False)
    IoWrite = partialmethod(_access, is_memory=False, is_write=True)

    def _poll(self, a: Arguments, is_memory: bool) -> int:
        """Arguments: this, width, BAR, offset, mask, value, delay (100 ns), result."""
        width, window, offset = a(1) & 0xFFFF_FFFF, self.of.window(a(2) & 0xFF), a(3)
        size = 1 << width % 4
        outside = window is None or window.is_memory != is_memory or offset + size > window.length
        if window is None or outside or width >= FIFO:
            return guids.INVALID_PARAMETER
        delay = min(a(6) // 10, 60_000_000)
        value = 0
        for step in range(MOST_POLLS):
            value = self.of.read(window, offset, size)
            if value & a(4) == a(5) or step * 10 > delay:
                break
            self.guest.pass_time(max(10, delay // MOST_POLLS))
        self.cpu.write_word(a(7), value)
        return guids.SUCCESS if value & a(4) == a(5) else guids.TIMEOUT

    PollMem = partialmethod(_poll, is_memory=True)
    PollIo = partialmethod(_poll, is_memory=False)

    def _configure(self, a: Arguments, is_write: bool) -> int:
        """Access configuration space. Arguments: this, width, offset, count, buffer."""
        length, offset, buffer = a(3) << (a(1) & 3), a(2) & 0xFFFF_FFFF, a(4)
        if a(3) > CONFIG_BYTES or offset + length > CONFIG_BYTES:
            return guids.UNSUPPORTED
        if is_write:
            self.of.write_config(offset, self.cpu.read(buffer, length))
        else:
            self.cpu.write(buffer, self.of.read_config(offset, length))
        return guids.SUCCESS

    PciRead = partialmethod(_configure, is_write=False)
    PciWrite = partialmethod(_configure, is_write=True)

    def GetLocation(self, a: Arguments) -> int:  # noqa: N802
        for number, value in enumerate((0, 0, self.of.number, 0), 1):
            self.cpu.write_word(a(number), value)
        return guids.SUCCESS

    def Attributes(self, a: Arguments) -> int:  # noqa: N802
        """Arguments: this, operation, attributes, result."""
        operation, attributes = a(1) & 0xFFFF_FFFF, a(2)
        if operation in (GET, ATTRIBUTES_SUPPORTED):
            if not a(3):
                return guids.INVALID_PARAMETER
            value = SUPPORTED if operation == ATTRIBUTES_SUPPORTED else self.of.attributes
            self.cpu.write_word(a(3), value)
            return guids.SUCCESS
        if operation > ATTRIBUTES_SUPPORTED:
            return guids.INVALID_PARAMETER
        if attributes & ~SUPPORTED:
            return guids.UNSUPPORTED
        if operation == SET:
            self.of.enable(~attributes & SUPPORTED, False)
        self.of.enable(attributes, operation != DISABLE)
        return guids.SUCCESS

    def GetBarAttributes(self, a: Arguments) -> int:  # noqa: N802
        """Arguments: this, BAR, supported attributes, resources."""
        window = self.of.window(a(1) & 0xFF)
        if not window or not (a(2) or a(3)):
            return guids.UNSUPPORTED if not window else guids.INVALID_PARAMETER
        if a(2):
            self.cpu.write_word(a(2), MEMORY if window.is_memory else 0)
        if a(3):
            kind = MEMORY_RANGE if window.is_memory else PORT_RANGE
            data = describe(self.guest, kind, window.cpu, window.pci, window.length) + END_TAG
            address = self.guest.give(data)
            if not address:
                return guids.OUT_OF_RESOURCES
            self.cpu.write_word(a(3), address)
        return guids.SUCCESS

    def SetBarAttributes(self, a: Arguments) -> int:  # noqa: N802
        del a
        return guids.UNSUPPORTED


def describe(guest: Guest, kind: int, cpu: int, pci: int, length: int) -> bytes:
    """A range as a QWORD address space descriptor; the platform decides on the convention."""
    begin, offset = cpu, pci - cpu
    if guest.platform.translation == Translation.ACPI:
        begin, offset = pci, cpu - pci
    values = (begin, begin + length - 1, offset & MASK, length)
    granularity = 64 if begin >> 32 or kind == BUS_RANGE else 32
    return pack("BHBBBQQQQQ", QWORD_DESCRIPTOR, 0x2B, kind, 0, 0, granularity, *values)


class RootBridge(Transfers):
    """EFI_PCI_ROOT_BRIDGE_IO_PROTOCOL of the one bus."""

    def _function(self, address: int) -> tuple[Controller | None, int]:
        """Who is addressed in configuration space, and the offset: section 14.2."""
        offset = address >> 32 or address & 0xFF
        bus, device, function = address >> 24 & 255, address >> 16 & 255, address >> 8 & 255
        for controller in self.guest.controllers:
            if (bus, device, function) == (0, controller.number, 0):
                return controller, offset
        return None, offset

    def _configure(self, a: Arguments, is_write: bool) -> int:
        """Access configuration space. Arguments: this, width, address, count, buffer."""
        length, buffer = a(3) << (a(1) & 3), a(4)
        controller, offset = self._function(a(2))
        if a(3) > CONFIG_BYTES or offset + length > 4096:
            return guids.INVALID_PARAMETER
        if not is_write:
            data = controller.read_config(offset, length) if controller else b""
            self.cpu.write(buffer, data.ljust(length, b"\xff"))
            return guids.SUCCESS
        data = self.cpu.read(buffer, length)
        if controller and offset + length <= CONFIG_BYTES:
            controller.write_config(offset, data)
        return guids.SUCCESS

    PciRead = partialmethod(_configure, is_write=False)
    PciWrite = partialmethod(_configure, is_write=True)

    def GetAttributes(self, a: Arguments) -> int:  # noqa: N802
        for number in (1, 2):
            if a(number):
                self.cpu.write_word(a(number), 0)
        return guids.SUCCESS

    def Configuration(self, a: Arguments) -> int:  # noqa: N802
        platform = self.guest.platform
        length = DEVICE_WINDOW * (len(self.guest.controllers) + 1)
        data = describe(self.guest, BUS_RANGE, 0, 0, 1)
        data += describe(self.guest, MEMORY_RANGE, platform.bar_cpu, platform.bar_pci, length)
        address = self.guest.table(128)  # the root bridge keeps it
        self.cpu.write(address, data + END_TAG)
        self.cpu.write_word(a(1), address)
        return guids.SUCCESS
