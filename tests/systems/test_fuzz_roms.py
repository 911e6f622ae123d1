# SPDX-License-Identifier: MIT
"""Damaged option ROMs and PE images: read, checked and changed, or refused in one line.

An input is a ROM or a PE image with fields, lengths and bytes changed at random. Any exception but
the one for users is a failure; so is an input that takes more than a second of CPU time, and more
than 64 MiB of memory beyond the start. The same seed gives the same inputs.

pytest tests/systems/test_fuzz_roms.py [--inputs N] [--seed N] [--out FILE]

--out adds the result to a file, as fuzz_roms.jsonl has it.
"""

import contextlib
import json
import pathlib
import random
import re
import resource
import signal
import time
import traceback
from collections.abc import Iterator

import pytest
from firmware.graphics_cards import ATOM_CARD, BIT_CARD
from firmware.pe_images import AARCH64, DATA, TEXT, X86, Part, make_pe
from firmware.rom_images import bios, image, rom
from firmware.signed_images import certificate, own_digest, pkcs7, signed_pe

from everycore.binary import pe
from everycore.environment.errors import EverycoreError
from everycore.firmware import differences, edit, esl, manifest, oprom, rom_rules
from everycore.firmware.efi import code_rules, image_rules
from everycore.report import rom_tables

STATUS = pathlib.Path("/proc/self/status")
MORE_MEMORY_BYTES = 64 << 20
SECONDS = 1.0  # of CPU time, for one input
SCANNED = 0.1  # of the PE images: their instructions are read too, which takes longer than all else
NUMBERS = (
    0,
    1,
    2,
    3,
    7,
    8,
    0x18,
    0x1C,
    0x38,
    0x3F,
    0x40,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x1FF,
    0x200,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x10000,
    0x7FFFFFFF,
    0x80000000,
    0xFFFFFFFF,
)
CERTIFICATE = (24).to_bytes(4, "little") + b"\0\2\2\0" + bytes(16)
CODE = (
    Part(".text", random.Random(0).randbytes(0x80), TEXT),
    Part(".data", bytes(range(64)), DATA, 0x400),
)
DRIVERS = (
    make_pe(),
    make_pe(machine=AARCH64, certificate=CERTIFICATE),
    make_pe(machine=X86, reloc_kind=3),
    make_pe(parts=CODE),
    make_pe(machine=AARCH64, parts=CODE),
    signed_pe(certificate(pkcs7(own_digest()))),
)
PACKED = len(DRIVERS[0]).to_bytes(4, "little") * 2 + DRIVERS[0]  # decompress() below takes it
SEEDS = (
    rom(bios(), image(), size=4096),
    rom(bios(pcir=0x100), image(driver=DRIVERS[1]), image(driver=PACKED, compression=1)),
    rom(image(device_list=(1, 2), driver_offset=0x60)),
    b"NVGI" + bytes(508) + rom(bios(), image(driver=DRIVERS[2])) + b"ATOM and more",
    bios() + b"\xee" * 512 + rom(image()),
    b"\x55\xaa\x02" + bytes(1021),
    ATOM_CARD,
    BIT_CARD,
    rom(bios(), image(driver=DRIVERS[-1]), size=8192),
)


def decompress(stream: bytes) -> bytes:
    """The codec's part: it runs in a process of its own, and is not tested here."""
    return stream[8:]


def damaged(chance: random.Random) -> bytes:
    data = bytearray(chance.choice(DRIVERS if chance.random() < 0.2 else SEEDS))
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        kind = chance.random()
        at = chance.randrange(len(data)) if kind < 0.3 else place(chance, data)
        if kind < 0.8:
            width = chance.choice((1, 2, 4))
            number = chance.choice(NUMBERS) if chance.random() < 0.7 else chance.getrandbits(32)
            data[at : at + width] = (number & ((1 << (8 * width)) - 1)).to_bytes(width, "little")
        elif kind < 0.87:
            del data[at : at + chance.choice((1, 512, len(data)))]
        elif kind < 0.94:
            data[at:at] = chance.choice((b"\xff" * 512, b"\x55\xaa", b"PCIR", b"MZ", bytes(3)))
        else:
            other = chance.choice(SEEDS)
            data[at:] = other[chance.randrange(len(other)) :]
        if not data:
            return b""
    return bytes(data)


def place(chance: random.Random, data: bytearray) -> int:
    """An offset in one of the headers, as those stand."""
    found = data.find(chance.choice((b"\x55\xaa", b"PCIR", b"MZ", b"PE\0\0", b".text", b".reloc")))
    return min(max(found, 0) + chance.randrange(0x40), len(data) - 1)


def work(data: bytes, chance: random.Random) -> str:
    """Do with one input what the commands do; how far it comes."""
    if pe.is_pe(data):
        found = pe.read(data)
        list(rom_rules.pe_findings(found))
        pe.authenticode(found)
        pe.memory(found, 1 << 20)
        image_rules.check(found)
        if chance.random() < SCANNED:
            code_rules.check(found)
        return "driver"
    read = oprom.read(data)
    whole = (
        read.prefix
        + b"".join(rom_image.data + rom_image.gap for rom_image in read.images)
        + read.tail
    )
    assert whole == data, "bytes are lost"
    drivers = [oprom.driver(rom_image, decompress) for rom_image in read.images if rom_image.efi]
    found_rules = rom_rules.check(read, drivers)
    assert all((finding.place.offset or 0) >= 0 and finding.rule.basis for finding in found_rules)
    rom_rules.verdict(read, drivers, found_rules, "x86-64")
    for rom_image in read.images:
        rom_tables.image_line(
            "x", read, rom_image, next((d for d in drivers if d.image is rom_image), None)
        )
    esl.signature_list([pe.authenticode(d.pe) for d in drivers if d.pe], esl.SHA256)
    if chance.random() < 0.1:
        assert manifest.take_apart(read, drivers, None).files
    changed = change(read, chance)
    again = oprom.read(changed.data)
    assert again.fault is None
    differences.differences(read, drivers, again, [])
    return "changed"


def change(read: oprom.Rom, chance: random.Random) -> edit.Edited:
    number = chance.randrange(len(read.images))
    match chance.randrange(6):
        case 0:
            return edit.drop(read, [number])
        case 1:
            return edit.reorder(read, chance.sample(range(len(read.images)), len(read.images)))
        case 2:
            return edit.set_ids(read, edit.Ids(vendor=chance.getrandbits(16)), [])
        case 3:
            return edit.fit(read, None, chance.random() < 0.5)
        case 4:
            return edit.set_last(read, None)
        case _:
            return edit.insert(
                read, [edit.make_image(DRIVERS[0], edit.Ids())], ["new"], None, 1 << 16
            )


def too_long(_number: int, _frame: object) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def peak_bytes() -> int:
    """Return the most memory of this process since forget_peak(), or since its start."""
    if found := re.search(r"^VmHWM:\s+(\d+) kB", STATUS.read_text(), re.M):
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    """Let the peak be the memory of now: tests that ran before in this process may have had more,
    below which a fault would not show.
    """
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/clear_refs").write_text("5")


@pytest.fixture
def _cpu_limit() -> Iterator[None]:
    """SIGPROF ends an input that takes too long."""
    before = signal.signal(signal.SIGPROF, too_long)
    yield
    signal.signal(signal.SIGPROF, before)


def fault_of(data: bytes, chance: random.Random, ends: dict[str, int]) -> str:
    """Do the work, count how far it came, and return what is wrong; empty: nothing."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        ends[work(data, chance)] += 1
    except EverycoreError as error:
        ends["refused"] += 1
        if "\n" in error.message or not error.hint:
            return f"{error.message!r}, {error.hint!r}"
    except Exception:
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given, seed = (metafunc.config.getoption(name) for name in ("--inputs", "--seed"))
    usual = (10_000, seed), pytest.param(1_000_000, seed + 1, marks=pytest.mark.long)
    metafunc.parametrize(("inputs", "seed"), [(given, seed)] if given else usual)


@pytest.mark.usefixtures("_cpu_limit")
def test_damaged_files_are_worked_on_or_refused(
    pytestconfig: pytest.Config, inputs: int, seed: int
) -> None:
    ends = {"driver": 0, "changed": 0, "refused": 0}
    faults: list[str] = []
    number, longest = -1, 0.0
    forget_peak()
    start = peak_bytes()
    for number in range(inputs):
        chance = random.Random((seed << 40) + number)
        data = damaged(chance)
        began = time.process_time()
        if fault := fault_of(data, chance, ends):
            faults.append(f"input {number} of seed {seed}: {fault}")
        longest = max(longest, time.process_time() - began)
        if len(faults) > 5:
            break
    more = peak_bytes() - start
    result = {
        "inputs": number + 1,
        "seed": seed,
        "failed": len(faults),
        **ends,
        "more_memory_bytes": more,
        "longest_seconds": round(longest, 3),
    }
    if out := pytestconfig.getoption("--out"):
        with out.open("a") as file:
            print(json.dumps(result), file=file)
    told = "\n".join(faults)
    assert not faults, f"{len(faults)} of {number + 1} inputs failed\n{told}"
    assert number + 1 == sum(ends.values()) == inputs > 0
    assert more <= MORE_MEMORY_BYTES
