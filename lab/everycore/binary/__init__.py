# SPDX-License-Identifier: MIT
"""Machine code in files: ELF, disassembly, frames, loops and digests."""
