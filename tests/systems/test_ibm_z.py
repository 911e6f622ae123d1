# SPDX-License-Identifier: MIT
"""AES, GHASH and SHA-2 by the instructions of IBM Z, on Hercules, which alone runs them.

Instructions may end early, which Hercules does after many bytes only; `--parts` makes each end
early, after as many blocks as a generator says.
"""

import json
import pathlib
import re
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
    "tests/systems/z_detection.c",
    "tests/systems/z_kernels.c",
    "vectors/",
    **of_isa("s390x"),
)

Z = [sys.executable, "-m", "everycore.run.hercules.z_machine", "--cpu", "2827"]  # a zEC12
PARTS = [*Z, "--parts", "11"]
KERNELS = "s390x_km,s390x_kimd"
SLOTS = (
    "set_key", "encrypt", "decrypt", "ctr32", "cbc_encrypt", "cbc_decrypt", "cbcmac",
    "xts_encrypt", "xts_decrypt", "blocks", "blocks256", "blocks512",
)  # fmt: skip
MOST_AROUND = 60  # instructions of a call with a block, besides those that encrypt or hash
BLOCK = 16
COUNTERS, TWEAKS = 512, 256  # bytes that one instruction does of CTR, and of XTS of 192 bits
SOURCES = (
    *(f"aes/{name}.c" for name in ("aes", "s390x_km", "c_ref")),
    *(f"ghash/{name}.c" for name in ("ghash", "s390x_kimd", "c_ref")),
    *(f"sha2/{name}.c" for name in ("s390x_kimd", "c_ref")),
)
COMPILER = "s390x-linux-gnu-gcc"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return the program of z_kernels.c."""
    need("hercules", COMPILER)
    path = tmp_path_factory.mktemp("z") / "z_kernels"
    sources = [*(ROOT / "src" / name for name in SOURCES), *(ROOT / "src/common").glob("*.c")]
    words = shlex.split("-O2 -Wall -Wextra -Werror -static -no-pie -Iinclude -Isrc")
    must("z-kernels", [COMPILER, *words, "tests/systems/z_kernels.c", *sources, "-o", path])
    return path


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_words_that_stfle_does_not_store_are_no_facilities(
    level: str, tmp_path: pathlib.Path
) -> None:
    need("hercules", COMPILER)
    path = tmp_path / "z_detection"
    words = shlex.split("-Wall -Wextra -Werror -static -no-pie -Iinclude -Isrc")
    sources = ("tests/systems/z_detection.c", "src/cpu/s390x_stfle.c")
    must("z-detection", [COMPILER, level, *words, *sources, "-o", path])
    assert must("z-detection", [*Z, path]) == "msa4 1, msa8 0, sha2 1, vx 0\n"


def counts_of(text: str) -> dict[tuple[str, int, int], tuple[int, int]]:
    """Return instructions, and those of them that encrypt or hash, by slot, key bits and bytes."""
    found = re.findall(r"^(\w+) (\d+) (\d+) (\d+) (\d+)$", text, re.M)
    return {(name, int(k), int(n)): (int(i), int(c)) for name, k, n, i, c in found}


def same(text: str) -> int:
    assert "differs" not in text, text
    return int(re.findall(r"^same (\d+)$", text, re.M)[0])


def test_slots_equal_the_reference_and_take_few_instructions(program: pathlib.Path) -> None:
    text = must("z-kernels", [*Z, program])
    assert same(text) > 1000
    counts = counts_of(text)
    assert {name for name, _, _ in counts} == set(SLOTS)
    assert {bits for name, bits, _ in counts if name == "ctr32"} == {128, 192, 256}
    for (name, bits, n_bytes), (instructions, ciphers) in counts.items():
        if name == "set_key":
            at_once, wanted = 0, 0
        elif name == "ctr32":
            at_once, wanted = COUNTERS, -(-(n_bytes // BLOCK * BLOCK) // COUNTERS)
            wanted += n_bytes % BLOCK != 0
        elif name.startswith("xts") and bits == 192:
            at_once, wanted = TWEAKS, -(-n_bytes // TWEAKS)
        else:  # the rest of a call does not depend on the length
            at_once, wanted = 0, 1
        assert ciphers == wanted, (name, bits, n_bytes)
        if n_bytes < 2 * BLOCK or not at_once:
            assert instructions - ciphers <= MOST_AROUND, (name, bits, n_bytes, instructions)


def test_instructions_that_end_early_are_taken_up_again(program: pathlib.Path) -> None:
    whole, parts = must("z-kernels", [*Z, program]), must("z-kernels", [*PARTS, program])
    assert same(parts) == same(whole)
    longer = [key for key, (n, _) in counts_of(parts).items() if n > counts_of(whole)[key][0]]
    assert {name for name, _, n_bytes in longer if n_bytes >= 512} >= {"ctr32", "cbc_decrypt"}


# ---- The harness ---------------------------------------------------------------------------------


def harness() -> str:
    need("hercules")
    return str(compiled(cross("s390x"), str(HARNESS)) / HARNESS)


@pytest.mark.long
@pytest.mark.parametrize("emulator", [Z, PARTS], ids=["whole", "parts"])
def test_kernels_have_every_property(emulator: Sequence[str], notes: list[str]) -> None:
    words = ["check", "--quick", "--kernel", KERNELS]
    text = passed(run("z-check", [*emulator, harness(), *words]), notes)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    ran = {line["kernel"] for line in lines if line.get("result") == "pass"}
    assert ran == set(KERNELS.split(","))


@pytest.mark.long
def test_the_instructions_are_detected_where_they_are() -> None:
    first, *_ = must("z-list", [*Z, harness(), "list"]).splitlines()
    assert json.loads(first)["features"] == ["msa4", "sha2", "tune-word64"]
    first, *_ = must("z-list", ["qemu-s390x", harness(), "list"]).splitlines()
    # The queries have no function of AES.
    assert json.loads(first)["features"] == ["vx", "tune-word64"]


@pytest.mark.long
@pytest.mark.parametrize("source", ["ours", "NIST", "Wycheproof"])
def test_published_vectors_hold(source: str) -> None:
    lines: list[str] = []
    if source == "ours":
        for name in ("modes.txt", "gcm.txt"):
            lines += (ROOT / "vectors" / name).read_text().splitlines()
    elif source == "NIST":
        files = vectors.find_files() or pytest.skip("no package cryptography_vectors")
        lines = [line for file in files for line in vectors.lines(file)]
    else:
        try:
            files = wycheproof.find_files(system_context())
        except EverycoreError as error:
            pytest.skip(error.message)
        lines = [line for file in files for line in vectors.lines(file)]
    lines = [line for line in lines if line.startswith(("aes ", "gcm "))]
    path = BUILD / "z-vectors.txt"
    path.write_text("\n".join(map(of_z, lines)) + "\n")
    for emulator in (Z, PARTS):
        text = must("z-vectors", [*emulator, harness(), "vectors", str(path)])
        last = json.loads(text.splitlines()[-1])
        assert last["passed"] > 90, last
        assert last["failed"] == last["skipped"] == 0, last


def of_z(line: str) -> str:
    """Return a line of vectors for the kernels of Z instead of for all."""
    pair = "s390x_km+s390x_kimd"
    return line.replace(" *+* ", f" {pair} ").replace(
        " * ", f" {pair} " if line.startswith("gcm ") else " s390x_km "
    )
