# SPDX-License-Identifier: MIT
"""The stack that Linux starts a program with: arguments, environment, auxiliary vector."""

import os
import struct
from collections.abc import Mapping, Sequence

# Keys of the auxiliary vector (Linux, include/uapi/linux/auxvec.h).
AT_NULL, AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_BASE, AT_ENTRY = 0, 3, 4, 5, 6, 7, 9
AT_UID, AT_EUID, AT_GID, AT_EGID, AT_HWCAP, AT_CLKTCK, AT_SECURE, AT_RANDOM, AT_EXECFN = (
    11, 12, 13, 14, 16, 17, 23, 25, 31,
)  # fmt: skip


def first_stack(
    top: int,
    arguments: Sequence[str],
    environment: Sequence[str],
    auxiliary: Mapping[int, int],
    order: str,
) -> tuple[int, bytes]:
    """Return the stack pointer, and the bytes from there to `top`, which is a multiple of 16.

    That is the same on all architectures of 64 bits (System V ABI for x86-64, 3.4.1). `order`: of
    bytes, as struct has it. AT_RANDOM and AT_EXECFN are added here.
    """
    data = bytes(16)

    def push(more: bytes) -> int:
        nonlocal data
        data = more + data
        return top - len(data)

    texts = [push(text.encode() + b"\0") for text in arguments]
    settings = [push(text.encode() + b"\0") for text in environment]
    vector = {**auxiliary, AT_RANDOM: push(os.urandom(16)), AT_EXECFN: texts[0], AT_NULL: 0}
    words = [len(texts), *texts, 0, *settings, 0]
    for key, value in vector.items():
        words += [key, value]
    push(bytes((top - len(data) - 8 * len(words)) % 16))
    pointer = push(struct.pack(f"{order}{len(words)}Q", *words))
    return pointer, data
