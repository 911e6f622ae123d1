# SPDX-License-Identifier: MIT
"""An NVMe controller with one namespace of 1 MiB.

Source: NVM Express Base Specification 1.4 (2019), sections 3.1 (registers), 4 (queues, PRP), 5
(admin commands) and 6 (commands of a namespace).
"""

from collections.abc import Callable
from dataclasses import dataclass

from everycore.firmware.efi.devices.device import Bar, Bus, Device, Identity

CAP, VS, CC, CSTS, AQA, ASQ, ACQ, DOORBELLS = 0x00, 0x08, 0x14, 0x1C, 0x24, 0x28, 0x30, 0x1000
PAGE = 4096
BLOCK, BLOCKS = 512, 2048
INVALID_OPCODE, INVALID_FIELD, OUT_OF_RANGE = 1, 2, 0x80
DELETE_SQ, CREATE_SQ, DELETE_CQ, CREATE_CQ = 0, 1, 4, 5
IDENTIFY, SET_FEATURES, GET_FEATURES = 6, 9, 10
FLUSH, WRITE, READ = 0, 1, 2
MOST_QUEUES = 8


@dataclass(slots=True)
class Queue:
    """A submission or completion queue."""

    base: int
    entries: int
    place: int = 0  # head of a submission queue, tail of a completion queue
    phase: int = 1
    partner: int = 0  # the completion queue of a submission queue


class Nvme(Device):
    """Commands are done when their doorbell rings."""

    name = "nvme"
    bars = (Bar(0x4000, is_64_bit=True),)

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus, Identity(0x1B36, 0x0010, 0x010802))
        self.submission: dict[int, Queue] = {}
        self.completion: dict[int, Queue] = {}
        self.disk = bytearray(BLOCK * BLOCKS)
        self.disk[510:512] = b"\x55\xaa"

    def word(self, bar: int, offset: int) -> int:
        fixed = {
            CAP: 0x0F01_003F,  # 64 entries, contiguous, time-out 7.5 s
            CAP + 4: 0x0000_0020,  # NVM command set
            VS: 0x0001_0400,
        }
        if offset == CSTS:
            ready = super().word(bar, CC) & 1
            shutdown = 2 << 2 if super().word(bar, CC) >> 14 & 3 else 0
            return ready | shutdown
        return fixed.get(offset, super().word(bar, offset))

    def set_word(self, bar: int, offset: int, value: int) -> None:
        before = super().word(bar, CC)
        super().set_word(bar, offset, value)
        if offset == CC and value & 1 and not before & 1:
            self._enable()
        elif offset == CC and not value & 1:
            self.submission.clear()
            self.completion.clear()
        elif offset >= DOORBELLS and (offset - DOORBELLS) % 8 == 0:
            self._ring((offset - DOORBELLS) // 8, value & 0xFFFF)

    def _enable(self) -> None:
        sizes = super().word(0, AQA)
        self.submission = {0: Queue(self.pair(0, ASQ), (sizes & 0xFFF) + 1)}
        self.completion = {0: Queue(self.pair(0, ACQ), (sizes >> 16 & 0xFFF) + 1)}
        self.bus.check(self.submission[0].base, 64)
        self.bus.check(self.completion[0].base, 16)

    def _ring(self, number: int, tail: int) -> None:
        queue = self.submission.get(number)
        if queue is None or tail >= queue.entries:
            return
        while queue.place != tail:
            command = self.bus.read(queue.base + 64 * queue.place, 64)
            queue.place = (queue.place + 1) % queue.entries
            done = self._admin(command) if number == 0 else self._namespace(command)
            self._complete(queue, number, command, *done)

    def _complete(self, queue: Queue, number: int, command: bytes, status: int, word: int) -> None:
        target = self.completion.get(queue.partner)
        if target is None:
            return
        entry = word.to_bytes(4, "little") + bytes(4)
        entry += queue.place.to_bytes(2, "little") + number.to_bytes(2, "little")
        field = status << 1 | target.phase
        entry += command[2:4] + field.to_bytes(2, "little")
        self.bus.write(target.base + 16 * target.place, entry)
        target.place += 1
        if target.place == target.entries:
            target.place, target.phase = 0, target.phase ^ 1

    def _admin(self, command: bytes) -> tuple[int, int]:
        """Return status and the command's specific word."""
        words = [int.from_bytes(command[4 * i : 4 * i + 4], "little") for i in range(16)]
        opcode, number, entries = command[0], words[10] & 0xFFFF, (words[10] >> 16) + 1
        prp = words[6] | words[7] << 32
        if opcode == IDENTIFY:
            data = self._identify(words[10] & 0xFF, words[1])
            self._scatter(command, data)
            return 0, 0
        if opcode in (SET_FEATURES, GET_FEATURES):
            return 0, (MOST_QUEUES - 1) << 16 | (MOST_QUEUES - 1)
        if opcode in (CREATE_SQ, CREATE_CQ) and not 0 < number < MOST_QUEUES:
            return INVALID_FIELD, 0
        if opcode == CREATE_SQ:
            self.submission[number] = Queue(prp, entries, partner=words[11] >> 16)
        elif opcode == CREATE_CQ:
            self.completion[number] = Queue(prp, entries)
        elif opcode == DELETE_SQ:
            self.submission.pop(number, None)
        elif opcode == DELETE_CQ:
            self.completion.pop(number, None)
        else:
            return INVALID_OPCODE, 0
        return 0, 0

    def _identify(self, kind: int, namespace: int) -> bytes:
        data = bytearray(PAGE)
        if kind == 1:  # the controller
            data[0:4] = b"\x36\x1b\x36\x1b"
            data[4:24], data[24:64] = b"everycore".ljust(20), b"model".ljust(40)
            data[64:72] = b"1".ljust(8)
            data[512:514] = b"\x66\x44"  # sizes of queue entries: 64 and 16 bytes
            data[516:520] = (1).to_bytes(4, "little")  # namespaces
        elif kind == 2:  # active namespaces
            data[0:4] = (1 if namespace == 0 else 0).to_bytes(4, "little")
        elif kind == 0 and namespace == 1:
            for at in (0, 8, 16):
                data[at : at + 8] = BLOCKS.to_bytes(8, "little")
            data[128:132] = (9 << 16).to_bytes(4, "little")  # blocks of 512 bytes
        return bytes(data)

    def _namespace(self, command: bytes) -> tuple[int, int]:
        opcode = command[0]
        if opcode == FLUSH:
            return 0, 0
        if opcode not in (READ, WRITE):
            return INVALID_OPCODE, 0
        begin = int.from_bytes(command[40:48], "little") * BLOCK
        length = (int.from_bytes(command[48:50], "little") + 1) * BLOCK
        if begin + length > len(self.disk):
            return OUT_OF_RANGE, 0
        if opcode == READ:
            self._scatter(command, bytes(self.disk[begin : begin + length]))
        else:
            self.disk[begin : begin + length] = self._gather(command, length)
        return 0, 0

    def _scatter(self, command: bytes, data: bytes) -> None:
        def put(address: int, at: int, length: int) -> None:
            self.bus.write(address, data[at : at + length])

        self._pieces(command, len(data), put)

    def _gather(self, command: bytes, length: int) -> bytes:
        parts: list[bytes] = []
        self._pieces(command, length, lambda a, _, n: parts.append(self.bus.read(a, n)))
        return b"".join(parts)

    def _pieces(self, command: bytes, length: int, use: Callable[[int, int, int], None]) -> None:
        """Walk the physical region pages of a command: section 4.3."""
        first = int.from_bytes(command[24:32], "little")
        second = int.from_bytes(command[32:40], "little")
        done = min(length, PAGE - first % PAGE)
        use(first, 0, done)
        if length - done <= PAGE:
            if length > done:
                use(second, done, length - done)
            return
        while done < length:
            page = int.from_bytes(self.bus.read(second, 8), "little")
            left = length - done
            if second % PAGE == PAGE - 8 and left > PAGE:  # the last entry names the next list
                second = page
                continue
            use(page, done, min(PAGE, left))
            done += PAGE
            second += 8

    def is_active(self) -> bool:
        return False  # without a doorbell nothing is transferred
