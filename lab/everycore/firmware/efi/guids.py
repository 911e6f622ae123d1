# SPDX-License-Identifier: MIT
"""GUIDs, status codes and table layouts of the UEFI Specification 2.10."""

from uuid import UUID

_TEXTS = {
    "LoadedImage": "5b1b31a1-9562-11d2-8e3f-00a0c969723b",
    "LoadedImageDevicePath": "bc62157e-3e33-4fec-9920-2d3b36d750df",
    "DevicePath": "09576e91-6d3f-11d2-8e39-00a0c969723b",
    "DevicePathUtilities": "0379be4e-d706-437d-b037-edb82fb772a4",
    "PciIo": "4cf5b200-68b8-4ca5-9eec-b23e3f50029a",
    "PciRootBridgeIo": "2f707ebb-4a1a-11d4-9a38-0090273fc14d",
    "DriverBinding": "18a031ab-b443-4d1a-a5c0-0c09261e9f71",
    "SimpleNetwork": "a19832b9-ac25-11d3-9a2d-0090273fc14d",
    "BlockIo": "964e5b21-6459-11d2-8e39-00a0c969723b",
    "GraphicsOutput": "9042a9de-23dc-4a38-96fb-7aded080516a",
    "VirtioDevice": "fa920010-6785-4941-b6ec-498c579f160a",
    "SimpleTextOut": "387477c2-69c7-11d2-8e39-00a0c969723b",
    "SimpleTextIn": "387477c1-69c7-11d2-8e39-00a0c969723b",
    "ExitBootServicesGroup": "27abf055-b1b8-4c26-8048-748f37baa2df",
}
GUIDS = {name: UUID(text).bytes_le for name, text in _TEXTS.items()}
NAMES = {guid: name for name, guid in GUIDS.items()}


def guid_text(guid: bytes) -> str:
    """The name of a GUID, or its digits."""
    return NAMES.get(guid) or str(UUID(bytes_le=guid))


# UEFI 2.10, appendix D.
_ERROR = 1 << 63
SUCCESS = 0
INVALID_PARAMETER = _ERROR | 2
UNSUPPORTED = _ERROR | 3
BUFFER_TOO_SMALL = _ERROR | 5
NOT_READY = _ERROR | 6
OUT_OF_RESOURCES = _ERROR | 9
NOT_FOUND = _ERROR | 14
ACCESS_DENIED = _ERROR | 15
TIMEOUT = _ERROR | 18
ALREADY_STARTED = _ERROR | 20
_STATUS_NAMES = (
    "success", "load error", "invalid parameter", "unsupported", "bad buffer size",
    "buffer too small", "not ready", "device error", "write protected", "out of resources",
    "volume corrupted", "volume full", "no media", "media changed", "not found",
    "access denied", "no response", "no mapping", "timeout", "not started",
    "already started", "aborted",
)  # fmt: skip


def is_error(status: int) -> bool:
    return bool(status & _ERROR)


def status_text(status: int) -> str:
    """A status in words, or its digits."""
    number = status & ~_ERROR
    if number < len(_STATUS_NAMES) and (number == 0 or is_error(status)):
        return _STATUS_NAMES[number]
    return f"{status:#x}"


# UEFI 2.10, section 4.4: the boot services in the order of their table.
BOOT_SERVICES = (
    "RaiseTPL", "RestoreTPL", "AllocatePages", "FreePages", "GetMemoryMap", "AllocatePool",
    "FreePool", "CreateEvent", "SetTimer", "WaitForEvent", "SignalEvent", "CloseEvent",
    "CheckEvent", "InstallProtocolInterface", "ReinstallProtocolInterface",
    "UninstallProtocolInterface", "HandleProtocol", "Reserved", "RegisterProtocolNotify",
    "LocateHandle", "LocateDevicePath", "InstallConfigurationTable", "LoadImage", "StartImage",
    "Exit", "UnloadImage", "ExitBootServices", "GetNextMonotonicCount", "Stall",
    "SetWatchdogTimer", "ConnectController", "DisconnectController", "OpenProtocol",
    "CloseProtocol", "OpenProtocolInformation", "ProtocolsPerHandle", "LocateHandleBuffer",
    "LocateProtocol", "InstallMultipleProtocolInterfaces",
    "UninstallMultipleProtocolInterfaces", "CalculateCrc32", "CopyMem", "SetMem",
    "CreateEventEx",
)  # fmt: skip
# Section 4.5.
RUNTIME_SERVICES = (
    "GetTime", "SetTime", "GetWakeupTime", "SetWakeupTime", "SetVirtualAddressMap",
    "ConvertPointer", "GetVariable", "GetNextVariableName", "SetVariable",
    "GetNextHighMonotonicCount", "ResetSystem", "UpdateCapsule", "QueryCapsuleCapabilities",
    "QueryVariableInfo",
)  # fmt: skip
# Section 14.4.
PCI_IO = (
    "PollMem", "PollIo", "MemRead", "MemWrite", "IoRead", "IoWrite", "PciRead", "PciWrite",
    "CopyMem", "Map", "Unmap", "AllocateBuffer", "FreeBuffer", "Flush", "GetLocation",
    "Attributes", "GetBarAttributes", "SetBarAttributes",
)  # fmt: skip
# Section 14.2.
ROOT_BRIDGE_IO = (
    "PollMem", "PollIo", "MemRead", "MemWrite", "IoRead", "IoWrite", "PciRead", "PciWrite",
    "CopyMem", "Map", "Unmap", "AllocateBuffer", "FreeBuffer", "Flush", "GetAttributes",
    "SetAttributes", "Configuration",
)  # fmt: skip
# Sections 12.3 and 12.4.
TEXT_OUT = (
    "Reset", "OutputString", "TestString", "QueryMode", "SetMode", "SetAttribute",
    "ClearScreen", "SetCursorPosition", "EnableCursor",
)  # fmt: skip
TEXT_IN = ("Reset", "ReadKeyStroke")
