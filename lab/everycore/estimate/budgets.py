# SPDX-License-Identifier: MIT
"""Instruction budgets: how many a kernel may execute. Counts are exact: 1 % more is a change."""

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.errors import EverycoreError
from everycore.model.domain import RegistryLine

FILE = Path("tools/costs/budgets.json")
REFRESH = "tools/budgets --write"
ALLOWED = 0.01
WITHOUT = "fail"  # a kernel that has no budget: every one has
KEY_BITS = 128
SIZES = (512, 2048)
GCM_SIZES = (512, 1500, 2048)
MODES: Mapping[str, tuple[str, ...]] = {
    "aes": ("ecb-dec", "cbc-enc", "cbc-dec", "ctr", "xts-enc"),
    "ghash": ("ghash",),
    "gcm": ("gcm-seal", "gcm-open"),
    "qarma": ("qarma5-blocks",),
}


@dataclass(frozen=True, slots=True)
class Budgets:
    """Instructions of whole calls, by point, as one compiler made them."""

    compiler: str
    flags: tuple[str, ...]
    counts: dict[str, int]


@dataclass(frozen=True, slots=True)
class Judgement:
    point: str
    result: str  # pass, fail, skip
    detail: str = ""


def point(primitive: str, kernel: str, mode: str, n_bytes: int) -> str:
    return f"{primitive} {kernel} {mode} {n_bytes}"


def points_of(line: RegistryLine) -> list[str]:
    sizes = GCM_SIZES if line.primitive == "gcm" else SIZES
    modes = MODES.get(line.primitive, ())
    return [point(line.primitive, line.name, mode, size) for mode in modes for size in sizes]


def assembly(root: Path, lines: Iterable[RegistryLine]) -> set[str]:
    """Kernels as primitive and name, of which all compilers make the same."""
    return {
        f"{x.primitive} {x.name}"
        for x in lines
        if (root / "src" / x.primitive / f"{x.name}_asm.S").is_file()
    }


def load(root: Path) -> Budgets:
    path = root / FILE
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        counts = {str(k): int(v) for k, v in table["counts"].items()}
        return Budgets(str(table["compiler"]), tuple(table["flags"]), counts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise EverycoreError(f"cannot read {FILE}: {error!r}", f"{REFRESH} writes it") from error


def save(root: Path, budgets: Budgets) -> None:
    table = {
        "compiler": budgets.compiler,
        "flags": list(budgets.flags),
        "counts": dict(sorted(budgets.counts.items())),
    }
    (root / FILE).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def joined(
    old: Budgets, new: Budgets, lines: Iterable[RegistryLine], independent: Container[str] = ()
) -> Budgets:
    """The old ones whose kernels are still there, and the new ones: all of one compiler."""
    alike = all(" ".join(name.split()[:2]) in independent for name in new.counts)
    if old.compiler != new.compiler and not alike:
        raise EverycoreError(
            f"budgets are those of {old.compiler}, not {new.compiler}",
            f"all of them, with one compiler: {REFRESH}",
        )
    known = {name for line in lines for name in points_of(line)}
    kept = {name: count for name, count in old.counts.items() if name in known}
    return Budgets(old.compiler, old.flags, {**kept, **new.counts})


def is_comparable(
    budgets: Budgets, line: RegistryLine, compiler: str, independent: Container[str]
) -> bool:
    """Whether the budgets hold for a kernel by this compiler: `independent` ones are assembly."""
    return compiler == budgets.compiler or f"{line.primitive} {line.name}" in independent


def not_comparable(
    budgets: Budgets, compiler: str, lines: Iterable[RegistryLine], independent: Container[str]
) -> list[Judgement]:
    """Skips of the points whose budgets are of another compiler."""
    why = f"budgets are those of {budgets.compiler}, not {compiler}"
    return [
        Judgement(name, "skip", why)
        for line in lines
        if not is_comparable(budgets, line, compiler, independent)
        for name in points_of(line)
    ]


def judge(budgets: Budgets, counts: Mapping[str, int]) -> list[Judgement]:
    """Compare counts of kernels that are comparable with the budgets."""
    return [_judge(budgets, name, counts[name]) for name in sorted(counts)]


def _judge(budgets: Budgets, name: str, count: int) -> Judgement:
    allowed = budgets.counts.get(name)
    if allowed is None:
        kernel = name.split()[1]
        return Judgement(name, WITHOUT, f"{kernel} has no budget: {REFRESH} --kernel {kernel}")
    change = count / allowed - 1
    comparison = f"{count} instructions, budget {allowed} ({change:+.2%})"
    if count > allowed * (1 + ALLOWED) + 1e-6:
        return Judgement(name, "fail", f"{comparison}; if that is meant: {REFRESH}")
    return Judgement(name, "pass", comparison)


def stale(budgets: Budgets, lines: Iterable[RegistryLine]) -> list[Judgement]:
    """Budgets of kernels that are gone."""
    known = {name for line in lines for name in points_of(line)}
    return [
        Judgement(name, "fail", f"no such kernel or point any more: {REFRESH}")
        for name in sorted({*budgets.counts} - known)
    ]


def summary(judgements: Sequence[Judgement]) -> str:
    """Return the closing line that all test programs print: passed, failed, skipped."""
    results = [judgement.result for judgement in judgements]
    return (
        f"{results.count('pass')} passed, {results.count('fail')} failed,"
        f" {results.count('skip')} skipped"
    )
