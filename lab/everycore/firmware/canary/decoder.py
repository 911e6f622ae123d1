# SPDX-License-Identifier: MIT
"""The decoder of instructions, which is capstone."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec

from everycore.environment import extras
from everycore.firmware.canary.a64 import A64
from everycore.firmware.canary.arm import Arm
from everycore.firmware.canary.program import Program
from everycore.firmware.canary.rv64 import Rv64
from everycore.firmware.canary.walk import Walk
from everycore.firmware.canary.x86 import X86

PURPOSE = "checking stack canaries"
EXTRA = "firmware"
WALKS: dict[str, type[Walk]] = {"x86-64": X86, "aarch64": A64, "arm": Arm, "riscv64": Rv64}


def open_walk(program: Program) -> Walk:
    """Return the reader of a program's functions."""
    return WALKS[program.machine](program, _decoder(program.machine))


def _decoder(machine: str) -> Callable[[bytes, int, str], Iterable[tuple[int, int, str, str]]]:
    try:
        import capstone
    except ImportError:
        raise extras.missing_packages(PURPOSE, EXTRA) from None
    modes = {
        "x86-64": {"": (capstone.CS_ARCH_X86, capstone.CS_MODE_64)},
        "aarch64": {"": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)},
        "arm": {
            "a32": (capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM),
            "t32": (capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB),
        },
        "riscv64": {
            "": (capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64 | capstone.CS_MODE_RISCVC)
        },
    }
    decoders = {mode: capstone.Cs(*pair) for mode, pair in modes[machine].items()}

    def decode(code: bytes, address: int, mode: str) -> Iterable[tuple[int, int, str, str]]:
        return decoders[mode].disasm_lite(code, address)  # type: ignore[no-any-return]

    return decode


def require() -> None:
    """Raise the error that names the remedy if a package is missing."""
    for name in ("capstone", "elftools"):
        try:
            if find_spec(name) is not None:
                continue
        except ValueError:  # its import was prevented
            pass
        raise extras.missing_packages(PURPOSE, EXTRA)
