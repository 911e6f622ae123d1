# SPDX-License-Identifier: MIT
"""A machine with a driver in it: processor, memory, devices, firmware tables; and the judge."""

from dataclasses import dataclass

from everycore.binary import pe
from everycore.firmware.efi import guids
from everycore.firmware.efi.allocations import Block, Kind, Memory, Span
from everycore.firmware.efi.controller import Controller, DeviceBus, Window
from everycore.firmware.efi.cpu import (
    FETCH,
    READ,
    WRITE,
    Arguments,
    BadPointerError,
    Cpu,
    Service,
    StoppedError,
    pack,
)
from everycore.firmware.efi.devices import Identity, make_devices
from everycore.firmware.efi.dma import Dma
from everycore.firmware.efi.events import Events
from everycore.firmware.efi.handles import Handles, Installed
from everycore.firmware.efi.platforms import Platform
from everycore.firmware.efi.violations import Findings

PAGE = 4096
MIB = 1 << 20
STACK_BYTES = 128 << 10  # UEFI 2.3.4, 2.3.6: 128 KiB or more
TABLE_BYTES = 1 << 20
MOST_SERVICES = 300_000  # calls of one run
MOST_STRAY_PAGES = 64
LOWEST = 0x10000
FOUR_GIB = 1 << 32
DRIVER, FIRMWARE = "driver", "firmware"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run on one platform."""

    seconds: float = 10.0


class Guest:
    """One run: an image loaded on a platform."""

    def __init__(
        self,
        platform: Platform,
        image: pe.Image,
        others: tuple[Identity, ...] = (),
        limits: Limits = Limits(),  # frozen
    ) -> None:
        self.platform, self.image = platform, image
        self.findings = Findings(platform.name)
        self.phase = "load"
        self.calls: dict[str, int] = {}
        self.n_calls = 0
        self.console = ""
        self._stray: set[int] = set()
        begin = platform.memory
        self.tables = begin + MIB
        self.base = begin + 2 * MIB
        image_end = (self.base + image.memory_bytes + PAGE - 1) & -PAGE
        self.stack = image_end + 16 * PAGE  # a guard lies below
        heap = (self.stack + STACK_BYTES + 16 * PAGE + MIB - 1) & -MIB
        self.traps = heap + 80 * MIB
        self.cpu = Cpu(image.machine_name, self.traps, limits.seconds)
        self.cpu.stack_top = self.stack + STACK_BYTES
        self.cpu.on_service = self._serve
        self.memory = Memory(self.cpu, heap)
        self._map_memory(image_end)
        self.dma = Dma(self.cpu, self.memory, platform, self.report)
        self.handles = Handles()
        self.events = Events(self.cpu.call)
        self.controllers: list[Controller] = []
        self._add_devices(others)
        self._set_hooks()

    # ---- What a run is made of

    def _map_memory(self, image_end: int) -> None:
        cpu, begin = self.cpu, self.platform.memory
        cpu.map(self.tables, TABLE_BYTES)
        self._next_table = self.tables
        cpu.map(self.base, image_end - self.base, "rwx")
        cpu.map(self.stack, STACK_BYTES)
        spans = self.memory.spans
        spans.append(Span("tables", self.tables, self.tables + TABLE_BYTES))
        spans.append(Span("image", self.base, image_end))
        spans.append(Span("stack", self.stack, self.stack + STACK_BYTES))
        if self.platform.low_memory:
            cpu.map(0, begin)
            spans.append(Span("low memory", 0, begin))
            return
        for address, length in self.platform.fixed:
            cpu.map(address, length)
            spans.append(Span("fixed memory", address, address + length))

    def _add_devices(self, others: tuple[Identity, ...]) -> None:
        for number, device in enumerate(make_devices(self.dma, others), 1):
            bus = DeviceBus(self.dma, self.report)
            controller = Controller(device, number, self.platform, bus, self.report)
            bus.controller = controller
            device.bus = bus
            self.controllers.append(controller)
            for window in controller.windows:
                if window.is_memory:
                    self._map_window(controller, window, window.cpu, False)
                    if window.cpu != window.pci:
                        self._map_window(controller, window, window.pci, True)

    def _map_window(
        self, controller: Controller, window: Window, begin: int, is_untranslated: bool
    ) -> None:
        self.cpu.map(begin, window.length)

        def on_access(kind: str, address: int, length: int, value: int) -> None:
            offset = address - begin
            if is_untranslated:
                text = f"{kind} of {address:#x}: BAR {window.index} of {controller.device.name}"
                self.report("bar-untranslated", f"{text} is {window.cpu:#x} for the CPU")
            if kind == READ:
                self.cpu.write_word(address, controller.read(window, offset, length), length)
            else:
                mask = (1 << 8 * length) - 1
                controller.write(window, offset, length, value & mask)

        self.cpu.watch(begin, begin + window.length, on_access)

    def _set_hooks(self) -> None:
        cpu = self.cpu
        cpu.on_fault(self._on_fault)
        cpu.on_interrupt(self._on_interrupt)
        cpu.on_port(self._on_port)
        for arena in self.memory.arenas.values():
            cpu.watch(arena.begin, arena.end, self._on_heap)

    def load(self) -> None:
        """Put the image into memory, relocated; sections get the rights that they ask for."""
        loaded = pe.memory(self.image)
        for relocation in pe.relocations(self.image):
            length = {pe.RELOC_DIR64: 8, pe.RELOC_HIGHLOW: 4}.get(relocation.kind)
            if length is None:
                continue  # a static rule reports it
            place = slice(relocation.address, relocation.address + length)
            value = int.from_bytes(loaded[place], "little") - self.image.base + self.base
            loaded[place] = (value & ((1 << 8 * length) - 1)).to_bytes(length, "little")
        self.cpu.write(self.base, bytes(loaded))
        aligned = self.image.section_alignment % PAGE == 0
        for section in self.image.sections:
            if aligned and section.address % PAGE == 0 and section.memory_end > section.address:
                rights = "r" + "w" * section.is_writable + "x" * section.is_executable
                length = section.memory_end - section.address
                self.cpu.protect(self.base + section.address, length, rights)

    def table(self, length: int) -> int:
        """Return zeroed memory of the firmware's own."""
        address = self._next_table
        self._next_table += (length + 15) & ~15
        if self._next_table > self.tables + TABLE_BYTES:
            raise StoppedError("run-endless", "the driver asks for ever more handles")
        return address

    def functions(self, prefix: str, names: tuple[str, ...], services: dict[str, Service]) -> bytes:
        """A table of pointers to services; those that are not modelled report their use."""
        addresses = [
            self.cpu.add_service(
                f"{prefix}{name}", services.get(name, self._missing(prefix + name))
            )
            for name in names
        ]
        return pack(f"{len(names)}Q", *addresses)

    def _missing(self, name: str) -> Service:
        def service(_arguments: Arguments) -> int:
            self.report("service-missing", name)
            return guids.UNSUPPORTED

        return service

    # ---- Judging

    def where(self) -> int | None:
        """The place in the image that is at work; for a service, the one behind its call."""
        at = self.cpu.pc
        if not self.base <= at < self.base + self.image.memory_bytes:
            at = self.cpu.caller()
        inside = self.base <= at < self.base + self.image.memory_bytes
        return at - self.base if inside else None

    def report(self, rule: str, text: str) -> None:
        self.findings.add(rule, self.where(), text, self.phase)

    def report_at(self, rule: str, site: int | None, text: str) -> None:
        self.findings.add(rule, site, text, self.phase)

    def _rule_of(self, address: int) -> str:
        if address < LOWEST:
            return "memory-null"
        if address < FOUR_GIB:
            low = self.stack & (FOUR_GIB - 1)
            if self.stack >= FOUR_GIB and low <= address < low + STACK_BYTES:
                return "memory-stack-32-bit"
            return "memory-below-4-gib"
        return "memory-no-such-address"

    def _on_fault(self, kind: str, address: int, length: int) -> bool:
        page = address & -PAGE
        text = f"{kind} of {length} bytes at {address:#x}"
        if self.stack - 16 * PAGE <= address < self.stack:
            raise StoppedError("memory-stack-overflow", text)
        if kind == FETCH:
            raise StoppedError("memory-data-executed", f"execution of {address:#x}")
        if self.base <= address < self.base + self.image.memory_bytes:
            self.report("memory-code-written", f"write to image+{address - self.base:#x}")
            self.cpu.protect(page, PAGE, "rwx")
            return True
        if self.traps <= address < self.traps + 0x10000:
            raise StoppedError("memory-not-owned", f"{text}: code of the firmware")
        most = MOST_STRAY_PAGES * (16 if self._is_memory_of_a_pc(address) else 1)
        if len(self._stray) >= most:
            raise StoppedError(self._rule_of(address), f"{text}, after many others")
        for stray_page in {page, (address + length - 1) & -PAGE} - self._stray:
            if stray_page + PAGE > 1 << 64:
                raise StoppedError(self._rule_of(address), text)
            try:
                self.cpu.map(stray_page, PAGE)  # as if memory were there, to see what comes next
            except Exception as error:
                raise StoppedError(self._rule_of(address), text) from error
            self._stray.add(stray_page)
            if not self._is_memory_of_a_pc(address):
                self.cpu.watch(stray_page, stray_page + PAGE, self._on_stray)
        return True  # the access is tried again, and seen by the watch

    def _is_memory_of_a_pc(self, address: int) -> bool:
        """Whether a PC with 3 GiB would have memory there, of which this model has only a part."""
        return self.platform.low_memory and address < self.platform.bar_pci

    def _on_stray(self, kind: str, address: int, length: int, _value: int) -> None:
        self.report(self._rule_of(address), f"{kind} of {length} bytes at {address:#x}")

    def _on_heap(self, kind: str, address: int, length: int, value: int) -> None:
        self.judge(kind, address, length)
        if not self.platform.is_coherent:
            self.dma.on_cpu_access(kind, address, length, value)

    def judge(self, kind: str, address: int, length: int) -> None:
        """Judge an access to memory that must be allocated."""
        block = self.memory.block(address)
        if block and not block.is_free and address + length <= block.end:
            return
        text = f"{kind} of {length} bytes at {address:#x}"
        if block:
            text += f", {address - block.address:#x} into {block.length:#x} bytes ({block.kind})"
        self.report("memory-freed" if block and block.is_free else "memory-not-owned", text)

    def judge_range(self, kind: str, address: int, length: int) -> None:
        """The same for the arguments of a service."""
        if length and self.memory.begin <= address < self.memory.end:
            self.judge(kind, address, length)

    def _on_interrupt(self, number: int) -> None:
        raise StoppedError("run-exception", f"exception {number} at {self.cpu.pc:#x}")

    def _on_port(self, kind: str, port: int, length: int, value: int) -> int:
        if not self.platform.low_memory:
            self.report("port-io", f"{kind} of port {port:#x}")
            return 0xFFFF_FFFF
        for controller in self.controllers:
            for window in controller.windows:
                if not window.is_memory and window.cpu <= port < window.cpu + window.length:
                    if kind == WRITE:
                        controller.write(window, port - window.cpu, length, value)
                        return 0
                    return controller.read(window, port - window.cpu, length)
        return 0xFFFF_FFFF

    def _serve(self, name: str, service: Service, arguments: Arguments) -> int:
        self.calls[name] = self.calls.get(name, 0) + 1
        self.n_calls += 1
        if self.n_calls > MOST_SERVICES:
            raise StoppedError("run-endless", f"{MOST_SERVICES:,} services, the last is {name}")
        if not self.cpu.is_stack_aligned():
            self.report("call-stack-alignment", f"stack pointer {self.cpu.sp:#x} at {name}")
        try:
            return service(arguments)
        except BadPointerError as error:
            self.report("call-wrong-pointer", f"{name}: {error}")
            return guids.INVALID_PARAMETER

    # ---- What services share

    def new_handle(self) -> int:
        return self.table(16)

    def install(self, handle: int, name: str, interface: int) -> None:
        """Install an interface of the firmware."""
        installed = Installed(interface, FIRMWARE, self.phase, None)
        self.handles.install(handle, guids.GUIDS[name], installed)

    def allocate(self, length: int, kind: Kind) -> Block | None:
        """Allocate memory for the driver."""
        return self.memory.allocate(length, kind, DRIVER, self.phase, self.where())

    def free(self, block: Block) -> int:
        """Free memory of the driver, which must not be mapped, and return the status."""
        if self.dma.overlapping(block.address, block.end):
            self.report("dma-free-mapped", f"{block.length:#x} bytes at {block.address:#x}")
        self.memory.free(block)
        return guids.SUCCESS

    def give(self, data: bytes) -> int:
        """Return a new block of the pool with data, which the driver has to free; 0: no memory."""
        block = self.allocate(len(data), Kind.POOL)
        if block is None:
            return 0
        self.cpu.write(block.address, data)
        return block.address

    def scratch(self, length: int) -> int:
        """Return a block of the pool for the arguments of a caller of the driver."""
        block = self.memory.allocate(length, Kind.POOL, FIRMWARE, self.phase)
        if block is None:
            raise StoppedError("run-endless", "the driver took all memory")
        self.cpu.write(block.address, bytes(length))
        return block.address

    def pass_time(self, microseconds: int) -> None:
        """Let time pass for devices and timers, and notify."""
        for controller in self.controllers:
            if controller.accesses:
                controller.device.tick()
        self.events.advance(microseconds)
        self.notify()

    def notify(self) -> None:
        if not self.events.dispatch():
            raise StoppedError("run-endless", "notifications without end")
