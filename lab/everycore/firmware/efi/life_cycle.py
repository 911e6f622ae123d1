# SPDX-License-Identifier: MIT
"""Drives a driver through its life: entry, Supported, Start, use, Stop, unload. UEFI 2.10, 11.1."""

from everycore.binary import pe
from everycore.firmware.efi import guids
from everycore.firmware.efi.controller import BUS_MASTER, Controller
from everycore.firmware.efi.cpu import StoppedError, pack
from everycore.firmware.efi.devices import Identity
from everycore.firmware.efi.guest import DRIVER, FIRMWARE, Guest, Limits
from everycore.firmware.efi.handles import BY_DRIVER, LASTING, Open
from everycore.firmware.efi.platforms import Platform
from everycore.firmware.efi.system_table import UNLOAD_OFFSET, Firmware, set_up
from everycore.firmware.efi.usage import use
from everycore.firmware.efi.violations import Outcome

STARTED = ("Start", "use")  # the phases whose work Stop undoes


def run(
    image: pe.Image,
    platform: Platform,
    others: tuple[Identity, ...] = (),
    limits: Limits = Limits(),  # noqa: B008  # frozen
) -> Outcome:
    """Load an image on a platform and drive it; never raises for what the driver does."""
    guest = Guest(platform, image, others, limits)
    guest.load()
    life = LifeCycle(guest, set_up(guest))
    try:
        life.drive()
    except StoppedError as error:
        inside = error.pc is not None and 0 <= error.pc - guest.base < image.memory_bytes
        site = error.pc - guest.base if inside and error.pc is not None else None
        guest.report_at(error.rule, site, error.text)
        life.step(f"stopped: {error.text}")
    findings = tuple(guest.findings.ordered())
    return Outcome(platform.name, findings, tuple(life.steps), guest.console, guest.calls)


class LifeCycle:
    """The steps, and what is judged behind each."""

    def __init__(self, guest: Guest, firmware: Firmware) -> None:
        self.guest, self.firmware = guest, firmware
        self.steps: list[str] = []
        self.was_started = False

    def step(self, text: str) -> None:
        self.steps.append(f"{self.guest.phase}: {text}")

    def drive(self) -> None:
        guest = self.guest
        entry = guest.base + guest.image.entry
        status = self._call("entry", entry, self.firmware.image_handle, self.firmware.system_table)
        if guids.is_error(status):
            return
        bindings = list(guest.handles.find(guids.GUIDS["DriverBinding"]))
        for handle, binding in bindings:
            if handle in guest.handles.interfaces:
                functions = [guest.cpu.read_word(binding + 8 * i) for i in range(3)]
                able = [
                    c for c in guest.controllers if self._is_supported(functions[0], binding, c)
                ]
                if able:  # the first: those that the user named stand before the models
                    self._bind(functions, binding, able[0])
        if bindings and not self.was_started:
            names = ", ".join(str(c.device.identity) for c in guest.controllers)
            guest.report_at("run-not-started", None, f"offered: {names}")
        self._unload()

    def _call(self, phase: str, function: int, *arguments: int) -> int:
        """Call a function of the driver, and judge the priority level it returns at."""
        guest = self.guest
        guest.phase = phase
        level = guest.events.level
        status = guest.cpu.call(function, *arguments)
        if guest.events.level != level:
            text = f"{phase} was called at level {level} and returned at {guest.events.level}"
            guest.report_at("tpl-left-raised", function - guest.base, text)
            guest.events.level = level
        guest.pass_time(1)
        self.step(guids.status_text(status))
        return status

    # ---- A controller

    def _bind(self, functions: list[int], binding: int, controller: Controller) -> None:
        guest = self.guest
        self.was_started = True
        guest.dma.is_over = False
        status = self._call("Start", functions[1], binding, controller.handle, 0)
        start = functions[1] - guest.base
        if guids.is_error(status):
            text = f"on {controller.device.name}: {guids.status_text(status)}"
            guest.report_at("run-start-failed", start, text)
        else:
            self._judge_start(controller, start)
            guest.phase = "use"
            for name in use(guest):
                self.step(name)
            self._stop(functions[2], binding, controller)
        guest.phase = "Stop"
        self._judge_remains(controller)

    def _is_supported(self, function: int, binding: int, controller: Controller) -> bool:
        guest = self.guest
        writes, attributes = controller.writes, controller.attributes
        opens = len(guest.handles.opens)
        guest.phase = "Supported"
        level = guest.events.level
        status = guest.cpu.call(function, binding, controller.handle, 0)
        site = function - guest.base
        if guest.events.level != level:
            guest.report_at("tpl-left-raised", site, "Supported returned at another level")
            guest.events.level = level
        for text, is_broken in (
            (f"{controller.device.name} was written to", controller.writes != writes),
            ("PCI attributes are changed", controller.attributes != attributes),
            ("protocols are left open", len(guest.handles.opens) > opens),
        ):
            if is_broken:
                guest.report_at("binding-supported-acts", site, text)
        kept = [o for o in guest.handles.opens if o.phase != "Supported"]
        guest.handles.opens = kept
        if not guids.is_error(status):
            self.step(f"{controller.device.name} ({controller.device.identity})")
        return not guids.is_error(status)

    def _opens_of(self, controller: Controller) -> list[Open]:
        return [
            opened
            for opened in self.guest.handles.opens
            if controller.handle in (opened.handle, opened.controller)
            and opened.attributes & LASTING
        ]

    def _judge_start(self, controller: Controller, start: int) -> None:
        used = controller.accesses or controller.writes
        owns = any(opened.attributes & BY_DRIVER for opened in self._opens_of(controller))
        if used and not owns:
            text = f"{controller.device.name} is in use"
            self.guest.report_at("binding-not-by-driver", start, text)

    def _stop(self, function: int, binding: int, controller: Controller) -> None:
        """Stop children, then the controller: UEFI 7.3, DisconnectController."""
        guest = self.guest
        guest.dma.is_over = True
        children = guest.handles.children(controller.handle)
        if children:
            buffer = guest.scratch(8 * len(children))
            guest.cpu.write(buffer, pack(f"{len(children)}Q", *children))
            self._call("Stop", function, binding, controller.handle, len(children), buffer)
        status = self._call("Stop", function, binding, controller.handle, 0, 0)
        if guids.is_error(status):
            site, text = function - guest.base, f"Stop: {guids.status_text(status)}"
            guest.report_at("binding-stop-failed", site, text)

    def _judge_remains(self, controller: Controller) -> None:
        """Judge what Start, or the use of the device, has left after Stop."""
        guest = self.guest
        for mapping in list(guest.dma.mappings.values()):
            text = f"{mapping.length:#x} bytes at {mapping.host:#x}"
            guest.report_at("dma-unmap-missing", mapping.site, text)
            guest.dma.unmap(mapping)
        for opened in self._opens_of(controller):
            guest.report_at("binding-not-closed", opened.site, guids.guid_text(opened.guid))
            guest.handles.opens.remove(opened)
        for event in list(guest.events.known.values()):
            if event.phase in STARTED:
                guest.report_at("event-not-closed", event.site, f"created in {event.phase}")
                guest.events.close(event.token)
        for block in guest.memory.in_use():
            if block.owner == DRIVER and block.phase in STARTED:
                text = f"{block.length:#x} bytes ({block.kind})"
                guest.report_at("memory-not-freed", block.site, text)
                block.owner = FIRMWARE
        if controller.device.is_active() and controller.command & BUS_MASTER:
            text = f"{controller.device.name} still runs"
            guest.report_at("dma-after-stop", None, text)

    # ---- The end

    def _unload(self) -> None:
        guest = self.guest
        function = guest.cpu.read_word(self.firmware.loaded_image + UNLOAD_OFFSET)
        if not function:
            return
        status = self._call("unload", function, self.firmware.image_handle)
        if guids.is_error(status):
            text = f"unload: {guids.status_text(status)}"
            guest.report_at("binding-stop-failed", function - guest.base, text)
            return
        for protocols in list(guest.handles.interfaces.values()):
            for guid, installed in protocols.items():
                if installed.owner == DRIVER:
                    text = guids.guid_text(guid)
                    guest.report_at("binding-not-uninstalled", installed.site, text)
        for event in guest.events.known.values():
            text = f"created in {event.phase}"
            guest.report_at("event-not-closed", event.site, text)
