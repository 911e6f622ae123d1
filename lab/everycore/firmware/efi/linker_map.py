# SPDX-License-Identifier: MIT
"""Names of places in an image, from the map file of its linker."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from everycore.environment.errors import EverycoreError

# lld-link and Microsoft's link /map: section:offset, name, address with the image's base.
_COFF = re.compile(r"^ *[0-9a-f]{4}:[0-9a-f]{8} +(\S+) +([0-9a-f]{16}|[0-9a-f]{8})\b", re.I | re.M)
_COFF_BASE = re.compile(r"Preferred load address is ([0-9a-f]+)", re.I)
# GNU ld -Map: an address and a name alone on a line.
_GNU = re.compile(r"^ +0x([0-9a-f]{8,16}) {2,}([A-Za-z_.$][\w.$@]*)$", re.M)
# ld.lld -Map: addresses, sizes, alignment, then the name.
_LLD = re.compile(r"^ *([0-9a-f]+) +[0-9a-f]+ +[0-9a-f]+ +1 {9,}([^\s:]+)$", re.M)


@dataclass(frozen=True, slots=True)
class Symbols:
    """Symbols by their addresses relative to the image's base."""

    addresses: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def at(self, address: int | None) -> str:
        """The symbol that an address belongs to, with the distance; empty if there is none."""
        if address is None:
            return ""
        index = bisect_right(self.addresses, address) - 1
        if index < 0:
            return ""
        distance = address - self.addresses[index]
        return f"{self.names[index]}+{distance:#x}" if distance else self.names[index]


def read(text: str, name: str, base: int) -> Symbols:
    """Read a map file; `base` is the preferred base of the image it belongs to."""
    found: Mapping[int, str] = {int(a, 16): n for n, a in _COFF.findall(text)}
    if found:
        match = _COFF_BASE.search(text)
        base = int(match[1], 16) if match else base
    else:
        found = {int(a, 16): n for a, n in _GNU.findall(text) or _LLD.findall(text)}
    within = {a - base: n for a, n in found.items() if a >= base} or dict(found)
    if not within:
        hint = "link with /map (lld-link) or -Map (ld), and give that file"
        raise EverycoreError(f"{name}: no symbols in it", hint)
    addresses = tuple(sorted(within))
    return Symbols(addresses, tuple(within[a] for a in addresses))
