# SPDX-License-Identifier: MIT
"""The result file of the EFI application: lines of firmware, and of each command of the harness."""

import json
from dataclasses import dataclass
from typing import Any

from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.model import protocol
from everycore.model.domain import Machine
from everycore.model.protocol import Hello

VERSION = 1
SYSTEMS = {"a64": "aarch64", "x86": "x86_64"}


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the harness, its lines, and how it ended."""

    words: str
    records: tuple[Record, ...]
    code: int
    stderr: str
    no_guards: str

    @property
    def hello(self) -> Hello | None:
        return next((r for r in self.records if isinstance(r, Hello)), None)


@dataclass(frozen=True, slots=True)
class Results:
    """A whole result file."""

    facts: dict[str, Any]  # of the line of type efi
    commands: tuple[Command, ...]

    @property
    def code(self) -> int:
        return max((command.code for command in self.commands), default=0)


def read(name: str, text: str) -> Results:
    """Read a result file; an EverycoreError that names it if it is cut short or another."""
    facts: dict[str, Any] = {}
    commands: list[Command] = []
    words, is_whole = "", False
    records: list[Record] = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            break
        kind = value.get("type") if isinstance(value, dict) else None
        if kind == "efi":
            facts = value
        elif not facts:
            break
        elif kind == "efi-command":
            words, records = str(value.get("words", "")), []
        elif kind == "efi-command-end":
            no_guards = str(value.get("no_guards") or "")
            ended = int(value.get("code", 2)), str(value.get("stderr", "")).strip(), no_guards
            commands.append(Command(words, tuple(records), *ended))
        elif kind == "efi-end":
            is_whole = True
        else:
            records.append(protocol.parse(line))
    if facts.get("version") != VERSION:
        raise EverycoreError(
            f"{name} is no result file of the EFI application",
            "it is everycore/result.jsonl of the medium",
        )
    if not is_whole:
        raise EverycoreError(
            f"{name} is cut short after {len(commands)} whole commands",
            "was the machine switched off, or the medium full? the console says which",
        )
    return Results(facts, tuple(commands))


def machine(results: Results, architecture: str) -> Machine:
    """The machine of the results, as the application described it."""
    facts = results.facts

    def text(name: str) -> str:
        return str(facts.get(name, ""))

    revision = int(facts.get("firmware_revision", 0))
    midr = text("midr")
    return Machine(
        cpu=text("cpu").strip() or (f"Arm core {midr}" if midr else "unknown"),
        vendor=text("vendor"),
        family=text("family"),
        model=text("model"),
        stepping=text("stepping"),
        system="UEFI",
        kernel=f"{text('firmware')} {revision >> 16}.{revision & 0xFFFF}",
        architecture=SYSTEMS.get(architecture, architecture),
        virtualised=bool(facts.get("virtualised") or facts.get("emulated")),
        midr=midr,
    )
