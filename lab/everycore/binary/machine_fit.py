# SPDX-License-Identifier: MIT
"""Whether a machine can run a binary, by the machine that its ELF header names.

Source: `uname -m` as Linux 6.12 gives it, UTS_MACHINE.
"""

from pathlib import Path

from everycore.binary.elf import machine_name, machine_of_file

# First letters of `uname -m`, and what such a kernel runs; the first that fits counts.
RUNS = (
    ("x86_64", {62, 3}),
    ("i", {3}),  # i386 to i686
    ("aarch64", {183, 40}),
    ("armv8", {40}),  # a 32-bit kernel, or a process that a 64-bit one shows it
    ("arm", {40}),
    ("riscv", {243}),
    ("mips", {8}),
    ("ppc64", {21, 20}),
    ("ppc", {20}),
    ("s390x", {22}),
    ("m68k", {4}),
    ("parisc", {15}),
    ("loongarch", {258}),
)


def machine_of(binary: Path) -> str:
    """Return the machine in words, for messages."""
    return machine_name(machine_of_file(binary))


def misfit(binary: Path, uname: str) -> str:
    """Why a machine cannot run it; empty if nothing speaks against it."""
    made = machine_of_file(binary)
    runs = next((numbers for letters, numbers in RUNS if uname.startswith(letters)), None)
    if runs is None or not made or made in runs:
        return ""
    return f"the harness is for {machine_of(binary)}, not for {uname}"
