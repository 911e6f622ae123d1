# SPDX-License-Identifier: MIT
"""The words of the EFI application when something is in its way.

In AAVMF: a medium that is write-protected, a volume that is full, a file system that cannot be
written to (of QEMU's loader), and Secure Boot, which refuses the image. The console has 80 columns,
and none of the application's own lines is wider, or has a colour.
"""

import concurrent.futures
import dataclasses
import io
import json
import pathlib
import re
import shutil
from typing import Any

import pytest
from edk2_machines import AAVMF, SECURE_AAVMF, Machine, disk, started
from processes import everycore, requires, run
from reads import FIRMWARE, LIBRARY

from everycore.compile import catalog
from everycore.environment.context import system_context
from everycore.run.uefi import application, boot_targets, medium

COMMAND = "list"
FREE_BYTES = 4 << 10  # of the volume that is nearly full; the results take more
COLUMNS = 79

pytestmark = [
    requires("clang", "ld.lld", "mformat", "qemu-system-aarch64", SECURE_AAVMF.code),
    pytest.mark.slow,
    pytest.mark.reads(*LIBRARY, *FIRMWARE, "tests/systems/edk2_machines.py"),
]


def make_image(work: pathlib.Path, name: str) -> pathlib.Path:
    """An image for AArch64 with one command, which ends the machine."""
    context = system_context()
    tree = catalog.find_tree(context.package, "")
    built = application.build(context, tree, boot_targets.ARCHITECTURES["aarch64"])
    shutil.copy(built.binary, work / "application.efi")
    script = work / "commands.txt"
    script.write_text(f"--shutdown\n{COMMAND}\n")
    files = {"EFI/BOOT/BOOTAA64.EFI": built.binary, "everycore/commands.txt": script}
    medium.write(context, work / name, 2 << 20, files)
    return work / name


def volume(image: pathlib.Path) -> str:
    """The volume in an image, as mtools name it."""
    return f"{image}@@{64 * 512}"


def fill(image: pathlib.Path) -> pathlib.Path:
    """Leave FREE_BYTES of a volume."""
    said = run(["mdir", "-i", volume(image), "::"], image.parent, with_stderr=False)
    free = int(re.sub(r"\D", "", said.strip().splitlines()[-1]))
    (image.parent / "filler").write_bytes(bytes(free - FREE_BYTES))
    run(["mcopy", "-i", volume(image), "filler", "::filler"], image.parent)
    return image


def console(folder: pathlib.Path, machine: Machine, *words: str | pathlib.Path) -> str:
    """Return what the console shows until the application has finished, or was refused."""
    folder.mkdir()
    lines: list[str] = []
    command = dataclasses.replace(machine, cpu="max").command(folder, *words)
    with started(command) as qemu:
        assert qemu.stdout is not None
        for line in io.TextIOWrapper(qemu.stdout, errors="replace"):
            lines.append(line.rstrip())
            if "everycore: finished" in line or "Access Denied" in line or len(lines) > 5000:
                break
    return "\n".join(lines)


@pytest.fixture(scope="module")
def said(work: pathlib.Path) -> dict[str, str]:
    """The console, by what is in the way; two machines run at a time."""
    plain, full = make_image(work, "plain.img"), fill(make_image(work, "full.img"))
    protected = disk(f"{plain},readonly=on")
    loader = ("-kernel", work / "application.efi", "-append", COMMAND)
    boots: dict[str, tuple[Machine, tuple[str | pathlib.Path, ...]]] = {
        "protected": (AAVMF, protected),
        "full": (AAVMF, disk(str(full))),
        "loader": (AAVMF, loader),
        "refused": (SECURE_AAVMF, protected),
    }
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        jobs = {
            name: pool.submit(console, work / name, machine, *words)
            for name, (machine, words) in boots.items()
        }
    return {name: job.result() for name, job in jobs.items()}


def own_lines(text: str) -> list[str]:
    """The application's lines, without those of results."""
    begin = text.index("everycore: the harness")
    lines = text[begin:].splitlines()
    return [
        line for part in lines for line in part.split("\r") if not line.lstrip().startswith("{")
    ]


def results_in(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    assert lines[-1]["type"] == "efi-end"
    assert sum(line["type"] == "kernel" for line in lines) > 5
    return lines


def test_a_write_protected_medium_is_named_and_results_follow_on_the_console(
    said: dict[str, str],
) -> None:
    assert "the medium is write-protected: unprotect it" in said["protected"]
    assert "results follow on this console alone" in said["protected"]
    assert results_in(said["protected"])[0]["type"] == "efi"


def test_a_full_volume_is_named_and_its_file_is_refused(
    said: dict[str, str], work: pathlib.Path
) -> None:
    assert "cannot write results:" in said["full"]
    assert "the volume is full: remove files from it, or take a larger one" in said["full"]
    assert "the result file is cut short" in said["full"]
    results_in(said["full"])  # those that the file lacks
    file = "::everycore/result.jsonl"
    run(["mcopy", "-n", "-i", volume(work / "full.img"), file, "cut.jsonl"], work)
    answer = everycore("efi", "read", work / "cut.jsonl", codes=[2])
    assert re.search("cut short|no result file", answer)


def test_a_file_system_that_cannot_be_written_to_is_named(said: dict[str, str]) -> None:
    reason = r"everycore: (the medium is write-protected|this firmware cannot write)"
    assert re.search(reason, said["loader"])
    assert "results follow on this console alone" in said["loader"]


def test_secure_boot_refuses_the_image(said: dict[str, str]) -> None:
    assert "Access Denied" in said["refused"]
    assert "everycore: the harness" not in said["refused"]


@pytest.mark.parametrize("name", ["protected", "full"])
def test_no_line_is_wider_than_the_console_or_has_a_colour(said: dict[str, str], name: str) -> None:
    lines = own_lines(said[name])
    assert len(lines) > 3
    assert [line for line in lines if len(line) > COLUMNS or "\x1b[3" in line] == []
