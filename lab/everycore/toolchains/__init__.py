# SPDX-License-Identifier: MIT
"""C compilers: the one that a command names, and those that the lab has fetched."""

from everycore.toolchains.find import (
    DEFAULT_FLAGS,
    INSTALL_HINT,
    find_compiler,
    find_compiler_there,
    identify,
)

__all__ = [
    "DEFAULT_FLAGS",
    "INSTALL_HINT",
    "find_compiler",
    "find_compiler_there",
    "identify",
]
