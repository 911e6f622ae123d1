# SPDX-License-Identifier: MIT
"""Codes of pointers beside QEMU's own functions: core cycles of each, turn by turn in one run.

QEMU's functions come from its source package and are called by the driver of subjects, ours by the
harness; both time with the same counter and the same rules. What they answer is compared first.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from everycore import subjects
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.protocol import Bench, Failure, Hello, Kernel, Resolved
from everycore.model.run_lines import PauthCompared, PauthFigure
from everycore.model.stats import figure
from everycore.run.session import Session
from everycore.subjects import Program, SubjectUnavailableError
from everycore.subjects.describe import PAC

BLOCKS = 512  # of a call
BLOCK_BYTES = 8
COMPARED_BYTES = 8_000_000  # a million blocks, a quarter of a million of other answers
ALIKE = ("qarma5", "qarma3", "impdef", PAC)  # what is compared
SAMPLES = 31  # of some 50 microseconds, in each round
PATIENCE = 4  # processes
BUDGET_MS = 30
SECONDS = 120  # in which a process of QEMU's functions is to end


@dataclass(frozen=True, slots=True)
class Operation:
    """The timed operation: a mode of the harness, and the function of QEMU's that does the same."""

    title: str
    mode: str
    theirs: str


CHAIN = "qarma5"  # of QEMU's functions: what else is held against
OPERATIONS = (
    Operation("QARMA5", "qarma5", CHAIN),
    Operation("apart", "qarma5-apart", "qarma5-each"),
    Operation("many", "qarma5-blocks", "qarma5-each"),
    Operation("QARMA3", "qarma3", "qarma3"),
    Operation("key", "setkey", ""),
)
# Around the cipher, with the kernel that an emulator selects; each beside one code of QEMU's, by
# QARMA3 where ours is, else by QARMA5.
LAYER = (
    Operation("AddPAC and Auth in turn", "pac-qarma5", CHAIN),
    Operation("AddPAC and Auth in turn, QARMA3", "pac-qarma3", "qarma3"),
    Operation("found in the memo, a chain", "pac-memo", CHAIN),
    Operation("found in the memo, apart", "pac-memo-apart", CHAIN),
    Operation("a key, by its value", "pac-keys", CHAIN),
    Operation("AES-128 instead of QARMA, a chain", "pac-aes128", CHAIN),
)
HASHES = (("QEMU's hash, a chain", "impdef"), ("QEMU's hash, apart", "impdef-each"))
SUBJECTS = ("qemu-10.0", "qemu-7.2")  # the newest first


Rounds = list[tuple[float, ...]]  # of each, its samples: cycles of one block or operation


@dataclass(slots=True)
class Timings:
    """The timings, round by round."""

    ours: dict[tuple[str, str], Rounds] = field(default_factory=dict)  # mode, kernel
    theirs: dict[str, Rounds] = field(default_factory=dict)  # function

    def of(self, mode: str, kernel: str) -> Rounds:
        return self.ours.get((mode, kernel), [])

    def of_qemu(self, function: str) -> Rounds:
        return self.theirs.get(function, [])


@dataclass(frozen=True, slots=True)
class Plan:
    kernels: tuple[str, ...]  # of QARMA that run here, as the registry has them
    selected: str  # by an emulator, for one block
    aes: str  # likewise
    functions: tuple[str, ...]  # of QEMU's, timed


def last_core() -> int | None:
    """Interrupts prefer the first one. Only Linux says which are allowed."""
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def theirs(context: Context, session: Session, names: Sequence[str]) -> Program:
    """QEMU's functions, of the first of these subjects whose sources can be had."""
    why: SubjectUnavailableError | None = None
    for name in names:
        subject = subjects.find_subject(session.tree, name)
        try:
            return subjects.build(context, session.tree, subject)
        except SubjectUnavailableError as error:
            context.warn(f"skipped: {name}: {error.message}")
            why = error
    raise why or EverycoreError("no version of QEMU is named")


def plan(session: Session, program: Program) -> Plan:
    lines = list(session.records("list"))
    words = ("--policy", "vartime")
    chosen = list(session.records("resolve", *words))
    named = {
        (record.primitive, record.use): record.kernel
        for record in chosen
        if isinstance(record, Resolved)
    }
    return Plan(
        tuple(k.name for k in lines if isinstance(k, Kernel) and k.primitive == "qarma" and k.runs),
        named["qarma", "serial"] or "",
        named["aes", "serial"] or "",
        tuple(function.name for function in program.subject.functions if function.computes != PAC),
    )


def compare(context: Context, program: Program) -> tuple[str, ...]:
    """Return the QEMU functions that answer as ours do; a difference is an error."""
    names = [function.name for function in program.subject.functions if function.computes in ALIKE]
    for name in names:
        _call(context, program, "check", name, COMPARED_BYTES)
    return tuple(names)


def greeting(session: Session) -> Hello:
    """Return the harness's description of itself."""
    said = list(session.records("bench", "--dry-run", *session.pinned))
    return next(line for line in said if isinstance(line, Hello))


def measure(
    context: Context,
    session: Session,
    program: Program,
    wanted: Plan,
    rounds: int,
    step: Callable[[str], None],
) -> Timings:
    """All in turn, so that what disturbs the machine for a while hits all of them."""
    found = Timings()
    for _ in range(rounds):
        for name in wanted.functions:
            step(f"QEMU's {name}")
            cycles = timed(context, program, name, session.cpu)
            found.theirs.setdefault(name, []).append(_of_one(cycles, BLOCKS))
        step("kernels")
        for bench in _benches(session, wanted):
            blocks = bench.bytes // BLOCK_BYTES if bench.mode != "setkey" else 1
            if bench.cycles:
                key = bench.mode, bench.kernel
                found.ours.setdefault(key, []).append(_of_one(bench.cycles, blocks))
    return found


def _of_one(cycles: Sequence[float], blocks: int) -> tuple[float, ...]:
    """More figures than any counter gives."""
    return tuple(round(cycle / blocks, 4) for cycle in cycles)


def _benches(session: Session, wanted: Plan) -> Iterator[Bench]:
    common = ["--bytes", str(BLOCKS * BLOCK_BYTES), "--samples", str(SAMPLES)]
    common += ["--budget-ms", str(BUDGET_MS), *session.pinned, *session.expecting]
    modes = ",".join(operation.mode for operation in OPERATIONS)
    calls = [["--primitive", "qarma", "--mode", modes, "--kernel", ",".join(wanted.kernels)]]
    for layer in LAYER:
        aes = layer.mode == "pac-aes128"
        kernel = ["--kernel", wanted.aes if aes else wanted.selected]
        calls.append(["--primitive", "aes" if aes else "qarma", "--mode", layer.mode, *kernel])
    for words in calls:
        for record in session.records("bench", *words, *common):
            if isinstance(record, Failure):
                text = f"{record.kernel} {record.mode}: {record.detail}"
                raise EverycoreError(text, "its answers are wrong: everycore check", code=1)
            if isinstance(record, Bench):
                yield record


def _call(
    context: Context, program: Program, verb: str, name: str, n_bytes: int, *words: int
) -> str:
    function = program.subject.function(name)
    argv = [str(program.binary), verb, function.symbol, str(function.key_bits[0]), str(n_bytes)]
    try:
        done = context.runner.run([*argv, *map(str, words)], seconds=SECONDS)
    except TimeoutError:
        raise EverycoreError(f"QEMU's {name} was not done after {SECONDS} s") from None
    if done.code != 0:
        said = (done.stdout + done.stderr).strip()
        hint = "its functions and ours differ: everycore subject check says more"
        raise EverycoreError(f"{program.subject.name}: {said}", hint, code=1)
    return done.stdout


def timed(context: Context, program: Program, name: str, cpu: int) -> list[float]:
    """Cycles of calls of one of QEMU's functions: the samples that its driver says.

    Of a few processes the first that had the core for itself, else the last: our kernels wait, too.
    """
    words = [SAMPLES, BUDGET_MS, cpu, 0]
    line: Mapping[str, object] = {}
    for _ in range(PATIENCE):
        said = _call(context, program, "bench", name, BLOCKS * BLOCK_BYTES, *words)
        line = json.loads(said.strip().splitlines()[-1])
        if not line.get("crowded"):
            break
    cycles = line.get("cycles")
    if not isinstance(cycles, list) or not cycles:
        raise EverycoreError("QEMU's functions cannot be timed here", "no counter of cycles works")
    return [float(cycle) for cycle in cycles]


def compared(program: Program, equal: Sequence[str]) -> PauthCompared:
    """Return, as it is stored, the comparison with QEMU's functions before any was timed."""
    return PauthCompared(
        qemu=program.subject.name,
        compiler=program.compiler.name,
        flags=tuple(program.flags),
        equal=tuple(equal),
        bytes=COMPARED_BYTES,
    )


def figures(program: Program, wanted: Plan, found: Timings) -> list[PauthFigure]:
    """Kernels beside QEMU's function; then what is around the cipher."""
    name = program.subject.name
    kernels = f"codes of pointers, beside {name}"
    around = f"around the cipher, beside one QARMA5 of {name} (QARMA3 beside its QARMA3)"
    own = [
        _figure(
            kernels, name, (operation.title, operation.theirs), found.of_qemu(operation.theirs), ()
        )
        for operation in OPERATIONS
    ]
    ours = [
        _figure(
            kernels, kernel, (operation.title, operation.mode), found.of(operation.mode, kernel),
            found.of_qemu(operation.theirs),
        )
        for kernel in wanted.kernels
        for operation in OPERATIONS
    ]  # fmt: skip
    layer = []
    for step in LAYER:
        kernel = wanted.aes if step.mode == "pac-aes128" else wanted.selected
        rounds, own_code = found.of(step.mode, kernel), found.of_qemu(step.theirs)
        measured = ("cycles", step.mode)
        layer.append(_figure(around, f"{step.title}: {kernel}", measured, rounds, own_code))
    hashes = [
        _figure(around, title, ("cycles", theirs), found.of_qemu(theirs), found.of_qemu(CHAIN))
        for title, theirs in HASHES
    ]
    return [line for line in (*own, *ours, *layer, *hashes) if line]


def _figure(
    table: str,
    who: str,
    operation: tuple[str, str],  # its title and mode
    rounds: Rounds,
    own: Sequence[Sequence[float]],  # QEMU's rounds
) -> PauthFigure | None:
    """The median of the rounds' medians, each of which is of a process of its own."""
    cycles, theirs = _middle(rounds), _middle(own)
    if cycles is None:
        return None
    ratio = theirs / cycles if theirs and cycles else None
    return PauthFigure(table, who, *operation, cycles, ratio, tuple(rounds))


def _middle(rounds: Sequence[Sequence[float]]) -> float | None:
    found = figure(rounds)
    return found.median if found else None
