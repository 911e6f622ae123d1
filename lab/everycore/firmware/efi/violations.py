# SPDX-License-Identifier: MIT
"""The violations of runs, once for each rule and place, with their counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from everycore.firmware.efi.driver_rules import RULES, finding
from everycore.firmware.findings import Finding, ordered

MOST_FINDINGS = 1000  # of one run: a hostile driver must not fill memory


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run. steps: of the life cycle, with their results. calls: of each service."""

    platform: str
    findings: tuple[Finding, ...] = ()
    steps: tuple[str, ...] = ()
    console: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)


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
        elif len(self.sites) < MOST_FINDINGS:
            platforms = (self.platform,) if self.platform else ()
            first = finding(rule, address, text)
            self.sites[key] = replace(first, phase=phase, platforms=platforms)

    def ordered(self) -> list[Finding]:
        return list(self.sites.values())


def merged(runs: list[list[Finding]]) -> list[Finding]:
    """Findings of several platforms, each once: with all platforms and the highest count."""
    found: dict[tuple[str, int | None], Finding] = {}
    for run in runs:
        for efi_finding in run:
            key = (efi_finding.rule.name, efi_finding.place.address)
            known = found.get(key)
            if known is None:
                found[key] = efi_finding
                continue
            extra = tuple(name for name in efi_finding.platforms if name not in known.platforms)
            found[key] = replace(
                known,
                platforms=known.platforms + extra,
                count=max(known.count, efi_finding.count),
            )
    return ordered(found.values(), RULES)
