# SPDX-License-Identifier: MIT
"""Drivers that attack the checker, and images changed at random: each ends, and says how."""

import random
import time
from pathlib import Path
from types import ModuleType

import pytest
from firmware import driver_builds
from world import Lab

from everycore.binary import pe
from everycore.binary.malformed import MalformedError
from everycore.environment.errors import EverycoreError
from everycore.firmware.efi import code_rules, image_rules
from everycore.firmware.efi.platforms import PLATFORMS

pytest.importorskip("unicorn", reason="no unicorn: extra 'firmware'")
from everycore.firmware.efi import events, guest, life_cycle
from everycore.firmware.efi.guest import Limits

HOSTILE = driver_builds.attacks()
MOST_SECONDS = 15.0
MUTATIONS = 60  # of each machine
LIMITS = Limits(seconds=2)
LIMITS_WITHOUT_END = Limits(seconds=0.5)  # of attacks that no finding but the time limit ends


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if missing := driver_builds.find_tools():
        pytest.skip(missing)
    return tmp_path_factory.mktemp("hostile")


# The finding of each attack; where several ends are right, any of them.
EXPECTED = {
    "all_memory": {"memory-not-freed"},
    "deep_calls": {"run-endless"},
    "endless_devices": {"run-endless"},
    "endless_services": {"run-endless"},
    "everywhere": {"memory-no-such-address", "memory-below-4-gib"},
    "firmware_code": {"memory-not-owned"},
    "many_handles": {"run-endless"},
    "self_changing": {"memory-code-written"},
    "signals_itself": {"run-endless"},
    "stack_elsewhere": {"memory-no-such-address", "run-exception"},
    "strange_arguments": {"call-wrong-pointer"},
    "top_of_memory": {"memory-no-such-address", "run-exception"},
}


@pytest.mark.parametrize("machine", driver_builds.TARGETS)
@pytest.mark.parametrize("name", HOSTILE)
def test_an_attack_ends_with_a_finding(folder: Path, name: str, machine: str) -> None:
    if not driver_builds.is_for(name, machine):
        pytest.skip(f"{name} is not for {machine}")
    image = pe.read(driver_builds.build(folder, name, machine).read_bytes())
    limits = LIMITS_WITHOUT_END if EXPECTED[name] == {"run-endless"} else LIMITS
    begin = time.monotonic()
    run = life_cycle.run(image, PLATFORMS["arm-server"], limits=limits)
    assert {finding.rule.name for finding in run.findings} & EXPECTED[name], run.findings[:5]
    assert time.monotonic() - begin < MOST_SECONDS


@pytest.mark.parametrize(
    ("name", "module", "limit", "words"),
    [
        ("endless_services", guest, "MOST_SERVICES", "100 services, the last is Stall"),
        ("signals_itself", events, "MOST_NOTIFICATIONS", "notifications without end"),
    ],
)
def test_counts_end_an_attack_before_the_time_does(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    module: ModuleType,
    limit: str,
    words: str,
) -> None:
    monkeypatch.setattr(module, limit, 100)
    image = pe.read(driver_builds.build(folder, name, "x86-64").read_bytes())
    run = life_cycle.run(image, PLATFORMS["pc"], limits=Limits(seconds=60))
    assert [(finding.rule.name, finding.evidence) for finding in run.findings] == [
        ("run-endless", words)
    ]


def test_each_attack_has_its_expected_end() -> None:
    assert set(HOSTILE) == set(EXPECTED)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Change a few bytes, mostly of headers, or cut the end off."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        most = len(changed) if chance.random() < 0.5 else min(len(changed), 0x400)
        at = chance.randrange(most)
        kind = chance.randrange(3)
        if kind == 0:
            changed[at] = chance.randrange(256)
        elif kind == 1:
            changed[at] ^= 1 << chance.randrange(8)
        else:
            changed[at : at + 4] = chance.choice((b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff"))
    if chance.random() < 0.1:
        del changed[chance.randrange(len(changed)) :]
    return bytes(changed)


def read_or_refuse(data: bytes) -> pe.Image | None:
    """The image; None if the reader refuses it as it should."""
    try:
        image = pe.read(data)
        pe.memory(image)
        list(pe.relocations(image))
    except MalformedError:
        return None
    return image


@pytest.mark.parametrize("machine", driver_builds.TARGETS)
def test_changed_images_are_refused_or_checked(folder: Path, machine: str) -> None:
    data = driver_builds.build(folder, "clean", machine).read_bytes()
    chance = random.Random(f"efi {machine}")
    refused = checked = 0
    for _ in range(MUTATIONS):
        image = read_or_refuse(mutate(data, chance))
        if image is None:
            refused += 1
            continue
        image_rules.check(image)
        code_rules.check(image)
        if image.machine_name in image_rules.MACHINES:
            life_cycle.run(image, PLATFORMS["non-coherent"], limits=Limits(seconds=1))
        checked += 1
    assert refused > MUTATIONS / 20
    assert checked > MUTATIONS / 20


def test_a_hostile_driver_is_an_exit_code_and_no_traceback(folder: Path, system: Lab) -> None:
    path = driver_builds.build(folder, "endless_services", "x86-64")
    done = system("efi", "check", str(path), "--platform", "pc", "--seconds", "1")
    assert done.code == 1
    assert "[run-endless]" in done.out
    assert "Traceback" not in done.out + done.err


def test_an_image_that_takes_too_much_memory_is_refused(folder: Path) -> None:
    data = bytearray(driver_builds.build(folder, "all_memory", "aarch64").read_bytes())
    image = pe.read(bytes(data))
    at = image.optional_offset + 56  # SizeOfImage
    data[at : at + 4] = (0xFFFF_F000).to_bytes(4, "little")
    with pytest.raises(EverycoreError, match="not loaded"):
        pe.memory(pe.read(bytes(data)))
