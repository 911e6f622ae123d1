# SPDX-License-Identifier: MIT
"""Functions of subjects under the tracer: exact instructions, and only theirs."""

import signal
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from everycore.environment.context import Context
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.model.domain import Target
from everycore.subjects import sweep
from everycore.subjects.assemble import Program
from everycore.subjects.describe import OWN, Function
from everycore.subjects.reference import FLAGS as TRUSTED
from everycore.subjects.source_files import SubjectUnavailableError
from everycore.trace.emulated import qemu
from everycore.trace.native import native
from everycore.trace.record import Run, Trace

BEGIN, END = "region_begin", "region_end"
GLUE = "subject_glue"  # the section of what is ours: catalog/subjects/subject.h
# Whole turns of any loop that does 1, 2, 3, 4, 5, 6, 8, 10, 12 or 15 blocks at a time.
STEP_BYTES = 1920
SIZES = (128, 256, 384, 1024, 1920)  # where answers are compared
SHORT_SIZES = (1, 2, 3, 7, 15)  # of functions that are no mode of AES
Z = "qemu-s390x"
CPACF = (
    "QEMU lacks most instructions of CPACF: everycore check --target hercules-z runs them, and"
    " tests/systems/z_kernels.c counts them there; one of them may take a whole message"
)
SECONDS = 60  # in which the calls of a check are to end
ODD_SIZES = (16, 17, 47, 63, 64, 65, 100, 129, 512, 1500)  # of functions that take any


class WrongAnswersError(EverycoreError):
    """A function that runs and computes something else."""


@dataclass(frozen=True)
class Call:
    """One traced call."""

    function: Function
    key_bits: int
    n_bytes: int
    trace: Trace = field(repr=False)  # with the driver's and the adapter's instructions

    @cached_property
    def pcs(self) -> Sequence[int]:
        """The executed addresses in order, without those of the driver and the adapter."""
        ours = self.trace.program.image.section(GLUE)
        first, end = ours.start, ours.stop
        return array("Q", (pc for pc in self.trace.pcs() if not first <= pc < end))

    @property
    def instructions(self) -> int:
        return len(self.pcs)

    @property
    def per_byte(self) -> float:
        """Instructions per byte of the whole call."""
        return self.instructions / self.n_bytes


@dataclass(frozen=True, slots=True)
class Steady:
    """The cost of more bytes: the difference of two calls, in which the common work cancels."""

    instructions: int
    n_bytes: int

    @property
    def per_byte(self) -> float:
        return self.instructions / self.n_bytes


def check(context: Context, program: Program, function: Function) -> None:
    """Raise an error if an answer of the function is wrong, for all key sizes: some lengths, and
    the inputs of a sweep."""
    sizes = [size for size in (*SIZES, *ODD_SIZES) if function.takes(size)]
    if function.computes == OWN:
        sizes = [size for size in SHORT_SIZES if function.takes(size)] + sizes
    most = {function.key_bits[-1]: sweep.N_INPUTS}  # of one key size all
    sweeps = [
        sweep.words(function, bits, SECONDS, most.get(bits, sweep.OF_OTHER_KEYS))
        for bits in function.key_bits
    ]
    checks = [_words(function, bits, sizes) for bits in function.key_bits]
    for words in (*checks, *(["sweep", function.symbol, *sweep_words] for sweep_words in sweeps)):
        argv = [*program.target.emulator, str(program.binary), *words]
        try:
            done = context.runner.run(argv, seconds=SECONDS)
        except TimeoutError as error:
            raise _endless(f"{program.subject.name} {function.name}") from error
        except EverycoreError as error:
            raise SubjectUnavailableError(error.message, _install(program.target)) from error
        _judge(program, function, done.code, done.stdout + done.stderr)


def trace(
    context: Context, program: Program, function: Function, key_bits: int, sizes: Sequence[int]
) -> list[Call]:
    """A call of each size, traced; the answers are compared here, too."""
    for size in sizes:
        if size < 1 or not function.takes(size):
            least = f", and at least {function.fewest}" if function.fewest else ""
            raise EverycoreError(
                f"{program.subject.name} {function.name} takes no {size} bytes",
                f"multiples of {function.multiple_of}{least}",
            )
    if key_bits not in function.key_bits:
        raise EverycoreError(f"{program.subject.name} {function.name} has no AES-{key_bits}")
    run = _traced(context, program, [str(program.binary), *_words(function, key_bits, sizes)])
    _judge(program, function, run.code, run.stdout)
    if len(run.traces) != len(sizes):
        raise EverycoreError(f"{len(run.traces)} traces of {len(sizes)} calls of {function.name}")
    return [
        Call(function, key_bits, size, traced)
        for size, traced in zip(sizes, run.traces, strict=True)
    ]


def steady(context: Context, program: Program, function: Function, key_bits: int) -> Steady:
    """Instructions per byte of long messages: exact, where the loop does up to 12 blocks a turn."""
    short, long = trace(context, program, function, key_bits, (STEP_BYTES, 2 * STEP_BYTES))
    return Steady(long.instructions - short.instructions, STEP_BYTES)


def _traced(context: Context, program: Program, argv: Sequence[str]) -> Run:
    try:
        if program.target.transport == "local":
            return native(context, argv, BEGIN, END, keep=True)
        return qemu(context, program.target, argv, BEGIN, END, keep=True)
    except CannotRunError as error:
        raise SubjectUnavailableError(error.message, _install(program.target)) from error


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"exit code {number}"


def _install(target: Target) -> str:
    return f"Debian: apt-get install {' '.join(target.packages)}"


def _endless(what: str) -> EverycoreError:
    seconds = f"{SECONDS} second{'s' if SECONDS != 1 else ''}"
    return EverycoreError(f"{what} comes to no end within {seconds}", code=1)


def _words(function: Function, key_bits: int, sizes: Sequence[int]) -> list[str]:
    return ["check", function.symbol, str(key_bits), *map(str, sizes)]


def _judge(program: Program, function: Function, code: int, said: str) -> None:
    if code == 0:
        return
    if code == 3:  # catalog/subjects/driver.c
        raise SubjectUnavailableError(said.strip(), CPACF if program.target.name == Z else "")
    if code < 0 or code > 128:
        name = _signal_name(abs(code) & 127)
        at = f" at {said.strip().splitlines()[0]}" if ", input " in said else ""
        raise EverycoreError(
            f"{program.subject.name} {function.name} crashes: {name}{at}",
            "its call may not fit what is declared; -fsanitize=address in --flags may say more",
            code=1,
        )
    first = next(iter(said.strip().splitlines()), f"exit code {code}")
    first = first.removeprefix(f"{function.symbol}: ")
    if code == sweep.ENDLESS:
        raise _endless(f"{program.subject.name} {function.name} of {first}")
    what = "as it should" if function.computes == OWN else function.computes
    inputs = sweep.given(said)
    raise WrongAnswersError(
        f"{program.subject.name} {function.name} does not compute {what}: {first} (by"
        f" {program.compiler.name} {' '.join(program.flags)})",
        "nothing is counted that gives wrong answers: look at its adapter and its TOML, or try"
        f' other --flags, such as "{" ".join(TRUSTED)}"'
        + (f"; the input: {sweep.shown(inputs)}" if inputs else ""),
        code=1,
    )
