# SPDX-License-Identifier: MIT
"""The guard that a user wants, and whether a function has it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from everycore.firmware.canary.program import Program, ThreadVariable
from everycore.firmware.canary.walk import Source

# Registers of user programs that point to the block of a thread.
THREAD_REGISTERS = ("fs", "tpidr_el0", "tpidruro", "tp")
DEFAULT_SYMBOL = "__stack_chk_guard"


class Wanted(StrEnum):
    """The places that a guard may come from."""

    ANY = "any"
    GLOBAL = "global"
    PER_TASK = "per-task"


@dataclass(frozen=True, slots=True)
class Policy:
    """Empty and None mean any."""

    wanted: Wanted = Wanted.ANY
    register: str = ""
    offset: int | None = None
    symbol: str = ""

    @property
    def is_given(self) -> bool:
        return self != Policy(symbol=self.symbol)

    def violation(self, source: Source) -> str:
        """The words for what a source should be; empty: it is as wanted."""
        if self.wanted == Wanted.GLOBAL and not source.is_global:
            return "a variable of the program"
        if self.wanted == Wanted.PER_TASK and source.is_global:
            return "a thread or system register"
        if self.register and source.register != self.register:
            return self.register
        if self.offset is not None and (source.is_global or source.offset != self.offset):
            return f"offset {self.offset}"
        return ""


def source_findings(program: Program, policy: Policy, source: Source) -> Iterator[tuple[str, str]]:
    """Rules that a source breaks, with a text: the policy, and the thread's variables."""
    if wanted := policy.violation(source):
        yield "policy-source", f"{source.label}; wanted: {wanted}"
    if source.register not in THREAD_REGISTERS or source.name:
        return
    if program.thread is None:
        if program.kind == "ELF shared library" and program.machine != "x86-64":
            yield "guard-foreign", source.label
        return
    yield from _thread_findings(program, policy, source)


def _thread_findings(program: Program, policy: Policy, source: Source) -> Iterator[tuple[str, str]]:
    assert program.thread is not None
    there = variable_at(program, source.offset)
    label = f"{source.label} is '{there.name}'" if there else f"{source.label} is no variable"
    name = policy.symbol or DEFAULT_SYMBOL
    guard = next((variable for variable in program.thread if variable.name == name), None)
    if guard is not None:
        if guard.offset != source.offset:
            yield "guard-offset", f"{label}; '{name}' is at offset {guard.offset}"
    elif there is not None:
        yield "guard-variable", label
    elif program.has_names and program.machine != "x86-64":  # whose C libraries have a field there
        yield "guard-not-a-variable", source.label


def variable_at(program: Program, offset: int) -> ThreadVariable | None:
    """The thread-local variable that has a word at an offset of the thread register."""
    found = None
    for variable in program.thread or ():
        if variable.offset <= offset < variable.offset + max(variable.size, 1):
            if variable.size:
                return variable
            found = variable  # a label of the linker, or a variable of assembly
    return found


def missing_symbol(program: Program, policy: Policy) -> bool:
    """Whether the guard that the user named is nowhere in a program that has symbols."""
    if not policy.symbol or not program.has_names or program.kind == "ELF object":
        return False
    names = {variable.name for variable in program.thread or ()} | set(program.variables.values())
    return policy.symbol not in names
