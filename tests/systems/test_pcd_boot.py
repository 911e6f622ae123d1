# SPDX-License-Identifier: MIT
"""Settings that `everycore pcd set` changes are those that the image has when firmware runs it.

The application of tests/systems/firmware/settings.c prints its settings in AAVMF, as it was built
and after a change.
"""

import pathlib
import re

import pytest
from edk2_machines import AAVMF, build_efi
from processes import everycore, requires
from reads import FIRMWARE

pytestmark = [
    requires("clang", "lld-link", "qemu-system-aarch64", AAVMF.code),
    pytest.mark.slow,
    pytest.mark.reads(*FIRMWARE, "tests/systems/edk2_machines.py", "tests/systems/firmware/"),
]
ANSWER = re.compile(rb"the settings are ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{16}) (\w*)\.")


@pytest.fixture(scope="module")
def module(work: pathlib.Path) -> pathlib.Path:
    return build_efi(work, "module", "settings.c", AAVMF, "efi_application", "/map:module.map")


def settings(image: pathlib.Path) -> list[str]:
    """Boot an image in AAVMF, and return the values that it prints."""
    said = AAVMF.boot(image.parent, image)
    found = ANSWER.search(said)
    return [group.decode() for group in found.groups()] if found else [repr(said[-900:])]


def test_the_image_has_its_defaults(module: pathlib.Path) -> None:
    assert settings(module) == [
        "0000000011223344",
        "0000000000000001",
        "1122334455667788",
        "default",
    ]


def test_the_changed_image_has_the_new_values(module: pathlib.Path) -> None:
    values = ("PcdRounds=20", "PcdEnable=FALSE", "PcdBase=0xFFFFFFFFFFFFFFFF", 'PcdLabel="changed"')
    files = ("--map", "module.map", "--out", "changed.efi")
    everycore("pcd", "set", module.name, *values, *files, cwd=module.parent)
    assert settings(module.with_name("changed.efi")) == [
        "0000000000000014",
        "0000000000000000",
        "ffffffffffffffff",
        "changed",
    ]
