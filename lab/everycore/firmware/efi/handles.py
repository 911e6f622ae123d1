# SPDX-License-Identifier: MIT
"""The protocol database: handles, interfaces, and who has opened what. UEFI 2.10, section 7.3."""

from collections.abc import Iterator
from dataclasses import dataclass, field

# EFI_OPEN_PROTOCOL_*: UEFI 7.3, OpenProtocol.
BY_HANDLE_PROTOCOL, GET_PROTOCOL, TEST_PROTOCOL = 1, 2, 4
BY_CHILD_CONTROLLER, BY_DRIVER, EXCLUSIVE = 8, 0x10, 0x20
LASTING = BY_CHILD_CONTROLLER | BY_DRIVER | EXCLUSIVE  # the opens that must be closed


@dataclass(slots=True)
class Open:
    """One way in which an agent has a protocol open."""

    handle: int
    guid: bytes
    agent: int
    controller: int
    attributes: int
    phase: str
    site: int | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Installed:
    """An interface that is installed on a handle."""

    interface: int
    owner: str
    phase: str
    site: int | None


@dataclass(slots=True)
class Handles:
    """All handles."""

    interfaces: dict[int, dict[bytes, Installed]] = field(default_factory=dict)
    opens: list[Open] = field(default_factory=list)

    def install(self, handle: int, guid: bytes, installed: Installed) -> bool:
        """Install an interface; False if the handle has the protocol already."""
        protocols = self.interfaces.setdefault(handle, {})
        if guid in protocols:
            return False
        protocols[guid] = installed
        return True

    def uninstall(self, handle: int, guid: bytes, interface: int) -> bool:
        """Remove an interface, and a handle without any; False if it is not there."""
        protocols = self.interfaces.get(handle, {})
        if guid not in protocols or protocols[guid].interface != interface:
            return False
        del protocols[guid]
        self.opens = [o for o in self.opens if (o.handle, o.guid) != (handle, guid)]
        if not protocols:
            del self.interfaces[handle]
        return True

    def find(self, guid: bytes) -> Iterator[tuple[int, int]]:
        """Handles that have a protocol, with the interface."""
        for handle, protocols in list(self.interfaces.items()):
            if guid in protocols:
                yield handle, protocols[guid].interface

    def open(self, wanted: Open) -> int | None:
        """Enter an open. None, or the agent that has it open in a way that excludes this one."""
        for opened in self.opens:
            if (opened.handle, opened.guid) != (wanted.handle, wanted.guid):
                continue
            same = (opened.agent, opened.controller, opened.attributes)
            if same == (wanted.agent, wanted.controller, wanted.attributes):
                if wanted.attributes & BY_DRIVER:
                    return opened.agent
                opened.count += 1
                return None
            taken = BY_DRIVER | EXCLUSIVE
            if wanted.attributes & taken and opened.attributes & taken:
                return opened.agent
        self.opens.append(wanted)
        return None

    def close(self, handle: int, guid: bytes, agent: int, controller: int) -> bool:
        """Remove the opens of an agent for a controller; False if there are none."""
        key = (handle, guid, agent, controller)
        kept = [o for o in self.opens if (o.handle, o.guid, o.agent, o.controller) != key]
        found = len(kept) < len(self.opens)
        self.opens = kept
        return found

    def children(self, controller: int) -> list[int]:
        """Handles that a bus driver made of a controller."""
        found = [
            opened.controller
            for opened in self.opens
            if opened.handle == controller and opened.attributes & BY_CHILD_CONTROLLER
        ]
        return [handle for handle in dict.fromkeys(found) if handle in self.interfaces]
