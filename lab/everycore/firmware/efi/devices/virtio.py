# SPDX-License-Identifier: MIT
"""Virtio devices behind any transport: a disk, a network card, a screen.

Source: Virtual I/O Device (VIRTIO) 1.1 (OASIS, 2019), sections 2 (status, features, split queues),
5.1 (network), 5.2 (block), 5.7 (GPU).
"""

import struct
from dataclasses import dataclass

from everycore.firmware.efi.devices.device import Bus, Device, Identity

VENDOR, FIRST_DEVICE = 0x1AF4, 0x1040
VERSION_1, ACCESS_PLATFORM = 1 << 32, 1 << 33  # features: the device has addresses of its own
DRIVER_OK = 4  # of the status
NEXT, WRITE = 1, 2  # flags of a descriptor
MOST_ENTRIES = 64  # of a queue
MOST_BYTES = 1 << 24  # of a request
NETWORK, BLOCK, GPU = 1, 2, 16


@dataclass(slots=True)
class Queue:
    """A split queue, by addresses of the device."""

    size: int = MOST_ENTRIES
    descriptors: int = 0
    available: int = 0
    used: int = 0
    place: int = 0  # of the next available entry

    @property
    def is_set(self) -> bool:
        return bool(self.descriptors and self.available and self.used)


@dataclass(frozen=True, slots=True)
class Request:
    """A chain of descriptors: what the device reads, and where it writes."""

    head: int
    data: bytes
    room: tuple[tuple[int, int], ...]  # addresses and lengths

    @property
    def room_bytes(self) -> int:
        return sum(length for _, length in self.room)


class Virtio(Device):
    """The parts of all virtio devices; a transport calls these."""

    kind = 0
    features = VERSION_1 | ACCESS_PLATFORM
    n_queues = 1

    def __init__(self, bus: Bus, class_code: int) -> None:
        super().__init__(bus, Identity(VENDOR, FIRST_DEVICE + self.kind, class_code))
        self.config = b""
        self.status = 0
        self.queues = [Queue() for _ in range(self.n_queues)]

    def set_status(self, status: int) -> None:
        """Write the status; 0 resets the device."""
        self.status = status
        if status == 0:
            self.queues = [Queue() for _ in range(self.n_queues)]

    def set_queue(self, index: int, descriptors: int, available: int, used: int) -> None:
        """Tell a queue its addresses, which are judged."""
        if index >= self.n_queues:
            return
        queue = self.queues[index]
        queue.descriptors, queue.available, queue.used = descriptors, available, used
        self.bus.check(descriptors, 16 * queue.size)
        self.bus.check(available, 6 + 2 * queue.size)
        self.bus.check(used, 6 + 8 * queue.size)

    def notify(self, index: int) -> None:
        """Work on all requests that are available."""
        if not self.status & DRIVER_OK:
            return
        while index < self.n_queues and (request := self.next_request(index)) is not None:
            self.finish(index, request, self.answer(index, request))

    def answer(self, index: int, request: Request) -> bytes:
        """Do a request of a queue, and return what is written for it."""
        del index, request
        return b""

    def next_request(self, index: int) -> Request | None:
        """Take the next request out of a queue."""
        queue = self.queues[index]
        if not queue.is_set:
            return None
        newest = int.from_bytes(self.bus.read(queue.available + 2, 2), "little")
        if newest == queue.place & 0xFFFF:
            return None
        entry = queue.available + 4 + 2 * (queue.place % queue.size)
        head = number = int.from_bytes(self.bus.read(entry, 2), "little")
        queue.place += 1
        data, room = b"", []
        for _ in range(queue.size):
            descriptor = self.bus.read(queue.descriptors + 16 * (number % queue.size), 16)
            address, length, flags, number = struct.unpack("<QIHH", descriptor)
            if length > MOST_BYTES:
                break
            if flags & WRITE:
                room.append((address, length))
            else:
                data += self.bus.read(address, length)
            if not flags & NEXT:
                break
        return Request(head, data, tuple(room))

    def finish(self, index: int, request: Request, answer: bytes) -> None:
        """Write an answer, and put the request into the ring of those that are used."""
        queue, left = self.queues[index], answer
        for address, length in request.room:
            if left:
                self.bus.write(address, left[:length])
            left = left[length:]
        newest = int.from_bytes(self.bus.read(queue.used + 2, 2), "little")
        entry = struct.pack("<II", request.head, min(len(answer), request.room_bytes))
        self.bus.write(queue.used + 4 + 8 * (newest % queue.size), entry)
        self.bus.write(queue.used + 2, (newest + 1 & 0xFFFF).to_bytes(2, "little"))


class VirtioBlock(Virtio):
    """A disk of 1 MiB."""

    name = "virtio disk"
    kind = BLOCK
    features = Virtio.features | 1 << 9  # flush
    blocks = 2048
    IN, OUT, FLUSH = 0, 1, 4
    DONE, ERROR, UNSUPPORTED = b"\0", b"\1", b"\2"

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, 0x010000)
        self.disk = bytearray(512 * self.blocks)
        self.disk[510:512] = b"\x55\xaa"
        self.config = self.blocks.to_bytes(8, "little").ljust(64, b"\0")

    def answer(self, index: int, request: Request) -> bytes:
        if index or len(request.data) < 16:
            return self.ERROR
        kind, _, block = struct.unpack_from("<IIQ", request.data)
        data, room = request.data[16:], request.room_bytes - 1
        begin = 512 * block
        if kind == self.FLUSH:
            return self.DONE
        if kind == self.OUT and begin + len(data) <= len(self.disk):
            self.disk[begin : begin + len(data)] = data
            return self.DONE
        if kind == self.IN and room >= 0 and begin + room <= len(self.disk):
            return bytes(self.disk[begin : begin + room]) + self.DONE
        return bytes(max(room, 0)) + (self.ERROR if kind <= self.OUT else self.UNSUPPORTED)


class VirtioNetwork(Virtio):
    """A card that hears what it sends."""

    name = "virtio network"
    kind = NETWORK
    features = Virtio.features | 1 << 5 | 1 << 16  # address, status
    n_queues = 2
    RECEIVE, SEND = 0, 1
    HEADER_BYTES = 12
    ADDRESS = b"\x52\x54\x00\x12\x34\x56"

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, 0x020000)
        self.config = self.ADDRESS + struct.pack("<HHH", 1, 1, 1500)  # link, pairs, MTU

    def notify(self, index: int) -> None:
        if index == self.SEND:  # buffers of the other queue wait for a packet
            super().notify(index)

    def answer(self, index: int, request: Request) -> bytes:
        del index
        packet = request.data[self.HEADER_BYTES :]
        waiting = self.next_request(self.RECEIVE)
        if waiting is not None:
            header = bytes(self.HEADER_BYTES - 2) + b"\1\0"  # one buffer
            self.finish(self.RECEIVE, waiting, header + packet)
        return b""

    def is_active(self) -> bool:
        return bool(self.status & DRIVER_OK) and self.queues[self.RECEIVE].is_set


class VirtioGpu(Virtio):
    """A screen of any size, which reads what is to be shown.

    It says that no monitor is connected: then drivers offer modes of their own. EDK2's would store
    the size of a monitor in a setting of its platform (PcdVideoHorizontalResolution), which is not
    modelled.
    """

    name = "virtio screen"
    kind = GPU
    n_queues = 2
    MOST_SCREENS, MOST_LINES = 16, 4096
    DISPLAY_INFO, CREATE, DISCARD, SHOW, FLUSH, TRANSFER, ATTACH, DETACH = range(0x100, 0x108)
    DONE, INFO, FAILED = 0x1100, 0x1101, 0x1200
    FENCE = 1  # a flag

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, 0x038000)
        self.config = struct.pack("<IIII", 0, 0, 1, 0)
        self.backing: dict[int, list[tuple[int, int]]] = {}
        self.widths: dict[int, int] = {}

    def set_status(self, status: int) -> None:
        super().set_status(status)
        if status == 0:
            self.backing.clear()
            self.widths.clear()

    def answer(self, index: int, request: Request) -> bytes:
        if index or len(request.data) < 24:
            return b""
        kind, flags, fence, context = struct.unpack_from("<IIQI", request.data)
        done, more = self._do(kind, request.data[24:])
        return struct.pack("<IIQII", done, flags & self.FENCE, fence, context, 0) + more

    def _do(self, kind: int, data: bytes) -> tuple[int, bytes]:
        try:
            if kind == self.DISPLAY_INFO:
                return self.INFO, bytes(24 * self.MOST_SCREENS)
            if kind == self.CREATE:
                number, _, width, _ = struct.unpack_from("<4I", data)
                self.widths[number] = width
            elif kind == self.ATTACH:
                number, entries = struct.unpack_from("<II", data)
                self.backing[number] = [
                    struct.unpack_from("<QI", data, 8 + 16 * i) for i in range(entries)
                ]
                for address, length in self.backing[number]:
                    self.bus.check(address, length)
            elif kind == self.TRANSFER:
                self._transfer(*struct.unpack_from("<4IQI", data))
            elif kind in (self.DETACH, self.DISCARD):
                self.backing.pop(struct.unpack_from("<I", data)[0], None)
            elif kind not in (self.SHOW, self.FLUSH):
                return self.FAILED, b""
        except struct.error:
            return self.FAILED, b""
        return self.DONE, b""

    def _transfer(self, _x: int, _y: int, w: int, h: int, offset: int, number: int) -> None:
        """Read a rectangle of a picture, line by line, out of the first piece of its memory."""
        pieces = self.backing.get(number)
        if not pieces:
            return
        address, length = pieces[0]
        pitch = 4 * self.widths.get(number, 0)
        for line in range(min(h, self.MOST_LINES)):
            begin = offset + line * pitch
            if begin + 4 * w <= length:
                self.bus.read(address + begin, 4 * w)
