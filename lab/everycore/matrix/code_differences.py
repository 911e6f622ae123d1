# SPDX-License-Identifier: MIT
"""Describe in words what appeared in code that was compiled in another way."""

from collections.abc import Mapping
from dataclasses import dataclass

from everycore.model.cells import Code

FEW = 8  # instructions of one kind that may come and go without a word
FEW_CALLS = 4  # likewise
TIMES = 1.25  # likewise of all
FRAME_BYTES = 64
MOST = 6  # words on one pair

# Instructions that matter more than their number: loads from scattered addresses, moves between
# kinds of registers.
_IMPORTANT = (
    "gather", "scatter", "insr", "pinsr", "pextr", "extract", "insert", "perm", "shuf", "unpck",
    "movd", "movq", "vmovd", "vmovq", "fmov", "umov", "ins", "dup", "div",
)  # fmt: skip
# Told by their number.
_CALLS = ("call", "callq", "bl", "blr", "jal", "jalr", "brasl", "basr")


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which two codes differ, and how much it weighs."""

    words: str
    weight: float


def differences(worse: Code, better: Code) -> tuple[str, ...]:
    """List what the worse one has and the better one has not, the most important first."""
    found = [*_gathers(worse, better), *_frame(worse, better), *_calls(worse, better)]
    found += [*_size(worse, better), *_mnemonics(worse.mnemonics or {}, better.mnemonics or {})]
    found += _vectors(worse, better)
    ordered = sorted(found, key=lambda difference: -difference.weight)
    return tuple(difference.words for difference in ordered[:MOST])


def _gathers(worse: Code, better: Code) -> list[Difference]:
    """By name, where it is known; gathers are a cause by themselves."""
    added = worse.gathers - better.gathers
    named = _added(worse.mnemonics or {}, better.mnemonics or {})
    gathers = {name: n for name, n in named.items() if _is_gather(name)}
    if gathers:
        return [Difference(_appear(n, name), 1000 + n) for name, n in gathers.items()]
    return [Difference(_appear(added, "gather", plural=True), 1000 + added)] if added > 0 else []


def _is_gather(name: str) -> bool:
    return "gather" in name or name in ("vgef", "vgeg")


def _frame(worse: Code, better: Code) -> list[Difference]:
    if worse.frame_bytes is None or better.frame_bytes is None:
        return []
    grown = worse.frame_bytes - better.frame_bytes
    if grown < FRAME_BYTES:
        return []
    words = f"frame {better.frame_bytes} -> {worse.frame_bytes} bytes"
    return [Difference(words, 500 + grown / 16)]


def _calls(worse: Code, better: Code) -> list[Difference]:
    found = []
    for what, n in (
        ("call", worse.calls - better.calls),
        ("call of a sanitizer's handler", worse.sanitizer_calls - better.sanitizer_calls),
    ):
        if n > 0:
            words = _appear(n, what, plural=True) if what == "call" else _handlers(n)
            found.append(Difference(words, (300 if n >= FEW_CALLS else 5) + n / 8))
    return found


def _handlers(n: int) -> str:
    return f"{n} {'call' if n == 1 else 'calls'} of the sanitizer's handlers " + (
        "appears" if n == 1 else "appear"
    )


def _size(worse: Code, better: Code) -> list[Difference]:
    if worse.instructions < max(better.instructions * TIMES, better.instructions + FEW):
        return []
    ratio = worse.instructions / max(1, better.instructions)
    words = f"{worse.instructions} instructions instead of {better.instructions}"
    return [Difference(words, min(100 * ratio, 400))]


def _vectors(worse: Code, better: Code) -> list[Difference]:
    added = worse.vector - better.vector
    if added < FEW or worse.vector < better.vector * TIMES:
        return []
    words = f"{worse.vector} vector instructions instead of {better.vector}"
    if not better.vector:
        words = f"{added} vector instructions appear"
    return [Difference(words, 80 + added / 16)]


def _mnemonics(worse: Mapping[str, int], better: Mapping[str, int]) -> list[Difference]:
    found = []
    for name, n in _added(worse, better).items():
        important = any(part in name for part in _IMPORTANT)
        before = better.get(name, 0)
        if _is_gather(name) or name in _CALLS or name.startswith("."):  # no reader knew the last
            continue
        if n < FEW or (before and worse[name] < before * TIMES):
            continue
        words = _appear(n, name) if not before else f"{name} {before} -> {worse[name]}"
        found.append(Difference(words, (90 if important else 20) + n / 16))
    return sorted(found, key=lambda difference: -difference.weight)[: MOST // 2]


def _added(worse: Mapping[str, int], better: Mapping[str, int]) -> dict[str, int]:
    return {name: n - better.get(name, 0) for name, n in worse.items() if n > better.get(name, 0)}


def _appear(n: int, name: str, *, plural: bool = False) -> str:
    if n == 1:
        return f"1 {name} appears"
    return f"{n} {name}{'s' if plural else ''} appear"
