# SPDX-License-Identifier: MIT
"""The system table and all that hangs on it: UEFI 2.10, sections 4.3 to 4.5, 9.1, 12."""

from dataclasses import dataclass

from everycore.firmware.efi import device_paths, guids
from everycore.firmware.efi.cpu import Arguments, Service, pack
from everycore.firmware.efi.device_paths import END_NODE
from everycore.firmware.efi.devices.virtio import Virtio
from everycore.firmware.efi.guest import Guest
from everycore.firmware.efi.pci_io import PciIo, RootBridge
from everycore.firmware.efi.protocol_services import ProtocolServices
from everycore.firmware.efi.virtio_io import VirtioIo

REVISION = 2 << 16 | 100  # 2.10
MOST_TEXT = 4096  # characters that one call prints
ROOT_NODE = pack("BBHII", 2, 1, 12, 0x0A0341D0, 0)  # ACPI, PNP0A03
UNLOAD_OFFSET = 88  # of Unload in EFI_LOADED_IMAGE_PROTOCOL


@dataclass(frozen=True, slots=True)
class Firmware:
    """The arguments that start a driver."""

    system_table: int
    image_handle: int
    loaded_image: int


def set_up(guest: Guest) -> Firmware:
    """Build the tables and protocols of the firmware in a guest's memory."""
    boot = _with_header(
        guest,
        b"BOOTSERV",
        guest.functions("", guids.BOOT_SERVICES, ProtocolServices(guest).services()),
    )
    runtime_services: dict[str, Service] = dict.fromkeys(
        guids.RUNTIME_SERVICES, lambda _: guids.UNSUPPORTED
    )
    for name in ("GetVariable", "GetNextVariableName"):
        runtime_services[name] = lambda _: guids.NOT_FOUND
    runtime = _with_header(
        guest,
        b"RUNTSERV",
        guest.functions("", guids.RUNTIME_SERVICES, runtime_services),
    )
    text_out, text_in = _text_out(guest), _text_in(guest)
    vendor = _put(guest, "everycore model\0".encode("utf-16-le"))
    out_handle, in_handle = guest.new_handle(), guest.new_handle()
    guest.install(out_handle, "SimpleTextOut", text_out)
    guest.install(in_handle, "SimpleTextIn", text_in)
    values = (vendor, 1, in_handle, text_in, out_handle, text_out, out_handle, text_out)
    table = _with_header(guest, b"IBI SYST", pack("12Q", *values, runtime, boot, 0, 0))
    _root_bridge(guest)
    device_paths.install(guest)
    for number in range(len(guest.controllers)):
        _controller(guest, number)
    image_handle, loaded_image = _image(guest, table)
    return Firmware(table, image_handle, loaded_image)


def _put(guest: Guest, data: bytes) -> int:
    address = guest.table(len(data))
    guest.cpu.write(address, data)
    return address


def _with_header(guest: Guest, signature: bytes, body: bytes) -> int:
    """A table with its header; the CRC is left out, as drivers do not look."""
    header = signature + pack("IIII", REVISION, 24 + len(body), 0, 0)
    return _put(guest, header + body)


def _text_out(guest: Guest) -> int:
    def print_text(a: Arguments) -> int:
        place = a(1)
        for at in range(MOST_TEXT):
            character = guest.cpu.read_word(place + 2 * at, 2)
            if not character:
                break
            if len(guest.console) < MOST_TEXT:
                guest.console += chr(character)
        return guids.SUCCESS

    def succeed(_a: Arguments) -> int:
        return guids.SUCCESS

    services: dict[str, Service] = dict.fromkeys(guids.TEXT_OUT, succeed)
    services["OutputString"] = print_text
    mode = _put(guest, pack("iiiiiB", 1, 0, 7, 0, 0, 1))
    return _put(guest, guest.functions("ConOut.", guids.TEXT_OUT, services) + pack("Q", mode))


def _text_in(guest: Guest) -> int:
    services: dict[str, Service] = {
        "Reset": lambda _: guids.SUCCESS,
        "ReadKeyStroke": lambda _: guids.NOT_READY,
    }
    functions = guest.functions("ConIn.", guids.TEXT_IN, services)
    return _put(guest, functions + pack("Q", guest.new_handle()))


def _root_bridge(guest: Guest) -> None:
    bridge = RootBridge(guest)
    services = bridge.services(guids.ROOT_BRIDGE_IO)
    functions = guest.functions("RootBridgeIo.", guids.ROOT_BRIDGE_IO, services)
    handle = guest.new_handle()
    interface = _put(guest, pack("Q", 0) + functions + pack("Q", 0))
    guest.install(handle, "PciRootBridgeIo", interface)
    guest.install(handle, "DevicePath", _put(guest, ROOT_NODE + END_NODE))


def _controller(guest: Guest, number: int) -> None:
    controller = guest.controllers[number]
    if isinstance(controller.device, Virtio):
        name, table = "VirtioDevice", VirtioIo(guest, controller, controller.device).interface()
    else:
        services = PciIo(guest, controller).services(guids.PCI_IO)
        functions = guest.functions("PciIo.", guids.PCI_IO, services)
        name, table = "PciIo", functions + pack("QQ", 0, 0)  # no ROM
    controller.interface = _put(guest, table)
    controller.handle = guest.new_handle()
    node = pack("BBHBB", 1, 1, 6, 0, controller.number)
    guest.install(controller.handle, name, controller.interface)
    guest.install(controller.handle, "DevicePath", _put(guest, ROOT_NODE + node + END_NODE))


def _image(guest: Guest, table: int) -> tuple[int, int]:
    """Handle and EFI_LOADED_IMAGE_PROTOCOL of the driver."""
    handle, device = guest.new_handle(), guest.controllers[0].handle
    path = _put(guest, pack("BBHIQQ", 4, 8, 24, 0, 0, 0) + END_NODE)  # a range of the ROM
    # Revision, parent, system table, device, path; options; base, size; types; Unload
    fields = pack("QQQQQQ", 0x1000, 0, table, device, path, 0) + pack("QQ", 0, 0)
    fields += pack("QQIIQ", guest.base, guest.image.memory_bytes, 1, 2, 0)
    interface = _put(guest, fields)
    guest.install(handle, "LoadedImage", interface)
    guest.install(handle, "LoadedImageDevicePath", path)
    return handle, interface
