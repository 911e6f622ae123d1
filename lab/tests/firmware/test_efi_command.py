# SPDX-License-Identifier: MIT
"""everycore efi check: exit codes, outputs, inputs that are wrong, what is missing here."""

import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from firmware import driver_builds, rom_images
from library_reads import reads_no_kernel
from world import Lab, objects

from everycore.binary import pe
from everycore.environment.context import Completed, SystemRunner
from everycore.firmware.efi.driver_rules import RULES

pytestmark = reads_no_kernel

MACHINES = tuple(driver_builds.TARGETS)


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few drivers, and a map of one."""
    if missing := driver_builds.find_tools():
        pytest.skip(missing)
    folder = tmp_path_factory.mktemp("drivers")
    for name in ("clean", "memory_null", "code_random", "code_cpuid"):
        for machine in MACHINES:
            if driver_builds.is_for(name, machine):
                driver_builds.build(folder, name, machine, map_file=True)
    return folder


def needs_unicorn() -> None:
    pytest.importorskip("unicorn", reason="no unicorn: extra 'firmware'")


@pytest.mark.parametrize("machine", MACHINES)
def test_a_driver_that_keeps_the_rules_gives_0(system: Lab, drivers: Path, machine: str) -> None:
    needs_unicorn()
    done = system("efi", "check", str(drivers / f"clean.{machine}.efi"))
    assert (done.code, done.err) == (0, "")
    assert "nothing found" in done.out
    assert "arm-server: entry: success; Supported: edu" in done.out


def test_a_violation_gives_1_with_its_place_source_and_remedy(system: Lab, drivers: Path) -> None:
    needs_unicorn()
    image = drivers / "memory_null.aarch64.efi"
    done = system("efi", "check", str(image), "--map", str(image.with_suffix(".map")))
    assert done.code == 1
    assert "error: access through a NULL pointer" in done.out
    assert "(start+0x" in done.out
    assert "(Start; arm-server, non-coherent)" in done.out
    assert "Remedy: check what a service returned" in done.out


def test_json_has_the_image_the_runs_and_the_findings(system: Lab, drivers: Path) -> None:
    needs_unicorn()
    path = drivers / "memory_null.x86-64.efi"
    done = system("efi", "check", "--json", "--platform", "arm-server", str(path))
    lines = objects(done.out)
    assert [line["type"] for line in lines] == ["image", "run", "finding"]
    about, run, finding = lines
    assert about["sha256"] == pe.authenticode(pe.read(path.read_bytes())).hex()
    assert about["instructions"] > 100
    assert about["not_checked"] == []
    assert run["services"]["PciIo.Attributes"] == 2
    assert finding["rule"] == "memory-null"
    assert finding["platforms"] == ["arm-server"]
    assert finding["file_offset"] == pe.file_offset(pe.read(path.read_bytes()), finding["address"])


def test_json_counts_how_often_a_place_breaks_a_rule(system: Lab, drivers: Path) -> None:
    needs_unicorn()
    driver_builds.build(drivers, "memory_stack_32_bit", "x86-64")
    path = drivers / "memory_stack_32_bit.x86-64.efi"
    done = system("efi", "check", "--json", "--platform", "arm-server", str(path))
    found = {
        finding["rule"]: finding["count"]
        for finding in objects(done.out)
        if finding["type"] == "finding"
    }
    assert found == {"code-stack-32-bit": 1, "memory-stack-32-bit": 2}  # a read and a write


def test_sarif_has_each_finding_with_its_rule(system: Lab, drivers: Path, tmp_path: Path) -> None:
    needs_unicorn()
    path = drivers / "memory_null.x86-64.efi"
    done = system("efi", "check", str(path), "--sarif", "found.sarif")
    assert done.code == 1
    document = json.loads((tmp_path / "found.sarif").read_text(encoding="utf-8"))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    (result,) = run["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "memory-null"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("memory_null.x86-64.efi")
    assert place["region"]["byteOffset"] > 0
    assert result["occurrenceCount"] == 1


def test_notes_are_no_violation(system: Lab, drivers: Path) -> None:
    done = system("efi", "check", "--static", str(drivers / "code_cpuid.x86-64.efi"))
    assert done.code == 0
    assert "1 note" in done.out
    assert "not run: --static was given" in done.err


def test_a_rom_is_checked_for_its_own_device(system: Lab, drivers: Path, tmp_path: Path) -> None:
    needs_unicorn()
    driver = (drivers / "clean.aarch64.efi").read_bytes()
    rom = rom_images.rom(rom_images.image(driver=driver, machine=0xAA64))
    (tmp_path / "card.rom").write_bytes(rom)
    done = system("efi", "check", "card.rom", "--json")
    assert objects(done.out)[0]["name"] == "card.rom:0"
    assert done.code == 0


# ---- What is missing


def test_without_the_emulator_static_rules_are_checked_and_the_rest_is_said(
    system: Lab, drivers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "unicorn", None)
    path = str(drivers / "code_random.aarch64.efi")
    done = system("efi", "check", path)
    assert done.code == 1
    assert "[code-random]" in done.out
    assert "not run: running EFI drivers needs Python packages" in done.err
    done = system("efi", "check", path, "--platform", "pc")
    assert done.code == 2
    assert "extra 'firmware'" in done.err


# ---- Inputs that are wrong


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("nothing.efi", None, "no such file"),
        ("empty.efi", b"", "an empty file"),
        ("text.efi", b"hello, world\n" * 9, "neither an EFI driver nor an option ROM"),
        ("te.efi", b"VZ" + bytes(100), "terse executable"),
        ("elf.efi", b"\x7fELF" + bytes(100), "nor an option ROM, but an ELF file"),
        ("cut.efi", b"MZ" + bytes(20), "offset 0x0: the DOS header"),
    ],
)
def test_bad_input_gives_2_with_a_remedy(
    system: Lab, tmp_path: Path, name: str, data: bytes | None, words: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = system("efi", "check", name, "--static")
    assert done.code == 2
    assert done.out == ""
    message, remedy = done.err.strip().splitlines()
    assert message.startswith(f"everycore: {name}")
    assert words in message
    assert remedy


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--platform", "mainframe"), "unknown platform 'mainframe'"),
        (("--device", "8086"), "'8086' is no VENDOR:DEVICE:CLASS"),
        (("--device", "8086:12345"), "is no VENDOR:DEVICE:CLASS"),
        (("--fixed-memory", "0x80b000"), "is no range of whole pages"),
        (("--fixed-memory", "0x1+0x1000"), "is no range of whole pages"),
        (("--fixed-memory", "0x0+0x10000000"), "is too large"),
        (("--map", "absent.map"), "absent.map: no such file\nname the map"),
    ],
)
def test_bad_options_give_2(system: Lab, drivers: Path, options: Sequence[str], words: str) -> None:
    done = system("efi", "check", str(drivers / "clean.x86-64.efi"), *options)
    assert done.code == 2
    assert words in done.err


def test_a_file_that_cannot_be_read_does_not_keep_others_from_a_check(
    system: Lab, drivers: Path
) -> None:
    good = str(drivers / "clean.x86-64.efi")
    done = system("efi", "check", "--static", "absent.efi", good, "--sarif", "found.sarif")
    assert done.code == 2
    assert "absent.efi: no such file\nname an .efi file or an option ROM" in done.err
    assert good in done.out
    assert "found.sarif is not written" in done.err
    assert not (system.folder / "found.sarif").exists()


def test_a_driver_of_another_machine_is_read_and_not_run(system: Lab, drivers: Path) -> None:
    data = bytearray((drivers / "clean.x86-64.efi").read_bytes())
    at = pe.read(bytes(data)).machine_offset
    data[at : at + 2] = (0x5064).to_bytes(2, "little")
    (system.folder / "riscv.efi").write_bytes(data)
    done = system("efi", "check", "riscv.efi")
    assert done.code == 0
    assert "instructions not scanned: no decoder for riscv64" in done.err
    assert "not run: there is no model of riscv64" in done.err


def test_a_driver_of_no_machine_is_refused(system: Lab, drivers: Path) -> None:
    data = bytearray((drivers / "clean.x86-64.efi").read_bytes())
    at = pe.read(bytes(data)).machine_offset
    data[at : at + 2] = (0x1234).to_bytes(2, "little")
    (system.folder / "unknown.efi").write_bytes(data)
    done = system("efi", "check", "unknown.efi")
    assert done.code == 2
    assert f"unknown.efi: offset {at:#x}: no machine of UEFI: 0x1234" in done.err


# ---- The process of a run


class BrokenRunner(SystemRunner):
    """Ends a process as it is told."""

    def __init__(self, end: Completed | None) -> None:
        self.end = end

    def run(self, argv: Any, **options: Any) -> Completed:
        if argv[-1] == "run":
            if self.end is None:
                raise TimeoutError
            return self.end
        return super().run(argv, **options)


@pytest.mark.parametrize(
    ("end", "rule", "words"),
    [
        (Completed(-signal.SIGSEGV), "run-emulator-failed", "its process ended by signal 11"),
        (Completed(-signal.SIGXCPU), "run-emulator-failed", "more CPU time than it may"),
        (Completed(1, "", "x\nMemoryError\n"), "run-emulator-failed", "MemoryError"),
        (None, "run-endless", "no end after 30 s"),
    ],
)
def test_a_run_that_fails_is_a_finding(
    tmp_path: Path, drivers: Path, end: Completed | None, rule: str, words: str
) -> None:
    needs_unicorn()
    lab = Lab(BrokenRunner(end), tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    done = lab("efi", "check", str(drivers / "clean.x86-64.efi"), "--platform", "pc")
    assert done.code == 1
    assert f"[{rule}]" in done.out
    assert words in done.out


def test_sarif_never_replaces_a_file_that_is_read(system: Lab, tmp_path: Path) -> None:
    card = rom_images.rom(rom_images.image())
    (tmp_path / "card.rom").write_bytes(card)
    done = system("efi", "check", "--static", "--sarif", "card.rom", "card.rom")
    assert (done.code, done.out) == (2, "")
    assert "would replace a file that is read" in done.err
    assert (tmp_path / "card.rom").read_bytes() == card
