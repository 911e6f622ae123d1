# SPDX-License-Identifier: MIT
"""The page itself: one file that needs no other, and that no browser lets ask for one."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from everycore.model.cells import Outcome
from everycore.report.figures import number
from everycore.report.page import anomaly_groups, colours, order, plots
from everycore.report.page.benches import Table
from everycore.report.page.facts import Facts, glance
from everycore.report.page.payload import payload

# Nothing may be fetched, whatever the page holds: Content Security Policy Level 3 (2024). Vega
# compiles its expressions, hence unsafe-eval.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'unsafe-eval';"
    " img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True, slots=True)
class Section:
    """The tables of one stored run."""

    command: str
    title: str
    source: str
    tables: tuple[Table, ...]
    is_own: bool = True  # the user's, not one of those that everycore brings


@dataclass(frozen=True, slots=True)
class Page:
    """The contents of the page."""

    facts: Facts
    sections: tuple[Section, ...] = ()
    made: str = ""  # when
    version: str = ""
    notes: tuple[str, ...] = field(default=())  # what could not be read


def render(page: Page, plot_library: str) -> str:
    """`plot_library`: JavaScript that draws the specifications of Vega-Lite; "": no series."""
    import jinja2

    loader = jinja2.PackageLoader("everycore.report.page", "parts")
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = number
    facts = page.facts
    groups = anomaly_groups.groups(facts.facts)
    plain = payload(facts, groups)
    plain["series"] = _series(facts) if plot_library else []
    plain["dashes"] = plots.DASHES
    plain["groupNames"] = order.GROUPS
    return environment.get_template("page.html").render(
        page=page,
        policy=POLICY,
        colours=_colours(),
        data=as_script(plain),
        plot_library=plot_library.replace("</script", "<\\/script"),
        counts=_counts(facts),
        headline=headline(facts, groups),
        groups=groups,
        glances=[glance(panel, own) for panel, own in facts.panels().items()],
        heads=_heads(facts),
        places=_places(facts),
        plain=plain,
        steps=_step_names(),
        ratio=ratio_text,
        severity=anomaly_groups.severity,
        sorts=anomaly_groups.Sort,
        order=order,
        runs=_runs(page.sections),
        has_stored=all(part.facts for part in facts.split()),
    )


def as_script(plain: Any) -> str:
    """JSON that cannot end the element that holds it (HTML Living Standard, 4.12.1.3)."""
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def headline_of(facts: Facts) -> str:
    return headline(facts, anomaly_groups.groups(facts.facts))


def headline(facts: Facts, groups: Sequence[anomaly_groups.Group]) -> str:
    """All in one sentence; of own cells and of those that everycore brings, in one for each."""
    own, stored = facts.split()
    if not own.facts or not stored.facts:
        return _headline(facts, groups)
    own_groups = [group for group in groups if group.is_own]
    other_groups = [group for group in groups if not group.is_own]
    return f"{_headline(own, own_groups)}. Stored with everycore: {_headline(stored, other_groups)}"


def _headline(facts: Facts, groups: Sequence[anomaly_groups.Group]) -> str:
    cells = len(facts.facts)
    if not cells:
        return "No cells of a matrix"
    if not any(fact.has_anomaly() for fact in facts.facts):
        return f"All answers are right, and no cell is slower than its neighbours ({cells:,} cells)"
    counts: Counter[tuple[str, str]] = Counter()
    for group in groups:
        counts[_NAMES[group.sort]] += len(group.cases)
    order_of = list(dict.fromkeys(_NAMES.values()))
    found = [
        f"{counts[names]:,} {names[counts[names] != 1]}" for names in order_of if counts[names]
    ]
    causes = "one cause" if len(groups) == 1 else f"{len(groups)} causes"
    of = "1 cell" if cells == 1 else f"{cells:,} cells"
    return f"{', '.join(found)}: {causes} in {of}"


_FAILED = ("failed cell", "failed cells")
# One and many of each sort, in the order of their weight.
_NAMES = {
    anomaly_groups.Sort.WRONG: ("wrong answer", "wrong answers"),
    anomaly_groups.Sort.LEAK: ("cell that lost constant time", "cells that lost constant time"),
    anomaly_groups.Sort.SLOW: ("slow cell", "slow cells"),
    anomaly_groups.Sort.FRAME: ("large frame", "large frames"),
    anomaly_groups.Sort.CRASHED: _FAILED,
    anomaly_groups.Sort.TIME_LIMIT: _FAILED,
    anomaly_groups.Sort.NOT_COMPILED: _FAILED,
}


def ratio_text(value: float | None) -> str:
    """ "2.3x"; of what is beside 1 by little, two digits."""
    if value is None:
        return ""
    return (
        f"{value:.0f}\N{MULTIPLICATION SIGN}"
        if value >= 10
        else f"{value:.2f}"[: 4 if value < 2 else 3] + "\N{MULTIPLICATION SIGN}"
    )


def _counts(facts: Facts) -> list[tuple[str, str, int]]:
    """Tiles: the filter that each sets, its words, and how many."""
    outcomes = Counter(fact.result.outcome for fact in facts.facts)
    odd = Counter(a.kind for fact in facts.facts for a in fact.anomalies)
    tiles = [
        ("wrong", "wrong answers", outcomes[Outcome.WRONG]),
        ("leak", "lost constant time", odd["leak"]),  # type: ignore[index]
        (
            "failed",
            "crashed, hung or not compiled",
            sum(
                fact.result.outcome.is_failure and fact.result.outcome is not Outcome.WRONG
                for fact in facts.facts
            ),
        ),
        ("slow", "slower than a neighbour", odd["slow"]),  # type: ignore[index]
        ("frame", "large frames", odd["frame"]),  # type: ignore[index]
        ("measured", "measured", outcomes[Outcome.MEASURED]),
        ("counted", "counted under an emulator", outcomes[Outcome.COUNTED]),
        ("vartime", "not constant-time", sum(fact.leaks is True for fact in facts.facts)),
        ("skipped", "skipped", outcomes[Outcome.SKIPPED]),
    ]
    return [tile for tile in tiles if tile[2] or tile[0] in ("wrong", "failed", "slow")]


def _runs(sections: Sequence[Section]) -> list[tuple[str, int]]:
    """Return the commands of stored runs, and the first section of each."""
    found: dict[str, int] = {}
    for place, section in enumerate(sections, 1):
        found.setdefault(section.command.capitalize(), place)
    return list(found.items())


def _places(facts: Facts) -> list[str]:
    """Each machine and counter once, with how many runs there were, and when."""
    found: dict[tuple[str, str], list[str]] = {}
    for source in facts.sources:
        if source.head:
            where = (source.machine, source.head.counter)
            found.setdefault(where, []).append(source.head.date[:10])
    return [
        f"{machine}, {counter}, "
        + (f"{len(dates)} runs, " if len(dates) > 1 else "")
        + " to ".join(dict.fromkeys((min(dates), max(dates))))
        for (machine, counter), dates in found.items()
    ]


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _heads(facts: Facts) -> list[dict[str, str]]:
    return [
        {
            "file": source.name,
            "machine": source.machine,
            "date": head.date[:16].replace("T", " "),
            "counter": head.counter,
            "revision": str(head.revision),
            "options": "; ".join(f"{k} {_words(v)}" for k, v in head.options.items() if v),
        }
        for source in facts.sources
        if (head := source.head)
    ]


def _series(facts: Facts) -> list[dict[str, Any]]:
    """A specification for each panel and family, without data."""
    found = []
    for number_, (_, own) in enumerate(facts.panels().items()):
        values = [fact.value for fact in own if fact.value is not None]
        if not values:
            continue
        extent, scale = plots.domain(values)
        for family in dict.fromkeys(order.family(fact.cell.toolchain) for fact in own):
            names = {
                f.cell.toolchain
                for f in own
                if order.family(f.cell.toolchain) == family and f.value is not None
            }
            if len(names) > 1:  # of one version there is no course
                spec = plots.page_series(own[0].unit, extent, scale, family)
                found.append({"p": number_, "family": family, "spec": spec})
    return found


def _colours() -> Mapping[str, Sequence[tuple[str, str]]]:
    """Each with the ink that is read best on it."""
    return {
        "light": [(ground, colours.ink(ground)) for ground in colours.LIGHT],
        "dark": [(ground, colours.ink(ground)) for ground in colours.DARK],
        "lines": list(zip(colours.LINES_LIGHT, colours.LINES_DARK, strict=True)),
    }


def _step_names() -> list[str]:
    bounds = colours.RATIO_STEPS
    return [*(f"\N{LESS-THAN OR EQUAL TO} {bound:g}" for bound in bounds), f"> {bounds[-1]:g}"]
