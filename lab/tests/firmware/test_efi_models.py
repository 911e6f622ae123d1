# SPDX-License-Identifier: MIT
"""Parts of the models of machines, one at a time."""

import struct
from dataclasses import replace

import pytest
from firmware.pe_images import make_pe

from everycore.binary import pe
from everycore.environment.errors import EverycoreError
from everycore.firmware.efi import linker_map
from everycore.firmware.efi.devices import Identity
from everycore.firmware.efi.handles import BY_CHILD_CONTROLLER, BY_DRIVER, Handles, Installed, Open
from everycore.firmware.efi.platforms import PLATFORMS, Translation

pytest.importorskip("unicorn", reason="no unicorn: extra 'firmware'")
from everycore.firmware.efi.allocations import Kind
from everycore.firmware.efi.controller import DUAL_ADDRESS_CYCLE, MASTER, MEMORY
from everycore.firmware.efi.devices.virtio import (
    DRIVER_OK,
    Request,
    Virtio,
    VirtioBlock,
    VirtioGpu,
    VirtioNetwork,
)
from everycore.firmware.efi.dma import Mapping, Operation
from everycore.firmware.efi.guest import DRIVER, Guest
from everycore.firmware.efi.pci_io import MEMORY_RANGE, describe

ARM, BOARD = PLATFORMS["arm-server"], PLATFORMS["non-coherent"]
CARD = Identity(0x1002, 0x699F, 0x030000)


def guest_on(platform: object = ARM) -> Guest:
    return Guest(platform, pe.read(make_pe()), (CARD,))  # type: ignore[arg-type]


@pytest.mark.parametrize("convention", Translation)
def test_a_translated_bar_is_described_by_either_convention(convention: Translation) -> None:
    guest = guest_on(replace(ARM, translation=convention))
    window = guest.controllers[0].windows[0]
    line = describe(guest, MEMORY_RANGE, window.cpu, window.pci, window.length)
    begin, end, offset, length = struct.unpack_from("<QQQQ", line, 14)
    assert (end, length) == (begin + length - 1, window.length)
    other = (begin + offset) & ((1 << 64) - 1)
    expected = {
        Translation.UEFI: (window.cpu, window.pci),
        Translation.ACPI: (window.pci, window.cpu),
    }
    assert (begin, other) == expected[convention]
    assert window.cpu != window.pci


def test_a_cpu_address_in_an_unknown_register_is_found_and_a_mapped_one_is_not() -> None:
    guest = guest_on()
    controller = guest.controllers[0]
    assert controller.device.identity == CARD
    controller.enable(MEMORY | MASTER | DUAL_ADDRESS_CYCLE, True)
    block = guest.memory.allocate(4096, Kind.COMMON, DRIVER)
    assert block
    mapping = Mapping(1, block.address, 0, 4096, 4096, Operation.COMMON_BUFFER, 0, "Start", None)
    guest.dma.map(mapping)
    window = controller.windows[0]
    for half in (0, 4):  # a 64-bit address in two halves
        controller.write(window, 0x20 + half, 4, mapping.device >> 8 * half & 0xFFFF_FFFF)
    assert guest.findings.ordered() == []
    for half in (0, 4):
        controller.write(window, 0x40 + half, 4, block.address >> 8 * half & 0xFFFF_FFFF)
    assert {finding.rule.name for finding in guest.findings.ordered()} == {"dma-cpu-address"}


def test_on_a_machine_that_is_not_coherent_data_move_at_map_and_unmap() -> None:
    guest = guest_on(BOARD)
    block = guest.memory.allocate(64, Kind.POOL, DRIVER)
    assert block
    guest.cpu.write(block.address, b"before")
    read = Mapping(1, block.address, 0, 64, 64, Operation.READ, 0, "Start", None)
    guest.dma.map(read)
    guest.cpu.write(block.address, b"behind")
    assert guest.dma.read(read.device, 6) == b"before"
    guest.dma.unmap(read)
    write = Mapping(2, block.address, 0, 64, 64, Operation.WRITE, 0, "Start", None)
    guest.dma.map(write)
    guest.dma.write(write.device, b"device")
    assert guest.cpu.read(block.address, 6) == b"behind"
    guest.dma.unmap(write)
    assert guest.cpu.read(block.address, 6) == b"device"
    assert guest.findings.ordered() == []


class Ring:
    """A driver of a virtio device: memory of common buffers, and a queue in it."""

    def __init__(self, device: Virtio, guest: Guest) -> None:
        self.device, self.guest = device, guest
        block = guest.memory.allocate(4 * 4096, Kind.COMMON, DRIVER)
        assert block
        length = block.length
        mapping = Mapping(
            1, block.address, 0, length, length, Operation.COMMON_BUFFER, 0, "Start", None
        )
        guest.dma.map(mapping)
        self.base, self.shift = block.address, mapping.device - block.address
        guest.cpu.write(block.address, bytes(length))
        device.set_status(DRIVER_OK)

    def at(self, offset: int) -> int:
        """The device's address of a byte of the memory."""
        return self.base + self.shift + offset

    def set_queue(self, index: int) -> None:
        begin = 4096 * index
        self.device.set_queue(index, self.at(begin), self.at(begin + 0x400), self.at(begin + 0x800))

    def offer(self, index: int, *parts: tuple[bytes, int]) -> list[int]:
        """Put a chain into a queue: bytes to read, or room to write to; returns their places."""
        begin, places = 4096 * index, []
        for number, (data, room) in enumerate(parts):
            place = 0x2000 + 0x400 * (number + 3 * index)
            places.append(self.base + place)
            self.guest.cpu.write(self.base + place, data)
            flags = (number + 1 < len(parts)) | (2 if room else 0)
            line = struct.pack("<QIHH", self.at(place), len(data) or room, flags, number + 1)
            self.guest.cpu.write(self.base + begin + 16 * number, line)
        self.guest.cpu.write(self.base + begin + 0x402, b"\1\0")
        return places

    def used(self, index: int) -> tuple[int, int]:
        """The number of requests that are done, and the bytes written for the first."""
        read = self.guest.cpu.read
        at = self.base + 4096 * index + 0x800
        return int.from_bytes(read(at + 2, 2), "little"), int.from_bytes(read(at + 8, 4), "little")


def ring_of(kind: type[Virtio]) -> Ring:
    guest = guest_on(ARM)
    device = next(c.device for c in guest.controllers if isinstance(c.device, kind))
    controller = next(c for c in guest.controllers if c.device is device)
    controller.enable(MASTER | DUAL_ADDRESS_CYCLE, True)
    return Ring(device, guest)


def test_a_virtio_disk_reads_and_writes_blocks_and_refuses_those_that_it_has_not() -> None:
    for block, kind, status in ((0, 0, 0), (1, 1, 0), (2048, 0, 1), (0, 7, 2)):
        ring = ring_of(VirtioBlock)
        ring.set_queue(0)
        header = struct.pack("<IIQ", kind, 0, block)
        data = (b"\x5a" * 512, 0) if kind == 1 else (b"", 512)
        places = ring.offer(0, (header, 0), data, (b"", 1))
        ring.device.notify(0)
        assert ring.guest.cpu.read(places[2], 1)[0] == status
        assert ring.used(0)[0] == 1
        if (kind, block) == (0, 0):
            assert ring.guest.cpu.read(places[1] + 510, 2) == b"\x55\xaa"
        assert isinstance(ring.device, VirtioBlock)
        assert (ring.device.disk[512:1024] == b"\x5a" * 512) == (kind == 1)
        assert ring.guest.findings.ordered() == []


def test_a_virtio_card_hears_what_it_sends() -> None:
    ring = ring_of(VirtioNetwork)
    ring.set_queue(0)
    ring.set_queue(1)
    (room,) = ring.offer(0, (b"", 1024))
    ring.offer(1, (bytes(12), 0), (b"a packet", 0))
    ring.device.notify(0)
    assert ring.used(0) == (0, 0)
    ring.device.notify(1)
    assert ring.used(0) == (1, 20)
    assert ring.guest.cpu.read(room, 20) == bytes(10) + b"\1\0" + b"a packet"


def test_a_virtio_screen_reads_its_picture_and_a_cpu_address_of_one_is_found() -> None:
    ring = ring_of(VirtioGpu)
    ring.set_queue(0)
    assert isinstance(ring.device, VirtioGpu)
    for address, rules in ((ring.at(0), set()), (ring.base, {"dma-cpu-address"})):
        attach = struct.pack("<IIQIIIIQII", 0x106, 1, 7, 0, 0, 1, 1, address, 4096, 0)
        answer = ring.device.answer(0, Request(0, attach, ()))
        assert struct.unpack("<IIQII", answer) == (0x1100, 1, 7, 0, 0)
        assert {finding.rule.name for finding in ring.guest.findings.ordered()} == rules


def test_a_virtio_queue_at_a_cpu_address_is_found() -> None:
    ring = ring_of(VirtioBlock)
    ring.shift = 0
    ring.set_queue(0)
    assert {finding.rule.name for finding in ring.guest.findings.ordered()} == {"dma-cpu-address"}


def test_ports_of_a_pc_reach_the_registers_behind_them() -> None:
    guest = guest_on(PLATFORMS["pc"])
    controller = guest.controllers[0]
    controller.config[4] = 1  # I/O decoding
    window = next(candidate for candidate in controller.windows if not candidate.is_memory)
    for offset, length, value in ((0, 4, 0x44332211), (1, 1, 0xAA), (2, 2, 0xCCBB)):
        guest._on_port("write", window.cpu + offset, length, value)
    assert guest._on_port("read", window.cpu, 4, 0) == 0xCCBBAA11
    assert guest._on_port("read", window.cpu + 1, 1, 0) == 0xAA
    assert guest._on_port("read", 0x80, 1, 0) == 0xFFFF_FFFF
    assert guest.findings.ordered() == []


def test_memory_is_poisoned_and_freed_memory_is_reused_last() -> None:
    guest = guest_on()
    first = guest.memory.allocate(32, Kind.POOL, DRIVER)
    assert first
    assert guest.cpu.read(first.address, 32) == b"\xaf" * 32
    guest.memory.free(first)
    assert guest.cpu.read(first.address, 32) == b"\xdf" * 32
    second = guest.memory.allocate(32, Kind.POOL, DRIVER)
    assert second
    assert second.address != first.address


def test_two_drivers_cannot_have_a_protocol_by_driver() -> None:
    handles = Handles()
    assert handles.install(1, b"p", Installed(0x10, "firmware", "", None))
    assert not handles.install(1, b"p", Installed(0x20, "firmware", "", None))
    assert handles.open(Open(1, b"p", 7, 1, BY_DRIVER, "Start", None)) is None
    assert handles.open(Open(1, b"p", 7, 1, BY_DRIVER, "Start", None)) == 7  # already started
    assert handles.open(Open(1, b"p", 8, 1, BY_DRIVER, "Start", None)) == 7  # access denied
    handles.install(2, b"q", Installed(0x30, "driver", "Start", None))
    assert handles.open(Open(1, b"p", 7, 2, BY_CHILD_CONTROLLER, "Start", None)) is None
    assert handles.children(1) == [2]
    assert handles.close(1, b"p", 7, 1)
    assert not handles.close(1, b"p", 7, 1)


@pytest.mark.parametrize(
    "text",
    [
        " Preferred load address is 0000000180000000\n"
        " 0001:00000010       start                      0000000180001010     a.obj\n",
        " .text\n                0x0000000180001010                start\n",
        "       180001000        180001000       30    16         a.o:(.text)\n"
        "       180001010        180001010       20     1                 start\n",
    ],
)
def test_maps_of_several_linkers_are_read(text: str) -> None:
    found = linker_map.read(text, "a.map", 0x180000000)
    assert found.at(0x1010) == "start"
    assert found.at(0x1014) == "start+0x4"
    assert found.at(0x100F) == found.at(None) == ""


def test_a_map_without_symbols_is_refused() -> None:
    with pytest.raises(EverycoreError, match="no symbols in it"):
        linker_map.read("hello\n", "a.map", 0)
