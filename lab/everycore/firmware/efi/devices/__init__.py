# SPDX-License-Identifier: MIT
"""Devices for drivers to drive: registers, and access to memory as real ones have it."""

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity, Unknown, read_identity
from everycore.firmware.efi.devices.e1000 import E1000
from everycore.firmware.efi.devices.edu import Edu
from everycore.firmware.efi.devices.ehci import Ehci
from everycore.firmware.efi.devices.nvme import Nvme
from everycore.firmware.efi.devices.virtio import VirtioBlock, VirtioGpu, VirtioNetwork

__all__ = ["Bar", "Bus", "Device", "Identity", "make_devices", "read_identity"]

E1000E_PCI = 0x10D3  # 82574L: these registers are the same


def make_devices(bus: Bus, others: tuple[Identity, ...] = ()) -> list[Device]:
    """All models, and registers without a function for each identity that no model has."""
    known: list[Device] = [
        E1000(bus),
        E1000(bus, E1000E_PCI),
        Nvme(bus),
        Ehci(bus),
        Edu(bus),
        VirtioBlock(bus),
        VirtioNetwork(bus),
        VirtioGpu(bus),
    ]
    names = {(device.identity.vendor, device.identity.device) for device in known}
    extra = [
        Unknown(bus, identity)
        for identity in others
        if (identity.vendor, identity.device) not in names
    ]
    return [*extra, *known]
