# SPDX-License-Identifier: MIT
"""All that efi check knows of an image: lines for people, lines of JSON for programs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everycore.binary import pe
from everycore.firmware import findings, signatures
from everycore.firmware.efi.violations import Outcome
from everycore.firmware.findings import CheckedFile, Finding, Place


@dataclass(frozen=True, slots=True)
class Checked(CheckedFile):
    """All that is known of one image; of one in a ROM, the number is behind the file's name."""

    image: pe.Image
    runs: Sequence[Outcome]
    instructions: int

    @property
    def file(self) -> str:
        return self.name.partition(":")[0]

    @property
    def title(self) -> str:
        return f"{self.name}: {self.image.machine_name}, {self.image.subsystem_name}"

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each rule that is violated, with its places, source and remedy; the runs."""
        yield "bold", f"{self.title}: {findings.summary(self.findings)}"
        yield from findings.lines(self.findings, _described)
        for run in self.runs:
            yield "dim", f"{run.platform}: {'; '.join(run.steps)}"

    def json_lines(self) -> Iterator[str]:
        """One object for the image, one for each run, one for each finding."""
        about = {
            "type": "image",
            "name": self.name,
            "machine": self.image.machine_name,
            "subsystem": self.image.subsystem_name,
            "sha256": pe.authenticode(self.image).hex(),
            **signatures.read(self.image).facts(),
            "instructions": self.instructions,
            "not_checked": self.notes,
        }
        yield json.dumps(about)
        for run in self.runs:
            line = {"type": "run", "name": self.name, "platform": run.platform}
            more = {"steps": run.steps, "console": run.console, "services": dict(run.calls)}
            yield json.dumps({**line, **more})
        for finding in self.findings:
            yield json.dumps({"type": "finding", "name": self.name, **_facts(finding)})


def _facts(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule.name,
        "level": finding.rule.level,
        "method": finding.rule.method,
        "address": finding.place.address,
        "file_offset": finding.place.offset,
        "symbol": finding.place.function,
        "phase": finding.phase,
        "platforms": finding.platforms,
        "count": finding.count,
        "violation": finding.rule.text,
        "text": finding.evidence,
        "section": finding.rule.basis,
        "remedy": finding.rule.remedy,
    }


def _described(finding: Finding) -> str:
    return f"{_place(finding.place)}: {finding.evidence}{_circumstances(finding)}"


def _place(place: Place) -> str:
    if place.address is None:
        return "the image"
    name = f" ({place.function})" if place.function else ""
    return f"image+{place.address:#x}{name}"


def _circumstances(finding: Finding) -> str:
    words = [finding.phase] if finding.phase else []
    words += [", ".join(finding.platforms)] if finding.platforms else []
    words += [f"{finding.count} times"] if finding.count > 1 else []
    return f" ({'; '.join(words)})" if words else ""
