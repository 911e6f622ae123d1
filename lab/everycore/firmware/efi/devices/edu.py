# SPDX-License-Identifier: MIT
"""The device of QEMU for teaching: one DMA engine and 4 KiB of its own memory.

Registers as QEMU's docs/specs/edu.rst has them. QEMU's engine has 28-bit addresses unless told
otherwise (dma_mask); this one has 64 bits.
"""

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity

IDENTIFICATION, LIVENESS = 0x00, 0x04
DMA_SOURCE, DMA_TARGET, DMA_COUNT, DMA_COMMAND = 0x80, 0x88, 0x90, 0x98
START, TO_MEMORY = 1, 2
OWN_BEGIN, OWN_BYTES = 0x40000, 4096


class Edu(Device):
    """One transfer at a time, done when it is asked for."""

    name = "edu"
    bars = (Bar(1 << 20),)

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, Identity(0x1234, 0x11E8, 0x00FF00))
        self.own = bytearray(OWN_BYTES)

    def word(self, bar: int, offset: int) -> int:
        if offset == IDENTIFICATION:
            return 0x0100_00ED
        if offset == LIVENESS:
            return ~super().word(bar, offset) & 0xFFFF_FFFF
        return super().word(bar, offset)

    def set_word(self, bar: int, offset: int, value: int) -> None:
        super().set_word(bar, offset, value)
        if offset == DMA_COMMAND and value & START:
            self._transfer(bool(value & TO_MEMORY))
            super().set_word(bar, offset, value & ~START)

    def _transfer(self, to_memory: bool) -> None:
        count = min(self.pair(0, DMA_COUNT), OWN_BYTES)
        inner = self.pair(0, DMA_SOURCE if to_memory else DMA_TARGET) - OWN_BEGIN
        memory = self.pair(0, DMA_TARGET if to_memory else DMA_SOURCE)
        if not 0 <= inner <= OWN_BYTES - count:
            return
        if to_memory:
            self.bus.write(memory, bytes(self.own[inner : inner + count]))
        else:
            self.own[inner : inner + count] = self.bus.read(memory, count)
