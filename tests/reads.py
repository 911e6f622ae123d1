# SPDX-License-Identifier: MIT
"""Files that tests read, beside their own; a test runs when one of them has changed. Folders end
in a slash.
"""

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
TRACING = (
    "lab/everycore/binary/",
    "lab/everycore/compile/",
    "lab/everycore/ct/",
    "lab/everycore/run/",
    "lab/everycore/trace/",
    "lab/everycore/commands/check.py",
    "lab/everycore/commands/ct.py",
)
TRACER = (*LIBRARY, *TRACING)
FIRMWARE = (
    "lab/everycore/firmware/",
    "lab/everycore/binary/",
    "lab/everycore/commands/rom.py",
    "lab/everycore/commands/efi.py",
    "lab/everycore/commands/pcd.py",
    "lab/everycore/run/uefi/",
    "contrib/edk2/",
)

reads_library = pytest.mark.reads(*LIBRARY)
reads_tracer = pytest.mark.reads(*TRACER)
reads_firmware = pytest.mark.reads(*FIRMWARE)
