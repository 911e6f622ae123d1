# SPDX-License-Identifier: MIT
"""C compilers: the one that a command names, and all that are here, by name."""

from everycore.toolchains.find import (
    DEFAULT_FLAGS,
    INSTALL_HINT,
    find_compiler,
    find_compiler_there,
    identify,
)
from everycore.toolchains.installed import find_toolchain, installed

__all__ = [
    "DEFAULT_FLAGS",
    "INSTALL_HINT",
    "find_compiler",
    "find_compiler_there",
    "find_toolchain",
    "identify",
    "installed",
]
