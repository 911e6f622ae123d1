# SPDX-License-Identifier: MIT
"""Everything that the page's script reads, as plain values."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from everycore.matrix import bugs
from everycore.model.cells import Anomaly, Result
from everycore.model.stats import interval_words
from everycore.report.page import anomaly_groups, colours, listings, order, plots
from everycore.report.page.facts import CYCLES, Fact, Facts, Panel, assembly, best, key_words


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity that a heat map can show."""

    key: str  # of a cell's value
    name: str
    of: Callable[[Fact], float | None]
    steps: tuple[float, ...] = ()  # of the value itself; empty: of its ratio to the best


METRICS = (
    Metric("v", CYCLES, lambda fact: fact.value),
    Metric("frame", "frame, bytes", lambda fact: fact.frame_bytes,
           (64, 128, 256, 512, 1024, 2048, 4096)),
    Metric("code", "code, bytes", lambda fact: _code(fact, "code_bytes")),
    Metric("insns", "instructions of the code", lambda fact: _code(fact, "instructions")),
    Metric("vector", "vector instructions", lambda fact: _code(fact, "vector"),
           (0, 8, 32, 64, 128, 256, 512)),
    Metric("gathers", "gathers", lambda fact: _code(fact, "gathers"), (0, 4, 8, 16, 32, 64, 128)),
    Metric("calls", "calls", lambda fact: _code(fact, "calls"), (0, 4, 8, 16, 32, 64, 128)),
    Metric("seconds", "seconds of compiling", lambda fact: fact.result.compile_seconds),
)  # fmt: skip


def _code(fact: Fact, name: str) -> float | None:
    code = fact.result.code
    return getattr(code, name) if code else None


def payload(facts: Facts, found: Sequence[anomaly_groups.Group]) -> dict[str, Any]:
    """Cells refer to panels, toolchains and flag sets by their places in lists."""
    panels = facts.panels()
    toolchains, flag_sets = facts.toolchains(), facts.flag_sets()
    places = _Places(
        {panel: i for i, panel in enumerate(panels)},
        {name: i for i, name in enumerate(toolchains)},
        {name: i for i, name in enumerate(flag_sets)},
    )
    beside = assembly(facts)
    case_ids = {id(case): i for i, case in enumerate(c for group in found for c in group.cases)}
    cells = [_cell(fact, places) for fact in facts.facts]
    of_cell = {(fact.panel, fact.cell): i for i, fact in enumerate(facts.facts)}
    for own in panels.values():
        for place, text in plots.peaks(own).items():
            cells[of_cell[own[place].panel, own[place].cell]]["peak"] = text
    cases = []
    for number, group in enumerate(found):
        for case in group.cases:
            where = of_cell[case.fact.panel, case.fact.cell]
            cells[where].setdefault("odd", []).append(case_ids[id(case)])
            cases.append({"c": where, "g": number, "sort": group.sort, **_case(case)})
    return {
        "panels": [
            _panel(panel, own, places, beside.get(panel, ())) for panel, own in panels.items()
        ],
        "toolchains": [
            {
                "name": name,
                "family": order.family(name),
                "short": order.short(name),
                "compiler": compiler,
            }
            for name, compiler in toolchains.items()
        ],
        "flags": [
            {
                "label": name,
                "spelled": [" ".join(flags) for flags in spelled],
                "group": order.group(spelled[0]),
            }
            for name, spelled in flag_sets.items()
        ],
        "cells": cells,
        "cases": cases,
        "groups": [[case_ids[id(case)] for case in group.cases] for group in found],
        "reports": [_report(group, facts) for group in found],
        "metrics": [{"key": m.key, "name": m.name, "steps": m.steps} for m in METRICS],
        "ratios": colours.RATIO_STEPS,
        "intervals": {
            number: interval_words(number) for number in _numbers_of_processes(facts.facts)
        },
    }


def _numbers_of_processes(facts: Iterable[Fact]) -> list[int]:
    return sorted({fact.summary.processes for fact in facts if fact.summary})


@dataclass(frozen=True, slots=True)
class _Places:
    panels: dict[Panel, int]
    toolchains: dict[str, int]
    flags: dict[str, int]


def _panel(
    panel: Panel, own: Sequence[Fact], places: _Places, beside: Sequence[Fact]
) -> dict[str, Any]:
    values = [fact.value for fact in own if fact.value is not None]
    found: dict[str, Any] = {}
    for metric in METRICS:
        if not metric.steps:
            least = best(own, metric.of)
            found[metric.key] = {
                "all": _short(least.of_all),
                "row": {places.toolchains[k]: _short(v) for k, v in least.of_toolchain.items()},
                "col": {places.flags[k]: _short(v) for k, v in least.of_flags.items()},
            }
    return {
        "subject": panel.subject,
        "function": panel.function,
        "machine": panel.machine,
        "target": panel.target,
        "key": key_words(own),
        "bytes": panel.n_bytes,
        "unit": own[0].unit,
        "best": found,
        "range": [_short(min(values)), _short(max(values))] if values else None,
        "stored": _stored(own),
        "assembly": [[fact.panel.title, _short(fact.value)] for fact in beside],
    }


def _stored(facts: Sequence[Fact]) -> str:
    """Tell which cells of a panel everycore brings: "all", some of them, or "" for none."""
    stored = sum(not fact.is_own for fact in facts)
    if stored == len(facts):
        return "all"
    return f"{stored} of {len(facts)} cells" if stored else ""


def _cell(fact: Fact, places: _Places) -> dict[str, Any]:
    """Form the payload of a cell; empty members are left out."""
    result = fact.result
    summary = fact.summary
    code = result.code
    plain: dict[str, Any] = {
        "p": places.panels[fact.panel],
        "stored": None if fact.is_own else 1,
        "t": places.toolchains[fact.cell.toolchain],
        "f": places.flags[fact.label],
        "flags": " ".join(fact.cell.flags),
        "o": result.outcome,
        "v": _short(fact.value),
        "q": [_short(summary.low), _short(summary.high), summary.processes] if summary else None,
        "n": [len(result.runs), sum(map(len, result.runs))] if result.runs else None,
        "why": result.reason,
        "counter": result.counter,
        "frame": fact.frame_bytes,
        "code": code.code_bytes if code else None,
        "insns": code.instructions if code else None,
        "vector": code.vector if code else None,
        "gathers": code.gathers if code else None,
        "calls": code.calls if code else None,
        "hot": code.hot if code else None,
        "executed": result.executed,
        "seconds": _short(result.compile_seconds),
        "digest": result.digest,
        "hits": result.sanitizer_hits,
        "ct": [[v.constant, v.method, v.detail] for v in result.verdicts] or None,
        "est": {core: [_short(a), _short(b)] for core, (a, b) in (result.estimates or {}).items()}
        or None,
    }
    return {key: value for key, value in plain.items() if value not in (None, "")}


def _case(case: anomaly_groups.Case) -> dict[str, Any]:
    if case.anomaly is None:
        repaired = anomaly_groups.explained_wrong([case])
        return _repair(repaired) if repaired else {}
    anomaly = case.anomaly
    other = anomaly.neighbour
    plain: dict[str, Any] = {
        "v": _short(anomaly.value),
        "x": _short(anomaly.ratio),
        "than": other.title if other else None,
        "than_v": _short(anomaly.neighbour_value),
        "differs": anomaly.differs_in,
        **_repair(anomaly),
        "why_not": anomaly.why_not,
        "command": anomaly.command,
    }
    if anomaly.before:
        after = anomaly.after
        plain["asm"] = {
            "symbol": anomaly.before.symbol,
            "share": [anomaly.before.share, after.share if after else None],
            "rows": [
                [row.mark, row.before, row.after]
                for row in listings.side_by_side(anomaly.before.lines, after.lines if after else ())
            ],
            "repaired": after is not None,
        }
    return {key: value for key, value in plain.items() if value not in (None, "")}


def _repair(anomaly: Anomaly) -> dict[str, Any]:
    """Return the flags that repair an anomaly, and the figures of the cell with them."""
    plain = {
        "repair": list(anomaly.repair) or None,
        "after": _repaired(anomaly.repaired) if anomaly.repaired else None,
        "causes": list(anomaly.causes) or None,
        "tried": anomaly.tried or None,
    }
    return {key: value for key, value in plain.items() if value is not None}


def _report(group: anomaly_groups.Group, facts: Facts) -> str:
    """Write a report for a bug tracker; "": it is no anomaly."""
    if group.anomaly_group is None:
        return ""
    where = group.worst.fact.panel
    machine, subject = where.machine, where.subject
    own = [f for f in facts.facts if (f.panel.machine, f.panel.subject) == (machine, subject)]
    results = {fact.cell: fact.result for fact in own}
    heads = [s.head for s in facts.sources if s.machine == machine and s.head]
    return bugs.report(group.anomaly_group, results, heads[-1] if heads else None)


def _repaired(result: Result) -> dict[str, Any]:
    code = result.code
    plain = {
        "v": _short(result.cycles_per_byte),
        "frame": code.frame_bytes if code else None,
        "insns": code.instructions if code else None,
        "gathers": code.gathers if code else None,
        "calls": code.calls if code else None,
    }
    return {key: value for key, value in plain.items() if value is not None}


def _short(value: float | None) -> float | None:
    """Five figures: more than any machine repeats."""
    return None if value is None else float(f"{value:.5g}")
