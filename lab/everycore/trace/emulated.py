# SPDX-License-Identifier: MIT
"""Follows a program for another CPU under qemu-user: plugin.c tells what it did, or QEMU's log."""

import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from everycore.binary.symbols import Image
from everycore.compile.binaries import build_tool
from everycore.compile.toolchains import DEFAULT_FLAGS, find_compiler
from everycore.environment.context import Completed, Context
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.model.domain import Target
from everycore.run.transport.qemu_user import refuse_misfit
from everycore.trace.record import (
    EVENT,
    HEADER,
    LIMIT,
    TOTALS,
    Mode,
    Program,
    Run,
    Trace,
    UntraceableError,
    make_trace,
)

_WORD = (1 << 64) - 1


def qemu(
    context: Context,
    target: Target,
    argv: Sequence[str],
    begin: str,
    end: str,
    *,
    keep: bool | Collection[int] = False,
    limit: int = LIMIT,
) -> Run:
    """Run a program of a fixed address to its end, tracing from function `begin` to `end`.

    Where QEMU takes no plugins (Debian's is linked statically since version 10), its log has the
    executed addresses alone: Trace.data is False, and Trace.same compares no more than that. An
    instruction is what QEMU translates as one: a delay slot is one of its own, a repeated string
    instruction one per repetition.
    """
    if target.has_cpu_model:
        raise EverycoreError(
            f"{target.name} has no tracer", "a target of qemu-user has one, or this machine"
        )
    image = Image(Path(argv[0]).resolve(), ())
    if not image.fixed:
        raise EverycoreError(f"{argv[0]} may be loaded anywhere", "link it with -static")
    program = Program(image, {})
    places = (image.address(begin), image.address(end))
    options = _help(context, target)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "trace"
        if "-plugin " in options:
            flags = _plugin(context, out, places, keep, limit)
            done = _run(context, target, flags, argv)
            traces = list(_from_plugin(program, out))
        else:
            option = "-one-insn-per-tb" if "-one-insn-per-tb" in options else "-singlestep"
            flags = [option, "-d", "exec,nochain", "-D", str(out)]
            done = _run(context, target, flags, argv)
            with out.open(encoding="utf-8", errors="replace") as log:
                traces = list(from_log(program, log, places, keep))
    if any(trace.instructions > limit for trace in traces):
        raise EverycoreError(f"tracing failed: a region has more than {limit} instructions")
    return Run(tuple(traces), done.stdout, done.code)


def _help(context: Context, target: Target) -> str:
    try:
        return context.runner.run([target.emulator[0], "--help"]).stdout
    except CannotRunError as error:
        raise error.with_hint(f"Debian: apt-get install {' '.join(target.packages)}") from error


def _plugin(
    context: Context,
    out: Path,
    places: tuple[int, int],
    keep: bool | Collection[int],
    limit: int,
) -> list[str]:
    library = build_tool(
        context,
        find_compiler(context, Target("host", ""), None, DEFAULT_FLAGS, ""),
        [context.package / "trace" / "plugin.c"],
        (*DEFAULT_FLAGS, "-shared", "-fPIC"),
    )
    kept = "all" if keep is True else "none" if keep is False else f":{':'.join(map(str, keep))}:"
    arguments = f"out={out},begin={places[0]:x},end={places[1]:x},limit={limit},keep={kept}"
    return ["-plugin", f"{library},{arguments}"]


def _run(
    context: Context, target: Target, options: Sequence[str], argv: Sequence[str]
) -> Completed:
    # The stack and the heap of the emulated program are at addresses of the host's choice.
    fixed = ["setarch", "-R"]
    done = context.runner.run([*fixed, *target.emulator, *options, *argv])
    if done.stderr.startswith("setarch:"):
        raise UntraceableError(
            f"addresses cannot be fixed here: {done.stderr.strip()}",
            "containers may forbid it; run where it is allowed",
        )
    refuse_misfit(target, Path(argv[0]), done)
    return done


def _from_plugin(program: Program, out: Path) -> Iterator[Trace]:
    if not out.is_file():
        raise EverycoreError("QEMU did not run the program", "its plugin was not loaded")
    events: list[bytes] = []
    with out.open("rb") as messages:
        while header := messages.read(HEADER.size):
            kind, length = HEADER.unpack(header)
            payload = messages.read(length)
            if chr(kind) == "E":
                events.append(payload)
            else:
                yield make_trace(program, payload, b"".join(events))
                events.clear()


def from_log(
    program: Program, log: Iterable[str], places: tuple[int, int], keep: bool | Collection[int]
) -> Iterator[Trace]:
    """The traces of a log of executed blocks of one instruction each."""
    begin, end = places
    region, count, digest = 0, 0, 0
    active, kept = False, False
    events: list[bytes] = []
    for line in log:
        if not line.startswith("Trace "):
            continue
        pc = int(line.split("/", 2)[1], 16)  # Trace CPU: host address [cs_base/pc/flags/...]
        if active and pc == end:
            totals = TOTALS.pack(count, 0, digest, 0, *[0] * 5)
            yield make_trace(program, totals, b"".join(events), data=False)
            region, active = region + 1, False
        if not active and pc == begin:
            active, count, digest = True, 0, 0
            kept = keep if isinstance(keep, bool) else region in keep
            events.clear()
        if active:
            count += 1
            digest = _mix(_mix(digest, pc), 1)
            if kept:
                events.append(EVENT.pack(pc, pc, 0, 1, Mode.BLOCK))


def _mix(digest: int, value: int) -> int:
    """As in events.h."""
    digest = ((digest ^ value) * 0x9E3779B97F4A7C15) & _WORD
    return digest ^ digest >> 29
