# SPDX-License-Identifier: MIT
"""The rules that EFI drivers are held to: name, level, what breaks, and where it is written.

Sections are those of the UEFI Specification 2.10 (2022) unless another document is named. They were
compared with the table of contents of 2.11 (2024), which has the same ones.
"""

from enum import StrEnum

from everycore.firmware.findings import Finding, Level, Place, Rule


class Method(StrEnum):
    """How a rule is checked."""

    IMAGE = "image"  # headers of the PE file
    CODE = "code"  # a decoder reads the instructions
    RUN = "run"  # the driver runs on a model of a machine


_E, _W, _N = Level.ERROR, Level.WARNING, Level.NOTE
_SDM = "Intel SDM volume 2 (2023)"


_PCI_IO = {
    "Io.Read": 6, "Map": 11, "Unmap": 12, "AllocateBuffer": 13, "FreeBuffer": 14,
    "Attributes": 17, "GetBarAttributes": 18,
}  # fmt: skip
_BINDING = {"Supported": 2, "Start": 3, "Stop": 4}


def _pci_io(function: str) -> str:
    return f"UEFI 14.4.{_PCI_IO[function]} (EFI_PCI_IO_PROTOCOL.{function})"


def _binding(function: str) -> str:
    return f"UEFI 11.1.{_BINDING[function]} (EFI_DRIVER_BINDING_PROTOCOL.{function})"


def _boot(section: str, function: str) -> str:
    return f"UEFI {section} (EFI_BOOT_SERVICES.{function})"


_IMAGE = (
    ("pe-subsystem", _E, "the subsystem is not that of an EFI driver",
     "UEFI 2.1.1", "link with the subsystem efi_boot_service_driver"),
    ("pe-format", _E, "the image is PE32, with addresses of 32 bits, for a machine of 64 bits",
     "UEFI 2.1.1; PE Format, Optional Header", "link for a 64-bit target, as PE32+"),
    ("pe-relocations", _E, "the image has no base relocations: it runs only at one address",
     "UEFI 2.1.1; PE Format, The .reloc Section", "link without /FIXED, and do not strip .reloc"),
    ("pe-relocation-type", _E, "a base relocation of a type that 64-bit firmware does not apply",
     "UEFI 2.1.1; PE Format, Base Relocation Types", "store no 32-bit addresses in 64-bit code"),
    ("pe-section-alignment", _N, "sections are not aligned to pages: no part can be protected",
     "PE Format, SectionAlignment; UEFI 7.2.3", "link with /align:4096"),
    ("pe-writable-code", _W, "a section is writable and executable",
     "PE Format, Section Flags; UEFI 7.2.3", "put code and data into sections of their own"),
    ("pe-nx-compatible", _N, "the image does not promise to run with data pages not executable",
     "PE Format, DLL Characteristics", "link with /nxcompat, after testing it"),
    ("pe-memory-size", _N, "the loaded image takes far more memory than the file has bytes",
     "PE Format, SizeOfImage", "allocate large buffers in Start, not in .bss"),
    ("pe-signature-differs", _E, "the signature is for another file: Secure Boot refuses the image",
     "UEFI 32.2.3", "sign the image as it is now, after the last change"),
    ("pe-signature-unread", _N, "a signature was not read: whether it is for this file is open",
     "UEFI 32.2.4", "look at it with sbverify --list, or sign the image again"),
)  # fmt: skip

_CODE = (
    ("code-stack-32-bit", _E, "64-bit code addresses the stack with 32 bits",
     "UEFI 2.3.4", "use the 64-bit stack pointer; the stack may lie above 4 GiB"),
    ("code-port-io", _W, "a port I/O instruction: only x86 has ports",
     _pci_io("Io.Read"), "use PciIo.Io.Read and PciIo.Io.Write"),
    ("code-absolute-address", _W, "an access to a fixed address, which no relocation adjusts",
     "UEFI 2.1.1", "use memory that the firmware gave"),
    ("code-random", _W, "an instruction that not every processor has: ask for it before",
     f"{_SDM}, RDRAND; Arm ARM DDI 0487, RNDR", "use EFI_RNG_PROTOCOL (UEFI 37.5)"),
    ("code-cpuid", _N, "an instruction that identifies x86 processors",
     f"{_SDM}, CPUID", "nothing, if it decides only between ways to do the same"),
    ("code-time-stamp", _N, "an instruction that reads a counter of unknown frequency",
     f"{_SDM}, RDTSC", "measure time with Stall or EFI_TIMESTAMP_PROTOCOL"),
)  # fmt: skip

_DMA = (
    ("dma-cpu-address", _E, "a device was given a CPU address",
     _pci_io("Map"), "give it the DeviceAddress that Map returns"),
    ("dma-not-mapped", _E, "a device accesses memory that is not mapped for it",
     _pci_io("Map"), "Map memory before the device gets its address, and Unmap it after"),
    ("dma-short-map", _E, "Map mapped fewer bytes than wanted, and the device uses the others",
     _pci_io("Map"), "read NumberOfBytes after Map; transfer the rest in further pieces"),
    ("dma-direction", _E, "a device accesses memory in the direction that Map was not asked for",
     _pci_io("Map"), "BusMasterRead: the device reads; BusMasterWrite: it writes"),
    ("dma-dual-address-cycle", _E, "Map without DUAL_ADDRESS_CYCLE where all memory is above 4 GiB",
     _pci_io("Attributes"), "enable the attribute if the device has 64-bit addresses"),
    ("dma-common-buffer", _E, "Map of a common buffer that AllocateBuffer did not give",
     _pci_io("AllocateBuffer"), "allocate common buffers with AllocateBuffer"),
    ("dma-map-unowned", _E, "Map of memory that the driver does not own",
     _pci_io("Map"), "Map at most what was allocated"),
    ("dma-stale-read", _E, "memory that a device wrote was read before Unmap",
     _pci_io("Unmap"), "Unmap, then read: until then the data may be elsewhere"),
    ("dma-late-write", _E, "memory was written after Map gave it to a device for reading",
     _pci_io("Map"), "write, then Map; or use a common buffer"),
    ("dma-unmap-missing", _E, "a mapping is left after Stop",
     _pci_io("Unmap"), "Unmap everything in Stop"),
    ("dma-unmap-unknown", _E, "Unmap of something that Map did not give, or for the second time",
     _pci_io("Unmap"), "keep the Mapping value of each Map, and Unmap it once"),
    ("dma-free-mapped", _E, "memory was freed that is still mapped for a device",
     _pci_io("FreeBuffer"), "Unmap before freeing"),
    ("dma-after-stop", _E, "a device goes on to access memory that Stop takes away",
     _binding("Stop"), "stop the device's transfers before Unmap"),
)  # fmt: skip

_PCI = (
    ("bar-untranslated", _E, "the value of a BAR was used as a CPU address",
     _pci_io("GetBarAttributes"), "use PciIo.Mem, or translate the address"),
    ("bar-written", _W, "a driver wrote a BAR, which belongs to the PCI bus driver",
     "UEFI 14.3", "leave BARs as they are; PciIo.GetBarAttributes tells their sizes"),
    ("pci-not-enabled", _W, "registers were accessed before the device was enabled",
     _pci_io("Attributes"), "enable memory, I/O and bus mastering with PciIo.Attributes first"),
    ("port-io", _E, "a port I/O instruction was executed",
     _pci_io("Io.Read"), "use PciIo.Io.Read and PciIo.Io.Write"),
)  # fmt: skip

_MEMORY = (
    ("memory-null", _E, "access through a NULL pointer, or to the lowest 64 KiB",
     "UEFI 7.2", "check what a service returned before using it"),
    ("memory-below-4-gib", _E, "access to a 32-bit address where no memory is",
     "UEFI 7.2", "keep addresses in 64-bit variables; use only memory that the firmware gave"),
    ("memory-stack-32-bit", _E, "access to the lower 32 bits of a stack address",
     "UEFI 2.3.4", "use the 64-bit stack pointer; the stack may lie above 4 GiB"),
    ("memory-no-such-address", _E, "access to an address where neither memory nor a device is",
     "UEFI 7.2", "use only memory that the firmware gave"),
    ("memory-not-owned", _E, "access to memory that is not allocated",
     "UEFI 7.2", "stay within the allocation"),
    ("memory-freed", _E, "access to memory that was freed",
     "UEFI 7.2", "do not use memory after freeing it"),
    ("memory-code-written", _W, "the image wrote to a section that is not writable",
     "PE Format, Section Flags; UEFI 7.2.3", "keep variables in a writable section"),
    ("memory-data-executed", _E, "code outside of the image's code was executed",
     "UEFI 7.2.3", "a pointer to a function is wrong, or code was made in data memory"),
    ("memory-stack-overflow", _E, "the stack overflowed",
     "UEFI 2.3", "128 KiB of stack are promised: use less, and do not recurse without a bound"),
    ("memory-fixed-address", _E, "memory was asked for at a fixed or low address that has none",
     _boot("7.2.1", "AllocatePages"), "use AllocateAnyPages"),
    ("memory-free-unknown", _E, "memory was freed that was not allocated so, or was freed twice",
     _boot("7.2.5", "FreePool"), "free once, with the partner of the service that allocated"),
    ("memory-not-freed", _W, "memory that Start allocated is left after Stop",
     f"{_binding('Stop')}; UEFI 7.2", "free in Stop"),
)  # fmt: skip

_CONTRACTS = (
    ("binding-supported-acts", _W, "Supported changed the device, or left something behind",
     _binding("Supported"), "only look at the device in Supported, and close what it opened"),
    ("binding-not-by-driver", _W, "Start took a device without opening its protocol BY_DRIVER",
     _binding("Start"), "open PciIo with EFI_OPEN_PROTOCOL_BY_DRIVER"),
    ("binding-not-closed", _E, "a protocol that Start opened is still open after Stop",
     _boot("7.3.10", "CloseProtocol"), "close it in Stop"),
    ("binding-not-uninstalled", _W, "a protocol that the driver installed is left after its unload",
     _boot("7.3.3", "UninstallProtocolInterface"), "uninstall it"),
    ("binding-stop-failed", _W, "Stop, or the unload of the image, failed",
     _binding("Stop"), "let Stop undo what Start did"),
    ("protocol-close-unopened", _W, "CloseProtocol of what was not opened so",
     _boot("7.3.10", "CloseProtocol"), "close with the agent and controller of the open"),
    ("protocol-unknown-handle", _N, "a service was given a handle that does not exist",
     _boot("7.3.9", "OpenProtocol"), "do not keep handles of others after they are gone"),
    ("event-not-closed", _W, "an event is left after Stop or unload",
     _boot("7.1.3", "CloseEvent"), "close it in Stop, or in the unload function"),
    ("event-unknown", _E, "a service was given an event that does not exist",
     _boot("7.1.3", "CloseEvent"), "close events once"),
    ("tpl-order", _E, "RaiseTPL to a lower level, or RestoreTPL to a higher one",
     _boot("7.1.8", "RaiseTPL"), "restore the level that RaiseTPL returned"),
    ("tpl-too-high", _E, "a service was called at a task priority level at which it may not be",
     "UEFI 7.1 (TPL Restrictions)", "call it at a lower level"),
    ("tpl-left-raised", _E, "a function returned at another task priority level than at its call",
     _boot("7.1.9", "RestoreTPL"), "restore it on every way out"),
    ("call-stack-alignment", _E, "the stack was not aligned to 16 bytes at a call",
     "UEFI 2.3.4, 2.3.6", "call firmware with its calling convention (EFIAPI)"),
    ("call-wrong-pointer", _E, "a service was given a pointer to memory that is not there",
     "UEFI 7", "give pointers to memory that is owned"),
    ("service-missing", _N, "a service was called that this model of a machine does not have",
     "UEFI 7", "nothing: the driver was told that it is unsupported"),
)  # fmt: skip

_ENDS = (
    ("run-endless", _E, "the driver did not come back within the limits",
     "UEFI 7.1", "bound every loop that waits for a device"),
    ("run-exception", _E, "the processor raised an exception",
     "UEFI 2.3", "see the instruction at the offset"),
    ("run-emulator-failed", _E, "the emulator itself failed on this driver",
     "none", "report it: nothing can be said of the driver on this platform"),
    ("run-not-started", _N, "no device of this model is one that the driver supports",
     _binding("Supported"), "name its device: --device VENDOR:DEVICE:CLASS"),
    ("run-start-failed", _N, "Start failed: use of the device could not be checked",
     _binding("Start"), "nothing, if the model of the device is no more than registers"),
)  # fmt: skip

RULES = {
    name: Rule(name, level, text, section, remedy, method)
    for method, group in (
        (Method.IMAGE, _IMAGE),
        (Method.CODE, _CODE),
        *((Method.RUN, group) for group in (_DMA, _PCI, _MEMORY, _CONTRACTS, _ENDS)),
    )
    for name, level, text, section, remedy in group
}


def finding(rule: str, address: int | None, text: str, count: int = 1) -> Finding:
    """A rule that is broken at an address of the image; None: by the image as a whole."""
    return Finding(RULES[rule], Place(address), text, count)
