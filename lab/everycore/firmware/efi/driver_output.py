# SPDX-License-Identifier: MIT
"""The findings of efi check: tables for people, lines of JSON for programs."""

import json
from collections.abc import Iterator

from everycore.binary import pe
from everycore.firmware import findings, signatures
from everycore.firmware.efi.check_image import Checked
from everycore.firmware.findings import Finding, Place
from everycore.firmware.sarif import Inspected


def lines(checked: Checked) -> Iterator[tuple[str, str]]:
    """Lines with their styles: each rule that is violated, with its places, source and remedy."""
    yield "bold", f"{title(checked)}: {findings.summary(checked.findings)}"
    yield from findings.lines(checked.findings, _described)
    for run in checked.runs:
        yield "dim", f"{run.platform}: {'; '.join(run.steps)}"


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
        yield json.dumps(
            {
                "type": "finding",
                "name": checked.name,
                "rule": one.rule.name,
                "level": one.rule.level,
                "method": one.rule.method,
                "address": one.place.address,
                "file_offset": one.place.offset,
                "symbol": one.place.function,
                "phase": one.phase,
                "platforms": list(one.platforms),
                "count": one.count,
                "violation": one.rule.text,
                "text": one.evidence,
                "section": one.rule.basis,
                "remedy": one.rule.remedy,
            }
        )


def inspected(checked: Checked) -> Inspected:
    """An image as SARIF has it: images in ROMs have their number behind the file's name."""
    notes = [f"{title(checked)}: {note}" for note in checked.notes]
    return Inspected(checked.name.partition(":")[0], checked.name, checked.findings, notes)
