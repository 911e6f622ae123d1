# SPDX-License-Identifier: MIT
"""SARIF that the lab writes keeps the JSON schema of SARIF 2.1.0.

The schema of OASIS comes with the crate serde-sarif, which cargo downloads. Findings are those of
drivers that break rules (lab/tests/firmware/drivers) and of a program with canaries.
"""

import copy
import json
import pathlib
from typing import Any

import jsonschema
import pytest
from firmware import driver_builds
from processes import everycore, requires, run

CRATE = "serde-sarif"
MANIFEST = (
    f'[package]\nname = "schema"\nversion = "0.0.0"\nedition = '
    f'"2021"\n[dependencies]\n{CRATE} = "=0.8.0"\n'
)
PROGRAM = (
    "int main(int n, char **words) { volatile char text[64]; text[n & 63] = words[0][0]; "
    "return text[n & 63]; }\n"
)
BAD_DRIVER = "memory_null.x86-64.efi"

pytestmark = [
    requires("cargo", "clang", "lld-link", "cc"),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def schema(work: pathlib.Path) -> Any:
    (work / "src").mkdir()
    (work / "src/lib.rs").touch()
    (work / "Cargo.toml").write_text(MANIFEST)
    said = run(["cargo", "metadata", "--quiet", "--format-version", "1"], work, with_stderr=False)
    places = (
        package["manifest_path"]
        for package in json.loads(said)["packages"]
        if package["name"] == CRATE
    )
    file = pathlib.Path(next(places)).parent / "src/schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def subjects(work: pathlib.Path) -> pathlib.Path:
    """The folder with what is checked: drivers, ROMs and a program."""
    for name, machine in (
        ("clean", "x86-64"),
        ("memory_null", "x86-64"),
        ("dma_cpu_address", "aarch64"),
    ):
        driver_builds.build(work, name, machine, map_file=True)
    (work / "program.c").write_text(PROGRAM)
    run(["cc", "-O2", "-fstack-protector-all", "program.c", "-o", "program"], work)
    ids = ("--vendor", "8086", "--device", "100e", "--class", "020000")
    everycore("rom", "build", BAD_DRIVER, *ids, "--out", "my card.rom", cwd=work)
    rom = (work / "my card.rom").read_bytes()
    (work / "odd.rom").write_bytes(rom + b"\xff" * 512)  # a size that no flash has
    return work


def written(folder: pathlib.Path, *words: str) -> Any:
    """Return the document that a command writes, whether it finds something or not."""
    everycore(*words, "--sarif", "found.sarif", cwd=folder, codes=(0, 1))
    return json.loads((folder / "found.sarif").read_text(encoding="utf-8"))


def faults(document: Any, schema: Any) -> list[str]:
    checker = jsonschema.validators.validator_for(schema)
    return [
        f"{list(error.absolute_path)}: {error.message}"
        for error in checker(schema).iter_errors(document)
    ]


@pytest.fixture(scope="module")
def of_drivers(subjects: pathlib.Path) -> Any:
    return written(subjects, "efi", "check", BAD_DRIVER, "dma_cpu_address.aarch64.efi")


def test_the_schema_is_the_one_that_documents_name(subjects: pathlib.Path, schema: Any) -> None:
    document = written(subjects, "efi", "check", "--static", "clean.x86-64.efi")
    name = pathlib.PurePosixPath(document["$schema"]).name
    assert name == pathlib.PurePosixPath(schema.get("$id") or schema["id"]).name


def test_findings_of_drivers_keep_it(of_drivers: Any, schema: Any) -> None:
    assert faults(of_drivers, schema) == []
    assert len(of_drivers["runs"][0]["results"]) >= 2


@pytest.mark.parametrize(
    "change", [{"level": "bad"}, {"ruleIndex": -2}, {"message": {}}, {"locations": "here"}], ids=str
)
def test_a_wrong_document_is_noticed(of_drivers: Any, schema: Any, change: dict[str, Any]) -> None:
    wrong = copy.deepcopy(of_drivers)
    wrong["runs"][0]["results"][0].update(change)
    assert faults(wrong, schema)


@pytest.mark.parametrize(
    ("words", "least"),
    [
        (("efi", "check", BAD_DRIVER, "--map", "memory_null.x86-64.map"), 1),
        (("efi", "check", "my card.rom"), 1),
        (("rom", "check", "odd.rom"), 1),
        (("efi", "check", "clean.x86-64.efi"), 0),
        (("canary", "check", "--policy", "per-task", "--register", "tpidr_el0", "program"), 1),
    ],
    ids=[
        "driver_with_names_of_functions",
        "rom",
        "rom_with_a_size_that_no_flash_has",
        "nothing_found",
        "canaries",
    ],
)
def test_findings_keep_it(
    subjects: pathlib.Path, schema: Any, words: tuple[str, ...], least: int
) -> None:
    document = written(subjects, *words)
    assert faults(document, schema) == []
    assert len(document["runs"][0]["results"]) >= least
