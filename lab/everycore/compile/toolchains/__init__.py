# SPDX-License-Identifier: MIT
"""C compilers: the one that a command names; and many, by name, with the providers of them.

A toolchain is a compiler by family and major version, for one or more targets: gcc-16, clang-22.
Its objects are linked by this machine's own compiler. Providers are the machine itself (`host`);
Debian's suites (`suites`, `store`) and wheels (`wheels`), fetched as the lock file says; and
folders that the user names. All but the first are proven by a probe when they are added.

host, answers and installed say what is here; lock, compilers_file and make_lock what can be had;
add brings it and removes it. Only `find` and `link` are imported with the package: every
command that compiles needs them.
"""

from everycore.compile.toolchains.find import (
    DEFAULT_FLAGS,
    INSTALL_HINT,
    find_compiler_there,
    identify,
)
from everycore.compile.toolchains.link import find_compiler, find_linker, linker_of

__all__ = [
    "DEFAULT_FLAGS",
    "INSTALL_HINT",
    "find_compiler",
    "find_compiler_there",
    "find_linker",
    "identify",
    "linker_of",
]
