# SPDX-License-Identifier: MIT
"""Violations that were found, once for each rule and place, with their counts."""

from dataclasses import dataclass, field, replace

from everycore.firmware.efi.driver_rules import RULES, Level, Rule

MOST_SITES = 1000  # of one run: a hostile driver must not fill memory


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is violated at one place of an image."""

    rule: str
    address: int | None  # relative to the image's base; None: no place in the image
    text: str  # what happened the first time
    count: int = 1
    phase: str = ""  # of the life cycle; empty: static
    platforms: tuple[str, ...] = ()
    symbol: str = ""

    @property
    def of(self) -> Rule:
        return RULES[self.rule]

    @property
    def is_violation(self) -> bool:
        return self.of.level != Level.NOTE


@dataclass(slots=True)
class Findings:
    """Collects findings of one run."""

    platform: str = ""
    sites: dict[tuple[str, int | None], Finding] = field(default_factory=dict)

    def add(self, rule: str, address: int | None, text: str, phase: str = "") -> None:
        """Record a violation of a rule; a further one at the same place only counts."""
        key = (rule, address)
        known = self.sites.get(key)
        if known:
            self.sites[key] = replace(known, count=known.count + 1)
        elif len(self.sites) < MOST_SITES:
            platforms = (self.platform,) if self.platform else ()
            self.sites[key] = Finding(RULES[rule].name, address, text, 1, phase, platforms)

    def ordered(self) -> list[Finding]:
        return list(self.sites.values())


def merged(runs: list[list[Finding]]) -> list[Finding]:
    """Findings of several platforms, each once: with all platforms and the highest count."""
    found: dict[tuple[str, int | None], Finding] = {}
    for run in runs:
        for finding in run:
            key = (finding.rule, finding.address)
            known = found.get(key)
            if known is None:
                found[key] = finding
                continue
            extra = tuple(name for name in finding.platforms if name not in known.platforms)
            found[key] = replace(
                known,
                platforms=known.platforms + extra,
                count=max(known.count, finding.count),
            )
    order = list(Level)
    ranks = {name: number for number, name in enumerate(RULES)}
    return sorted(
        found.values(),
        key=lambda f: (order.index(f.of.level), ranks[f.rule], f.address or 0),
    )
