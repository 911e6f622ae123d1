# SPDX-License-Identifier: MIT
"""Findings as SARIF 2.1.0 (OASIS, 2020), which code hosts and editors show."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from everycore.environment.version import package_version
from everycore.firmware.findings import CheckedFile, Finding, Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
RELATIVE, ABSOLUTE = "relativeAddress", "absoluteAddress"


def document(
    command: str, rules: Iterable[Rule], images: Sequence[CheckedFile], addresses: str = ABSOLUTE
) -> dict[str, Any]:
    """One run of a command over all images. `addresses`: what those of findings are."""
    listed = list(rules)
    numbers = {rule.name: number for number, rule in enumerate(listed)}
    results = [
        {
            "ruleId": finding.rule.name,
            "ruleIndex": numbers[finding.rule.name],
            "level": finding.rule.level,
            "message": {"text": f"{finding.rule.text}: {finding.evidence}"},
            "locations": [_location(image, finding, addresses)],
            "occurrenceCount": finding.count,
            "properties": _properties(image, finding),
        }
        for image in images
        for finding in image.sarif_findings()
    ]
    notes = [
        {"level": "note", "message": {"text": f"{image.title}: {note}"}}
        for image in images
        for note in image.notes
    ]
    driver = {
        "name": f"everycore {command}",
        "version": package_version() or "not installed",
        "rules": [_rule(rule) for rule in listed],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.text},
        "fullDescription": {"text": f"{rule.text}: {rule.basis}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.level},
    }


def _location(image: CheckedFile, finding: Finding, addresses: str) -> dict[str, Any]:
    place = finding.place
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(image.file)}}
    if place.address is not None:
        physical["address"] = {addresses: place.address, "kind": "instruction"}
    if place.offset is not None and not place.part and image.name == image.file:
        physical["region"] = {"byteOffset": place.offset, "byteLength": 1}
    location: dict[str, Any] = {"physicalLocation": physical}
    if place.function:
        location["logicalLocations"] = [{"name": place.function, "kind": "function"}]
    return location


def _properties(image: CheckedFile, finding: Finding) -> dict[str, Any]:
    found: dict[str, Any] = {"image": image.name}
    if finding.place.image is not None:
        found["number"] = finding.place.image
    if finding.rule.method:
        found |= {"phase": finding.phase, "platforms": list(finding.platforms)}
    return found
