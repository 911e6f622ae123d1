# SPDX-License-Identifier: MIT
"""List the switches of a cell's compilation, from the compiler's own lists."""

import re
from collections.abc import Callable, Mapping, Sequence

from everycore.matrix.bisect import Stage, Switch
from everycore.matrix.neighbours import facets
from everycore.model.cells import Anomaly, Cell

Ask = Callable[[Sequence[str]], str]  # flags for the cell's compiler -> all that it writes

# Optimisations that are most often to blame where loads, rotates and exclusive-ors abound. Their
# order alone is chosen here: what a compiler does not list is not tried.
_GCC_FIRST = (
    "tree-slp-vectorize", "tree-loop-vectorize", "tree-vectorize", "code-hoisting", "tree-pre",
    "tree-sra", "inline-functions", "inline-small-functions", "inline-functions-called-once",
    "ipa-sra", "ipa-cp-clone", "ipa-cp", "schedule-insns", "schedule-insns2", "gcse",
    "ivopts", "if-conversion", "if-conversion2", "split-paths", "tree-loop-if-convert",
    "tree-ter", "tree-reassoc", "store-merging", "unroll-loops", "peel-loops", "tree-ch",
    "split-loops", "unswitch-loops", "tree-loop-distribute-patterns", "tree-loop-im",
)  # fmt: skip
# They change what code means or how it is called, or only where it lies.
_NOT_FOR_SPEED = re.compile(
    r"-f(asynchronous-unwind-tables|exceptions|non-call-exceptions|delete-dead-exceptions"
    r"|short-enums|short-wchar|pack-struct|pcc-struct-return|reg-struct-return|plt|pic|pie"
    r"|semantic-interposition|stack-protector.*|stack-check|stack-clash-protection|align-.*"
    r"|(associative|fast|finite|unsafe)-math.*|signed-zeros|trapping-math|rounding-math"
    r"|reciprocal-math|allow-store-data-races|strict-volatile-bitfields|trapv|wrapv.*"
    r"|cx-.*|float-store|fp-int-builtin-inexact|no-.*)$"
)

_CLANG_FIRST: tuple[Switch, ...] = (
    ("-fno-slp-vectorize",),
    ("-fno-vectorize",),
    ("-fno-unroll-loops",),
    ("-fno-inline",),
    ("-fno-jump-tables",),
)
# -O2 may add slow code of its own: clang 9 repairs calls, and makes vectors of scalars instead.
_WITHOUT: tuple[Switch, ...] = (("-O2", "-fno-slp-vectorize"),)
# Passes that a lower level leaves out.
_CLANG_MORE: tuple[Switch, ...] = (
    ("-finline-functions",),
    ("-fslp-vectorize",),
    ("-fvectorize",),
    ("-funroll-loops",),
)
# Options of LLVM for other machines, for its own tests, and for what is not code.
_ELSEWHERE = re.compile(
    r"^(disable|enable|no)-(.*-)?("
    r"hexagon|amdgpu|amdgcn|r600|ppc|mips|mipsr6|arm|thumb|a15|nvptx|nvjump|nvvm|bpf|sparc|lanai|wasm"
    r"|aarch64|sve|mve|neon|riscv|systemz|s390|avr|msp430|xcore|ve|csky|loongarch|m68k|polly|falkor"
    r"|packetizer|hsdr|hcp|dfsan|asan|msan|tsan|hwasan|nsan|memprof|pgo|profile|fsprofile|icp|thinlto"
    r"|lto|objc|debug|dwarf|symbolication|discriminators|gisel|cfi|vfe|name|bitcode|coro|openmp|heap"
    r"|warn|type-check|verify|print|dump|stats|xray|pipeliner|memcpy-dag|commgep|gotol|ldsx|movsx"
    r"|attributor|statepoint|patchpoint|cold|tbaa|basic-aa|noalias|scoped|sdiv|storeimm"
    r")(-.*)?$"
)

# Checks of UndefinedBehaviorSanitizer: GCC 14 manual, "Program Instrumentation Options"; Clang 19's
# document of that name. Checks that a compiler does not know are refused by it.
_CHECKS = (
    "pointer-overflow", "object-size", "bounds", "alignment", "null", "shift",
    "signed-integer-overflow", "array-bounds", "bool", "enum", "builtin", "unreachable",
    "return", "vla-bound", "integer-divide-by-zero", "nonnull-attribute", "function",
    "returns-nonnull-attribute", "float-cast-overflow",
)  # fmt: skip


def stages(anomaly: Anomaly, family: str, ask: Ask) -> list[Stage]:
    """All that may repair it: likely optimisations, -O2, instructions, others, checks."""
    flags, own = anomaly.cell.flags, facets(anomaly.cell.flags)
    if anomaly.differs_in == "sanitizer":  # the price of checks: which of them
        return [_checks(own.sanitizer)]
    first: list[Stage] = []
    if family == "gcc":
        here = gcc_options(ask([*flags, "-Q", "--help=optimizers"]))
        first = gcc_stages(here, _lists_of_others(anomaly, ask))
    elif family == "clang":
        first = _clang_stages(own.level_rank, ask, flags)
    *likely, rest = first or [Stage("", ())]
    undone = tuple((opposite(flag),) for flag in own.rest if opposite(flag))
    found = [
        *likely,
        Stage("level", (("-O2",),) if own.level_rank < 2 else ()),
        Stage("level without", _WITHOUT if family == "clang" and own.level_rank < 2 else ()),
        _features(anomaly.cell, ask) if own.march else Stage("", ()),
        rest,
        _checks(own.sanitizer),
        Stage("own flags", undone),
    ]
    return [stage for stage in found if stage.switches]


def _lists_of_others(anomaly: Anomaly, ask: Ask) -> list[Mapping[str, bool]]:
    """Return the options that the same compiler has on for its neighbour, and at -O2 and -O3."""
    other, own = anomaly.neighbour, facets(anomaly.cell.flags)
    lists: list[Sequence[str]] = []
    if other and other.toolchain == anomaly.cell.toolchain and other.flags != anomaly.cell.flags:
        lists.append(other.flags)
    if own.level_rank < 2:
        lists.append([*anomaly.cell.flags, "-O2"])
    return [gcc_options(ask([*flags, "-Q", "--help=optimizers"])) for flags in lists]


def opposite(flag: str) -> str:
    """-fno-x of -fx, and the other way round; nothing of flags with a value."""
    if not re.fullmatch(r"-[fm][a-z0-9.-]+", flag) or flag.startswith("-fsanitize"):
        return ""
    sort, name = flag[:2], flag[2:]
    return sort + name.removeprefix("no-") if name.startswith("no-") else f"{sort}no-{name}"


# ---- GCC -----------------------------------------------------------------------------------------


def gcc_options(text: str) -> dict[str, bool]:
    """Read the options that `-Q --help=optimizers` calls enabled or disabled; those with a value
    are left out."""
    found = re.findall(r"^\s+(-[fm][\w.+-]+)\s+\[(enabled|disabled)\]", text, re.MULTILINE)
    return {name: state == "enabled" for name, state in found}


def gcc_stages(here: Mapping[str, bool], others: Sequence[Mapping[str, bool]]) -> list[Stage]:
    """Optimisations that are on, to be switched off; then those that others have, on."""
    usable = [name for name in here if not _NOT_FOR_SPEED.match(name)]
    missing = [n for n in usable if not here[n] and any(other.get(n) for other in others)]
    on = [name for name in usable if here[name]]
    extra = [n for n in on if any(not other.get(n, True) for other in others)]
    rank = {f"-f{name}": place for place, name in enumerate(_GCC_FIRST)}
    on.sort(key=lambda name: (name not in extra, rank.get(name, len(rank))))
    first = [name for name in on if name in rank or name in extra]
    rest = [name for name in on if name not in first]
    return [
        Stage("first", tuple((opposite(name),) for name in first)),
        Stage("left out", tuple((name,) for name in missing)),
        Stage("optimisations", tuple((opposite(name),) for name in rest)),
    ]


# ---- clang ---------------------------------------------------------------------------------------


def _clang_stages(level_rank: int, ask: Ask, flags: Sequence[str]) -> list[Stage]:
    more = [Stage("left out", _CLANG_MORE)] if level_rank < 2 else []
    try_ = [*flags, "-c", "-x", "c", "/dev/null", "-o", "/dev/null", "-mllvm"]
    of_llvm = llvm_options(ask([*try_, "--help-list-hidden"]), ask([*try_, "-print-all-options"]))
    return [
        Stage("first", _CLANG_FIRST),
        *more,
        Stage("LLVM", tuple(("-mllvm", option) for option in of_llvm)),
    ]


def llvm_options(listed: str, values: str) -> list[str]:
    """Switches of LLVM's own: -disable-x of its list, -enable-x=0 where it says that x is on."""
    off = re.findall(r"^\s+--?((?:disable|no)-[\w-]+)\s+-\s", listed, re.MULTILINE)
    on = re.findall(r"^\s+--?(enable-[\w-]+)\s+= 1\s", values, re.MULTILINE)
    found = [f"-{name}" for name in off if not _ELSEWHERE.match(name)]
    return found + [f"-{name}=0" for name in on if not _ELSEWHERE.match(name)]


# ---- Instructions, checks ------------------------------------------------------------------------


def _features(cell: Cell, ask: Ask) -> Stage:
    """Instructions that -march gives, each withheld; and its tuning."""
    own = facets(cell.flags)
    macros = ["-dM", "-E", "-x", "c", "/dev/null"]
    without = [flag for flag in cell.flags if flag not in own.march]
    given = set(re.findall(r"#define (__\w+__) 1\b", ask([*cell.flags, *macros])))
    had = set(re.findall(r"#define (__\w+__) 1\b", ask([*without, *macros])))
    names = [feature(macro) for macro in sorted(given - had)]
    switches = [("-mtune=generic",), ("-mprefer-vector-width=128",), ("-mprefer-vector-width=256",)]
    return Stage("instructions", (*switches, *((f"-mno-{name}",) for name in names if name)))


def feature(macro: str) -> str:
    """avx512f of __AVX512F__; nothing of macros that name cores and properties."""
    name = macro.strip("_").lower()
    if not re.fullmatch(
        r"(avx|sse|ssse|bmi|fma|f16c|lzcnt|movbe|adx|gfni|vaes|vpcl|sha|xop|tbm|pku)\w*", name
    ):
        return ""
    return name.replace("_", ".") if name.startswith("sse4") else name.replace("_", "")


def _checks(sanitizer: Sequence[str]) -> Stage:
    named = [name for flag in sanitizer for name in flag.partition("=")[2].split(",")]
    known = _CHECKS if "undefined" in named else tuple(named)
    return Stage("checks", tuple((f"-fno-sanitize={name}",) for name in known if name))
