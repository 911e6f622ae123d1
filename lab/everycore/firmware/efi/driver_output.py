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
        for one in self.findings:
            yield json.dumps({"type": "finding", "name": self.name, **_facts(one)})


def _facts(one: Finding) -> dict[str, object]:
    return {
        "rule": one.rule.name,
        "level": one.rule.level,
        "method": one.rule.method,
        "address": one.place.address,
        "file_offset": one.place.offset,
        "symbol": one.place.function,
        "phase": one.phase,
        "platforms": one.platforms,
        "count": one.count,
        "violation": one.rule.text,
        "text": one.evidence,
        "section": one.rule.basis,
        "remedy": one.rule.remedy,
    }


def _described(one: Finding) -> str:
    return f"{_place(one.place)}: {one.evidence}{_circumstances(one)}"


def _place(place: Place) -> str:
    if place.address is None:
        return "the image"
    name = f" ({place.function})" if place.function else ""
    return f"image+{place.address:#x}{name}"


def _circumstances(one: Finding) -> str:
    words = [one.phase] if one.phase else []
    words += [", ".join(one.platforms)] if one.platforms else []
    words += [f"{one.count} times"] if one.count > 1 else []
    return f" ({'; '.join(words)})" if words else ""
