# SPDX-License-Identifier: MIT
"""All that canary check knows of a binary: lines for people, lines of JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everycore.firmware import findings
from everycore.firmware.canary.policy import THREAD_REGISTERS, variable_at
from everycore.firmware.canary.program import Program
from everycore.firmware.canary.walk import Source
from everycore.firmware.findings import CheckedFile, Finding


@dataclass(frozen=True, slots=True)
class Protected:
    """A function that has a canary."""

    name: str
    address: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Checked(CheckedFile):
    """All that is known of one binary."""

    program: Program
    protected: Sequence[Protected]
    n_instructions: int

    @property
    def sources(self) -> Counter[Source]:
        return Counter(source for function in self.protected for source in function.sources)

    def lines(self) -> Iterator[tuple[str, str]]:
        """The binary, its guards, each rule that is broken."""
        program, found = self.program, self.findings
        yield "bold", f"{self.name}: {program.kind}, {program.machine}: {findings.summary(found)}"
        n_functions = len(program.functions)
        yield "", f"    {len(self.protected)} of {n_functions} functions have a canary"
        for source, count in self.sources.most_common():
            yield "", f"    {count:6} with the guard at {_named(program, source)}"
        yield from findings.lines(found, _described)

    def json_lines(self) -> Iterator[str]:
        """One object for the binary, one for each function with a canary, one for each finding."""
        about = {
            "type": "binary",
            "name": self.name,
            "kind": self.program.kind,
            "machine": self.program.machine,
            "functions": len(self.program.functions),
            "protected": len(self.protected),
            "instructions": self.n_instructions,
            "guards": {source.label: count for source, count in self.sources.most_common()},
            "not_checked": self.notes,
        }
        yield json.dumps(about)
        for function in self.protected:
            guards = [_source(source) for source in function.sources]
            line = {"type": "function", "name": self.name, "function": function.name}
            yield json.dumps({**line, "address": function.address, "guards": guards})
        for finding in self.findings:
            yield json.dumps({"type": "finding", "name": self.name, **_facts(finding)})


def _described(finding: Finding) -> str:
    place = finding.place
    if not place.function:
        return finding.evidence
    at = f" at {place.address:#x}" if place.address is not None else ""
    return f"{place.function}{at}: {finding.evidence}"


def _named(program: Program, source: Source) -> str:
    """A source, with the thread-local variable that is there."""
    if source.register in THREAD_REGISTERS and not source.name:
        found = variable_at(program, source.offset)
        if found is not None:
            return f"{source.label} (thread-local variable '{found.name}')"
    return source.label


def _facts(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule.name,
        "level": finding.rule.level,
        "function": finding.place.function,
        "address": finding.place.address,
        "violation": finding.rule.text,
        "text": finding.evidence,
        "reason": finding.rule.basis,
        "remedy": finding.rule.remedy,
    }


def _source(source: Source) -> dict[str, object]:
    kind = "variable" if source.is_global else "register"
    offset = None if source.is_global else source.offset
    about = {"label": source.label, "from": kind, "register": source.register}
    return {**about, "offset": offset, "symbol": source.name}
