# SPDX-License-Identifier: MIT
"""Flags by name: the sets that every compiler is tried with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from everycore.environment.errors import EverycoreError, unknown_name

UNDEFINED = ("-fsanitize=undefined",)
BOUNDS = ("-fsanitize=bounds", "-fsanitize=object-size")
# The two ways round the slow AES of GCC 7 (GCC bug 83356): the first patch of 2017, and what
# Linux then carried.
NO_PRE_SRA = ("-fno-tree-pre", "-fno-tree-sra")
NO_HOIST = ("-fno-code-hoisting",)


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Flags for gcc and for clang; None: that compiler has no such flags."""

    name: str  # empty: flags of the command line
    gcc: tuple[str, ...] | None
    clang: tuple[str, ...] | None

    def flags(self, family: str) -> tuple[str, ...] | None:
        return self.gcc if family == "gcc" else self.clang

    @property
    def title(self) -> str:
        return self.name or " ".join(self.gcc or self.clang or ())


def _both(name: str, *flags: str) -> FlagSet:
    return FlagSet(name, flags, flags)


# The most informative sets come first: plain levels, then flags that are known to cause faults.
FLAG_SETS = (
    _both("O2", "-O2"),
    _both("O2+v4", "-O2", "-march=x86-64-v4"),
    _both("O2+ubsan", "-O2", *UNDEFINED),
    _both("O1", "-O1"),
    _both("Os", "-Os"),
    _both("O3", "-O3"),
    _both("O2+v3", "-O2", "-march=x86-64-v3"),
    _both("O2+native", "-O2", "-march=native"),
    FlagSet("O2+no-pre-sra", ("-O2", *NO_PRE_SRA), None),
    _both("O2+bounds", "-O2", *BOUNDS),
    FlagSet("O2+no-hoist", ("-O2", *NO_HOIST), None),
    FlagSet("O2+no-slp", ("-O2", "-fno-tree-slp-vectorize"), ("-O2", "-fno-slp-vectorize")),
    _both("O1+ubsan", "-O1", *UNDEFINED),
    FlagSet("O2+no-pre-sra+ubsan", ("-O2", *NO_PRE_SRA, *UNDEFINED), None),
    FlagSet("O2+no-hoist+ubsan", ("-O2", *NO_HOIST, *UNDEFINED), None),
    _both("O1+bounds", "-O1", *BOUNDS),
    _both("O2+lto", "-O2", "-flto"),
)


def chosen(names: Sequence[str], given: Iterable[Sequence[str]]) -> tuple[FlagSet, ...]:
    """Sets by name, and sets of flags that were given; without either all that have names."""
    by_name = {flag_set.name: flag_set for flag_set in FLAG_SETS}
    for name in names:
        if name not in by_name:
            raise unknown_name("flag set", name, by_name)
    found = [by_name[name] for name in names]
    for flags in given:
        if not flags:
            raise EverycoreError("no flags in --flags", 'such as --flags="-O2 -fwrapv"')
        found.append(named(flags))
    return tuple(dict.fromkeys(found)) or FLAG_SETS


def named(flags: Sequence[str]) -> FlagSet:
    """The set of these flags, with its name if it has one."""
    own = tuple(flags)
    for flag_set in FLAG_SETS:
        if flag_set.gcc == flag_set.clang == own:
            return flag_set
    return FlagSet("", own, own)
