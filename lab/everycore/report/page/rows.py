# SPDX-License-Identifier: MIT
"""Cells as rows of a flat table, for CSV and Parquet."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everycore.report.page import order
from everycore.report.page.facts import CYCLES, Fact


def _estimates(fact: Fact) -> str | None:
    """ "cortex-a53 21 to 28; ...": cycles per byte by a model, which no measurement is."""
    found = fact.result.estimates or {}
    return (
        "; ".join(f"{core} {low:.4g} to {high:.4g}" for core, (low, high) in found.items()) or None
    )


# Name, type in SQL, value.
COLUMNS: Sequence[tuple[str, str, Callable[[Fact], Any]]] = (
    ("machine", "VARCHAR", lambda f: f.panel.machine),
    ("target", "VARCHAR", lambda f: f.panel.target),
    ("subject", "VARCHAR", lambda f: f.panel.subject),
    ("function", "VARCHAR", lambda f: f.panel.function),
    ("key_bits", "INTEGER", lambda f: f.panel.key_bits),
    ("bytes", "BIGINT", lambda f: f.panel.n_bytes),
    ("toolchain", "VARCHAR", lambda f: f.cell.toolchain),
    ("family", "VARCHAR", lambda f: order.family(f.cell.toolchain)),
    ("compiler", "VARCHAR", lambda f: f.result.compiler),
    ("flag_set", "VARCHAR", lambda f: f.label),
    ("flags", "VARCHAR", lambda f: " ".join(f.cell.flags)),
    ("outcome", "VARCHAR", lambda f: str(f.result.outcome)),
    ("reason", "VARCHAR", lambda f: f.result.reason),
    ("cycles_per_byte", "DOUBLE", lambda f: f.value if f.unit == CYCLES else None),
    ("interval_low", "DOUBLE", lambda f: _interval(f, "low")),
    ("interval_high", "DOUBLE", lambda f: _interval(f, "high")),
    ("samples", "BIGINT", lambda f: sum(map(len, f.result.runs))),
    ("counter", "VARCHAR", lambda f: f.result.counter),
    ("executed", "BIGINT", lambda f: f.result.executed),
    ("estimates", "VARCHAR", _estimates),
    ("frame_bytes", "BIGINT", lambda f: f.frame_bytes),
    ("code_bytes", "BIGINT", lambda f: _code(f, "code_bytes")),
    ("instructions", "BIGINT", lambda f: _code(f, "instructions")),
    ("vector", "BIGINT", lambda f: _code(f, "vector")),
    ("gathers", "BIGINT", lambda f: _code(f, "gathers")),
    ("calls", "BIGINT", lambda f: _code(f, "calls")),
    ("compile_seconds", "DOUBLE", lambda f: f.result.compile_seconds),
    ("constant_time", "BOOLEAN", lambda f: None if f.leaks is None else not f.leaks),
    ("sanitizer_hits", "BIGINT", lambda f: f.result.sanitizer_hits),
    ("digest", "VARCHAR", lambda f: f.result.digest),
    ("odd", "VARCHAR", lambda f: ", ".join(a.kind for a in f.anomalies)),
    ("ratio", "DOUBLE", lambda f: max((a.ratio for a in f.anomalies), default=None)),
    ("repair", "VARCHAR", lambda f: _said(f, lambda a: " ".join(a.repair))),
    ("causes", "VARCHAR", lambda f: _said(f, lambda a: "; ".join(a.causes))),
)


def rows(facts: Iterable[Fact]) -> Iterable[list[Any]]:
    """None: nothing is known."""
    for fact in facts:
        yield [of(fact) for _, _, of in COLUMNS]


def _interval(fact: Fact, name: str) -> float | None:
    return getattr(fact.summary, name) if fact.summary else None


def _code(fact: Fact, name: str) -> int | None:
    return getattr(fact.result.code, name) if fact.result.code else None


def _said(fact: Fact, of: Callable[[Any], str]) -> str:
    return "; ".join(dict.fromkeys(text for a in fact.anomalies if (text := of(a))))
