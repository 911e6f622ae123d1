# SPDX-License-Identifier: MIT
"""The process that does what C code could do wrong: child.py WORK [MOST_BYTES] < input > output

WORK: efi-decompress, tiano-decompress and efi-compress take a stream or a driver of at most
MOST_BYTES, and give base64; the codec is that of the package uefi-firmware. run takes a line of
JSON and the bytes of an image, runs that driver on a platform, and gives a line of JSON.

Streams and drivers come from strangers: this process has limits of memory and of CPU time, and its
end by a signal is an outcome, too.
"""

import base64
import json
import resource
import sys
from dataclasses import asdict, replace
from pathlib import Path

CODEC_BYTES, CODEC_SECONDS = 64 << 20, 10
RUN_BYTES = 4 << 30  # of addresses: the emulator reserves 1 GiB for code, and more
SPARE_SECONDS = 5  # of a run
PIECE_BYTES = 3 << 14  # a multiple of 3, so that pieces of base64 follow each other
FAILED = 3  # the codec says that the stream is wrong
PAGES = Path("/proc/self/statm")  # the first number: pages of address space


def limit(more_bytes: int, seconds: int) -> None:
    """Limit this process to the addresses it has and more of them, and in CPU time."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if PAGES.exists():
        now = int(PAGES.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + more_bytes, now + more_bytes))


def convert(work: str, most_bytes: int) -> int:
    """Compress or decompress one driver."""
    from uefi_firmware import efi_compressor

    calls = {
        "efi-decompress": efi_compressor.EfiDecompress,
        "tiano-decompress": efi_compressor.TianoDecompress,
        "efi-compress": efi_compressor.EfiCompress,
    }
    data = sys.stdin.buffer.read(most_bytes + 1)
    if len(data) > most_bytes:
        return FAILED
    limit(CODEC_BYTES, CODEC_SECONDS)
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


def run() -> int:
    """Run one driver on one platform."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    request = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    limit(RUN_BYTES, int(request["seconds"]) + SPARE_SECONDS)
    from everycore.binary import pe
    from everycore.firmware.efi import life_cycle
    from everycore.firmware.efi.devices import Identity
    from everycore.firmware.efi.guest import Limits
    from everycore.firmware.efi.platforms import Translation, platform_of

    platform = replace(
        platform_of(request["platform"]),
        fixed=tuple((begin, length) for begin, length in request["fixed"]),
        translation=Translation(request["translation"]),
    )
    others = tuple(Identity(*numbers) for numbers in request["others"])
    outcome = life_cycle.run(pe.read(data), platform, others, Limits(request["seconds"]))
    print(json.dumps(asdict(outcome)))
    return 0


if __name__ == "__main__":
    sys.exit(run() if sys.argv[1] == "run" else convert(sys.argv[1], int(sys.argv[2])))
