# SPDX-License-Identifier: MIT
"""Copies of the tree with few kernels: tests that build one need not compile the others."""

import pathlib
import re
from collections.abc import Callable


def keep_kernels(tree: pathlib.Path, wanted: Callable[[str], bool]) -> None:
    """Delete all other kernels: their lines in the registry, and their files."""
    registry = tree / "src/kernels.def"
    kept = []
    for line in registry.read_text().splitlines(keepends=True):
        kernel = re.match(r"KERNEL\((\w+), *(\w+)", line)
        if not kernel or wanted(kernel[2]):
            kept.append(line)
            continue
        for name in (f"{kernel[2]}.c", f"{kernel[2]}_asm.S"):
            (tree / "src" / kernel[1] / name).unlink(missing_ok=True)
    registry.write_text("".join(kept))
