# SPDX-License-Identifier: MIT
"""The process that runs one driver on one platform: child.py < request > outcome

The request is a line of JSON and the bytes of the image; the outcome is a line of JSON. The driver
may be hostile and the emulator is C code: this process has limits of memory and of CPU time, and
its end by a signal is an outcome too.
"""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

MORE_MEMORY_BYTES = 4 << 30  # of addresses: the emulator reserves 1 GiB for code, and more
SPARE_SECONDS = 5
PAGES = Path("/proc/self/statm")  # the first number: pages of address space


def limit(seconds: float) -> None:
    """Limit this process to the addresses it has and MORE_MEMORY_BYTES, and in CPU time."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = int(seconds) + SPARE_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    if PAGES.exists():
        now = int(PAGES.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MORE_MEMORY_BYTES,) * 2)


def main() -> int:
    """Run what standard input asks for."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    request = json.loads(sys.stdin.buffer.readline())
    data = sys.stdin.buffer.read()
    limit(request["seconds"])
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
    sys.exit(main())
