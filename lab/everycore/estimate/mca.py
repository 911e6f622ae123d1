# SPDX-License-Identifier: MIT
"""LLVM: text of executed instructions by llvm-objdump, cycles of other cores by llvm-mca.

One LLVM for both, for what one writes the other has to read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.estimate.asm import Instruction, Kind

# From the first with -call-latency; those above the last were not looked at.
OLDEST, NEWEST = 19, 22
HINT = (
    f"Debian: apt-get install llvm-{OLDEST}; any LLVM from {OLDEST} to {NEWEST} serves;"
    " counts need none: everycore estimate --core none"
)
TURNS = (4, 12)  # the slope between both, so that the beginning and the end do not count

_CODE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$")
_PLACE = re.compile(r"(0x[0-9a-f]+|#?-?\d+) <[^>]*>")
_LITERAL = re.compile(r"^(ldr|ldrsw) (\w+), (?:0x[0-9a-f]+|target)$")


@dataclass(frozen=True, slots=True)
class Llvm:
    """The tools, and their version."""

    objdump: str
    mca: str
    version: str


@dataclass(frozen=True, slots=True)
class Cpu:
    """LLVM's name of a core, and the instruction set that it executes."""

    name: str
    arch: str = "a64"

    @property
    def options(self) -> list[str]:
        if self.arch == "a64":
            return ["-mtriple=aarch64", f"-mcpu={self.name}", "-mattr=+crypto,+aes,+sha3"]
        return ["-mtriple=armv8", f"-mcpu={self.name}"]


def find_llvm(context: Context) -> Llvm:
    """The newest of LLVM's tools that serve: with the version in their names, else without."""
    seen: list[str] = []
    for suffix in (*(f"-{n}" for n in range(NEWEST, OLDEST - 1, -1)), ""):
        try:
            output = context.runner.run([f"llvm-mca{suffix}", "--version"]).stdout
            context.runner.run([f"llvm-objdump{suffix}", "--version"])
        except EverycoreError:
            continue
        match = re.search(r"version (\d+)[.\d]*", output)
        if match and OLDEST <= int(match[1]) <= NEWEST:
            version = match[0].removeprefix("version ")
            return Llvm(f"llvm-objdump{suffix}", f"llvm-mca{suffix}", version)
        seen.append(f"llvm-mca{suffix} is {match[0] if match else 'of no version'}")
    found = f" ({'; '.join(seen)})" if seen else ""
    raise EverycoreError(f"no llvm-mca with a version from {OLDEST} to {NEWEST}{found}", HINT)


def disassemble(
    context: Context, llvm: Llvm, program: Path, functions: Sequence[str] = ()
) -> dict[int, str]:
    """Address -> instruction, of all sections with code; or of some functions alone."""
    what = [f"--disassemble-symbols={','.join(functions)}"] if functions else ["-d"]
    done = context.runner.run(
        [llvm.objdump, *what, "--no-show-raw-insn", "--mattr=+all", str(program)]
    )
    if done.code != 0:
        raise EverycoreError(f"cannot disassemble {program}", done.stderr.strip()[:300])
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if match := _CODE.match(line):
            found[int(match[1], 16)] = _plain(match[2])
    return found


def _plain(text: str) -> str:
    """One space between the words, no comment; a place in the code becomes a label."""
    text = re.sub(r"\s*(//|;|@ ).*$", "", text)
    text = " ".join(_PLACE.sub("target", text).split())
    return _LITERAL.sub(r"\1 \2, [x1]", text)


def without_fused(trace: Sequence[Instruction]) -> list[Instruction]:
    """The trace without each AESMC that stands right behind its AESE."""
    kept: list[Instruction] = []
    for instruction in trace:
        if not (kept and instruction.is_pair_of(kept[-1])):
            kept.append(instruction)
    return kept


def cycles(
    context: Context, llvm: Llvm, cpu: Cpu, trace: Sequence[Instruction], *, steady: bool
) -> float:
    """Return the cycles of the trace: of one turn among many, or of one pass through all."""
    if not steady:
        return _total(context, llvm, cpu, trace, 1)
    few, many = (_total(context, llvm, cpu, trace, turns) for turns in TURNS)
    return (many - few) / (TURNS[1] - TURNS[0])


def _total(
    context: Context, llvm: Llvm, cpu: Cpu, trace: Sequence[Instruction], turns: int
) -> float:
    argv = [llvm.mca, *cpu.options, f"-iterations={turns}", "-instruction-info=0"]
    argv += ["-resource-pressure=0", "-call-latency=1"]
    text = "\n".join(instruction.text for instruction in trace if _is_modelled(instruction)) + "\n"
    done = context.runner.run(argv, stdin=text)
    match = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    if not match:
        output = next((line for line in done.stderr.splitlines() if "error" in line), "no reason")
        raise EverycoreError(
            f"{llvm.mca} -mcpu={cpu.name} cannot look at the trace: {output}", code=1
        )
    return float(match[1])


def _is_modelled(instruction: Instruction) -> bool:
    """Returns end a block for llvm-mca, which warns; jumps that are always taken are predicted."""
    return not (
        instruction.kind is Kind.BRANCH and instruction.mnemonic in ("ret", "br", "b", "bx")
    )
