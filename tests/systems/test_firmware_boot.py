# SPDX-License-Identifier: MIT
"""Firmware takes the option ROMs that `everycore rom` builds.

An example of a driver (tests/systems/firmware/hash_driver.c: SHA-256 by EFI Hash2), for x86-64 and
AArch64, is built into one ROM. Emulated machines with EDK2 boot an application that says whether
the driver runs, and hashes rightly: in OVMF and in AAVMF, from a ROM built compressed and plain,
and from a ROM of Debian's iPXE to which the driver was added. Under Secure Boot, in AAVMF, the hash
that `everycore rom hash` prints decides: in db the driver runs, without it not.
"""

import concurrent.futures
import dataclasses
import functools
import pathlib
import re
import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("uefi_firmware", reason="no uefi-firmware (Python): make lab")
pytest.importorskip("virt", reason="no virt-firmware (Python): tools/setup test")

from edk2_machines import AAVMF, OVMF, SECURE_AAVMF, Machine, build_efi
from processes import everycore, requires, run
from reads import FIRMWARE

IPXE = next(
    (
        path
        for path in map(
            pathlib.Path, ("/usr/lib/ipxe/qemu/efi-e1000.rom", "/usr/share/qemu/efi-e1000.rom")
        )
        if path.exists()
    ),
    pathlib.Path("efi-e1000.rom"),
)
IDS = ("--vendor", "8086", "--device", "100e", "--class", "020000")  # of QEMU's e1000
OWNER = "0f4d1f3e-9d4f-4a6e-8a0c-54a1c3d3a5b1"
ANSWER = re.compile(rb"EVERYCORE: the driver is ([a-z ]+)")
APPLICATION = "application-aarch64.efi"

pytestmark = [
    requires(
        "clang",
        "lld-link",
        "qemu-system-x86_64",
        "qemu-system-aarch64",
        OVMF.code,
        SECURE_AAVMF.code,
        IPXE,
    ),
    pytest.mark.slow,
    pytest.mark.reads(*FIRMWARE, "tests/systems/edk2_machines.py", "tests/systems/firmware/"),
]


@dataclasses.dataclass(frozen=True)
class Boot:
    """A machine with a ROM in its network card, and what the application has to say of the driver.

    `allowed`: files whose hashes are in db under Secure Boot; of a ROM, that of the last driver.
    """

    machine: Machine
    rom: str
    expected: str
    allowed: tuple[str, ...] = ()


BOOTS = {
    "packed_in_ovmf": Boot(OVMF, "packed.rom", "present"),
    "packed_in_aavmf": Boot(AAVMF, "packed.rom", "present"),
    "plain_in_aavmf": Boot(AAVMF, "plain.rom", "present"),
    "added_to_ipxe_in_aavmf": Boot(AAVMF, "ipxe.rom", "present"),
    "for_x86_64_alone_in_aavmf": Boot(AAVMF, "x64.rom", "absent"),
    "secure_boot_with_the_hash": Boot(
        SECURE_AAVMF, "packed.rom", "present", (APPLICATION, "packed.rom")
    ),
    "secure_boot_plain_with_the_hash": Boot(
        SECURE_AAVMF, "plain.rom", "present", (APPLICATION, "driver-aarch64.efi")
    ),
    "secure_boot_without_the_hash": Boot(SECURE_AAVMF, "packed.rom", "absent", (APPLICATION,)),
}


def make_roms(work: pathlib.Path) -> None:
    drivers = []
    for machine in (OVMF, AAVMF):
        name = machine.architecture
        build_efi(work, f"application-{name}", "application.c", machine, "efi_application")
        driver = build_efi(
            work, f"driver-{name}", "hash_driver.c", machine, "efi_boot_service_driver"
        )
        drivers.append(driver.name)
    for command in (
        ("build", *drivers, *IDS, "--compress", "--out", "packed.rom"),
        ("build", *drivers, *IDS, "--out", "plain.rom"),
        ("insert", IPXE, "driver-aarch64.efi", "--size", "256K", "--out", "ipxe.rom"),
        ("drop", "packed.rom", "1", "--out", "x64.rom"),
    ):
        everycore("rom", *command, cwd=work)


@functools.cache
def digest(file: pathlib.Path) -> str:
    return everycore("rom", "hash", file.name, cwd=file.parent).splitlines()[-1].split()[0]


def with_hashes(work: pathlib.Path, name: str, machine: Machine, files: tuple[str, ...]) -> Machine:
    """Return the machine with the hashes of files in its db of Secure Boot."""
    adds = [word for file in files for word in ("--add-db-hash", OWNER, digest(work / file))]
    words = ("--input", str(machine.variables), "--output", f"{name}.fd")
    run([sys.executable, "-m", "virt.firmware.vars", *words, *adds], work)
    return dataclasses.replace(machine, variables=work / f"{name}.fd")


@pytest.fixture(scope="module")
def answers(work: pathlib.Path) -> Iterator[dict[str, "concurrent.futures.Future[bytes]"]]:
    """The consoles of all boots by name; two machines run at a time."""
    make_roms(work)
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        futures = {}
        for name, boot in BOOTS.items():
            machine = boot.machine
            if boot.allowed:
                machine = with_hashes(work, name, machine, boot.allowed)
            application = work / f"application-{machine.architecture}.efi"
            card = f"e1000,romfile={work / boot.rom}"
            futures[name] = pool.submit(machine.boot, work, application, "-device", card)
        yield futures


@pytest.mark.parametrize("name", BOOTS)
def test_the_driver_runs_where_it_may(
    answers: dict[str, "concurrent.futures.Future[bytes]"], name: str
) -> None:
    said = answers[name].result()
    found = ANSWER.search(said)
    assert (found[1].decode() if found else said[-900:]) == BOOTS[name].expected
