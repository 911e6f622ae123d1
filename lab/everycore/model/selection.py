# SPDX-License-Identifier: MIT
"""The kernel that the library selects for a mode, by what the harness says of modes."""

from collections.abc import Iterator, Sequence

from everycore.model.protocol import Mode


def cipher(primitive: str) -> str:
    """Return the owner of a mode's key: that of GCM is a key of AES."""
    return "aes" if primitive == "gcm" else primitive


def algorithms_of(mode: str) -> Iterator[str]:
    """Yield the names that a bench mode's algorithm may have: the mode, then without last words."""
    while mode:
        yield mode
        mode = mode.rpartition("-")[0]


def selected_kernel(mode: str, primitive: str, modes: Sequence[Mode]) -> str:
    """The kernel that serves a bench mode: `xts-enc` is half of the algorithm `xts(aes)`.

    Where a mode has two keys, the first is that of the data, and rows are named by it. A row of
    GCM is a kernel of its own or a pair, which has the names of both.
    """
    by_name = {m.algorithm: [kernel or "" for kernel in m.kernels] for m in modes}
    for name in algorithms_of(mode):
        if kernels := by_name.get(f"{name}({cipher(primitive)})"):
            return "+".join(kernels) if primitive == "gcm" else kernels[0]
    return ""
