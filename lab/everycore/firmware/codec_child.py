# SPDX-License-Identifier: MIT
"""The program that compresses or decompresses one driver: codec_child.py WORK MOST_BYTES < in > out

WORK: efi-decompress, tiano-decompress or efi-compress. The output is base64. The codec is C code of
the package uefi-firmware, and streams come from strangers: this process may use 64 MiB of memory
beyond those of its start, and ten seconds of CPU time.
"""

import base64
import resource
import sys
from pathlib import Path

MORE_MEMORY_BYTES = 64 << 20
CPU_SECONDS = 10
PIECE_BYTES = 3 << 14  # a multiple of 3, so that pieces of base64 follow each other
FAILED = 3  # the codec says that the stream is wrong
PAGES = Path("/proc/self/statm")  # the first number: pages of address space


def limit() -> None:
    """Limit this process to the memory it has and MORE_MEMORY_BYTES, and to CPU_SECONDS."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if PAGES.exists():
        now = int(PAGES.read_text().split()[0]) * resource.getpagesize()
        most = now + MORE_MEMORY_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> int:
    work, most_bytes = sys.argv[1], int(sys.argv[2])
    from uefi_firmware import efi_compressor

    calls = {
        "efi-decompress": efi_compressor.EfiDecompress,
        "tiano-decompress": efi_compressor.TianoDecompress,
        "efi-compress": efi_compressor.EfiCompress,
    }
    data = sys.stdin.buffer.read(most_bytes + 1)
    if len(data) > most_bytes:
        return FAILED
    limit()
    try:
        result = calls[work](data, len(data))
    except MemoryError:
        raise
    except Exception:  # of no other class
        return FAILED
    for at in range(0, len(result), PIECE_BYTES):
        sys.stdout.buffer.write(base64.b64encode(result[at : at + PIECE_BYTES]))
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
