# SPDX-License-Identifier: MIT
"""EDK2's protocol of virtio devices, by which its drivers of disks, networks and screens reach one.

No part of the UEFI Specification: EDK2, OvmfPkg/Include/Protocol/VirtioDevice.h, since 2017. The
transport (a PCI driver in EDK2) is this model.
"""

from everycore.firmware.efi import guids
from everycore.firmware.efi.controller import BUS_MASTER, DUAL_ADDRESS_CYCLE, Controller
from everycore.firmware.efi.cpu import Arguments, Service, pack
from everycore.firmware.efi.devices.virtio import Virtio
from everycore.firmware.efi.guest import Guest
from everycore.firmware.efi.pci_io import Transfers

REVISION = 1 << 24  # 1.0.0
# Offsets in EDK2's VRING.
RING_DESCRIPTORS, RING_AVAILABLE, RING_USED, RING_SIZE = 16, 24, 56, 88
NAMES = (
    "GetDeviceFeatures", "SetGuestFeatures", "SetQueueAddress", "SetQueueSel", "SetQueueNotify",
    "SetQueueAlign", "SetPageSize", "GetQueueNumMax", "SetQueueNum", "GetDeviceStatus",
    "SetDeviceStatus", "WriteDevice", "ReadDevice", "AllocateSharedPages", "FreeSharedPages",
    "MapSharedBuffer", "UnmapSharedBuffer",
)  # fmt: skip


class VirtioIo(Transfers):
    """The protocol of one device."""

    def __init__(self, guest: Guest, controller: Controller, device: Virtio) -> None:
        super().__init__(guest, controller)
        self.of, self.device, self.selected = controller, device, 0
        controller.enable(DUAL_ADDRESS_CYCLE, True)
        controller.config[4] |= BUS_MASTER  # which the transport's driver did

    def interface(self) -> bytes:
        """Return the protocol's table."""
        services: dict[str, Service] = {name: getattr(self, name) for name in NAMES}
        functions = self.guest.functions("VirtioDevice.", NAMES, services)
        return pack("II", REVISION, self.device.kind) + functions

    def _acts(self) -> None:
        self.of.accesses += 1
        self.of.writes += 1

    def GetDeviceFeatures(self, a: Arguments) -> int:  # noqa: N802
        self.cpu.write_word(a(1), self.device.features)
        return guids.SUCCESS

    def SetGuestFeatures(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        return guids.UNSUPPORTED if a(1) & ~self.device.features else guids.SUCCESS

    def SetQueueAddress(self, a: Arguments) -> int:  # noqa: N802
        """Arguments: this, ring, the distance from its CPU addresses to those of the device."""
        ring, shift = a(1), a(2)
        self._acts()
        places = [
            (self.cpu.read_word(ring + offset) + shift) & ((1 << 64) - 1)
            for offset in (RING_DESCRIPTORS, RING_AVAILABLE, RING_USED)
        ]
        self.device.set_queue(self.selected, *places)
        return guids.SUCCESS

    def SetQueueSel(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        self.selected = a(1) & 0xFFFF
        return guids.SUCCESS

    def SetQueueNotify(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        self.device.notify(a(1) & 0xFFFF)
        return guids.SUCCESS

    def SetQueueAlign(self, a: Arguments) -> int:  # noqa: N802
        del a
        return guids.SUCCESS

    SetPageSize = SetQueueAlign

    def GetQueueNumMax(self, a: Arguments) -> int:  # noqa: N802
        queues = self.device.queues
        size = queues[self.selected].size if self.selected < len(queues) else 0
        self.cpu.write_word(a(1), size, 2)
        return guids.SUCCESS

    def SetQueueNum(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        if self.selected < len(self.device.queues):
            self.device.queues[self.selected].size = max(1, a(1) & 0xFFFF)
        return guids.SUCCESS

    def GetDeviceStatus(self, a: Arguments) -> int:  # noqa: N802
        self.cpu.write_word(a(1), self.device.status, 1)
        return guids.SUCCESS

    def SetDeviceStatus(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        self.device.set_status(a(1) & 0xFF)
        return guids.SUCCESS

    def WriteDevice(self, a: Arguments) -> int:  # noqa: N802
        self._acts()
        return guids.SUCCESS if a(1) + a(2) <= len(self.device.config) else guids.UNSUPPORTED

    def ReadDevice(self, a: Arguments) -> int:  # noqa: N802
        """Arguments: this, offset, length of the field, length of the buffer, buffer."""
        offset, length = a(1), a(2)
        if length != a(3) or length not in (1, 2, 4, 8):
            return guids.INVALID_PARAMETER
        if offset + length > len(self.device.config):
            return guids.UNSUPPORTED
        self.of.accesses += 1
        self.cpu.write(a(4), self.device.config[offset : offset + length])
        return guids.SUCCESS

    def AllocateSharedPages(self, a: Arguments) -> int:  # noqa: N802
        return self.allocate(a(1), a(2))

    FreeSharedPages = Transfers.FreeBuffer
    MapSharedBuffer = Transfers.Map
    UnmapSharedBuffer = Transfers.Unmap
