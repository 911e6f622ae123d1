# SPDX-License-Identifier: MIT
"""Small ELF files of some code, for tests."""

import struct
from pathlib import Path

X86_64, AARCH64 = 62, 183
NOP = b"\x90"
AESENC = bytes.fromhex("660f38dcc1")  # aesenc xmm0, xmm1


def elf(path: Path, code: bytes, *, machine: int = X86_64, flags: int = 5) -> str:
    """Write a file of one segment, without sections: nothing in it tells bounds of functions."""
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0x1000, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    size = 120 + len(code)
    segment = struct.pack("<IIQQQQQQ", 1, flags, 0, 0x1000, 0x1000, size, size, 4096)
    path.write_bytes(ident + head + segment + code)
    return str(path)
