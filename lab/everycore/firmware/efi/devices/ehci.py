# SPDX-License-Identifier: MIT
"""A USB 2 host controller with two empty ports.

Source: Intel, "Enhanced Host Controller Interface Specification for Universal Serial Bus", revision
1.0 (2002), sections 2 (registers), 3 (data structures) and 4.8 (asynchronous schedule).
"""

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity

CAPS_BYTES = 0x20
CAPLENGTH, HCSPARAMS, HCCPARAMS = 0x00, 0x04, 0x08
USBCMD, USBSTS, FRINDEX, SEGMENT = 0x20, 0x24, 0x2C, 0x30
PERIODIC, ASYNC, PORTSC = 0x34, 0x38, 0x64
RUN, HC_RESET, PERIODIC_ENABLE, ASYNC_ENABLE, DOORBELL = 1, 2, 1 << 4, 1 << 5, 1 << 6
ASYNC_ADVANCED, HALTED, PERIODIC_ON, ASYNC_ON = 1 << 5, 1 << 12, 1 << 14, 1 << 15
CHANGES = 0x3F  # bits of USBSTS that are cleared by writing ones
PORTS = 2
MOST_HEADS = 64  # queue heads that are followed at a time
TERMINATE = 1


class Ehci(Device):
    """Reads its schedules as time passes; there is nothing to transfer."""

    name = "ehci"
    bars = (Bar(0x1000),)

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, Identity(0x8086, 0x24CD, 0x0C0320))
        self._reset()

    def _reset(self) -> None:
        self.words = {(0, USBCMD): 0x0008_0000, (0, USBSTS): HALTED}
        for port in range(PORTS):
            self.words[0, PORTSC + 4 * port] = 1 << 12  # powered

    def word(self, bar: int, offset: int) -> int:
        if offset == CAPLENGTH:
            return 0x0100_0000 | CAPS_BYTES
        if offset == HCSPARAMS:
            return PORTS
        if offset == HCCPARAMS:
            return 1  # 64-bit addresses
        self.tick()
        return super().word(bar, offset)

    def set_word(self, bar: int, offset: int, value: int) -> None:
        if offset == USBCMD:
            if value & HC_RESET:
                self._reset()
                return
            if value & DOORBELL:
                self.words[0, USBSTS] |= ASYNC_ADVANCED
            super().set_word(bar, offset, value & ~DOORBELL)
            self._follow_command()
        elif offset == USBSTS:
            self.words[0, USBSTS] &= ~(value & CHANGES)
        else:
            super().set_word(bar, offset, value)

    def _follow_command(self) -> None:
        command, status = self.words[0, USBCMD], self.words[0, USBSTS]
        status &= ~(HALTED | PERIODIC_ON | ASYNC_ON)
        if not command & RUN:
            status |= HALTED
        else:
            status |= PERIODIC_ON if command & PERIODIC_ENABLE else 0
            status |= ASYNC_ON if command & ASYNC_ENABLE else 0
        self.words[0, USBSTS] = status
        self.tick()

    def tick(self) -> None:
        status = self.words[0, USBSTS]
        high = self.words.get((0, SEGMENT), 0) << 32
        if status & PERIODIC_ON:
            frame = self.words.get((0, FRINDEX), 0)
            self.words[0, FRINDEX] = frame + 8 & 0x3FFF
            base = self.words.get((0, PERIODIC), 0) & ~0xFFF
            self._follow(high, self._link(high | base + 4 * (frame >> 3 & 0x3FF)))
        if status & ASYNC_ON:
            self._follow(high, self.words.get((0, ASYNC), 0))

    def _link(self, address: int) -> int:
        return int.from_bytes(self.bus.read(address, 4), "little")

    def _follow(self, high: int, link: int) -> None:
        """Read queue heads along their horizontal links, to the end or once around."""
        first = link & ~0x1F
        for _ in range(MOST_HEADS):
            if link & TERMINATE:
                return
            link = self._link(high | link & ~0x1F)
            if link & ~0x1F == first:
                return

    def is_active(self) -> bool:
        return bool(self.words[0, USBSTS] & (PERIODIC_ON | ASYNC_ON))
