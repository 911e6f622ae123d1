# SPDX-License-Identifier: MIT
"""Names of modes: their words in tables, and the kernel that the library selects for one."""

from collections.abc import Iterator, Sequence

from everycore.model.protocol import Mode

HASHES = ("sha256", "sha512")  # uses of kernels of SHA-2; names of its modes have one of them
PBKDF2 = "pbkdf2-"  # how names of modes begin whose "bytes" are iterations


def hash_of(mode: str) -> str:
    """Return the use of SHA-2 that a mode has; "": it has none."""
    return next((name for name in HASHES if name in mode), "")


def algorithm(mode: str, primitive: str, key_bits: int) -> str:
    """Return words for a mode and its key: "ctr aes-256"."""
    return f"{mode} {key_name(primitive, key_bits)}".rstrip()


def key_name(primitive: str, key_bits: int) -> str:
    """Return words for a key: "aes-256". Of SHA-2 none: keys of HMAC may have any length."""
    return "" if primitive == "sha2" else f"{cipher(primitive)}-{key_bits}"


def unit_of(mode: str) -> str:
    """Return the unit of a length."""
    return "iteration" if mode.startswith(PBKDF2) else "byte"


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
    if primitive == "sha2":
        return (by_name.get(hash_of(mode)) or [""])[0]
    for name in algorithms_of(mode):
        if kernels := by_name.get(f"{name}({cipher(primitive)})"):
            return "+".join(kernels) if primitive == "gcm" else kernels[0]
    return ""
