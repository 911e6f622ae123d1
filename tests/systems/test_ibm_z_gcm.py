# SPDX-License-Identifier: MIT
"""GCM of IBM Z by KMA, on Hercules with a model of that instruction, which no emulator has."""

import json
import pathlib
import shlex
import sys
from collections.abc import Sequence

import pytest
from processes import need
from reads import LIBRARY, of_isa
from running import BUILD, HARNESS, ROOT, compiled, cross, must, passed, run

from everycore.environment.context import system_context
from everycore.environment.errors import EverycoreError
from everycore.run import vectors, wycheproof

pytestmark = pytest.mark.reads(
    *LIBRARY,
    "lab/everycore/run/hercules/",
    "lab/everycore/run/first_stack.py",
    "lab/everycore/run/vectors.py",
    "lab/everycore/run/wycheproof.py",
    "tests/systems/z_gcm.c",
    "vectors/",
    **of_isa("s390x"),
)

Z14 = [sys.executable, "-m", "everycore.run.hercules.z_machine", "--cpu", "3906"]
PARTS = [*Z14, "--parts", "11"]
KERNEL = "s390x_kma"
COMPILER = "s390x-linux-gnu-gcc"
# Instructions of a public call, KMA and 16 that pass ten arguments among them. Half of the others
# check the arguments, and pass them on.
MOST = {"seal": 97, "open": 107}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the program of z_gcm.c."""
    need("hercules", COMPILER)
    path = tmp_path_factory.mktemp("z") / "z_gcm"
    sources = [ROOT / f"src/gcm/{name}.c" for name in ("s390x_kma", "gcm", "key", "pieces")]
    words = shlex.split("-O2 -Wall -Wextra -Werror -static -no-pie -Iinclude -Isrc")
    common = (ROOT / "src/common").glob("*.c")
    must("z-gcm", [COMPILER, *words, "tests/systems/z_gcm.c", *sources, *common, "-o", path])
    return path


def counts_of(text: str) -> dict[tuple[str, int], int]:
    """Return the instructions of a call, by its name and the bytes of its text."""
    assert "differs" not in text, text
    lines = [line.split() for line in text.splitlines()]
    return {(name, int(n_bytes)): int(count) for name, n_bytes, count in lines}


def test_a_message_of_any_length_is_one_instruction_and_few_others(program: pathlib.Path) -> None:
    counts = counts_of(must("z-gcm", [*Z14, program]))
    assert {name for name, _ in counts} == set(MOST)
    for (name, n_bytes), count in counts.items():
        assert count == counts[name, 64], (name, n_bytes)
        assert count <= MOST[name]


def test_a_message_that_ends_early_takes_two_more(program: pathlib.Path) -> None:
    whole = counts_of(must("z-gcm", [*Z14, program]))
    parts = counts_of(must("z-gcm", [*PARTS, program]))
    more = [parts[call] - whole[call] for call in whole]
    assert max(more) > 0
    assert all(number >= 0 and number % 2 == 0 for number in more)


def harness() -> str:
    need("hercules")
    return str(compiled(cross("s390x"), str(HARNESS)) / HARNESS)


@pytest.mark.long
def test_the_instruction_is_detected_where_it_is() -> None:
    first, *_ = must("z14-list", [*Z14, harness(), "list"]).splitlines()
    assert json.loads(first)["features"] == ["msa4", "msa8", "sha2", "tune-word64"]


@pytest.mark.long
@pytest.mark.parametrize("emulator", [Z14, PARTS], ids=["whole", "parts"])
def test_the_kernel_has_every_property(emulator: Sequence[str], notes: list[str]) -> None:
    words = ["check", "--quick", "--primitive", "gcm", "--kernel", KERNEL]
    text = passed(run("z14-check", [*emulator, harness(), *words]), notes)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    results = {line["property"]: line["result"] for line in lines if "property" in line}
    assert len(results) > 30
    assert set(results.values()) == {"pass"}


@pytest.mark.long
@pytest.mark.parametrize("source", ["ours", "NIST", "Wycheproof"])
def test_published_vectors_hold(source: str) -> None:
    if source == "ours":
        lines = (ROOT / "vectors/gcm.txt").read_text().splitlines()
    else:
        lines = [line for file in files_of(source) for line in vectors.lines(file)]
    found = [of_kma(line) for line in lines if line.startswith("gcm ")]
    path = BUILD / "z14-vectors.txt"
    path.write_text("\n".join(found) + "\n")
    text = must("z14-vectors", [*PARTS, harness(), "vectors", str(path)])
    last = json.loads(text.splitlines()[-1])
    assert last["passed"] >= len(found), last
    assert last["failed"] == last["skipped"] == 0, last


def files_of(source: str) -> list[vectors.VectorFile]:
    if source == "NIST":
        return vectors.find_files() or pytest.skip("no package cryptography_vectors")
    try:
        return wycheproof.find_files(system_context())
    except EverycoreError as error:
        pytest.skip(error.message)


def of_kma(line: str) -> str:
    """Return a line of vectors for the kernel instead of for all."""
    words = line.split(" ")
    words[2] = KERNEL
    return " ".join(words)
