# SPDX-License-Identifier: MIT
"""everycore efi image, run, read: what goes in, what comes out, what firmware and media refuse."""

import json
import re
import shutil
from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from library_reads import reads_all
from world import Lab

from everycore.environment.context import Completed, SystemRunner
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Tree
from everycore.model.targets import load_target
from everycore.run.uefi import boot, boot_targets, medium, results
from everycore.store import run_files

ROOT = Path(__file__).resolve().parents[3]
TREE = Tree(ROOT, is_checkout=True)
HELLO = {
    "type": "harness",
    "version": 1,
    "command": "check",
    "arch": "a64",
    "features": ["neon"],
    "compiler": "clang 14.0.6",
    "word_bits": 64,
    "big_endian": False,
    "counter": "none",
    "library": "0.1.0",
}
CHECK = {
    "type": "check",
    "primitive": "aes",
    "kernel": "a64_ce",
    "property": "known_answers",
    "result": "pass",
    "cases": 28,
}
LINES = (
    {"type": "efi", "version": 1, "firmware": "EDK II", "firmware_revision": 65536}
    | {"midr": "0x410fd034", "emulated": False},
    {"type": "efi-command", "words": "check --quick"},
    HELLO,
    CHECK,
    {"type": "efi-command-end", "code": 0, "stderr": "", "ms": 1, "no_guards": None},
    {"type": "efi-end", "commands": 1, "code": 0},
)


def text_of(lines: Iterable[object]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


def test_every_target_of_firmware_is_read_and_is_none_of_the_others() -> None:
    found = [boot_targets.load(TREE, name) for name in boot_targets.names(TREE)]
    assert {place.machine for place in found} == set(boot_targets.ARCHITECTURES)
    with pytest.raises(EverycoreError) as refused:
        load_target(TREE, "efi-aavmf")
    assert refused.value.hint == "everycore efi run --target efi-aavmf"


@pytest.mark.parametrize("line", ['disk = "floppy"', 'loaded_as = "rom"'])
def test_a_file_of_a_target_with_an_unknown_word_is_refused(tmp_path: Path, line: str) -> None:
    kept = (TREE.root / "catalog/targets/efi-aavmf.toml").read_text(encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text(f"{kept}{line}\n", encoding="utf-8")
    with pytest.raises(EverycoreError, match="unknown") as refused:
        boot_targets.load(TREE, str(path))
    assert "valid: " in refused.value.hint


@reads_all
@pytest.mark.skipif(not shutil.which("mformat"), reason="no mtools")
def test_a_device_tree_that_cannot_be_compiled_is_named(tmp_path: Path) -> None:
    class NoTree(Console):
        def run(self, argv: Sequence[str], **words: object) -> Completed:
            if argv[0] == "dtc":
                return Completed(1, "", "FATAL ERROR: Unable to parse input tree")
            return super().run(argv, **words)  # type: ignore[arg-type]

    (tmp_path / "code.bin").write_bytes(b"code")
    (tmp_path / "harness.efi").write_bytes(b"MZ")
    place = boot_targets.load(TREE, "efi-raspi3b")
    place = replace(place, lock="", code=str(tmp_path / "code.bin"))
    context = Lab(NoTree(), tmp_path, {}).context()
    with pytest.raises(EverycoreError, match=r"cannot compile .*efi-raspi3b\.dts: FATAL"):
        boot.boot(context, place, tmp_path / "harness.efi", ["list"])


def test_a_target_that_does_not_exist_is_named_with_the_nearest() -> None:
    with pytest.raises(EverycoreError, match="unknown target of firmware 'efi-ovmv'") as refused:
        boot_targets.load(TREE, "efi-ovmv")
    assert "efi-ovmf" in refused.value.hint


@pytest.mark.parametrize(
    ("given", "name"), [("arm64", "aarch64"), ("x64", "x86_64"), ("x86-64", "x86_64")]
)
def test_a_file_of_a_target_may_name_its_machine_as_others_do(
    tmp_path: Path, given: str, name: str
) -> None:
    path = tmp_path / "mine.toml"
    kept = (TREE.root / "catalog/targets/efi-aavmf.toml").read_text(encoding="utf-8")
    text = re.sub(r'(?m)^machine = ".*"$', f'machine = "{given}"', kept)
    path.write_text(text, encoding="utf-8")
    assert boot_targets.load(TREE, str(path)).architecture.name == name
    path.write_text(text.replace(given, given + "-be"), encoding="utf-8")
    with pytest.raises(EverycoreError, match=f"unknown machine '{given}-be'"):
        boot_targets.load(TREE, str(path))


def test_a_result_file_becomes_a_result_of_the_lab(system: Lab, tmp_path: Path) -> None:
    file = tmp_path / "result.jsonl"
    file.write_text(text_of(LINES))
    done = system(
        "efi", "read", str(file), "--target", "board", "--out", str(tmp_path / "stored.jsonl")
    )
    assert done.code == 0
    assert "check --quick: 1 passed, 0 failed, 0 skipped" in done.out
    kept = run_files.read(tmp_path / "stored.jsonl")
    assert (kept.run.target, kept.run.machine.midr) == ("board", "0x410fd034")
    assert kept.run.machine.kernel == "EDK II 1.0"
    assert len(kept.records) == 2


def test_a_failed_check_is_shown_and_is_exit_code_1(system: Lab, tmp_path: Path) -> None:
    lines = [*LINES]
    lines[3] = CHECK | {"result": "fail", "detail": "byte 3 differs", "seed": 1}
    lines[4] = LINES[4] | {"code": 1}
    (tmp_path / "result.jsonl").write_text(text_of(lines))
    done = system(
        "efi", "read", str(tmp_path / "result.jsonl"), "--out", str(tmp_path / "stored.jsonl")
    )
    assert done.code == 1
    assert "FAIL aes a64_ce known_answers: byte 3 differs" in done.out


@pytest.mark.parametrize("n_lines", range(1, len(LINES)))
def test_a_result_file_that_is_cut_short_is_refused(n_lines: int) -> None:
    with pytest.raises(EverycoreError, match="cut short"):
        results.read("result.jsonl", text_of(LINES[:n_lines]) + '{"type":"ch')


@pytest.mark.parametrize("text", ["", "no JSON\n", "[]\n", "7\n", '{"type":"run"}\n'])
def test_a_file_of_another_kind_is_refused(text: str) -> None:
    with pytest.raises(EverycoreError, match="no result file of the EFI application"):
        results.read("x.jsonl", text)


class Console(SystemRunner):
    """An emulator that prints these lines; all other programs are real."""

    def __init__(self, *lines: str) -> None:
        super().__init__()
        self._lines = lines

    def stream(self, *_: object, **__: object) -> Generator[str, None, Completed]:
        yield from self._lines
        return Completed(0)


@reads_all
@pytest.mark.skipif(not shutil.which("mformat"), reason="no mtools")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('BdsDxe: failed to load Boot0001 "X": Access Denied', "Secure Boot refused the image"),
        ("Loading failed: Security Violation", "Secure Boot refused the image"),
        ("!!!! X64 Exception Type - 0D(#GP) !!!!", "the application crashed"),
        ("BdsDxe: No bootable option", "did not come to its end"),
        ("everycore: finished, 1 commands, all is well", "no result file"),
    ],
)
def test_firmware_that_gives_no_result_is_said_with_the_reason(
    tmp_path: Path, line: str, message: str
) -> None:
    (tmp_path / "code.fd").write_bytes(b"code")
    (tmp_path / "harness.efi").write_bytes(b"MZ")
    place = replace(
        boot_targets.load(TREE, "efi-uboot"), code=str(tmp_path / "code.fd"), emulator=("emulator",)
    )
    context = Lab(Console("firmware starts", line), tmp_path, {}).context()
    with pytest.raises(EverycoreError, match=message):
        boot.boot(context, place, tmp_path / "harness.efi", ["list"])


def test_firmware_that_is_not_installed_is_named_with_its_package(tmp_path: Path) -> None:
    place = replace(boot_targets.load(TREE, "efi-aavmf"), code=str(tmp_path / "none.fd"))
    context = Lab(Console(), tmp_path, {}).context()
    with pytest.raises(EverycoreError, match="no firmware") as refused:
        boot.boot(context, place, tmp_path / "harness.efi", ["list"])
    assert "qemu-efi-aarch64" in refused.value.hint


@pytest.mark.skipif(not shutil.which("mformat"), reason="no mtools")
def test_an_image_holds_its_files_and_says_when_it_is_full(tmp_path: Path) -> None:
    context = Lab(SystemRunner(), tmp_path, {}).context()
    (tmp_path / "small").write_bytes(b"abc")
    (tmp_path / "large").write_bytes(bytes(3 << 20))
    image = tmp_path / "disk.img"
    medium.write(context, image, 2 << 20, {"EFI/BOOT/A.EFI": tmp_path / "small"})
    assert image.stat().st_size == 2 << 20
    assert image.read_bytes()[510:512] == b"\x55\xaa"
    assert medium.read(context, image, "EFI/BOOT/A.EFI") == b"abc"
    assert medium.read(context, image, "EFI/BOOT/B.EFI") is None
    with pytest.raises(EverycoreError, match="the image is full"):
        medium.write(context, image, 2 << 20, {"B": tmp_path / "large"})


@pytest.mark.skipif(not shutil.which("mformat"), reason="no mtools")
def test_a_trimmed_image_holds_its_files_on_a_stick_of_anything(tmp_path: Path) -> None:
    context = Lab(SystemRunner(), tmp_path, {}).context()
    first, second = bytes(range(256)) * 999 + bytes(5000), bytes(9000)
    (tmp_path / "first").write_bytes(first)
    (tmp_path / "second").write_bytes(second)
    image = tmp_path / "disk.img"
    medium.write_trimmed(context, image, {"A": tmp_path / "first", "EFI/B": tmp_path / "second"})
    assert len(first + second) < image.stat().st_size < len(first + second) + (96 << 10)
    with image.open("ab") as stick:
        stick.write(b"\xa5" * (medium.VOLUME_BYTES - image.stat().st_size))
    assert medium.read(context, image, "A") == first
    assert medium.read(context, image, "EFI/B") == second
    result = bytes(range(256)) * 8192
    (tmp_path / "result").write_bytes(result)
    inside = f"{image}@@{medium.FIRST_SECTOR * medium.SECTOR_BYTES}"
    done = context.runner.run(["mcopy", "-i", inside, str(tmp_path / "result"), "::result"])
    assert done.code == 0
    assert medium.read(context, image, "result") == result
    assert medium.read(context, image, "A") == first


@pytest.mark.parametrize("size", ["", "0", "M", "-1", "1K", "3G", "2097153", "٢M", "1e6"])
def test_a_size_that_is_none_is_refused(system: Lab, size: str) -> None:
    system("efi", "image", "--out", "x.img", f"--size={size}").refuses("no size of an image")
    assert not (system.folder / "x.img").exists()


def test_a_file_that_is_there_is_not_replaced_by_an_image(system: Lab) -> None:
    (system.folder / "card.rom").write_bytes(b"mine")
    system("efi", "image", "--out", "card.rom").refuses("card.rom exists")
    assert (system.folder / "card.rom").read_bytes() == b"mine"


@pytest.mark.parametrize("words", ["", "  ", "check\nlist", "check # all", "prüfe", "x" * 9000])
def test_a_command_that_is_no_line_is_refused(system: Lab, words: str) -> None:
    assert system("efi", "run", words, "--out", str(system.folder / "x.jsonl")).code == 2
    assert not (system.folder / "x.jsonl").exists()
