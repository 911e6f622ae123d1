# SPDX-License-Identifier: MIT
"""Guests of qemu-user: their instructions are counted and named, and they are not harmed."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from explain.test_profile_command import everycore
from library_reads import reads_all
from world import DATA, Lab

from everycore.explain.emulated_guest import collect_guest, read_counts
from everycore.explain.samples import Sampled

GUEST = r"""
#include <arm_neon.h>
#include <stdint.h>
#include <stdio.h>
#define TURN(x, n) ((x) << (n) | (x) >> (32 - (n)))
static uint32_t s[16];
static uint8x16_t key, state;
__attribute__((noinline)) static void rounds(int n) /* ChaCha's quarter rounds */
{
    uint32_t a = s[0], b = s[1], c = s[2], d = s[3];
    for (int i = 0; i < n; i++) {
        a += b; d = TURN(d ^ a, 16); c += d; b = TURN(b ^ c, 12);
        a += b; d = TURN(d ^ a, 8); c += d; b = TURN(b ^ c, 7);
    }
    s[0] = a; s[1] = b; s[2] = c; s[3] = d;
}
__attribute__((noinline)) static void encrypt(int n)
{
    uint8x16_t x = state;
    for (int i = 0; i < n; i++)
        x = vaesmcq_u8(vaeseq_u8(x, key));
    state = x;
}
int main(int argc, char **argv)
{
    (void)argv;
    rounds(20000);
    encrypt(60000);
    printf("%u\n", s[0]);
    return argc + 4;
}
"""
STORED = DATA / "guest_a64.jsonl"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("aarch64-linux-gnu-gcc", "qemu-aarch64"):
        if not shutil.which(name):
            pytest.skip(f"no {name}: apt-get install gcc-aarch64-linux-gnu qemu-user")
    argv = ["qemu-aarch64", "--help"]
    help_text = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    if "-plugin " not in help_text:
        pytest.skip("qemu-aarch64 takes no plugins")
    folder = tmp_path_factory.mktemp("guest")
    source, binary = folder / "guest.c", folder / "guest"
    source.write_text(GUEST)
    build = [
        "aarch64-linux-gnu-gcc",
        "-O2",
        "-march=armv8-a+crypto",
        "-o",
        str(binary),
        str(source),
    ]
    subprocess.run(build, check=True)
    return binary


def computes(answer: dict[str, object]) -> dict[str, float]:
    rows = answer["rows"]
    assert isinstance(rows, list)
    return {f"{row['computes']}: {row['implementation']}": row["share"] for row in rows}


@reads_all
def test_primitives_of_a_guest_are_named_with_counts_of_instructions(
    program: Path, tmp_path: Path
) -> None:
    """The guest is dynamic, so its files lie where the emulator chose."""
    file, stored = tmp_path / "answer", tmp_path / "stored"
    command = ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", str(program), "one")
    options = ("--guest", "--json", "--out", str(file), "--store", str(stored))
    found = everycore("profile", *options, "--", *command)
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (plain.returncode, plain.stdout) != (0, "")
    answer = json.loads(file.read_text())
    shares = computes(answer)
    assert shares["ChaCha20: scalar"] > 40
    assert shares["AES: Armv8 AES instructions"] > 25
    assert answer["executed"] == answer["samples"] > 20000 * 12 + 60000 * 3
    again = everycore("profile", "--json", "--load", str(stored))
    assert computes(json.loads(again.stdout)) == shares


def test_stored_samples_of_aarch64_are_explained_on_any_machine(lab: Lab) -> None:
    found = lab("profile", "--load", str(STORED), "--json")
    shares = computes(json.loads(found.out))
    assert shares["ChaCha20: scalar"] > 40
    assert shares["AES: Armv8 AES instructions"] > 25
    shown = lab("profile", "--load", str(STORED)).out
    assert "% of the guest's instructions" in shown
    assert "instructions of the guest, counted by a plugin of qemu-aarch64" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--guest",), "name one of"),
        (("--guest", "--", "ls"), "looks into qemu-aarch64 and qemu-x86_64, not into 'ls'"),
        (("--guest", "--seconds", "1", "--", "qemu-aarch64", "x"), "counts all that"),
    ],
)
def test_wrong_usage_of_guest_is_one_clear_line(
    lab: Lab, words: tuple[str, ...], message: str
) -> None:
    lab("profile", *words).refuses(message)


def test_counts_that_were_cut_off_are_none() -> None:
    whole = "base 0\nblock 1000 5 1f2003d5\nend\n"  # a `nop` of AArch64
    counted = read_counts(whole, Sampled("aarch64", "x"), 0)
    assert counted.places == {0x1000: 5}
    assert not read_counts(whole[:-4], Sampled("aarch64", "x"), 0).places
    assert not read_counts("", Sampled("aarch64", "x"), 0).places
    found = collect_guest([counted], "x", "aarch64", 0, ("x",), dict(os.environ))
    assert (found.total, found.regions[0].is_generated) == (5, True)
