# SPDX-License-Identifier: MIT
"""Files that tests read, beside their own; a test runs when one of them has changed. Folders end
in a slash.
"""

import platform
from typing import Any

import pytest

LIBRARY = (
    "src/",
    "include/",
    "harness/",
    "tests/unit/",
    "tests/oracles/",
    "tests/meson.build",
    "meson.build",
    "meson_options.txt",
    "catalog/toolchains/",
    "catalog/targets/",
)
TRACER = (
    *LIBRARY,
    "lab/everycore/binary/",
    "lab/everycore/compile/",
    "lab/everycore/ct/",
    "lab/everycore/run/",
    "lab/everycore/trace/",
    "lab/everycore/commands/check.py",
    "lab/everycore/commands/ct.py",
)
FIRMWARE = (
    "lab/everycore/firmware/",
    "lab/everycore/binary/",
    "lab/everycore/commands/rom.py",
    "lab/everycore/commands/efi.py",
    "lab/everycore/commands/pcd.py",
    "lab/everycore/run/uefi/",
    "contrib/edk2/",
)

# Folders of src/ that a test reads alone, and all that their files include.
WORDS = "bn bn_words"
ARITHMETIC = f"{WORDS} dh prime rsa sha2"
CIPHERS = "aes ghash gcm qarma"

# Words that begin the names of an architecture's kernels, by its machine and its cross files; none
# of those that have portable kernels alone.
ISAS = {
    "x86_64": "x86",
    "i386": "x86",
    "aarch64": "a64",
    "armhf": "a32 a64",  # kernels of A32 include steps of A64
    "ppc64": "ppc ppc64",
    "ppc64le": "ppc ppc64",
    "s390x": "s390x",
    "hppa": "hppa",
    "riscv64": "rv rv64",
    "riscv64-zkn": "rv rv64",
    "mips": "",
    "m68k": "",
}


def of_isa(machine: str | None) -> dict[str, Any]:
    """The argument of a mark that leaves other architectures' kernels out; None: of this host."""
    isa = ISAS.get(machine or platform.machine())
    return {} if isa is None else {"isa": isa}


reads_library_here = pytest.mark.reads(*LIBRARY, **of_isa(None))
reads_tracer_here = pytest.mark.reads(*TRACER, **of_isa(None))
reads_firmware = pytest.mark.reads(*FIRMWARE)
