# SPDX-License-Identifier: MIT
"""A device of which only the identity is known: registers return what was written last."""

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity


class Unknown(Device):
    """Registers without a function. Addresses written to them are judged."""

    name = "unknown device"
    bars = (Bar(1 << 20), Bar(256, is_memory=False))

    def __init__(self, bus: Bus, identity: Identity) -> None:
        super().__init__(bus, identity)
