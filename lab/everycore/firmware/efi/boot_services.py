# SPDX-License-Identifier: MIT
"""Boot services: UEFI 2.10, section 7. Memory, events and priority levels; small things."""

import binascii

from everycore.firmware.efi import guids
from everycore.firmware.efi.allocations import Block, Kind
from everycore.firmware.efi.cpu import READ, WRITE, Arguments, BadPointerError, Service, pack
from everycore.firmware.efi.events import (
    APPLICATION,
    EVT_NOTIFY_SIGNAL,
    EVT_NOTIFY_WAIT,
    HIGH_LEVEL,
    NOTIFY,
    TIMER_CANCEL,
    TIMER_PERIODIC,
    Event,
)
from everycore.firmware.efi.guest import DRIVER, PAGE, Guest

ANY_PAGES, MAX_ADDRESS, AT_ADDRESS = 0, 1, 2  # EFI_ALLOCATE_TYPE
MOST_COPY_BYTES = 64 << 20
MOST_STALL = 60_000_000  # microseconds
TICKS = 10  # of timers in a microsecond


# UEFI 7.1, table of TPL restrictions: the level up to which a service may be called. It is NOTIFY
# for all others, which are those of memory and of protocols.
MOST_LEVEL = {
    "WaitForEvent": APPLICATION,
    **dict.fromkeys(
        ("CreateEvent", "CreateEventEx", "SetTimer", "CloseEvent", "CheckEvent"), HIGH_LEVEL - 1
    ),
    **dict.fromkeys(
        (
            "RaiseTPL", "RestoreTPL", "SignalEvent", "Stall", "SetWatchdogTimer",
            "GetNextMonotonicCount", "CopyMem", "SetMem", "CalculateCrc32",
            "InstallConfigurationTable", "ConnectController", "DisconnectController",
        ),
        HIGH_LEVEL,
    ),
}  # fmt: skip


class BootServices:
    """Services by the names of the table; handles and protocols are in protocol_services.py."""

    def __init__(self, guest: Guest) -> None:
        self.guest, self.cpu = guest, guest.cpu
        self.monotonic = 0

    def services(self) -> dict[str, Service]:
        names = (name for name in guids.BOOT_SERVICES if hasattr(self, name))
        return {name: self._judged(name, getattr(self, name)) for name in names}

    def _judged(self, name: str, service: Service) -> Service:
        """Return a service that judges the priority level at which it is called."""
        most = MOST_LEVEL.get(name, NOTIFY)

        def judged(a: Arguments) -> int:
            level = self.guest.events.level
            if level > most:
                self.guest.report("tpl-too-high", f"{name} at level {level}, allowed up to {most}")
            return service(a)

        return judged

    # ---- Priority levels, events, time: section 7.1

    def RaiseTPL(self, a: Arguments) -> int:  # noqa: N802  # the specification's names
        events, new = self.guest.events, a(0)
        if new < events.level or new > HIGH_LEVEL:
            self.guest.report("tpl-order", f"RaiseTPL from {events.level} to {new}")
        before, events.level = events.level, min(new, HIGH_LEVEL)
        return before

    def RestoreTPL(self, a: Arguments) -> int:  # noqa: N802
        events, new = self.guest.events, a(0)
        if new > events.level:
            self.guest.report("tpl-order", f"RestoreTPL from {events.level} to {new}")
        events.level = min(new, HIGH_LEVEL)
        self.guest.notify()
        return 0

    def CreateEvent(self, a: Arguments) -> int:  # noqa: N802
        return self._create(a(0), a(1), a(2), a(3), b"", a(4))

    def CreateEventEx(self, a: Arguments) -> int:  # noqa: N802
        group = self.cpu.read(a(4), 16) if a(4) else b""
        return self._create(a(0), a(1), a(2), a(3), group, a(5))

    def _create(
        self, kind: int, level: int, function: int, context: int, group: bytes, out: int
    ) -> int:
        kind &= 0xFFFF_FFFF
        notifies = kind & (EVT_NOTIFY_SIGNAL | EVT_NOTIFY_WAIT)
        if not out or (notifies and (not function or not APPLICATION < level <= HIGH_LEVEL)):
            return guids.INVALID_PARAMETER
        self.cpu.read(out, 8)
        guest = self.guest
        token = guest.new_handle()
        guest.events.known[token] = Event(
            token, kind, level, function, context, group,
            DRIVER, guest.phase, guest.where(),
        )  # fmt: skip
        self.cpu.write_word(out, token)
        return guids.SUCCESS

    def _event(self, token: int, service: str) -> Event | None:
        event = self.guest.events.known.get(token)
        if event is None:
            self.guest.report("event-unknown", f"{service} of {token:#x}")
        return event

    def SetTimer(self, a: Arguments) -> int:  # noqa: N802
        event = self._event(a(0), "SetTimer")
        if event is None:
            return guids.INVALID_PARAMETER
        microseconds = max(1, a(2) // TICKS)
        now = self.guest.events.now
        event.due = -1 if a(1) == TIMER_CANCEL else now + microseconds
        event.period = microseconds if a(1) == TIMER_PERIODIC else 0
        return guids.SUCCESS

    def WaitForEvent(self, a: Arguments) -> int:  # noqa: N802
        count = a(0)
        tokens = [self.cpu.read_word(a(1) + 8 * i) for i in range(min(count, 64))]
        for _ in range(1000):
            for index, token in enumerate(tokens):
                event = self._event(token, "WaitForEvent")
                if event is None:
                    return guids.INVALID_PARAMETER
                if self._is_signaled(event):
                    self.cpu.write_word(a(2), index)
                    return guids.SUCCESS
            self.guest.pass_time(1000)
        return guids.TIMEOUT

    def _is_signaled(self, event: Event) -> bool:
        if not event.is_signaled and event.kind & EVT_NOTIFY_WAIT:
            self.guest.events.notify(event)
        signaled, event.is_signaled = event.is_signaled, False
        return signaled

    def SignalEvent(self, a: Arguments) -> int:  # noqa: N802
        event = self._event(a(0), "SignalEvent")
        if event is None:
            return guids.INVALID_PARAMETER
        self.guest.events.signal(event)
        self.guest.notify()
        return guids.SUCCESS

    def CloseEvent(self, a: Arguments) -> int:  # noqa: N802
        if self._event(a(0), "CloseEvent") is None:
            return guids.INVALID_PARAMETER
        self.guest.events.close(a(0))
        return guids.SUCCESS

    def CheckEvent(self, a: Arguments) -> int:  # noqa: N802
        event = self._event(a(0), "CheckEvent")
        if event is None or event.kind & EVT_NOTIFY_SIGNAL:
            return guids.INVALID_PARAMETER
        self.guest.pass_time(1)
        return guids.SUCCESS if self._is_signaled(event) else guids.NOT_READY

    def Stall(self, a: Arguments) -> int:  # noqa: N802
        self.guest.pass_time(min(a(0), MOST_STALL))
        return guids.SUCCESS

    def _succeed(self, a: Arguments) -> int:
        del a
        return guids.SUCCESS

    SetWatchdogTimer = InstallConfigurationTable = DisconnectController = _succeed

    def GetNextMonotonicCount(self, a: Arguments) -> int:  # noqa: N802
        self.monotonic += 1
        self.cpu.write_word(a(0), self.monotonic)
        return guids.SUCCESS

    # ---- Memory: section 7.2

    def AllocatePages(self, a: Arguments) -> int:  # noqa: N802
        guest, how, pages = self.guest, a(0) & 0xFFFF_FFFF, a(2)
        wanted = self.cpu.read_word(a(3))
        lowest = 0 if guest.platform.low_memory else guest.platform.memory
        if how == AT_ADDRESS and guest.memory.is_ours(wanted):
            return guids.NOT_FOUND
        if how == AT_ADDRESS or (how == MAX_ADDRESS and wanted < lowest):
            guest.report("memory-fixed-address", f"{pages} pages at or below {wanted:#x}")
            return guids.NOT_FOUND
        if how > AT_ADDRESS or not pages:
            return guids.INVALID_PARAMETER
        block = self._allocate(pages * PAGE, Kind.PAGES)
        if block is None:
            return guids.OUT_OF_RESOURCES
        if how == MAX_ADDRESS and block.end - 1 > wanted:
            guest.memory.free(block)
            guest.report("memory-fixed-address", f"{pages} pages below {wanted:#x}")
            return guids.OUT_OF_RESOURCES
        self.cpu.write_word(a(3), block.address)
        return guids.SUCCESS

    def _allocate(self, length: int, kind: Kind) -> Block | None:
        return None if length > MOST_COPY_BYTES else self.guest.allocate(length, kind)

    def FreePages(self, a: Arguments) -> int:  # noqa: N802
        return self._free(a(0), Kind.PAGES, a(1) * PAGE)

    def AllocatePool(self, a: Arguments) -> int:  # noqa: N802
        self.cpu.read(a(2), 8)  # a wrong pointer is found before there is something to lose
        block = self._allocate(a(1), Kind.POOL)
        if block is None:
            return guids.OUT_OF_RESOURCES
        self.cpu.write_word(a(2), block.address)
        return guids.SUCCESS

    def FreePool(self, a: Arguments) -> int:  # noqa: N802
        return self._free(a(0), Kind.POOL, None)

    def _free(self, address: int, kind: Kind, length: int | None) -> int:
        guest = self.guest
        block = guest.memory.arenas[kind].begins(address)
        if block is None or block.is_free or length not in (None, block.length):
            text = f"{address:#x} as {kind}"
            if block and not block.is_free:
                text += f", {length:#x} of {block.length:#x} bytes"
            elif block:
                text += ", for the second time"
            guest.report("memory-free-unknown", text)
            return guids.INVALID_PARAMETER
        return guest.free(block)

    def GetMemoryMap(self, a: Arguments) -> int:  # noqa: N802
        """Describe all memory as one range of boot-service data."""
        guest, size = self.guest, 48
        room = self.cpu.read_word(a(0))
        self.cpu.write_word(a(0), size)
        if a(3):
            self.cpu.write_word(a(3), size)
        if a(4):
            self.cpu.write_word(a(4), 1, 4)
        if room < size:
            return guids.BUFFER_TOO_SMALL
        begin = guest.platform.memory
        pages = (guest.memory.end - begin) // PAGE
        self.cpu.write(a(1), pack("IIQQQQQ", 4, 0, begin, 0, pages, 8, 0))
        self.cpu.write_word(a(2), 1)
        return guids.SUCCESS

    # ---- The rest: section 7.5

    def CopyMem(self, a: Arguments) -> int:  # noqa: N802
        target, source, length = a(0), a(1), a(2)
        if length > MOST_COPY_BYTES:
            raise BadPointerError(f"{length:#x} bytes at {source:#x}")
        self.guest.judge_range(READ, source, length)
        self.guest.judge_range(WRITE, target, length)
        self.cpu.write(target, self.cpu.read(source, length))
        return guids.SUCCESS

    def SetMem(self, a: Arguments) -> int:  # noqa: N802
        target, length = a(0), a(1)
        if length > MOST_COPY_BYTES:
            raise BadPointerError(f"{length:#x} bytes at {target:#x}")
        self.guest.judge_range(WRITE, target, length)
        self.cpu.write(target, bytes([a(2) & 0xFF]) * length)
        return guids.SUCCESS

    def CalculateCrc32(self, a: Arguments) -> int:  # noqa: N802
        data = self.cpu.read(a(0), a(1)) if a(1) <= MOST_COPY_BYTES else b""
        self.cpu.write_word(a(2), binascii.crc32(data), 4)
        return guids.SUCCESS

    def ConnectController(self, a: Arguments) -> int:  # noqa: N802
        del a  # there are no other drivers
        return guids.NOT_FOUND
