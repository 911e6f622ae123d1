#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the findings of efi check in drivers that Debian ships: efi_golden.py [--update]

Drivers: iPXE's for e1000 out of the option ROMs of three versions of ipxe-qemu; EDK2's for EHCI,
NVMe, and virtio disks, networks and screens (which are graphics outputs) out of OVMF and AAVMF.
tests/systems/efi_golden/ has the packages' locks and the findings: rule, number of places,
platforms.
--update writes the findings. The drivers are not kept here: they are fetched, and a package that
the archive no longer has is a visible skip.
"""

import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "tests/systems/efi_golden"
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


def unpacked(name: str) -> pathlib.Path | None:
    """The folder with a lock's packages; None, and a line, if the archive has them no longer."""
    from everycore.compile import debs
    from everycore.environment.context import system_context
    from everycore.environment.errors import EverycoreError

    lock = debs.read_lock(HOME / f"{name}.lock")
    try:
        return debs.unpacked(system_context(), lock)
    except EverycoreError as error:
        print(f"skipped: {name}: {error.message}")
        return None


def rom_driver(path: pathlib.Path) -> bytes:
    from functools import partial

    from everycore.environment.context import system_context
    from everycore.firmware import codec, oprom

    rom = oprom.read(path.read_bytes())
    image = next(one for one in rom.images if one.efi)
    return oprom.driver(image, partial(codec.decompress, system_context())).data


def volume_drivers(path: pathlib.Path) -> dict[str, bytes]:
    """PE images in the firmware volumes of a file, by the names that their files have."""
    import uefi_firmware

    data = path.read_bytes()
    at, volume = 0, None
    while volume is None:
        at = data.index(b"_FVH", at + 1)
        volume = uefi_firmware.AutoParser(data[at - 40 :]).parse()
    names: dict[str, str] = {}
    images: dict[str, bytes] = {}

    def walk(objects: list[dict[str, Any]], guid: str) -> None:
        for one in objects:
            guid_here = one.get("guid") or guid
            section: Any = one.get("_self")
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
            walk(one.get("objects", []), guid_here)

    walk(volume.iterate_objects(True), "")
    return {names[guid]: image for guid, image in images.items() if guid in names}


def drivers() -> Iterator[tuple[str, bytes, tuple[tuple[int, int], ...]]]:
    """Names, images, and the memory that their firmware keeps."""
    for suite in IPXE:
        place = unpacked(f"ipxe-{suite}")
        if place is None:
            continue
        (path,) = place.rglob(ROM)
        yield f"ipxe-{suite}", rom_driver(path), ()
    folder = unpacked("firmware-bookworm")
    for machine, file in EDK2.items() if folder else ():
        assert folder is not None
        path = next(one for one in folder.rglob(file) if not one.is_symlink())
        modules = volume_drivers(path)
        for module in MODULES:
            yield f"{module}-{machine}", modules[module], WORK_AREA if machine == "x86-64" else ()
            if machine == "x86-64" and module in WITHOUT_WORK_AREA:
                yield f"{module}-{machine}-elsewhere", modules[module], ()


def findings(name: str, data: bytes, fixed: tuple[tuple[int, int], ...]) -> dict[str, object]:
    from everycore.binary import pe
    from everycore.environment.context import system_context
    from everycore.firmware.efi import check_image

    options = check_image.Options(fixed=fixed, seconds=SECONDS)
    checked = check_image.check(system_context(), name, pe.read(data), options)
    assert not checked.notes, checked.notes
    found: dict[str, object] = {"steps": {run.platform: list(run.steps) for run in checked.runs}}
    for rule in dict.fromkeys(one.rule for one in checked.findings):
        sites = [one for one in checked.findings if one.rule == rule]
        platforms = sorted({platform for one in sites for platform in one.platforms})
        found[rule.name] = {
            "level": str(rule.level),
            "places": len(sites),
            "platforms": platforms,
        }
    return found


def requirements(found: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Check what must hold, whatever the stored findings say."""
    for name, one in found.items():
        wrong = [
            rule for rule, about in one.items() if rule != "steps" and about["level"] != "note"
        ]
        if name.startswith("ipxe"):
            is_old = name == "ipxe-bookworm"
            for rule in ("bar-untranslated", "dma-cpu-address"):
                if (rule in wrong) != is_old:
                    yield f"{name}: {rule} is {'missing' if is_old else 'found'}"
            for rule in ("code-stack-32-bit", "memory-stack-32-bit"):
                if rule not in wrong:
                    yield f"{name}: {rule} is missing"
        elif name.endswith("elsewhere"):
            if sorted(wrong) != ["code-absolute-address", "memory-below-4-gib"]:
                yield f"{name}: the access to OVMF's work area is not all that is found: {wrong}"
        elif wrong:
            yield f"{name}: is not clean: {wrong}"
        elif not all("Start: success" in steps for steps in one["steps"].values()):
            yield f"{name}: was not started"
        elif not all(
            f"use: {use}" in steps
            for use in [USES.get(name.split("-")[0])]
            if use
            for steps in one["steps"].values()
        ):
            yield f"{name}: was not used"


def main() -> int:
    sys.path.insert(0, str(ROOT / "lab"))
    from everycore.firmware.efi.check_image import can_run

    if not can_run():
        print("skipped: no unicorn (make lab)\n0 passed, 0 failed, 1 skipped")
        return 0
    found = {name: findings(name, data, fixed) for name, data, fixed in drivers()}
    stored = HOME / "findings.json"
    text = (
        "{\n" + ",\n".join(f' "{name}": {json.dumps(one)}' for name, one in found.items()) + "\n}\n"
    )
    if "--update" in sys.argv[1:]:
        stored.write_text(text)
    failures = list(requirements(found))
    expected = json.loads(stored.read_text())
    failures += [
        f"{name}: findings differ from {stored.name}: {one}"
        for name, one in found.items()
        if expected.get(name) != one
    ]
    for failure in failures:
        print(failure)
    passed = max(0, len(found) - len(failures))
    print(f"{passed} passed, {len(failures)} failed, {len(expected) - len(found)} skipped")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
