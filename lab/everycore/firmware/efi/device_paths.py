# SPDX-License-Identifier: MIT
"""Device paths, and the protocol that drivers make them with: UEFI 2.10, sections 10.2 and 10.5."""

from collections.abc import Callable

from everycore.firmware.efi.cpu import Arguments, Service, pack
from everycore.firmware.efi.guest import Guest

MOST_BYTES = 4096
END_TYPE, END_ENTIRE, END_INSTANCE = 0x7F, 0xFF, 0x01
END_NODE = b"\x7f\xff\x04\x00"
NAMES = (
    "GetDevicePathSize", "DuplicateDevicePath", "AppendDevicePath", "AppendDeviceNode",
    "AppendDevicePathInstance", "GetNextDevicePathInstance", "IsDevicePathMultiInstance",
    "CreateDeviceNode",
)  # fmt: skip


def path_of(read: Callable[[int, int], bytes], address: int) -> bytes:
    """The nodes of a device path at an address, without its end; at most MOST_BYTES."""
    found = b""
    while address and len(found) < MOST_BYTES:
        node = node_of(read, address + len(found))
        if not node or node[:2] == bytes([END_TYPE, END_ENTIRE]):
            break
        found += node
    return found


def node_of(read: Callable[[int, int], bytes], address: int) -> bytes:
    """One node of a device path; nothing if its length cannot be."""
    header = read(address, 4)
    length = int.from_bytes(header[2:4], "little")
    return read(address, length) if 4 <= length <= MOST_BYTES else b""


def make_services(guest: Guest) -> dict[str, Service]:
    """EFI_DEVICE_PATH_UTILITIES_PROTOCOL, without the two services of several instances."""
    read = guest.cpu.read

    def size(a: Arguments) -> int:
        return len(path_of(read, a(0))) + len(END_NODE) if a(0) else 0

    def duplicate(a: Arguments) -> int:
        return guest.give(path_of(read, a(0)) + END_NODE) if a(0) else 0

    def append(a: Arguments) -> int:
        return guest.give(path_of(read, a(0)) + path_of(read, a(1)) + END_NODE)

    def append_node(a: Arguments) -> int:
        node = node_of(read, a(1)) if a(1) else b""
        return guest.give(path_of(read, a(0)) + node + END_NODE)

    def has_instances(a: Arguments) -> int:
        place, end = a(0), a(0) + MOST_BYTES
        while place and place < end:
            node = node_of(read, place)
            if not node or node[0] == END_TYPE:
                return int(node[:2] == bytes([END_TYPE, END_INSTANCE]))
            place += len(node)
        return 0

    def create(a: Arguments) -> int:
        kind, subtype, length = a(0) & 0xFF, a(1) & 0xFF, a(2) & 0xFFFF
        if length < 4:
            return 0
        return guest.give(pack("BBH", kind, subtype, length) + bytes(length - 4))

    return {
        "GetDevicePathSize": size,
        "DuplicateDevicePath": duplicate,
        "AppendDevicePath": append,
        "AppendDeviceNode": append_node,
        "IsDevicePathMultiInstance": has_instances,
        "CreateDeviceNode": create,
    }


def install(guest: Guest) -> None:
    """Offer the protocol on a handle of its own."""
    address = guest.table(8 * len(NAMES))
    guest.cpu.write(address, guest.functions("DevicePathUtilities.", NAMES, make_services(guest)))
    guest.install(guest.new_handle(), "DevicePathUtilities", address)
