# SPDX-License-Identifier: MIT
"""The findings of canary check: lines for people, lines of JSON for programs, SARIF."""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from everycore.firmware.canary.canary_rules import RULES, Finding
from everycore.firmware.canary.check_binary import Checked
from everycore.firmware.canary.policy import THREAD_REGISTERS, variable_at
from everycore.firmware.canary.walk import Source
from everycore.firmware.efi.driver_output import MOST_SITES, STYLES, summary
from everycore.firmware.efi.sarif import SCHEMA


def lines(checked: Checked) -> Iterator[tuple[str, str]]:
    """Lines with their styles: the binary, its guards, each rule that is broken."""
    program = checked.program
    found = checked.findings
    yield "bold", f"{program.name}: {program.kind}, {program.machine}: {summary(found)}"
    n_functions = len(program.functions)
    yield "", f"    {len(checked.protected)} of {n_functions} functions have a canary"
    for source, count in checked.sources.most_common():
        yield "", f"    {count:6} with the guard at {described(checked, source)}"
    for name in dict.fromkeys(one.rule for one in found):
        rule, sites = RULES[name], [one for one in found if one.rule == name]
        yield STYLES[rule.level], f"{rule.level}: {rule.text} [{name}]"
        for one in sites[:MOST_SITES]:
            yield "", f"    {place(one)}{one.text}"
        if len(sites) > MOST_SITES:
            yield "", f"    and {len(sites) - MOST_SITES} more places, which --json lists"
        yield "dim", f"    {rule.reason}. Remedy: {rule.remedy}"


def place(finding: Finding) -> str:
    if not finding.function:
        return ""
    at = f" at {finding.address:#x}" if finding.address is not None else ""
    return f"{finding.function}{at}: "


def described(checked: Checked, source: Source) -> str:
    """A source, with the thread-local variable that is there."""
    if source.register in THREAD_REGISTERS and not source.name:
        found = variable_at(checked.program, source.offset)
        if found is not None:
            return f"{source.label} (thread-local variable '{found.name}')"
    return source.label


def json_lines(checked: Checked) -> Iterator[str]:
    """One object for the binary, one for each function with a canary, one for each finding."""
    program = checked.program
    about = {
        "type": "binary",
        "name": program.name,
        "kind": program.kind,
        "machine": program.machine,
        "functions": len(program.functions),
        "protected": len(checked.protected),
        "instructions": checked.n_instructions,
        "guards": {source.label: count for source, count in checked.sources.most_common()},
        "not_checked": checked.notes,
    }
    yield json.dumps(about)
    for one in checked.protected:
        guards = [_source(source) for source in one.sources]
        line = {"type": "function", "name": program.name, "function": one.name}
        yield json.dumps({**line, "address": one.address, "guards": guards})
    for finding in checked.findings:
        rule = finding.of
        line = {"type": "finding", "name": program.name, "rule": rule.name, "level": rule.level}
        more = {
            "function": finding.function,
            "address": finding.address,
            "violation": rule.text,
            "text": finding.text,
            "reason": rule.reason,
            "remedy": rule.remedy,
        }
        yield json.dumps({**line, **more})


def _source(source: Source) -> dict[str, object]:
    kind = "variable" if source.is_global else "register"
    offset = None if source.is_global else source.offset
    about = {"label": source.label, "from": kind, "register": source.register}
    return {**about, "offset": offset, "symbol": source.name}


def sarif(binaries: Sequence[Checked], version: str) -> dict[str, Any]:
    """All findings as SARIF 2.1.0 (OASIS, 2020)."""
    names = list(RULES)
    rules = [
        {
            "id": one.name,
            "shortDescription": {"text": one.text},
            "fullDescription": {"text": f"{one.text}: {one.reason}"},
            "help": {"text": one.remedy},
            "defaultConfiguration": {"level": one.level},
        }
        for one in RULES.values()
    ]
    results = [
        _result(checked, one, names.index(one.rule))
        for checked in binaries
        for one in checked.findings
    ]
    driver = {"name": "everycore canary check", "version": version, "rules": rules}
    notes = [
        {"level": "note", "message": {"text": f"{checked.program.name}: {note}"}}
        for checked in binaries
        for note in checked.notes
    ]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(checked: Checked, one: Finding, index: int) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(checked.program.name)}}
    if one.address is not None:
        physical["address"] = {"absoluteAddress": one.address, "kind": "instruction"}
    location: dict[str, Any] = {"physicalLocation": physical}
    if one.function:
        location["logicalLocations"] = [{"name": one.function, "kind": "function"}]
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.of.level,
        "message": {"text": f"{one.of.text}: {one.text}"},
        "locations": [location],
    }
