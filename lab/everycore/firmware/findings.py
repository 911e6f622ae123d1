# SPDX-License-Identifier: MIT
"""Findings of all checks of firmware: a rule that is broken, where, and what shows it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

MOST_SITES = 8  # of a rule that are shown; --json has all
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


class Level(StrEnum):
    """How bad a violation is; the words are those of SARIF 2.1.0, section 3.27.10."""

    ERROR = "error"  # fails, or corrupts memory, on some machine
    WARNING = "warning"  # breaks a promise, or depends on the machine
    NOTE = "note"  # worth knowing; no violation


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    name: str
    level: Level
    text: str  # the violation
    basis: str  # the section that it is written in, or why it matters
    remedy: str
    method: str = ""  # how it is checked, where there are several ways


@dataclass(frozen=True, slots=True)
class Place:
    """A place that breaks a rule; all empty: the file as a whole."""

    address: int | None = None  # as the program has it; of EFI drivers relative to the base
    function: str = ""
    offset: int | None = None  # in the file, or in `part`
    image: int | None = None  # its number in an option ROM
    part: str = ""  # what the offset belongs to, if not to the file


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken at one place. count, phase, platforms: of a driver that ran."""

    rule: Rule
    place: Place
    evidence: str  # what is there, or what happened the first time
    count: int = 1
    phase: str = ""  # of the life cycle; empty: static
    platforms: tuple[str, ...] = ()

    @property
    def is_violation(self) -> bool:
        return self.rule.level != Level.NOTE


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file, or an image in one, with its findings. notes: what was not checked, and why."""

    name: str
    findings: Sequence[Finding]
    notes: Sequence[str]

    @property
    def file(self) -> str:
        """The name of the file that it is in."""
        return self.name

    @property
    def title(self) -> str:
        return self.name

    def sarif_findings(self) -> Sequence[Finding]:
        """The findings with the words that SARIF has."""
        return self.findings

    @property
    def has_violations(self) -> bool:
        return any(finding.is_violation for finding in self.findings)

    def lines(self) -> Iterator[tuple[str, str]]:
        """Lines for people, with their styles."""
        raise NotImplementedError

    def json_lines(self) -> Iterator[str]:
        """Lines of JSON for programs."""
        raise NotImplementedError


def ordered(findings: Iterable[Finding], rules: Mapping[str, Rule]) -> list[Finding]:
    """The findings by level, then as their rules are listed, then by address."""
    levels, ranks = list(Level), {name: number for number, name in enumerate(rules)}

    def key(finding: Finding) -> tuple[int, int, int]:
        return (
            levels.index(finding.rule.level),
            ranks[finding.rule.name],
            finding.place.address or 0,
        )

    return sorted(findings, key=key)


def summary(found: Sequence[Finding]) -> str:
    """How many findings of each level there are."""
    counts = [(level, sum(finding.rule.level == level for finding in found)) for level in Level]
    words = [f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts if count]
    return ", ".join(words) or "nothing found"


def lines(
    found: Sequence[Finding], describe: Callable[[Finding], str]
) -> Iterator[tuple[str, str]]:
    """Lines with their styles: each rule that is broken, with its places, basis and remedy."""
    for rule in {finding.rule.name: finding.rule for finding in found}.values():
        sites = [finding for finding in found if finding.rule.name == rule.name]
        yield STYLES[rule.level], f"{rule.level}: {rule.text} [{rule.name}]"
        for site in sites[:MOST_SITES]:
            yield "", f"    {describe(site)}"
        if len(sites) > MOST_SITES:
            yield "", f"    and {len(sites) - MOST_SITES} more places, which --json lists"
        yield "dim", f"    {rule.basis}. Remedy: {rule.remedy}"
