# SPDX-License-Identifier: MIT
"""A built harness on a target: what the commands talk to."""

import hashlib
import platform
import shlex
import signal
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from everycore.compile import catalog
from everycore.compile.binaries import (
    build_cipher_bench,
    build_harness,
    build_on_board,
    build_resolver,
)
from everycore.compile.toolchains import (
    DEFAULT_FLAGS,
    find_compiler,
    find_compiler_there,
    linker_of,
)
from everycore.environment.context import Completed, Context
from everycore.environment.decoding import Record
from everycore.environment.errors import EverycoreError
from everycore.measure import quiet
from everycore.model import protocol
from everycore.model.domain import BEST, Build, Hardware, Machine, PeerBuild, Target, Tree
from everycore.model.protocol import Hello
from everycore.model.run_lines import Conditions, Run
from everycore.model.targets import load_target
from everycore.run import machine
from everycore.run.transport import Transport, board_of, transport_for

DIGEST_DIGITS = 16
LAST_RUNS = 10  # of those stored: what they saw of a core is known


class HarnessDiedError(EverycoreError):
    """A harness that did not come to its end; `how`: "died of SIGILL"."""

    def __init__(self, arguments: Sequence[str], how: str, hint: str) -> None:
        super().__init__(f"`harness {shlex.join(arguments)}` {how}", hint, 1)
        self.how = how


@dataclass(frozen=True, slots=True)
class Session:
    tree: Tree
    target: Target
    build: Build
    transport: Transport
    cpu: int = -1  # the core that measures; -1: the one where it starts
    widths: list[int] = field(default_factory=list)  # of what was measured there: quiet.py

    @property
    def pinned(self) -> tuple[str, ...]:
        """Options that name the core on which the harness measures."""
        return ("--cpu", str(self.cpu)) if self.cpu >= 0 else ()

    @property
    def expecting(self) -> tuple[str, ...]:
        """Options that say how wide a core is that nothing else uses, if that is known."""
        width = quiet.own_width(self.widths)
        return ("--width", str(width)) if width else ()

    def records(self, *arguments: str, stdin: Iterable[str] = ()) -> Iterator[Record]:
        """The lines of one harness command, its greeting included.

        A failed check (exit code 1) is in the lines; anything worse is raised, and exit code 1
        without such a line.
        """
        lines = self.transport.stream(self.build.binary, arguments, stdin)
        for record in _records(lines, arguments):
            self.widths.extend(quiet.widths([record]))
            yield record


def run_of(
    context: Context, session: Session, hello: Hello, command: str, options: dict[str, Any]
) -> Run:
    """Describe the origin of a command's results, for those who store or print them."""
    return Run(
        command=command,
        date=context.now().isoformat(timespec="seconds"),
        everycore=hello.library,
        revision=machine.revision(context, session.tree),
        machine=described(context, session),
        target=session.target.name,
        compiler=session.build.compiler.name,
        flags=session.build.flags,
        counter=hello.counter,
        options=options,
    )


def known_widths(context: Context, session: Session) -> list[int]:
    """Return the widths of the stored run, among the last ten, that saw this core widest."""
    from everycore.store import run_files

    found, _ = run_files.latest(context.state_dir() / "results", LAST_RUNS)
    here = described(context, session)
    stored_widths = [
        quiet.widths(results.records)
        for results in found
        if results.run.machine.is_same_host(here)
        and results.run.machine.cpu_index == here.cpu_index
    ]
    return max(stored_widths, key=quiet.own_width, default=[])


def described(context: Context, session: Session) -> Machine:
    """The machine that measures."""
    facts = facts_of(context, session)
    if board_of(session.transport):
        return machine.describe_board(facts, session.cpu)
    found = machine.describe(facts, session.cpu)
    return found.replace(installation=machine.installation(context))


def facts_of(context: Context, session: Session) -> machine.Facts:
    """Return the facts of the machine where the harness runs, or that emulates it."""
    board = board_of(session.transport)
    return board.facts if board else machine.gather(context)


def conditions_of(context: Context, session: Session) -> list[Conditions]:
    """Return the present conditions that change from one moment to the next; nothing if nothing can
    be read."""
    board = board_of(session.transport)
    facts = board.gather() if board else machine.gather(context)
    return conditions(context, facts, session.cpu)


def conditions(context: Context, facts: machine.Facts, cpu: int) -> list[Conditions]:
    """Return the line of conditions, made of facts that have just been gathered."""
    when = context.now().isoformat(timespec="seconds")
    found = machine.conditions(facts, cpu)
    return [Conditions(at=when, **found)] if found else []


def digest_of(session: Session) -> str:
    """Return the digest of the harness: two runs with the same digest measure the same."""
    path = session.build.binary
    board = board_of(session.transport)
    if board and board.built_there(path):
        return path.name.removeprefix("harness-")[:DIGEST_DIGITS]
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGEST_DIGITS]


def pin(context: Context, session: Session, cpu: int | None) -> Session:
    """On the core that is asked for; else on the target's; else, on a board and where cores differ,
    on one of the fastest."""
    board = session.target.board
    if session.target.transport == "local":
        machine.refuse_absent_cpu(facts_of(context, session), cpu)
    if cpu is None and board is not None and board.cpu >= 0:
        cpu = board.cpu
    if cpu is None and not session.target.is_emulated:
        facts = facts_of(context, session)
        if board is not None or len(machine.kinds(facts)) > 1:
            cpu = machine.fastest_cpu(facts)
    return session if cpu is None else replace(session, cpu=cpu)


def peer_records(
    context: Context, tree: Tree, build: PeerBuild, hardware: Hardware, *arguments: str
) -> Iterator[Record]:
    """The lines of `harness peers` for one peer, in a process of its own, with these code paths."""
    words = ["peers", *arguments]
    for path in sorted((tree.root / "vectors").glob("*.txt")):
        words += ["--vectors", str(path)]
    command = [str(build.binary)]
    if hardware != BEST:
        words += ["--hardware", hardware.name]
        command[:0] = ["env", *(f"{name}={value}" for name, value in hardware.environment)]
    return _records(context.runner.stream([*command, *words]), words)


def _records(lines: Generator[str, None, Completed], arguments: Sequence[str]) -> Iterator[Record]:
    last, failed = "", False
    while True:
        try:
            text = next(lines)
        except StopIteration as end:
            completed: Completed = end.value
            break
        if text.strip():
            last = text
            record = protocol.parse(text)
            failed = failed or protocol.is_failure(record)
            yield record
    _raise_if_broken(completed, arguments, last, failed)


def open_session(
    context: Context,
    target_name: str = "host",
    cc: str | None = None,
    flags: str | None = None,
    *,
    without_kernels: bool = False,
    ciphers_alone: bool = False,
    measures: bool = False,
) -> Session:
    """Find the tree, the target and the compiler; build what is not built yet.

    `without_kernels`: the session has the commands `list` and `resolve` alone, and no kernel is
    compiled for it; `list` then says nothing of descriptors. `ciphers_alone`: it measures AES and
    GCM and does nothing else, and on this machine no other kernel is compiled for it.
    `measures`: it times or traces, which no CPU model can.
    """
    tree = catalog.tree_of(context)
    target = load_target(tree, target_name)
    chosen = DEFAULT_FLAGS if flags is None else tuple(split_flags(flags))
    if measures and target.has_cpu_model:
        from everycore.run.transport.cpu_model import refuse_measuring

        refuse_measuring(target)
    transport = transport_for(context, target)
    words = (*target.compile_flags, *chosen)
    board = board_of(transport)
    if board and target.board and target.board.build == "there":
        compiler = find_compiler_there(board.program, target, cc, words)
        build = build_on_board(context, tree, board, target, compiler, chosen)
    else:
        compiler = find_compiler(context, target, cc, words, platform.machine())
        make = build_resolver if without_kernels else build_harness
        linker = linker_of(context, target, compiler)
        if ciphers_alone and target.transport == "local":
            small = build_resolver(context, tree, target, compiler, chosen, linker=linker)
            listed = Session(tree, target, small, transport).records("list")
            kernels = [record for record in listed if isinstance(record, protocol.Kernel)]
            build = build_cipher_bench(context, tree, target, compiler, chosen, kernels, linker)
        else:
            build = make(context, tree, target, compiler, chosen, linker=linker)
    return Session(tree, target, build, transport)


def split_flags(flags: str) -> list[str]:
    try:
        return shlex.split(flags)
    except ValueError as error:
        raise EverycoreError(
            f"--flags cannot be split into words: {error}", "close each quotation mark"
        ) from error


def _raise_if_broken(
    completed: Completed, arguments: Sequence[str], last: str, failed: bool
) -> None:
    if completed.code == 0 or (completed.code == 1 and failed):
        return
    stderr_lines = completed.stderr.strip().splitlines()
    if completed.code == 2:
        raise EverycoreError(*_usage_error(stderr_lines, arguments))
    number = -completed.code if completed.code < 0 else completed.code - 128
    try:
        how = f"died of {signal.Signals(number).name}"
    except ValueError:
        how = f"ended with code {completed.code}"
    after = f"its last line: {last[:160]}" if last else "it had written nothing"
    raise HarnessDiedError(arguments, how, "\n".join([*stderr_lines, after]))


def _usage_error(stderr_lines: Sequence[str], arguments: Sequence[str]) -> tuple[str, str]:
    if not stderr_lines:
        return f"the harness does not accept: {shlex.join(arguments)}", ""
    message, separator, hint = stderr_lines[0].removeprefix("harness: ").partition("; ")
    return message, hint if separator else "\n".join(stderr_lines[1:])
