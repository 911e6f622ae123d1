# SPDX-License-Identifier: MIT
"""Check the findings of efi check in drivers that Debian ships.

Drivers: iPXE's for e1000 out of the option ROMs of three versions of ipxe-qemu; EDK2's for EHCI,
NVMe, and virtio disks, networks and screens (which are graphics outputs) out of OVMF and AAVMF.
tests/systems/efi_golden/ has the packages' locks and the findings: rule, number of places,
platforms.
With --update-golden, they are stored. The drivers are not kept here: they are fetched, and a
package that the archive no longer has is a visible skip.
"""

import dataclasses
import functools
import json
import pathlib
from typing import Any

import pytest
import uefi_firmware
from processes import ROOT, skip_without

from everycore.binary import pe
from everycore.compile import debs
from everycore.environment.context import system_context
from everycore.firmware import codec, oprom
from everycore.firmware.efi import check_image

HOME = ROOT / "tests/systems/efi_golden"
STORED = HOME / "findings.json"
IPXE = ("bookworm", "trixie", "sid")
ROM = "efi-e1000.rom"
EDK2 = {"x86-64": "OVMF_CODE.fd", "aarch64": "QEMU_EFI.fd"}
MODULES = ("EhciDxe", "NvmExpressDxe", "VirtioBlkDxe", "VirtioNetDxe", "VirtioGpuDxe")
# These also run on a machine that does not keep the page of WORK_AREA.
WITHOUT_WORK_AREA = ("EhciDxe", "NvmExpressDxe")
USES = {
    "NvmExpressDxe": "BlockIo",
    "VirtioBlkDxe": "BlockIo",
    "VirtioNetDxe": "SimpleNetwork",
    "VirtioGpuDxe": "GraphicsOutput",
}
SECONDS = 120.0  # of a run: other work may be done beside
# OVMF's build of a driver looks at a page that OVMF keeps for memory encryption
# (PcdOvmfWorkAreaBase, 0x80B000).
WORK_AREA = ((0x80B000, 0x1000),)

pytestmark = [
    pytest.mark.skipif(not check_image.can_run(), reason="no unicorn (make lab)"),
    pytest.mark.long,
]


@dataclasses.dataclass(frozen=True)
class Driver:
    """A driver out of Debian's packages; `machine`: of EDK2's, empty for iPXE's.

    `elsewhere`: it runs on a machine that does not keep the page of WORK_AREA.
    """

    module: str
    machine: str = ""
    elsewhere: bool = False

    @property
    def name(self) -> str:
        words = [self.module, self.machine, "elsewhere" if self.elsewhere else ""]
        return "-".join(filter(None, words))

    @property
    def fixed(self) -> tuple[tuple[int, int], ...]:
        """The memory that its firmware keeps."""
        return WORK_AREA if self.machine == "x86-64" and not self.elsewhere else ()

    def image(self) -> bytes:
        if not self.machine:
            (path,) = unpacked(self.module).rglob(ROM)
            return rom_driver(path)
        files = unpacked("firmware-bookworm").rglob(EDK2[self.machine])
        return volume_drivers(next(file for file in files if not file.is_symlink()))[self.module]


DRIVERS = {
    driver.name: driver
    for driver in (
        *(Driver(f"ipxe-{suite}") for suite in IPXE),
        *(
            Driver(module, machine, elsewhere)
            for machine in EDK2
            for module in MODULES
            for elsewhere in (False, True)
            if not elsewhere or (machine == "x86-64" and module in WITHOUT_WORK_AREA)
        ),
    )
}


def unpacked(name: str) -> pathlib.Path:
    """The folder with a lock's packages; skips if the archive has them no longer."""
    with skip_without(f"packages of {name}"):
        return debs.unpacked(system_context(), debs.read_lock(HOME / f"{name}.lock"))


def rom_driver(path: pathlib.Path) -> bytes:
    rom = oprom.read(path.read_bytes())
    image = next(candidate for candidate in rom.images if candidate.efi)
    return oprom.driver(image, functools.partial(codec.decompress, system_context())).data


@functools.cache
def volume_drivers(path: pathlib.Path) -> dict[str, bytes]:
    """PE images in the firmware volumes of a file, by the names that their files have."""
    data = path.read_bytes()
    at, volume = 0, None
    while volume is None:
        at = data.index(b"_FVH", at + 1)
        volume = uefi_firmware.AutoParser(data[at - 40 :]).parse()
    names: dict[str, str] = {}
    images: dict[str, bytes] = {}

    def walk(objects: list[dict[str, Any]], guid: str) -> None:
        for volume_object in objects:
            guid_here = volume_object.get("guid") or guid
            section: Any = volume_object.get("_self")
            if type(section).__name__ == "FirmwareFileSystemSection":
                if section.type == 0x15:  # a name: PI 1.7, volume 3, section 3.2.5
                    name = (
                        section.name.decode()
                        if isinstance(section.name, bytes)
                        else str(section.name)
                    )
                    names.setdefault(guid, name.strip("\0"))
                elif section.type == 0x10:  # a PE image
                    images.setdefault(guid, bytes(section.data))
                guid_here = guid
            walk(volume_object.get("objects", []), guid_here)

    walk(volume.iterate_objects(True), "")
    return {names[guid]: image for guid, image in images.items() if guid in names}


def findings(driver: Driver) -> dict[str, Any]:
    options = check_image.Options(fixed=driver.fixed, seconds=SECONDS)
    image = pe.read(driver.image())
    checked = check_image.check(system_context(), driver.name, image, options)
    assert not checked.notes, checked.notes
    found: dict[str, Any] = {"steps": {run.platform: list(run.steps) for run in checked.runs}}
    for rule in dict.fromkeys(finding.rule for finding in checked.findings):
        sites = [finding for finding in checked.findings if finding.rule == rule]
        platforms = sorted({platform for site in sites for platform in site.platforms})
        found[rule.name] = {
            "level": str(rule.level),
            "places": len(sites),
            "platforms": platforms,
        }
    return found


def check_what_must_hold(driver: Driver, found: dict[str, Any]) -> None:
    """Check what does not depend on the stored findings."""
    wrong = [rule for rule, about in found.items() if rule != "steps" and about["level"] != "note"]
    if not driver.machine:
        for rule in ("bar-untranslated", "dma-cpu-address"):  # which iPXE has corrected
            assert (rule in wrong) == (driver.module == "ipxe-bookworm"), rule
        assert {"code-stack-32-bit", "memory-stack-32-bit"} <= set(wrong)
    elif driver.elsewhere:  # the access to OVMF's work area is all that is found
        assert sorted(wrong) == ["code-absolute-address", "memory-below-4-gib"]
    else:
        assert wrong == []
        for steps in found["steps"].values():
            assert "Start: success" in steps
            use = USES.get(driver.module)
            assert use is None or f"use: {use}" in steps


def store(name: str, found: dict[str, Any]) -> None:
    stored = json.loads(STORED.read_text()) | {name: found}
    lines = (f' "{each}": {json.dumps(stored[each])}' for each in DRIVERS if each in stored)
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


@pytest.mark.parametrize("name", DRIVERS)
def test_findings_are_those_stored(request: pytest.FixtureRequest, name: str) -> None:
    found = findings(DRIVERS[name])
    if request.config.getoption("--update-golden"):
        store(name, found)
    check_what_must_hold(DRIVERS[name], found)
    assert found == json.loads(STORED.read_text()).get(name)


def test_stored_findings_are_of_these_drivers() -> None:
    assert set(json.loads(STORED.read_text())) == set(DRIVERS)
