# SPDX-License-Identifier: MIT
"""Findings as SARIF 2.1.0 (OASIS, 2020), which code hosts and editors show."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from everycore.binary import pe
from everycore.firmware.efi.check_image import Checked
from everycore.firmware.efi.driver_output import title
from everycore.firmware.efi.driver_rules import RULES
from everycore.firmware.efi.violations import Finding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def document(images: Sequence[Checked], version: str) -> dict[str, Any]:
    """One run of the tool over all images."""
    names = list(RULES)
    results = [
        _result(checked, one, names.index(one.rule))
        for checked in images
        for one in checked.findings
    ]
    notes = [
        {"level": "note", "message": {"text": f"{title(checked)}: {note}"}}
        for checked in images
        for note in checked.notes
    ]
    driver = {
        "name": "everycore efi check",
        "version": version,
        "rules": [_rule(name) for name in names],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> dict[str, Any]:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.text},
        "fullDescription": {"text": f"{rule.text}. {rule.section}"},
        "help": {"text": rule.remedy},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(checked: Checked, one: Finding, index: int) -> dict[str, Any]:
    name = checked.name.partition(":")[0]  # of the file; images in ROMs have their number behind
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(name)}}
    location: dict[str, Any] = {"physicalLocation": physical}
    if one.address is not None:
        physical["address"] = {"relativeAddress": one.address, "kind": "instruction"}
        offset = pe.file_offset(checked.image, one.address)
        if offset is not None and ":" not in checked.name:
            physical["region"] = {"byteOffset": offset, "byteLength": 1}
    if one.symbol:
        location["logicalLocations"] = [{"name": one.symbol, "kind": "function"}]
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.of.level,
        "message": {"text": f"{one.of.text}: {one.text}"},
        "locations": [location],
        "occurrenceCount": one.count,
        "properties": {
            "image": checked.name,
            "phase": one.phase,
            "platforms": list(one.platforms),
        },
    }
