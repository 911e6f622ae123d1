# SPDX-License-Identifier: MIT
"""Finds out which instructions a file contains, by decoding them.

The bytes of an instruction occur in data and inside of other instructions, too. Patterns of bytes
only find candidates; one counts if decoding meets it where an instruction begins.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.explain import instructions
from everycore.explain.image import Image, load

_WIDE = "vaes"  # AES of more than one block at a time: vectors of 256 bits or more
# Opcodes of the Intel SDM, volume 2, with VEX and EVEX prefixes: what a candidate looks like, and
# the names that decoding must give. `.` stands for a byte of registers.
_X86 = {
    "aes": (
        rb"\x0f\x38[\xdc-\xdf]|\xc4[\x02\x22\x42\x62\x82\xa2\xc2\xe2].[\xdc-\xdf]|\x62...[\xdc-\xdf]",
        r"v?aes(enc|dec)(last)?",
    ),
    "clmul": (
        rb"\x0f\x3a\x44|\xc4[\x03\x23\x43\x63\x83\xa3\xc3\xe3].\x44|\x62...\x44",
        r"v?pclmulqdq",
    ),
    "sha": (rb"\x0f\x38[\xc8-\xcb]", r"sha(256rnds2|1nexte|1msg.)"),
    "mulx": (rb"\xc4[\x02\x22\x42\x62\x82\xa2\xc2\xe2].\xf6", r"mulx"),
    _WIDE: (
        rb"\xc4[\x02\x22\x42\x62\x82\xa2\xc2\xe2].[\xdc-\xdf]|\x62...[\xdc-\xdf]",
        r"vaes(enc|dec)(last)?",
    ),
}
# Arm ARM DDI 0487, C7: AESE and AESD, PMULL of 64 bits, SHA256H.
_A64 = {
    "aes": (rb".[\x48-\x4b\x58-\x5b]\x28\x4e", r"aes[ed]"),
    "clmul": (rb".[\xe0-\xe3][\xe0-\xff][\x0e\x4e]", r"pmull2?"),
    "sha": (rb".[\x40-\x43\x50-\x53][\x00-\x1f]\x5e", r"sha256h2?"),
}
_LONGEST = 15  # bytes of an instruction of x86
_FUNCTION_BYTES = 1 << 16  # longer ones are decoded from near a candidate
_BEFORE, _STARTS, _AGREEING = 64, 16, 13  # decoding from several places soon agrees on x86
_ENOUGH = 2  # candidates outside of known functions; one inside is enough
_MOST_TRIED = 400


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Names of instructions, and the least bits of their vectors."""

    names: re.Pattern[str]
    width: int


@lru_cache(maxsize=256)
def instructions_in(path: str) -> dict[str, bool]:
    """Say of each kind of instructions whether a file has it; nothing of what cannot be read."""
    try:
        image = load(Path(path))
    except EverycoreError:
        return {}
    kinds = _A64 if image.machine == "a64" else _X86
    return {
        kind: _has(image, *patterns, 256 if kind == _WIDE else 0)
        for kind, patterns in kinds.items()
    }


def lacking(path: str, kind: str) -> bool:
    """Whether a file that can be read has none of some instructions."""
    return instructions_in(path).get(kind) is False


def _has(image: Image, pattern: bytes, names: str, width: int) -> bool:
    wanted = _Wanted(re.compile(names), width)
    seen = 0
    for number, address in enumerate(_candidates(image, pattern)):
        if number >= _MOST_TRIED:
            return False
        function = image.function(address)
        if 0 < function.size <= _FUNCTION_BYTES:
            seen += _ENOUGH * _meets(image, function.start, address, wanted)
        elif image.machine == "a64":
            seen += _meets(image, address, address, wanted)
        else:
            begins = range(address - _BEFORE, address - _BEFORE + _STARTS)
            agreeing = sum(_meets(image, begin, address, wanted) for begin in begins)
            seen += agreeing >= _AGREEING
        if seen >= _ENOUGH:
            return True
    return False


def _candidates(image: Image, pattern: bytes) -> Iterator[int]:
    """Yield addresses in executable segments where a pattern matches."""
    for segment in image.segments:
        if not segment.flags & 1:  # PF_X
            continue
        whole = bytes(image.file.data[segment.offset : segment.offset + segment.size])
        for match in re.finditer(pattern, whole, re.S):
            address = segment.address + match.start()
            if image.machine != "a64" or address % 4 == 0:
                yield address


def _meets(image: Image, begin: int, address: int, wanted: _Wanted) -> bool:
    """Whether decoding from one place meets a wanted instruction that holds an address."""
    code = image.read(begin, address - begin + _LONGEST)
    for op in instructions.decode(image.machine, code, begin):
        if op.end > address:
            is_wanted = wanted.names.fullmatch(op.name) and op.width >= wanted.width
            return op.place <= address and bool(is_wanted)
    return False
