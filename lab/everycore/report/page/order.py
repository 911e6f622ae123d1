# SPDX-License-Identifier: MIT
"""The order and the groups of compilers and of flags, as a reader expects them."""

import re
from collections.abc import Sequence

LEVEL, MARCH, LTO, SWITCHED, SANITIZER = GROUPS = (
    "level",
    "-march",
    "LTO",
    "-fno-",
    "sanitizer",
)
_LEVELS = ("-O0", "-Og", "-O1", "-O", "-O2", "-O3", "-Ofast", "-Os", "-Oz")


def group(flags: Sequence[str]) -> str:
    """Name the difference between these flags and a plain level of optimisation."""
    for name, begins in (
        (SANITIZER, ("-fsanitize",)),
        (SWITCHED, ("-fno-",)),
        (LTO, ("-flto",)),
        (MARCH, ("-m",)),
    ):
        if any(flag.startswith(begins) for flag in flags):
            return name
    return LEVEL


def flags_key(flags: Sequence[str]) -> tuple[object, ...]:
    """Levels first, sanitizers last; within a group by level, then by length."""
    levels = [_LEVELS.index(flag) for flag in flags if flag in _LEVELS]
    level = levels[-1] if levels else len(_LEVELS)
    rest = tuple(flag for flag in flags if flag not in _LEVELS)
    return (GROUPS.index(group(flags)), len(rest), rest, level)


def family(toolchain: str) -> str:
    """ "gcc" of "gcc-12"."""
    match = re.match(r"[A-Za-z]+(?:-[A-Za-z]+)*", toolchain)
    return match[0].rstrip("-") if match else toolchain


def toolchain_key(name: str, compiler: str = "") -> tuple[object, ...]:
    """gcc before clang before others; older before newer."""
    kind = family(name)
    version = re.findall(r"\d+", name.removeprefix(kind)) or re.findall(r"\d+", compiler)
    known = ("gcc", "clang")
    return (
        known.index(kind) if kind in known else len(known),
        kind,
        tuple(map(int, version)) or (1 << 30,),  # a snapshot without a number is the newest
        name,
    )


def spans(chosen: Sequence[str], every: Sequence[str]) -> str:
    """Names of one family as ranges of what there is: "clang 15 to 17, 22 to 24"."""
    at = sorted(every.index(name) for name in chosen)
    runs: list[list[int]] = []
    for place in at:
        if runs and runs[-1][-1] == place - 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    parts = []
    for run in runs:
        names = [short(every[place]) for place in run]
        joint = ", " if len(names) == 2 else " to "
        parts.append(names[0] if len(names) == 1 else f"{names[0]}{joint}{names[-1]}")
    return f"{family(every[0])} {', '.join(parts)}" if every else ""


def short(toolchain: str) -> str:
    """Return a name without its family: "12" of "gcc-12"."""
    return toolchain.removeprefix(family(toolchain)).lstrip("-") or toolchain
