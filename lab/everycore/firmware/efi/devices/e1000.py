# SPDX-License-Identifier: MIT
"""A network card of Intel's 8254x family, with its cable plugged into itself: what is sent arrives.

Source: Intel, "PCI/PCI-X Family of Gigabit Ethernet Controllers Software Developer's Manual",
revision 4.0 (2009), chapters 3 (descriptors) and 13 (registers).
"""

from collections import deque

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity

CTRL, STATUS, EERD, MDIC = 0x0000, 0x0008, 0x0014, 0x0020
ICR, RCTL, TCTL = 0x00C0, 0x0100, 0x0400
RDBAL, RDLEN, RDH, RDT = 0x2800, 0x2808, 0x2810, 0x2818
TDBAL, TDLEN, TDH, TDT = 0x3800, 0x3808, 0x3810, 0x3818
RAL, RAH = 0x5400, 0x5404
RESET, LINK_RESET = 1 << 26, 1 << 3
ENABLED = 2  # of RCTL and TCTL
LINK_UP, FULL_DUPLEX, GIGABIT = 2, 1, 0x80
DONE, END_OF_PACKET = 1, 2
SENT, RECEIVED = 1, 0x80  # in ICR
DESCRIPTOR_BYTES = 16
MOST_DESCRIPTORS = 4096
STATION = bytes.fromhex("525400123456")


class E1000(Device):
    """Rings of legacy descriptors."""

    name = "e1000"
    bars = (Bar(0x20000), Bar(64, is_memory=False))

    def __init__(self, bus: Bus, device: int = 0x100E) -> None:
        super().__init__(bus, Identity(0x8086, device, 0x020000))
        self.cause = 0
        self.arrived: deque[bytes] = deque(maxlen=16)
        self._reset()

    def _reset(self) -> None:
        self.words = {
            (0, RAL): int.from_bytes(STATION[:4], "little"),
            (0, RAH): 1 << 31 | int.from_bytes(STATION[4:], "little"),
        }
        self.arrived.clear()

    def word(self, bar: int, offset: int) -> int:
        if bar:
            return super().word(bar, offset)
        if offset == STATUS:
            return FULL_DUPLEX | LINK_UP | GIGABIT
        if offset == EERD:  # a read of the EEPROM is done at once; both layouts of "done"
            at = super().word(0, EERD) >> 8 & 0xFF
            data = STATION[2 * at : 2 * at + 2] if at < 3 else b"\xff\xff"
            return int.from_bytes(data, "little") << 16 | 0x12
        if offset == MDIC:
            return super().word(0, MDIC) | 1 << 28  # ready
        if offset == ICR:
            cause, self.cause = self.cause, 0
            return cause
        return super().word(0, offset)

    def set_word(self, bar: int, offset: int, value: int) -> None:
        if bar:
            super().set_word(bar, offset, value)
            return
        if offset == CTRL and value & RESET:
            self._reset()
            value &= ~(RESET | LINK_RESET)
        super().set_word(0, offset, value)
        if offset in (TDLEN, RDLEN) and value:
            self._check_ring(offset - 8, value)
        elif offset == TDT:
            self._send()
        elif offset in (RDT, RCTL):
            self._receive()

    def _check_ring(self, base: int, length: int) -> None:
        self.bus.check(self.pair(0, base), min(length, MOST_DESCRIPTORS * DESCRIPTOR_BYTES))

    def _ring(self, base: int) -> tuple[int, int, int, int]:
        """Address, number of descriptors, head and tail."""
        count = self.words.get((0, base + 8), 0) // DESCRIPTOR_BYTES
        head, tail = (self.words.get((0, base + at), 0) for at in (16, 24))
        return self.pair(0, base), min(count, MOST_DESCRIPTORS), head, tail

    def _send(self) -> None:
        base, count, head, tail = self._ring(TDBAL)
        if not self.words.get((0, TCTL), 0) & ENABLED or not count:
            return
        for _ in range(count):
            if head == tail:
                break
            place = base + DESCRIPTOR_BYTES * head
            line = self.bus.read(place, DESCRIPTOR_BYTES)
            length = int.from_bytes(line[8:10], "little")
            if length:
                self.arrived.append(self.bus.read(int.from_bytes(line[:8], "little"), length))
            self.bus.write(place + 12, bytes([line[12] | DONE]))
            head = (head + 1) % count
        super().set_word(0, TDH, head)
        self.cause |= SENT
        self._receive()

    def _receive(self) -> None:
        base, count, head, tail = self._ring(RDBAL)
        if not self.words.get((0, RCTL), 0) & ENABLED or not count:
            return
        while self.arrived and head != tail:
            place = base + DESCRIPTOR_BYTES * head
            line = self.bus.read(place, DESCRIPTOR_BYTES)
            packet = self.arrived.popleft().ljust(60, b"\0") + bytes(4)  # and its checksum
            self.bus.write(int.from_bytes(line[:8], "little"), packet)
            done = len(packet).to_bytes(2, "little") + bytes([0, 0, DONE | END_OF_PACKET, 0, 0, 0])
            self.bus.write(place + 8, done)
            head = (head + 1) % count
            self.cause |= RECEIVED
        super().set_word(0, RDH, head)

    def is_active(self) -> bool:
        receives = self.words.get((0, RCTL), 0) & ENABLED and self.words.get((0, RDLEN), 0)
        return bool(receives)
