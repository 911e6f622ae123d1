#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SARIF that the lab writes keeps the JSON schema of SARIF 2.1.0: sarif_schema.py

The schema of OASIS comes with the crate serde-sarif, which cargo downloads. Findings are those of
drivers that break rules (lab/tests/firmware/drivers) and of a program with canaries.
"""

import copy
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Any

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "lab/tests"))
from firmware import driver_builds

CRATE = "serde-sarif"
MANIFEST = (
    f'[package]\nname = "schema"\nversion = "0.0.0"\nedition = '
    f'"2021"\n[dependencies]\n{CRATE} = "=0.8.0"\n'
)
PROGRAM = (
    "int main(int n, char **words) { volatile char text[64]; text[n & 63] = words[0][0]; "
    "return text[n & 63]; }\n"
)
NEEDS = {"cargo": "cargo", "clang": "clang", "lld-link": "lld", "cc": "gcc"}
WORK = pathlib.Path(tempfile.mkdtemp(prefix="everycore-sarif."))


def run(*argv: str) -> str:
    """Run a command in the work folder; its output, or an error with what it said."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "lab")}
    done = subprocess.run(argv, cwd=WORK, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1) or (done.returncode and argv[0] != sys.executable):
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr}")
    return done.stdout


@functools.cache
def schema() -> Any:
    (WORK / "src").mkdir()
    (WORK / "src/lib.rs").touch()
    (WORK / "Cargo.toml").write_text(MANIFEST)
    packages = json.loads(run("cargo", "metadata", "--quiet", "--format-version", "1"))["packages"]
    folder = pathlib.Path(
        next(one["manifest_path"] for one in packages if one["name"] == CRATE)
    ).parent
    return json.loads((folder / "src/schema.json").read_text(encoding="utf-8"))


def faults(document: Any) -> list[str]:
    checker = jsonschema.validators.validator_for(schema())
    return [
        f"{list(one.absolute_path)}: {one.message}"
        for one in checker(schema()).iter_errors(document)
    ]


def written(*words: str) -> Any:
    run(sys.executable, "-m", "everycore", *words, "--sarif", "found.sarif")
    return json.loads((WORK / "found.sarif").read_text(encoding="utf-8"))


class Sarif(unittest.TestCase):
    """Documents of efi check, rom check and canary check."""

    def check(self, document: Any, least: int) -> None:
        self.assertEqual(faults(document), [])
        self.assertGreaterEqual(len(document["runs"][0]["results"]), least)

    def test_the_schema_is_the_one_that_documents_name(self) -> None:
        document = written("efi", "check", "--static", "clean.x86-64.efi")
        name = pathlib.PurePosixPath(document["$schema"]).name
        self.assertEqual(name, pathlib.PurePosixPath(schema().get("$id") or schema()["id"]).name)

    def test_drivers(self) -> None:
        document = written("efi", "check", "memory_null.x86-64.efi", "dma_cpu_address.aarch64.efi")
        self.check(document, 2)
        changes: tuple[dict[str, Any], ...] = (
            {"level": "bad"},
            {"ruleIndex": -2},
            {"message": {}},
            {"locations": "here"},
        )
        for change in changes:
            wrong = copy.deepcopy(document)
            wrong["runs"][0]["results"][0].update(change)
            self.assertNotEqual(faults(wrong), [], change)

    def test_a_driver_with_names_of_functions(self) -> None:
        self.check(
            written("efi", "check", "memory_null.x86-64.efi", "--map", "memory_null.x86-64.map"), 1
        )

    def test_a_rom(self) -> None:
        ids = ("--vendor", "8086", "--device", "100e", "--class", "020000")
        run(
            sys.executable,
            "-m",
            "everycore",
            "rom",
            "build",
            "memory_null.x86-64.efi",
            *ids,
            "--out",
            "my card.rom",
        )
        self.check(written("efi", "check", "my card.rom"), 1)

    def test_a_rom_with_a_size_that_no_flash_has(self) -> None:
        ids = ("--vendor", "8086", "--device", "100e", "--class", "020000")
        run(
            sys.executable,
            "-m",
            "everycore",
            "rom",
            "build",
            "memory_null.x86-64.efi",
            *ids,
            "--out",
            "odd.rom",
        )
        with (WORK / "odd.rom").open("ab") as file:
            file.write(b"\xff" * 512)
        self.check(written("rom", "check", "odd.rom"), 1)

    def test_nothing_found(self) -> None:
        self.check(written("efi", "check", "clean.x86-64.efi"), 0)

    def test_canaries(self) -> None:
        self.check(
            written(
                "canary", "check", "--policy", "per-task", "--register", "tpidr_el0", "program"
            ),
            1,
        )


def build() -> None:
    for name, machine in (
        ("clean", "x86-64"),
        ("memory_null", "x86-64"),
        ("dma_cpu_address", "aarch64"),
    ):
        driver_builds.build(WORK, name, machine, map_file=True)
    (WORK / "program.c").write_text(PROGRAM)
    run("cc", "-O2", "-fstack-protector-all", "program.c", "-o", "program")


def main() -> int:
    try:
        if absent := [package for name, package in NEEDS.items() if not shutil.which(name)]:
            print(f"skipped: install {', '.join(absent)}")
            print("0 passed, 0 failed, 1 skipped")
            return 0
        build()
        result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(
            unittest.defaultTestLoader.loadTestsFromTestCase(Sarif)
        )
        failed = len(result.failures) + len(result.errors)
        print(f"{result.testsRun - failed} passed, {failed} failed, 0 skipped")
        return 1 if failed else 0
    finally:
        shutil.rmtree(WORK, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
