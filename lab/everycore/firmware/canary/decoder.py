# SPDX-License-Identifier: MIT
"""The decoder of instructions, which is Capstone."""

from collections.abc import Iterable

from everycore.binary.disassembly import capstone_engine
from everycore.environment import extras
from everycore.firmware.canary.a64 import A64
from everycore.firmware.canary.arm import Arm
from everycore.firmware.canary.program import Program
from everycore.firmware.canary.rv64 import Rv64
from everycore.firmware.canary.walk import Walk
from everycore.firmware.canary.x86 import X86

PURPOSE = "checking stack canaries"
EXTRA = "firmware"
# Readers of functions, and the names of their machines in everycore.binary.
WALKS: dict[str, tuple[type[Walk], str]] = {
    "x86-64": (X86, "x86-64"),
    "aarch64": (A64, "a64"),
    "arm": (Arm, "a32"),
    "riscv64": (Rv64, "rv64"),
}


def open_walk(program: Program) -> Walk:
    """Return the reader of a program's functions."""
    walk, machine = WALKS[program.machine]

    def decode(code: bytes, address: int, mode: str) -> Iterable[tuple[int, int, str, str]]:
        engine = capstone_engine(machine, "t" if mode == "t32" else "", is_plain=True)
        return engine.disasm_lite(code, address)  # type: ignore[no-any-return]

    return walk(program, decode)


def require() -> None:
    """Raise the error that names the remedy if a package is missing."""
    if not all(map(extras.is_installed, ("capstone", "elftools"))):
        raise extras.missing_packages(PURPOSE, EXTRA)
