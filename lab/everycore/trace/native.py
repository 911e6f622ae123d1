# SPDX-License-Identifier: MIT
"""Follows a program on this CPU: stepper.c runs it under ptrace, here its code is decoded."""

import os
import platform
import struct
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from everycore.binary.symbols import Image, missing_packages, read_maps
from everycore.compile.binaries import build_tool
from everycore.compile.toolchains import DEFAULT_FLAGS, find_compiler
from everycore.environment.context import Context, Dialogue
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target
from everycore.trace.record import HEADER, LIMIT, Program, Run, Trace, UntraceableError, make_trace

STEPPER = ("stepper.c", "tracee.c", "accesses.c", "dialogue.c")
CACHE_BYTES = 24 << 20  # as in stepper.c
_QUESTION = struct.Struct("<QQQQ")


def native(
    context: Context,
    argv: Sequence[str],
    begin: str,
    end: str | None = None,
    *,
    keep: bool | Collection[int] = False,
    env: Mapping[str, str] | None = None,
    limit: int = LIMIT,
    copies: bool = True,
) -> Run:
    """Run a program of one thread to its end, tracing from function `begin` to function `end`.

    Every time `begin` is entered a region begins, which ends when `end` is entered; without `end`,
    when `begin` returns. What is called in between belongs to it. `keep` names the regions, by
    their number in the order of execution, whose events are kept beside their digests.

    Address randomisation is off, so regions compare within a run and between runs, if arguments
    and environment are of the same length. Without `copies` the program's code runs at its own
    place, slowly: for a signal handler that goes on elsewhere, which a copy would lose.
    """
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise UntraceableError(
            "programs are traced natively on x86-64 Linux only", "trace under qemu"
        )
    stepper = build_tool(
        context,
        find_compiler(context, Target("host", ""), None, DEFAULT_FLAGS, platform.machine()),
        [context.package / "trace" / name for name in STEPPER],
        DEFAULT_FLAGS,
    )
    # Lazy binding would trace the dynamic linker at each function's first call.
    environment = {**(context.env if env is None else env), "LD_BIND_NOW": "1"}
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "stdout"
        command = [str(stepper), str(output), str(limit), *argv]
        with context.runner.talk(command, env=environment) as dialogue:
            session = _Session(dialogue, Path(argv[0]).resolve(), begin, end, keep, copies)
            code = session.run()
        return Run(tuple(session.traces), output.read_text(errors="replace"), code)


class _Session:
    """One dialogue with the stepper."""

    def __init__(
        self,
        dialogue: Dialogue,
        binary: Path,
        begin: str,
        end: str | None,
        keep: bool | Collection[int],
        copies: bool,
    ) -> None:
        self._dialogue = dialogue
        self._binary = binary
        self._begin = begin
        self._end = end
        self._keep = keep
        self._copies = copies
        self._end_address = 0
        self._blocks: dict[int, tuple[int, ...]] = {}
        self._program: Program | None = None
        self._events: list[bytes] = []
        self.traces: list[Trace] = []

    def run(self) -> int:
        while True:
            kind, payload = self._hear()
            match kind:
                case "S":
                    self._started(payload)
                case "G":
                    self._region(payload)
                case "B":
                    self._block(payload)
                case "E":
                    self._events.append(payload)
                case "R":
                    self._region_end(payload)
                case "X":
                    return int.from_bytes(payload, "little", signed=True)
                case _:
                    raise _failure(payload.decode(errors="replace"))

    def _hear(self) -> tuple[str, bytes]:
        header = self._dialogue.read(HEADER.size)
        if len(header) < HEADER.size:
            raise EverycoreError(f"the tracer of {self._binary} ended before the program")
        kind, length = HEADER.unpack(header)
        return chr(kind), self._dialogue.read(length)

    def _started(self, maps: bytes) -> None:
        image = Image(self._binary, read_maps(maps.decode()))
        begin = image.address(self._begin)
        self._end_address = image.address(self._end) if self._end else 0
        cache = image.place_for(CACHE_BYTES) if self._copies else 0
        self._dialogue.write(struct.pack("<QQQ", begin, self._end_address, cache))

    def _region(self, maps: bytes) -> None:
        if maps:  # the first region: by now libraries are loaded
            image = Image(self._binary, read_maps(maps.decode()))
            self._program = Program(image, self._blocks)
        number = len(self.traces)
        keep = self._keep if isinstance(self._keep, bool) else number in self._keep
        self._events.clear()
        self._dialogue.write(bytes([keep]))

    def _block(self, payload: bytes) -> None:
        try:
            from everycore.trace.translate import Room
            from everycore.trace.x86_blocks import decode_block
        except ImportError as error:
            raise missing_packages() from error
        pc, cache, room, number = _QUESTION.unpack_from(payload)
        code = payload[_QUESTION.size :]
        answer = [decode_block(pc, code, self._end_address, Room(cache, room, number))]
        # Blocks that follow in the same code are sent, too: questions cost more than blocks.
        while (block := answer[-1]).end not in self._blocks and block.end < pc + len(code):
            room, number = room + block.copy_bytes, number + 1
            behind = code[block.end - pc :]
            try:
                block = decode_block(
                    block.end, behind, self._end_address, Room(cache, room, number)
                )
            except EverycoreError:  # nobody said that it is code
                break
            if not block.whole:
                break
            answer.append(block)
        self._blocks.update((block.pcs[0], block.pcs) for block in answer)
        packed = b"".join(block.packed for block in answer)
        self._dialogue.write(struct.pack("<I", len(answer)) + packed)

    def _region_end(self, payload: bytes) -> None:
        assert self._program is not None  # "G" came before
        self.traces.append(make_trace(self._program, payload, b"".join(self._events)))


def _failure(text: str) -> EverycoreError:
    for refused in (os.strerror(1), os.strerror(13)):  # EPERM, EACCES
        if refused in text:
            hint = "containers and kernels may forbid ptrace; run where it is allowed"
            return UntraceableError(f"tracing is not permitted here: {text}", hint)
    return EverycoreError(f"tracing failed: {text}")
