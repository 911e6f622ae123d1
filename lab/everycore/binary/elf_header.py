# SPDX-License-Identifier: MIT
"""For which machine a binary is made, by the header of its ELF file.

Source: System V ABI, generic part, edition 4.1 with the machine numbers registered since
(e_ident[EI_CLASS], e_ident[EI_DATA], e_machine); `uname -m` as Linux 6.12 gives it, UTS_MACHINE.
"""

from pathlib import Path

MACHINES = {
    3: "32-bit x86",
    4: "68000",
    8: "MIPS",
    15: "PA-RISC",
    20: "32-bit Power",
    21: "64-bit Power",
    22: "IBM Z",
    40: "32-bit Arm",
    62: "x86-64",
    183: "64-bit Arm",
    243: "RISC-V",
    258: "LoongArch",
}
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


def made_for(binary: Path) -> int:
    """The machine number; 0 if it is no ELF file."""
    with binary.open("rb") as file:
        head = file.read(20)
    if len(head) < 20 or head[:4] != b"\x7fELF":
        return 0
    return int.from_bytes(head[18:20], "big" if head[5] == 2 else "little")


def machine_of(binary: Path) -> str:
    """Return the machine in words, for messages."""
    made = made_for(binary)
    return MACHINES.get(made, f"machine {made}")


def misfit(binary: Path, uname: str) -> str:
    """Why a machine cannot run it; empty if nothing speaks against it."""
    made = made_for(binary)
    runs = next((numbers for letters, numbers in RUNS if uname.startswith(letters)), None)
    if runs is None or not made or made in runs:
        return ""
    return f"the harness is for {machine_of(binary)}, not for {uname}"
