#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Option ROMs of Debian are taken apart and built again byte by byte: debian_roms.py [SUITE...]

All of ipxe-qemu and seabios, of bookworm, trixie and sid, fetched once. ROMs without a PCI data
structure are named with the reason. The Authenticode hash of each driver is held against lief's,
and against that in a signature by sbsign, where those are installed.
"""

import functools
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))

from everycore.binary import pe
from everycore.compile import debs
from everycore.compile.debs import Request
from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError, MissingPackagesError, UnavailableError
from everycore.firmware import codec, edit, manifest, oprom, rom_rules

SUITES = ("bookworm", "trixie", "sid")
MOVING = "sid"  # its ROMs may get another compressor, or break other rules, on any day
PACKAGES = ("ipxe-qemu", "seabios")
# ROMs with a PCI data structure: 16 of iPXE, 7 of SeaBIOS
LEAST = {"bookworm": 23, "trixie": 23, "sid": 23}
# Violations; other ROMs have none.
GOLDEN = {name: {"vendor-none"} for name in ("efi-ne2k_pci.rom", "pxe-ne2k_pci.rom")}
# The beginning of a SHA-256 DigestInfo, which a signature holds: RFC 8017, section 9.2.
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
CONTEXT = system_context()


class Tally:
    """Counts tests, and prints what failed or was skipped."""

    def __init__(self) -> None:
        self.passed = self.failed = self.skipped = 0

    def check(self, holds: bool, name: str) -> None:
        self.passed += holds
        self.failed += not holds
        if not holds:
            print(f"FAILED {name}")

    def skip(self, why: str) -> None:
        self.skipped += 1
        print(f"skipped: {why}")


def roms_of(suite: str) -> list[pathlib.Path]:
    """The ROMs of a suite, each file once; links to them are left out."""
    request = Request((suite,), "amd64", PACKAGES)
    lock = CONTEXT.state_dir() / "locks" / f"roms-{suite}.lock"
    try:
        root = debs.unpacked(CONTEXT, debs.pinned(CONTEXT, request, lock, update=False))
    except UnavailableError:  # the archive has moved on
        root = debs.unpacked(CONTEXT, debs.pinned(CONTEXT, request, lock, update=True))
    found = [*root.rglob("*.rom"), *root.rglob("vgabios*.bin")]
    return sorted(path for path in found if not path.is_symlink() and "/grub/" not in str(path))


def check_rom(path: pathlib.Path, suite: str, tally: Tally, signer: "Signer") -> bool:
    """Whether the ROM has a PCI data structure."""
    name = f"{suite} {path.name}"
    data = path.read_bytes()
    rom = oprom.read(data)
    if rom.images[0].pci is None:
        print(f"{name}: no PCI data structure, a ROM for ISA")
        return False
    decompress = functools.partial(codec.decompress, CONTEXT)
    compress = functools.partial(codec.compress, CONTEXT)
    drivers = [oprom.driver(image, decompress) for image in rom.images if image.efi]
    tally.check(rom.fault is None and all(d.pe for d in drivers), f"{name}: is read")
    for how in (None, compress):
        taken = manifest.take_apart(rom, drivers, how)
        again, notes = manifest.put_together(
            json.loads(taken.files[manifest.NAME]), taken.files.__getitem__, compress
        )
        is_reversible = not taken.notes or suite == MOVING
        tally.check(again == data and not notes and is_reversible, f"{name}: is built again")
    order = list(range(len(rom.images)))[::-1]
    turned = oprom.read(edit.reorder(rom, order).data)
    tally.check(edit.reorder(turned, order).data == data, f"{name}: is turned round and back")
    found = {one.rule.name for one in rom_rules.check(rom, drivers) if one.is_violation}
    expected = GOLDEN.get(path.name, set())
    if found != expected and suite == MOVING:
        print(f"{name}: violations {found}, expected {expected}")
    else:
        tally.check(found == expected, f"{name}: violations {found}, expected {expected}")
    for driver in drivers:
        if driver.pe is not None:
            signer.compare(driver.data, pe.authenticode(driver.pe), name, tally)
    return True


class Signer:
    """Other programs that make the Authenticode hash."""

    def __init__(self, folder: pathlib.Path, tally: Tally) -> None:
        self.folder = folder
        self.has_lief = importlib.util.find_spec("lief") is not None
        self.has_sbsign = bool(shutil.which("sbsign") and shutil.which("openssl"))
        if self.has_lief:
            import lief

            lief.logging.disable()
        else:
            tally.skip("no lief (Python)")
        if not self.has_sbsign:
            tally.skip("no sbsign or openssl: install sbsigntool openssl")
            return
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-subj",
                "/CN=test",
                "-keyout",
                "key",
                "-out",
                "cert",
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )

    def compare(self, data: bytes, digest: bytes, name: str, tally: Tally) -> None:
        if self.has_lief:
            import lief

            parsed = lief.PE.parse(list(data))
            theirs = bytes(parsed.authentihash(lief.PE.ALGORITHMS.SHA_256)) if parsed else b""
            tally.check(theirs == digest, f"{name}: the hash is lief's")
        if self.has_sbsign:
            (self.folder / "driver.efi").write_bytes(data)
            subprocess.run(
                [
                    "sbsign",
                    "--key",
                    "key",
                    "--cert",
                    "cert",
                    "--output",
                    "signed.efi",
                    "driver.efi",
                ],
                cwd=self.folder,
                check=True,
                capture_output=True,
            )
            done = subprocess.run(
                ["sbverify", "--cert", "cert", "signed.efi"],
                cwd=self.folder,
                capture_output=True,
                check=False,
            )
            signed = pe.read((self.folder / "signed.efi").read_bytes())
            table = signed.data[signed.directories[pe.DIRECTORY_CERTIFICATES].address :]
            at = table.index(DIGEST_INFO) + len(DIGEST_INFO)
            same = table[at : at + 32] == pe.authenticode(signed)
            tally.check(done.returncode == 0 and same, f"{name}: the hash is sbsign's")
            if len(data) % 8 == 0:  # else sbsign pads the file before it hashes it
                tally.check(table[at : at + 32] == digest, f"{name}: a signature changes no hash")


def main() -> int:
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        signer = Signer(pathlib.Path(folder), tally)
        for suite in sys.argv[1:] or SUITES:
            try:
                found = roms_of(suite)
            except (UnavailableError, MissingPackagesError) as error:
                tally.skip(f"{suite}: {error.message}")
                continue
            with_pci = 0
            for path in found:
                try:
                    with_pci += check_rom(path, suite, tally, signer)
                except EverycoreError as error:
                    tally.check(False, f"{suite} {path.name}: {error.message}")
            tally.check(with_pci >= LEAST[suite], f"{suite}: {with_pci} ROMs")
            print(f"{suite}: {with_pci} of {len(found)} ROMs have a PCI data structure")
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
