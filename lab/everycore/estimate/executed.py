# SPDX-License-Identifier: MIT
"""Exact instructions of operations of the harness, on an emulated CPU."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.estimate.mca import Llvm, disassemble
from everycore.estimate.models import Executed
from everycore.estimate.steady import first_call
from everycore.model.domain import Target
from everycore.model.protocol import Bench, Failure, parse
from everycore.run.session import Session
from everycore.trace.emulated import qemu
from everycore.trace.record import Run, Trace

TARGETS = {"a64": "qemu-aarch64", "a32": "qemu-armhf"}
# Else the C library's memcpy is one of SVE, which no core here has.
CPU: dict[str, tuple[str, ...]] = {"a64": ("-cpu", "max,sve=off,sme=off"), "a32": ()}

NO_AAD = ("--aad-bytes", "0")  # as the subjects are called


def arch_of(target: str) -> str:
    """Return which instructions a target executes: a64 or a32."""
    return next((arch for arch, name in TARGETS.items() if name == target), "")


BEGIN, END = "ct_begin", "ct_end"  # harness/ct_marks.h
TRACED = "run once between two marks, for a tracer"  # harness/bench.c
LIBRARY = "evc_"  # begins the names of its functions
BEFORE = 200  # instructions between the mark and the call, at most


@dataclass(frozen=True, slots=True)
class Operation:
    """A point, as `harness bench` names it."""

    primitive: str
    kernel: str
    mode: str
    key_bits: int
    bytes: int


def emulator_version(context: Context, target: Target) -> str:
    """Return the version of the emulator, in its own words."""
    try:
        output = context.runner.run([target.emulator[0], "--version"]).stdout
    except EverycoreError as error:
        hint = f"Debian: apt-get install {' '.join(target.packages)}"
        raise EverycoreError(error.message, hint) from error
    match = re.search(r"version (\d[.\d]*)", output)
    return match[1] if match else "unknown"


class Harness:
    """A built harness under its emulator, asked to run points between marks."""

    def __init__(self, context: Context, session: Session, cpu: Sequence[str] = ()) -> None:
        self._context = context
        self._session = session
        target = session.target
        self._target = replace(target, emulator=(*target.emulator, *cpu))
        self._code: dict[int, str] = {}

    def count(self, words: Sequence[str]) -> dict[Operation, int]:
        """Instructions of one call of the library for each of many points, by words for bench."""
        run = self._run(words, keep=True)
        pairs = zip(self._operations(run, words), run.traces, strict=True)
        return {operation: len(the_call(trace)) for operation, trace in pairs}

    def call(self, operation: Operation, llvm: Llvm | None) -> Executed:
        """The instructions of one call of the library, and without LLVM no text of them."""
        words = ["--primitive", operation.primitive, "--kernel", operation.kernel]
        words += ["--mode", operation.mode, "--key-bits", str(operation.key_bits)]
        words += ["--bytes", str(operation.bytes), *NO_AAD]
        run = self._run(words, keep=True)
        self._operations(run, words)
        if len(run.traces) != 1:
            raise EverycoreError(
                f"{operation.kernel} has no {operation.mode} with keys of {operation.key_bits} bits"
                f" and {operation.bytes} bytes"
            )
        if llvm is not None and not self._code:
            self._code = disassemble(self._context, llvm, self._session.build.binary)
        return Executed(the_call(run.traces[0]), self._code, arch_of(self._target.name))

    def _run(self, words: Sequence[str], *, keep: bool) -> Run:
        binary = str(self._session.build.binary)
        argv = [binary, "bench", "--trace", "--counter", "none", *words]
        return qemu(self._context, self._target, argv, BEGIN, END, keep=keep)

    def _operations(self, run: Run, words: Sequence[str]) -> list[Operation]:
        lines = [parse(text) for text in run.stdout.splitlines()]
        for line in lines:
            if isinstance(line, Failure):
                raise EverycoreError(f"{line.kernel} {line.mode}: {line.detail}", code=1)
        benches = [line for line in lines if isinstance(line, Bench)]
        absent = [b for b in benches if b.why != TRACED]
        if absent:
            raise EverycoreError(
                f"{absent[0].kernel} does not run on this emulated CPU: {absent[0].why}"
            )
        if run.code or len(benches) != len(run.traces):
            raise EverycoreError(
                f"`harness bench --trace {' '.join(words)}` ended with code {run.code}",
                f"{len(benches)} points, {len(run.traces)} regions",
                code=1,
            )
        return [Operation(b.primitive, b.kernel, b.mode, b.key_bits, b.bytes) for b in benches]


def the_call(trace: Trace) -> tuple[int, ...]:
    """The executed addresses of the first call of the library, without the loop around it."""
    pcs = tuple(trace.pcs())
    place = trace.program.image.place
    for begin, pc in enumerate(pcs[:BEFORE]):
        if place(pc).startswith(LIBRARY):
            return pcs[begin : first_call(pcs, begin)]
    raise EverycoreError("the traced region calls no function of the library", code=1)
