#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The words of the EFI application when something is in its way: efi_console.py

In AAVMF: a medium that is write-protected, a volume that is full, a file system that cannot be
written to (of QEMU's loader), and Secure Boot, which refuses the image. The console has 80 columns,
and none of the application's own lines is wider, or has a colour.
"""

import concurrent.futures
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab"))
WORK = pathlib.Path(tempfile.mkdtemp(prefix="efi-console."))
AAVMF = pathlib.Path("/usr/share/AAVMF")
COMMAND = "list"
SECONDS = 300
FREE_BYTES = 4 << 10  # of the volume that is nearly full; the results take more
COLUMNS = 79
NEEDS = {
    "clang": "clang",
    "ld.lld": "lld",
    "mformat": "mtools",
    "qemu-system-aarch64": "qemu-system-arm",
    str(AAVMF / "AAVMF_CODE.ms.fd"): "qemu-efi-aarch64",
}


def missing() -> list[str]:
    return [
        package
        for name, package in NEEDS.items()
        if not (shutil.which(name) or pathlib.Path(name).exists())
    ]


def make_image(name: str) -> pathlib.Path:
    """An image for AArch64 with one command, which ends the machine."""
    from everycore.compile import catalog
    from everycore.environment.context import system_context
    from everycore.run.uefi import application, boot_targets, medium

    context = system_context()
    tree = catalog.find_tree(context.package, "")
    built = application.build(context, tree, boot_targets.ARCHITECTURES["aarch64"])
    shutil.copy(built.binary, WORK / "application.efi")
    script = WORK / "commands.txt"
    script.write_text(f"--shutdown\n{COMMAND}\n")
    files = {"EFI/BOOT/BOOTAA64.EFI": built.binary, "everycore/commands.txt": script}
    medium.write(context, WORK / name, 2 << 20, files)
    return WORK / name


def fill(image: pathlib.Path) -> pathlib.Path:
    """Leave FREE_BYTES of a volume."""
    inside = f"{image}@@{64 * 512}"
    said = subprocess.run(
        ["mdir", "-i", inside, "::"], capture_output=True, text=True, check=True
    ).stdout
    free = int(re.sub(r"\D", "", said.strip().splitlines()[-1]))
    (WORK / "filler").write_bytes(bytes(free - FREE_BYTES))
    subprocess.run(["mcopy", "-i", inside, WORK / "filler", "::filler"], check=True)
    return image


def console(
    name: str,
    *words: str | pathlib.Path,
    code: str = "AAVMF_CODE.fd",
    variables: str = "AAVMF_VARS.fd",
) -> str:
    own = WORK / f"{name}.fd"
    shutil.copy(AAVMF / variables, own)
    command = ["qemu-system-aarch64", "-machine", "virt", "-cpu", "max", "-m", "512"]
    command += ["-drive", f"if=pflash,format=raw,readonly=on,file={AAVMF / code}"]
    command += ["-drive", f"if=pflash,format=raw,file={own}", "-net", "none"]
    command += [
        *map(str, words),
        "-display",
        "none",
        "-serial",
        "stdio",
        "-monitor",
        "none",
        "-no-reboot",
    ]
    lines: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as qemu:
        assert qemu.stdout is not None
        for line in qemu.stdout:
            lines.append(line.rstrip())
            if "everycore: finished" in line or "Access Denied" in line or len(lines) > 5000:
                break
        qemu.kill()
    return "\n".join(lines)


def disk(image: pathlib.Path, more: str = "") -> tuple[str, ...]:
    return (
        "-drive",
        f"file={image},format=raw,if=none,id=disk{more}",
        "-device",
        "virtio-blk-pci,drive=disk,bootindex=0",
    )


def own_lines(text: str) -> list[str]:
    """The application's lines, without those of results."""
    begin = text.index("everycore: the harness")
    lines = text[begin:].splitlines()
    return [
        line for part in lines for line in part.split("\r") if not line.lstrip().startswith("{")
    ]


class Console(unittest.TestCase):
    said: dict[str, str]

    def results_in(self, said: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        self.assertEqual(lines[-1]["type"], "efi-end")
        self.assertGreater(sum(line["type"] == "kernel" for line in lines), 5)
        return lines

    def test_a_write_protected_medium_is_named_and_results_follow_on_the_console(self) -> None:
        said = self.said["protected"]
        self.assertIn("the medium is write-protected: unprotect it", said)
        self.assertIn("results follow on this console alone", said)
        self.assertEqual(self.results_in(said)[0]["type"], "efi")

    def test_a_full_volume_is_named_and_its_file_is_refused(self) -> None:
        self.assertIn("cannot write results:", self.said["full"])
        self.assertIn(
            "the volume is full: remove files from it, or take a larger one", self.said["full"]
        )
        self.assertIn("the result file is cut short", self.said["full"])
        self.results_in(self.said["full"])  # those that the file lacks
        subprocess.run(
            [
                "mcopy",
                "-n",
                "-i",
                f"{WORK / 'full.img'}@@{64 * 512}",
                "::everycore/result.jsonl",
                WORK / "cut.jsonl",
            ],
            check=True,
        )
        done = subprocess.run(
            [sys.executable, "-m", "everycore", "efi", "read", WORK / "cut.jsonl"],
            cwd=ROOT / "lab",
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "cut short|no result file")

    def test_a_file_system_that_cannot_be_written_to_is_named(self) -> None:
        self.assertRegex(
            self.said["loader"],
            r"everycore: (the medium is write-protected|this firmware cannot write)",
        )
        self.assertIn("results follow on this console alone", self.said["loader"])

    def test_secure_boot_refuses_the_image(self) -> None:
        self.assertIn("Access Denied", self.said["refused"])
        self.assertNotIn("everycore: the harness", self.said["refused"])

    def test_no_line_is_wider_than_the_console_or_has_a_colour(self) -> None:
        for name in ("protected", "full"):
            lines = own_lines(self.said[name])
            self.assertGreater(len(lines), 3)
            self.assertEqual(
                [line for line in lines if len(line) > COLUMNS or "\x1b[3" in line], []
            )


def main() -> int:
    try:
        if absent := missing():
            print(f"skipped: install {', '.join(absent)}\n0 passed, 0 failed, 1 skipped")
            return 0
        plain, full = make_image("plain.img"), fill(make_image("full.img"))
        runs = {
            "protected": (disk(plain, ",readonly=on"), {}),
            "full": (disk(full), {}),
            "loader": (("-kernel", WORK / "application.efi", "-append", COMMAND), {}),
            "refused": (
                disk(plain, ",readonly=on"),
                {"code": "AAVMF_CODE.ms.fd", "variables": "AAVMF_VARS.ms.fd"},
            ),
        }
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            jobs = {
                name: pool.submit(console, name, *words, **more)
                for name, (words, more) in runs.items()
            }
            Console.said = {name: job.result(timeout=SECONDS) for name, job in jobs.items()}
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Console)
        )
        failed = len(result.failures) + len(result.errors)
        print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
        return 1 if failed else 0
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
