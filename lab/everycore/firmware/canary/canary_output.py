# SPDX-License-Identifier: MIT
"""The findings of canary check: lines for people, lines of JSON for programs."""

import json
from collections.abc import Iterator

from everycore.firmware import findings
from everycore.firmware.canary.check_binary import Checked
from everycore.firmware.canary.policy import THREAD_REGISTERS, variable_at
from everycore.firmware.canary.walk import Source
from everycore.firmware.findings import Finding
from everycore.firmware.sarif import Inspected


def lines(checked: Checked) -> Iterator[tuple[str, str]]:
    """Lines with their styles: the binary, its guards, each rule that is broken."""
    program = checked.program
    found = checked.findings
    yield "bold", f"{program.name}: {program.kind}, {program.machine}: {findings.summary(found)}"
    n_functions = len(program.functions)
    yield "", f"    {len(checked.protected)} of {n_functions} functions have a canary"
    for source, count in checked.sources.most_common():
        yield "", f"    {count:6} with the guard at {described(checked, source)}"
    yield from findings.lines(found, _described)


def _described(one: Finding) -> str:
    place = one.place
    if not place.function:
        return one.evidence
    at = f" at {place.address:#x}" if place.address is not None else ""
    return f"{place.function}{at}: {one.evidence}"


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
        rule, place = finding.rule, finding.place
        line = {"type": "finding", "name": program.name, "rule": rule.name, "level": rule.level}
        more = {
            "function": place.function,
            "address": place.address,
            "violation": rule.text,
            "text": finding.evidence,
            "reason": rule.basis,
            "remedy": rule.remedy,
        }
        yield json.dumps({**line, **more})


def _source(source: Source) -> dict[str, object]:
    kind = "variable" if source.is_global else "register"
    offset = None if source.is_global else source.offset
    about = {"label": source.label, "from": kind, "register": source.register}
    return {**about, "offset": offset, "symbol": source.name}


def inspected(checked: Checked) -> Inspected:
    """A binary as SARIF has it."""
    name = checked.program.name
    return Inspected(name, name, checked.findings, [f"{name}: {one}" for one in checked.notes])
