# SPDX-License-Identifier: MIT
"""Uses of what a driver offers: network, blocks, graphics. UEFI 2.10, sections 24.1, 13.9, 12.9."""

from everycore.firmware.efi import guids
from everycore.firmware.efi.guest import Guest

MOST_WAITS = 50
WAIT = 1000  # microseconds
PACKET = 60
UNICAST_AND_BROADCAST = 1 | 4  # of the receive filters
MOST_BLOCK = 1 << 16


def use(guest: Guest) -> list[str]:
    """Use all protocols that the driver has installed; returns what was used."""
    found: list[str] = []
    uses = (("SimpleNetwork", _network), ("BlockIo", _blocks), ("GraphicsOutput", _graphics))
    for name, work in uses:
        for handle, interface in list(guest.handles.find(guids.GUIDS[name])):
            if handle in guest.handles.interfaces:
                work(guest, interface)
                found.append(name)
    return found


def _method(guest: Guest, interface: int, offset: int, *arguments: int) -> int:
    function = guest.cpu.read_word(interface + offset)
    result = guest.cpu.call(function, interface, *arguments)
    guest.pass_time(1)
    return result


def _network(guest: Guest, network: int) -> None:
    if guids.is_error(_method(guest, network, 8)):  # Start
        return
    if not guids.is_error(_method(guest, network, 24, 0, 0)):  # Initialize
        _method(guest, network, 48, UNICAST_AND_BROADCAST, 0, 0, 0, 0)  # ReceiveFilters
        _exchange(guest, network)
        _method(guest, network, 40)  # Shutdown
    _method(guest, network, 16)  # Stop


def _exchange(guest: Guest, network: int) -> None:
    """Send a packet to the own address, and receive what arrives."""
    packet, out = guest.scratch(2048), guest.scratch(64)
    mode = guest.cpu.read_word(network + 120)
    station = guest.cpu.read(mode + 64, 6)  # CurrentAddress: behind 5 + 1 fields, and filters
    guest.cpu.write(packet, station + station + b"\x88\xb5" + bytes(PACKET - 14))
    _method(guest, network, 96, 0, PACKET, packet, 0, 0, 0)  # Transmit
    for _ in range(MOST_WAITS):
        guest.pass_time(WAIT)
        guest.cpu.write(out, bytes(16))
        _method(guest, network, 88, out, out + 8)  # GetStatus
        if guest.cpu.read_word(out + 8) == packet:
            break
    received = guest.scratch(2048)
    for _ in range(3):
        guest.cpu.write_word(out + 8, 2048)
        if not guids.is_error(
            _method(guest, network, 104, out, out + 8, received, out + 16, out + 24, out + 32)
        ):
            break
        guest.pass_time(WAIT)


def _blocks(guest: Guest, blocks: int) -> None:
    media = guest.cpu.read_word(blocks + 8)
    identity, size = guest.cpu.read_word(media, 4), guest.cpu.read_word(media + 12, 4)
    has_media = guest.cpu.read_word(media + 5, 1)
    if not has_media or not 0 < size <= MOST_BLOCK:
        return
    for count in (1, 16):
        buffer = guest.scratch(size * count + 4096)
        buffer = (buffer + 4095) & -4096 if size * count > 0 else buffer
        if guids.is_error(_method(guest, blocks, 24, identity, 0, size * count, buffer)):
            return
    _method(guest, blocks, 32, identity, 1, size, buffer)  # WriteBlocks
    _method(guest, blocks, 40)  # FlushBlocks


def _graphics(guest: Guest, graphics: int) -> None:
    out = guest.scratch(64)
    mode = guest.cpu.read_word(graphics + 24)
    if guids.is_error(_method(guest, graphics, 0, 0, out, out + 8)):  # QueryMode
        return
    description = guest.memory.block(guest.cpu.read_word(out + 8))
    if description is not None and not description.is_free:
        guest.memory.free(description)  # the caller's, by section 12.9.2.1
    if mode and not guids.is_error(_method(guest, graphics, 8, 0)):  # SetMode
        _method(guest, graphics, 16, out + 16, 0, 0, 0, 0, 0, 8, 8, 0)  # Blt, fill
