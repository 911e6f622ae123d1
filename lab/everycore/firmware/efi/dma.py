# SPDX-License-Identifier: MIT
"""Memory as devices see it: mappings, and on platforms that are not coherent, copies of it.

UEFI 14.4: Map says which memory a device may access and how, and gives the address for it. On the
non-coherent model a device has its own copy of memory that is mapped for one direction. The copy is
made at Map (the device reads), and goes back at Unmap (the device writes); common buffers are one
memory for both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from everycore.firmware.efi.allocations import Memory
from everycore.firmware.efi.cpu import READ, Cpu
from everycore.firmware.efi.platforms import Platform

POISON = 0xA5  # of a device's copy that nothing was written to
MASK = (1 << 64) - 1


class Operation(IntEnum):
    """EFI_PCI_IO_PROTOCOL_OPERATION; a root bridge has three more for 64-bit addresses."""

    READ = 0  # by the device
    WRITE = 1
    COMMON_BUFFER = 2


@dataclass(slots=True)
class Mapping:
    """One result of Map."""

    token: int
    host: int
    device: int
    wanted: int
    length: int  # what was mapped of it
    operation: Operation
    controller: int
    phase: str
    site: int | None
    copy: bytearray | None = None  # the device's
    was_written: bool = False  # by the device
    watch: int | None = None  # a hook of the processor


Report = Callable[[str, str], None]


class Dma:
    """The mappings of a machine."""

    def __init__(self, cpu: Cpu, memory: Memory, platform: Platform, report: Report) -> None:
        self.cpu, self.memory, self.platform, self.report = cpu, memory, platform, report
        self.mappings: dict[int, Mapping] = {}
        self.is_over = False  # from Stop on, accesses to what is unmapped break another rule

    # ---- The driver's side

    def map(self, mapping: Mapping) -> None:
        """Enter a mapping; its length and addresses are set here."""
        if mapping.operation != Operation.COMMON_BUFFER:
            mapping.length = min(mapping.wanted, self.platform.most_map_bytes)
        mapping.device = (mapping.host + self.platform.device_offset) & MASK
        if not self.platform.is_coherent and mapping.operation != Operation.COMMON_BUFFER:
            if mapping.operation == Operation.READ:
                mapping.copy = bytearray(self.cpu.read(mapping.host, mapping.length))
            else:
                mapping.copy = bytearray([POISON]) * mapping.length
            if not self.memory.begin <= mapping.host < self.memory.end:  # else watched anyway
                mapping.watch = self.cpu.watch(
                    mapping.host, mapping.host + max(1, mapping.length), self.on_cpu_access
                )
        self.mappings[mapping.token] = mapping

    def unmap(self, mapping: Mapping) -> None:
        del self.mappings[mapping.token]
        if mapping.watch is not None:
            self.cpu.unwatch(mapping.watch)
        if mapping.copy is not None and mapping.operation == Operation.WRITE:
            self.cpu.write(mapping.host, bytes(mapping.copy))

    def on_cpu_access(self, kind: str, address: int, length: int, _value: int) -> None:
        """Judge an access of the driver to memory that has a copy."""
        for mapping in self.mappings.values():
            if mapping.copy is None or not (
                mapping.host < address + length and address < mapping.host + mapping.length
            ):
                continue
            place = f"{mapping.operation.name.lower()} mapping of {mapping.length:#x} bytes"
            if kind == READ and mapping.operation == Operation.WRITE and mapping.was_written:
                self.report("dma-stale-read", f"read of {address:#x} in a {place}")
            elif kind != READ and mapping.operation == Operation.READ:
                self.report("dma-late-write", f"write to {address:#x} in a {place}")

    def overlapping(self, begin: int, end: int) -> Mapping | None:
        """A mapping of host memory within [begin, end)."""
        return next(
            (m for m in self.mappings.values() if m.host < end and begin < m.host + m.length), None
        )

    # ---- The device's side

    def read(self, address: int, length: int) -> bytes:
        """Return what a device reads; zeros, and a finding, where nothing is mapped for it."""
        mapping = self._find(address, length, Operation.READ, "reads")
        if mapping is None:
            return bytes(length)
        at = address - mapping.device
        if mapping.copy is not None:
            return bytes(mapping.copy[at : at + length])
        return self.cpu.read(mapping.host + at, length)

    def write(self, address: int, data: bytes) -> None:
        """Write for a device; nothing but a finding where nothing is mapped for it."""
        mapping = self._find(address, len(data), Operation.WRITE, "writes")
        if mapping is None:
            return
        at = address - mapping.device
        mapping.was_written = True
        if mapping.copy is not None:
            mapping.copy[at : at + len(data)] = data
        else:
            self.cpu.write(mapping.host + at, data)

    def check(self, address: int, length: int) -> bool:
        """Judge an address that a device was given, before it uses it."""
        if self._mapped(address, length):
            return True
        self._report(address, length, "was given")
        return False

    def _mapped(self, address: int, length: int) -> Mapping | None:
        for mapping in self.mappings.values():
            if mapping.device <= address and address + length <= mapping.device + mapping.length:
                return mapping
        return None

    def _find(self, address: int, length: int, operation: Operation, verb: str) -> Mapping | None:
        mapping = self._mapped(address, length)
        if mapping is None:
            self._report(address, length, verb)
            return None
        if mapping.operation not in (operation, Operation.COMMON_BUFFER):
            text = f"the device {verb} {length:#x} bytes at {address:#x}"
            self.report("dma-direction", f"{text}, mapped for it to {mapping.operation.name} only")
        return mapping

    def _report(self, address: int, length: int, verb: str) -> None:
        text = f"the device {verb} {address:#x} ({length:#x} bytes)"
        if self.is_over:
            self.report("dma-after-stop", text)
            return
        for mapping in self.mappings.values():
            if mapping.device <= address < mapping.device + mapping.wanted:
                text += f"; Map gave {mapping.length:#x} of {mapping.wanted:#x} bytes"
                rule = "dma-short-map" if mapping.length < mapping.wanted else "dma-not-mapped"
                self.report(rule, text)
                return
        if self.platform.device_offset and self.memory.is_ours(address):
            self.report("dma-cpu-address", text)
        else:
            self.report("dma-not-mapped", text)
