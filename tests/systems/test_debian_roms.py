# SPDX-License-Identifier: MIT
"""Option ROMs of Debian are taken apart and built again byte by byte.

All of ipxe-qemu and seabios, of bookworm, trixie and sid, fetched once; ROMs for ISA, which have no
PCI data structure, are left out. The Authenticode hash of each driver is held against lief's, and
against that in a signature by sbsign, where those are installed.
"""

import dataclasses
import functools
import json
import pathlib
from collections.abc import Callable, Sequence

import pytest
from processes import ended, requires, run
from reads import reads_firmware

from everycore.binary import pe
from everycore.compile import debs
from everycore.compile.debs import Request
from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError, MissingPackagesError, UnavailableError
from everycore.firmware import codec, edit, manifest, oprom, rom_rules

SUITES = ("bookworm", "trixie", "sid")
MOVING = "sid"  # its ROMs may get another compressor, or break other rules, on any day
PACKAGES = ("ipxe-qemu", "seabios")
LEAST = 23  # ROMs with a PCI data structure: 16 of iPXE, 7 of SeaBIOS
# Violations; other ROMs have none.
GOLDEN = {name: {"vendor-none"} for name in ("efi-ne2k_pci.rom", "pxe-ne2k_pci.rom")}
# The beginning of a SHA-256 DigestInfo, which a signature holds: RFC 8017, section 9.2.
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
CONTEXT = system_context()
compress = functools.partial(codec.compress, CONTEXT)
decompress = functools.partial(codec.decompress, CONTEXT)

pytestmark = [pytest.mark.slow, reads_firmware]


@dataclasses.dataclass(frozen=True)
class File:
    """A ROM of a suite, as it is read."""

    name: str
    suite: str
    data: bytes = dataclasses.field(repr=False)
    rom: oprom.Rom = dataclasses.field(repr=False)
    drivers: Sequence[oprom.Driver] = dataclasses.field(repr=False)

    def driver_images(self) -> list[tuple[bytes, pe.Image]]:
        return [(driver.data, driver.pe) for driver in self.drivers if driver.pe is not None]


@pytest.fixture(scope="module", params=SUITES)
def files(request: pytest.FixtureRequest) -> list[File]:
    """The ROMs of a suite that have a PCI data structure, each once; links are left out."""
    suite = request.param
    packages = Request((suite,), "amd64", PACKAGES)
    lock = CONTEXT.state_dir() / "locks" / f"roms-{suite}.lock"
    try:
        try:
            pinned = debs.pinned(CONTEXT, packages, lock, update=False)
            root = debs.unpacked(CONTEXT, pinned)
        except UnavailableError:  # the archive has moved on
            pinned = debs.pinned(CONTEXT, packages, lock, update=True)
            root = debs.unpacked(CONTEXT, pinned)
    except (UnavailableError, MissingPackagesError) as error:
        pytest.skip(f"{suite}: {error.message}")
    found = []
    for path in sorted([*root.rglob("*.rom"), *root.rglob("vgabios*.bin")]):
        if path.is_symlink() or "/grub/" in str(path):
            continue
        data = path.read_bytes()
        rom = oprom.read(data)
        if rom.images[0].pci is not None:
            drivers = [oprom.driver(image, decompress) for image in rom.images if image.efi]
            found.append(File(path.name, suite, data, rom, drivers))
    return found


def failures(files: Sequence[File], holds: Callable[[File], bool]) -> list[str]:
    """The ROMs for which something does not hold, or is refused."""
    failed = []
    for file in files:
        try:
            if not holds(file):
                failed.append(file.name)
        except EverycoreError as error:
            failed.append(f"{file.name}: {error.message}")
    return failed


def test_every_rom_is_read(files: list[File]) -> None:
    assert len(files) >= LEAST
    assert not failures(
        files,
        lambda file: file.rom.fault is None and all(driver.pe for driver in file.drivers),
    )


@pytest.mark.parametrize("how", [None, compress], ids=["packed", "unpacked"])
def test_a_rom_is_built_again_from_its_parts(
    files: list[File], how: Callable[[bytes], bytes] | None
) -> None:
    def is_built_again(file: File) -> bool:
        taken = manifest.take_apart(file.rom, file.drivers, how)
        plan = json.loads(taken.files[manifest.NAME])
        again, notes = manifest.put_together(plan, taken.files.__getitem__, compress)
        return again == file.data and not notes and (not taken.notes or file.suite == MOVING)

    assert not failures(files, is_built_again)


def test_images_are_turned_round_and_back(files: list[File]) -> None:
    def is_turned_back(file: File) -> bool:
        order = list(range(len(file.rom.images)))[::-1]
        turned = oprom.read(edit.reorder(file.rom, order).data)
        return edit.reorder(turned, order).data == file.data

    assert not failures(files, is_turned_back)


def test_violations_are_those_known(files: list[File]) -> None:
    differ = {}
    for file in files:
        found = rom_rules.check(file.rom, file.drivers)
        violations = {finding.rule.name for finding in found if finding.is_violation}
        if violations != GOLDEN.get(file.name, set()):
            differ[file.name] = violations
    if differ and files[0].suite == MOVING:
        pytest.skip(f"{MOVING} has other violations: {differ}")
    assert differ == {}


def test_hashes_are_those_of_lief(files: list[File]) -> None:
    lief = pytest.importorskip("lief", reason="no lief (Python)")
    lief.logging.disable()

    def is_equal(file: File) -> bool:
        for data, image in file.driver_images():
            parsed = lief.PE.parse(list(data))
            theirs = parsed and bytes(parsed.authentihash(lief.PE.ALGORITHMS.SHA_256))
            if theirs != pe.authenticode(image):
                return False
        return True

    assert not failures(files, is_equal)


@pytest.fixture(scope="module")
def key(work: pathlib.Path) -> pathlib.Path:
    """The folder with a key and its certificate."""
    words = ("-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test")
    run(["openssl", "req", *words, "-keyout", "key", "-out", "cert"], work)
    return work


def sign(folder: pathlib.Path, data: bytes) -> tuple[bytes, bool]:
    """Return the hash that sbsign signs, and whether the signature verifies and the hash is that of
    the signed image.
    """
    (folder / "driver.efi").write_bytes(data)
    words = ("--key", "key", "--cert", "cert", "--output", "signed.efi", "driver.efi")
    run(["sbsign", *words], folder)
    code, _ = ended("sbverify", "--cert", "cert", "signed.efi", cwd=folder)
    signed = pe.read((folder / "signed.efi").read_bytes())
    table = signed.data[signed.directories[pe.DIRECTORY_CERTIFICATES].address :]
    at = table.index(DIGEST_INFO) + len(DIGEST_INFO)
    digest = table[at : at + 32]
    return digest, code == 0 and digest == pe.authenticode(signed)


@requires("sbsign", "openssl")
def test_hashes_are_those_of_sbsign(files: list[File], key: pathlib.Path) -> None:
    def is_equal(file: File) -> bool:
        for data, image in file.driver_images():
            digest, holds = sign(key, data)
            # Else sbsign pads the file before it hashes it.
            is_unchanged = len(data) % 8 != 0 or digest == pe.authenticode(image)
            if not holds or not is_unchanged:
                return False
        return True

    assert not failures(files, is_equal)
