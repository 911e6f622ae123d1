# SPDX-License-Identifier: MIT
"""The findings of efi check: tables for people, lines of JSON for programs."""

import json
from collections.abc import Iterator, Sequence
from typing import Protocol

from everycore.binary import pe
from everycore.firmware import signatures
from everycore.firmware.efi.check_image import Checked
from everycore.firmware.efi.driver_rules import RULES, Level
from everycore.firmware.efi.violations import Finding

MOST_SITES = 8  # of a rule that are shown; --json has all
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


class HasLevel(Protocol):
    """A rule, as counts need it."""

    @property
    def level(self) -> Level: ...


class HasRule(Protocol):
    """A finding, as counts need it."""

    @property
    def of(self) -> HasLevel: ...


def place(finding: Finding) -> str:
    """The place of a finding in the image."""
    if finding.address is None:
        return "the image"
    name = f" ({finding.symbol})" if finding.symbol else ""
    return f"image+{finding.address:#x}{name}"


def lines(checked: Checked) -> Iterator[tuple[str, str]]:
    """Lines with their styles: each rule that is violated, with its places, source and remedy."""
    found = checked.findings
    yield "bold", f"{title(checked)}: {summary(found)}"
    for name in dict.fromkeys(one.rule for one in found):
        rule, sites = RULES[name], [one for one in found if one.rule == name]
        yield STYLES[rule.level], f"{rule.level}: {rule.text} [{name}]"
        for one in sites[:MOST_SITES]:
            yield "", f"    {place(one)}: {one.text}{_circumstances(one)}"
        if len(sites) > MOST_SITES:
            yield "", f"    and {len(sites) - MOST_SITES} more places, which --json lists"
        yield "dim", f"    {rule.section}. Remedy: {rule.remedy}"
    for run in checked.runs:
        yield "dim", f"{run.platform}: {'; '.join(run.steps)}"


def _circumstances(one: Finding) -> str:
    words = [one.phase] if one.phase else []
    words += [", ".join(one.platforms)] if one.platforms else []
    words += [f"{one.count} times"] if one.count > 1 else []
    return f" ({'; '.join(words)})" if words else ""


def summary(found: Sequence[HasRule]) -> str:
    """How many findings of each level there are."""
    counts = [(level, sum(one.of.level == level for one in found)) for level in Level]
    words = [f"{count} {level}{'s' if count > 1 else ''}" for level, count in counts if count]
    return ", ".join(words) or "nothing found"


def title(checked: Checked) -> str:
    image = checked.image
    return f"{checked.name}: {image.machine_name}, {image.subsystem_name}"


def json_lines(checked: Checked) -> Iterator[str]:
    """One object for the image, one for each run, one for each finding."""
    image = checked.image
    about = {
        "type": "image",
        "name": checked.name,
        "machine": image.machine_name,
        "subsystem": image.subsystem_name,
        "sha256": pe.authenticode(image).hex(),
        **signatures.read(image).facts(),
        "instructions": checked.instructions,
        "not_checked": checked.notes,
    }
    yield json.dumps(about)
    for run in checked.runs:
        yield json.dumps(
            {
                "type": "run",
                "name": checked.name,
                "platform": run.platform,
                "steps": list(run.steps),
                "console": run.console,
                "services": dict(run.calls),
            }
        )
    for one in checked.findings:
        offset = None if one.address is None else pe.file_offset(image, one.address)
        yield json.dumps(
            {
                "type": "finding",
                "name": checked.name,
                "rule": one.rule,
                "level": one.of.level,
                "method": one.of.method,
                "address": one.address,
                "file_offset": offset,
                "symbol": one.symbol,
                "phase": one.phase,
                "platforms": list(one.platforms),
                "count": one.count,
                "violation": one.of.text,
                "text": one.text,
                "section": one.of.section,
                "remedy": one.of.remedy,
            }
        )
