# SPDX-License-Identifier: MIT
"""Boot services of handles and protocols: UEFI 2.10, section 7.3."""

from everycore.firmware.efi import guids
from everycore.firmware.efi.boot_services import BootServices
from everycore.firmware.efi.cpu import Arguments, pack
from everycore.firmware.efi.device_paths import path_of
from everycore.firmware.efi.guest import DRIVER
from everycore.firmware.efi.handles import (
    BY_CHILD_CONTROLLER,
    BY_DRIVER,
    BY_HANDLE_PROTOCOL,
    EXCLUSIVE,
    TEST_PROTOCOL,
    Installed,
    Open,
)

ALL_HANDLES, BY_REGISTER_NOTIFY, BY_PROTOCOL = 0, 1, 2  # EFI_LOCATE_SEARCH_TYPE
MOST_PROTOCOLS = 64  # of one InstallMultipleProtocolInterfaces


class ProtocolServices(BootServices):
    """All boot services."""

    # ---- Installing

    def InstallProtocolInterface(self, a: Arguments) -> int:  # noqa: N802
        return self._install(a(0), [(self.cpu.read(a(1), 16), a(3))])

    def InstallMultipleProtocolInterfaces(self, a: Arguments) -> int:  # noqa: N802
        return self._install(a(0), self._pairs(a))

    def _pairs(self, a: Arguments) -> list[tuple[bytes, int]]:
        found: list[tuple[bytes, int]] = []
        for number in range(1, 2 * MOST_PROTOCOLS, 2):
            if not a(number):
                break
            found.append((self.cpu.read(a(number), 16), a(number + 1)))
        return found

    def _install(self, place: int, pairs: list[tuple[bytes, int]]) -> int:
        guest = self.guest
        handle = self.cpu.read_word(place)
        if handle and handle not in guest.handles.interfaces:
            guest.report("protocol-unknown-handle", f"installing on {handle:#x}")
            return guids.INVALID_PARAMETER
        new = handle or guest.new_handle()
        done: list[tuple[bytes, int]] = []
        for guid, interface in pairs:
            installed = Installed(interface, DRIVER, guest.phase, guest.where())
            if not guest.handles.install(new, guid, installed):
                for pair in done:
                    guest.handles.uninstall(new, *pair)
                return guids.INVALID_PARAMETER
            done.append((guid, interface))
        self.cpu.write_word(place, new)
        return guids.SUCCESS

    def UninstallProtocolInterface(self, a: Arguments) -> int:  # noqa: N802
        return self._uninstall(a(0), [(self.cpu.read(a(1), 16), a(2))])

    def UninstallMultipleProtocolInterfaces(self, a: Arguments) -> int:  # noqa: N802
        return self._uninstall(a(0), self._pairs(a))

    def _uninstall(self, handle: int, pairs: list[tuple[bytes, int]]) -> int:
        handles = self.guest.handles
        if handle not in handles.interfaces:
            self.guest.report("protocol-unknown-handle", f"uninstalling from {handle:#x}")
            return guids.INVALID_PARAMETER
        for guid, interface in pairs:
            if not handles.uninstall(handle, guid, interface):
                return guids.NOT_FOUND
        return guids.SUCCESS

    def ReinstallProtocolInterface(self, a: Arguments) -> int:  # noqa: N802
        handles, guid = self.guest.handles, self.cpu.read(a(1), 16)
        known = handles.interfaces.get(a(0), {}).get(guid)
        if known is None or known.interface != a(2):
            return guids.NOT_FOUND
        new = Installed(a(3), known.owner, known.phase, known.site)
        handles.interfaces[a(0)][guid] = new
        return guids.SUCCESS

    def RegisterProtocolNotify(self, a: Arguments) -> int:  # noqa: N802
        self.cpu.write_word(a(2), self.guest.new_handle())
        return guids.SUCCESS

    # ---- Opening

    def HandleProtocol(self, a: Arguments) -> int:  # noqa: N802
        return self._open(a(0), self.cpu.read(a(1), 16), a(2), 0, 0, BY_HANDLE_PROTOCOL)

    def OpenProtocol(self, a: Arguments) -> int:  # noqa: N802
        attributes = a(5) & 0xFFFF_FFFF
        return self._open(a(0), self.cpu.read(a(1), 16), a(2), a(3), a(4), attributes)

    def _open(
        self, handle: int, guid: bytes, out: int, agent: int, controller: int, attributes: int
    ) -> int:
        guest = self.guest
        protocols = guest.handles.interfaces.get(handle)
        if protocols is None:
            guest.report("protocol-unknown-handle", f"opening {guids.guid_text(guid)}")
            return guids.INVALID_PARAMETER
        if guid not in protocols:
            return guids.UNSUPPORTED
        if attributes & (BY_DRIVER | EXCLUSIVE | BY_CHILD_CONTROLLER):
            site = guest.where()
            wanted = Open(handle, guid, agent, controller, attributes, guest.phase, site)
            holder = guest.handles.open(wanted)
            if holder is not None:
                return guids.ALREADY_STARTED if holder == agent else guids.ACCESS_DENIED
        if out and attributes != TEST_PROTOCOL:
            self.cpu.write_word(out, protocols[guid].interface)
        return guids.SUCCESS

    def CloseProtocol(self, a: Arguments) -> int:  # noqa: N802
        guest, guid = self.guest, self.cpu.read(a(1), 16)
        if a(0) not in guest.handles.interfaces:
            guest.report("protocol-unknown-handle", f"closing {guids.guid_text(guid)}")
            return guids.INVALID_PARAMETER
        if guest.handles.close(a(0), guid, a(2), a(3)):
            return guids.SUCCESS
        # Other opens need no close, and may have one: only a wrong agent or controller is judged.
        others = [o for o in guest.handles.opens if (o.handle, o.guid) == (a(0), guid)]
        if any(o.attributes & BY_DRIVER and a(3) not in (0, o.controller) for o in others):
            guest.report("protocol-close-unopened", guids.guid_text(guid))
        return guids.NOT_FOUND if others else guids.SUCCESS

    def OpenProtocolInformation(self, a: Arguments) -> int:  # noqa: N802
        guest, guid = self.guest, self.cpu.read(a(1), 16)
        found = [o for o in guest.handles.opens if (o.handle, o.guid) == (a(0), guid)]
        lines = [pack("QQII", o.agent, o.controller, o.attributes, o.count) for o in found]
        self.cpu.write_word(a(3), len(lines))
        return self._give(a(2), b"".join(lines))

    def _give(self, out: int, data: bytes) -> int:
        address = self.guest.give(data or bytes(8))
        if not address:
            return guids.OUT_OF_RESOURCES
        self.cpu.write_word(out, address)
        return guids.SUCCESS

    # ---- Finding

    def ProtocolsPerHandle(self, a: Arguments) -> int:  # noqa: N802
        guest = self.guest
        protocols = list(guest.handles.interfaces.get(a(0), {}))
        if not protocols:
            return guids.INVALID_PARAMETER
        places = [guest.table(16) for _ in protocols]
        for place, guid in zip(places, protocols, strict=True):
            self.cpu.write(place, guid)
        self.cpu.write_word(a(2), len(places))
        return self._give(a(1), pack(f"{len(places)}Q", *places))

    def LocateProtocol(self, a: Arguments) -> int:  # noqa: N802
        guid = self.cpu.read(a(0), 16)
        found = next(self.guest.handles.find(guid), None)
        self.cpu.write_word(a(2), found[1] if found else 0)
        return guids.SUCCESS if found else guids.NOT_FOUND

    def _located(self, how: int, guid: int) -> list[int]:
        handles = self.guest.handles
        if how == ALL_HANDLES:
            return list(handles.interfaces)
        if how == BY_PROTOCOL:
            return [handle for handle, _ in handles.find(self.cpu.read(guid, 16))]
        return []

    def LocateHandle(self, a: Arguments) -> int:  # noqa: N802
        found = self._located(a(0) & 0xFFFF_FFFF, a(1))
        if not found:
            return guids.NOT_FOUND
        room = self.cpu.read_word(a(3))
        self.cpu.write_word(a(3), 8 * len(found))
        if room < 8 * len(found):
            return guids.BUFFER_TOO_SMALL
        self.cpu.write(a(4), pack(f"{len(found)}Q", *found))
        return guids.SUCCESS

    def LocateHandleBuffer(self, a: Arguments) -> int:  # noqa: N802
        found = self._located(a(0) & 0xFFFF_FFFF, a(1))
        self.cpu.write_word(a(3), len(found))
        if not found:
            return guids.NOT_FOUND
        return self._give(a(4), pack(f"{len(found)}Q", *found))

    def LocateDevicePath(self, a: Arguments) -> int:  # noqa: N802
        guest, guid = self.guest, self.cpu.read(a(0), 16)
        place = self.cpu.read_word(a(1))
        wanted = path_of(self.cpu.read, place)
        best: tuple[int, int] | None = None
        for handle, interface in guest.handles.find(guids.GUIDS["DevicePath"]):
            have = path_of(self.cpu.read, interface)
            fits = guid in guest.handles.interfaces[handle] and wanted.startswith(have)
            if fits and (best is None or len(have) > best[0]):
                best = len(have), handle
        if best is None:
            return guids.NOT_FOUND
        self.cpu.write_word(a(1), place + best[0])
        self.cpu.write_word(a(2), best[1])
        return guids.SUCCESS
