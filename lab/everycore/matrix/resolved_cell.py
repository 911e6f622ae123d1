# SPDX-License-Identifier: MIT
"""Resolve a cell: what its names stand for, and why some do not go together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from everycore import subjects
from everycore.compile.toolchains.host import HOST
from everycore.environment.errors import unknown_name
from everycore.model.cells import Cell, Outcome, Result
from everycore.model.domain import Compiler, Target, Toolchain, Tree
from everycore.model.targets import load_target
from everycore.subjects import Function, Program, Subject

# Needs of a level of the x86-64 psABI, in the words of /proc/cpuinfo (psABI 1.0, table 3.1).
_V3 = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
LEVELS: Mapping[str, frozenset[str]] = {"-march=x86-64-v3": _V3, "-march=x86-64-v4": _V4}


@dataclass(frozen=True, slots=True)
class HostCpu:
    """The machine that measures."""

    arch: str  # of `uname -m`
    features: frozenset[str] = field(default_factory=frozenset)  # of /proc/cpuinfo


@dataclass(frozen=True, slots=True)
class ResolvedCell:
    """A cell, with the subject, the function, the toolchain and the target that it names."""

    cell: Cell
    subject: Subject
    function: Function
    toolchain: Toolchain
    target: Target
    flag_set: str = ""  # the name of its flags, if they have one
    why_not: str = ""  # why it is skipped, if that is known before anything is compiled

    @property
    def compiler(self) -> Compiler:
        """The toolchain's compiler for the target; where it has none, `why_not` says so."""
        found = self.toolchain.compiler(self.cell.target)
        assert found is not None
        return found

    @property
    def compiler_title(self) -> str:
        return self.toolchain.title_for(self.cell.target)

    @property
    def is_whole_program(self) -> bool:
        """Whether it is optimised when it is linked, by its own compiler."""
        return any(flag.startswith("-flto") for flag in self.cell.flags)

    def program(self, binary: Path) -> Program:
        return Program(self.subject, self.target, self.compiler, self.cell.flags, "", binary)

    def skipped(self, reason: str) -> Result:
        return Result(
            self.cell,
            Outcome.SKIPPED,
            reason=reason,
            compiler=self.compiler_title,
            flag_set=self.flag_set,
        )


@dataclass(frozen=True, slots=True)
class Resolver:
    """Resolves cells that are known by their names: those of results, of jobs, of bisections."""

    tree: Tree
    toolchains: Mapping[str, Toolchain]
    host_cpu: HostCpu
    subjects: Mapping[str, Subject] = field(default_factory=dict)  # beside those of the tree
    board: Target | None = None  # beside the targets of the tree

    def resolve(self, cell: Cell, flag_set: str = "") -> ResolvedCell:
        """Look up the names of a cell; an error tells which is not known here."""
        subject = self.subject(cell.subject)
        function = subject.function(cell.function)
        toolchain = self.toolchains.get(cell.toolchain)
        if toolchain is None:
            raise unknown_name("toolchain", cell.toolchain, self.toolchains)
        is_board = self.board is not None and cell.target == self.board.name
        target = self.board if self.board and is_board else load_target(self.tree, cell.target)
        why = misfit(subject, function, cell) or no_compiler(toolchain, cell.target)
        why = why or why_not(self.host_cpu, toolchain, cell.target, cell.flags)
        return ResolvedCell(cell, subject, function, toolchain, target, flag_set, why)

    def subject(self, name: str) -> Subject:
        return self.subjects.get(name) or subjects.find_subject(self.tree, name)


# ---- What does not go together


def misfit(subject: Subject, function: Function, cell: Cell) -> str:
    """Why a function cannot have a cell's sizes, or its target; empty: it can."""
    name = f"{subject.name} {function.name}"
    if cell.key_bits not in function.key_bits:
        return f"{name} takes no keys of {cell.key_bits} bits"
    if cell.n_bytes % function.multiple_of:
        return f"{name} takes multiples of {function.multiple_of} bytes"
    if (targets := targets_of(subject)) and cell.target not in targets:
        return f"{subject.name} is for {' and '.join(targets)}"
    return ""


def targets_of(subject: Subject) -> tuple[str, ...]:
    """Return the targets for which its files can be compiled; empty: all."""
    portable = all(name.endswith(".c") for name in subject.files)
    ours = subject.name.startswith("c_") or not subject.adapter_defines
    return () if portable and ours else (subject.target,)


def no_compiler(toolchain: Toolchain, target: str) -> str:
    """Say that a toolchain does not compile for a target; empty: it does."""
    return "" if toolchain.compiler(target) else f"{toolchain.name} does not compile for {target}"


def why_not(host_cpu: HostCpu, toolchain: Toolchain, target: str, flags: Sequence[str]) -> str:
    """Why flags cannot be tried with a toolchain for a target, as far as names tell; or nothing."""
    said = (_why_not(host_cpu, toolchain, target, flag) for flag in flags)
    return next(filter(None, said), "")


def _why_not(host_cpu: HostCpu, toolchain: Toolchain, target: str, flag: str) -> str:
    if flag.startswith("-flto") and (target != HOST or toolchain.provider != "host"):
        return "LTO links with the compiler's own linker: for the host and its own compilers"
    if flag == "-march=native":
        return "-march=native is this machine, not the target" * (target != HOST)
    needed = LEVELS.get(flag, frozenset())
    level = flag.removeprefix("-march=")
    if needed and (target != HOST or host_cpu.arch not in ("x86_64", "AMD64")):
        return f"{level} is for x86-64, {'this' if target == HOST else target} is not"
    missing = sorted(needed - host_cpu.features)
    return f"this CPU is not {level}: no {missing[0]}" if missing else ""
