# SPDX-License-Identifier: MIT
"""Samples by ptrace, where perf_event_open is refused: threads are stopped, read and continued.

Signals that a thread is stopped for are delivered to it when it goes on. Source: ptrace(2).
"""

import ctypes
import os
import signal
import struct
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from everycore.explain.environments import Watch, name_of
from everycore.explain.samples import (
    AARCH64,
    COUNTERS,
    STACK_POINTERS,
    Sample,
    Sampled,
    read_mappings,
)

# linux/ptrace.h
_CONT, _GETREGSET, _SEIZE, _INTERRUPT, _LISTEN = 7, 0x4204, 0x4206, 0x4207, 0x4208
_DETACH, _GETEVENTMSG = 17, 0x4201
_EVENT_FORK, _EVENT_VFORK, _EVENT_CLONE, _EVENT_EXEC = 1, 2, 3, 4
_EVENT_STOP = 128
_OPTIONS = sum(1 << event for event in (1, 2, 3, 4))
_PRSTATUS = 1  # NT_PRSTATUS, linux/elf.h
_WALL = 0x40000000  # __WALL, linux/wait.h
# struct user_regs_struct of x86-64, sys/user.h
_X86_64 = (
    "r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx",
    "rsi", "rdi", "orig_rax", "rip", "cs", "flags", "rsp", "ss",
)  # fmt: skip
_I386 = ("rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rax", "ds", "es", "fs", "gs", "orig", "rip")
_I386_REST = ("cs", "flags", "rsp", "ss")
_I386_BYTES = 68  # 17 registers of 4 bytes
_STOPPING = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
STACK_BYTES = 4096
_RELEASE_SECONDS = 5.0


class _Vector(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class Stopper:
    """Seizes threads, follows what they start, and samples them."""

    def __init__(self, machine: str, sampled: Sampled) -> None:
        self._machine = machine
        self._sampled = sampled
        self._watch = Watch(sampled)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.restype = ctypes.c_long
        self._processes: dict[int, int] = {}  # thread -> its process
        self._stopped: set[int] = set()  # by a signal such as SIGSTOP: they stay so
        self._ends: dict[int, int] = {}  # process -> status
        self._known: dict[int, float] = {}
        self._before_exec: set[int] = set()  # commands that have not begun yet

    def _ptrace(self, request: int, tid: int, address: int = 0, data: int = 0) -> None:
        arguments = (ctypes.c_long(request), ctypes.c_long(tid))
        if self._libc.ptrace(*arguments, ctypes.c_void_p(address), ctypes.c_void_p(data)) < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def seize(self, tids: Iterable[int], pid: int, *, before_exec: bool) -> None:
        """Begin to follow threads; those of a command count from its execution on."""
        if before_exec:
            self._before_exec.add(pid)
        for tid in tids:
            self._ptrace(_SEIZE, tid, 0, _OPTIONS)
            self._processes[tid] = pid

    def end_of(self, pid: int) -> int | None:
        """Return the status of a process that has ended, else None."""
        return self._ends.get(pid)

    @property
    def is_over(self) -> bool:
        return not self._processes

    def run(self, seconds: float) -> None:
        """Let threads run, and answer what happens to them."""
        until = time.monotonic() + seconds
        while self._processes:
            if not self._answer_one(os.WNOHANG):
                rest = until - time.monotonic()
                if rest <= 0:
                    return
                time.sleep(min(rest, 0.001))

    def _answer_one(self, flags: int) -> bool:
        try:
            tid, status = os.waitpid(-1, flags | _WALL)
        except ChildProcessError:
            self._processes.clear()
            return False
        if not tid:
            return False
        self._answer(tid, status)
        return True

    def _answer(self, tid: int, status: int, *, sample: bool = False) -> None:
        """Let a thread go on that has stopped, with the signal that it stopped for."""
        if not os.WIFSTOPPED(status):
            pid = self._processes.pop(tid, tid)
            self._stopped.discard(tid)
            if tid == pid:
                self._ends[pid] = status
            return
        number, event = os.WSTOPSIG(status), status >> 16
        with suppress(ProcessLookupError):  # it was killed while it was stopped
            if event in (_EVENT_FORK, _EVENT_VFORK, _EVENT_CLONE):
                self._begin(tid, event)
            elif event == _EVENT_EXEC:
                self._execute(tid)
            elif event == _EVENT_STOP and number in _STOPPING:
                self._stopped.add(tid)
                self._ptrace(_LISTEN, tid)
                return
            elif sample:
                self._sample(tid)
            self._processes.setdefault(tid, _process_of(tid))
            self._stopped.discard(tid)
            self._ptrace(_CONT, tid, 0, 0 if event else number)

    def _begin(self, tid: int, event: int) -> None:
        message = ctypes.c_ulong()
        self._ptrace(_GETEVENTMSG, tid, 0, ctypes.addressof(message))
        child = int(message.value)
        pid = _process_of(child) if event == _EVENT_CLONE else child
        self._processes.setdefault(child, pid)
        if pid != self._processes.get(tid):
            self._sampled.fork(pid, self._processes.get(tid, tid), time.monotonic_ns())

    def _execute(self, tid: int) -> None:
        """Note that a process executes a program.

        It ends the other threads, and the thread that executes it gets the process's number.
        """
        self._known.pop(tid, None)
        self._before_exec.discard(tid)
        self._sampled.exec(tid, name_of(tid), time.monotonic_ns())
        self._watch.look_at(tid)
        for other in [
            thread for thread, pid in self._processes.items() if pid == tid and thread != tid
        ]:
            del self._processes[other]

    def sample(self) -> None:
        """Take a sample of every thread that is running now."""
        for tid in [thread for thread in self._processes if thread not in self._stopped]:
            if tid in self._before_exec:
                continue
            if not _is_running(self._processes.get(tid, tid), tid):
                continue
            with suppress(OSError):  # it has just ended: the next waitpid tells
                self._ptrace(_INTERRUPT, tid)
                self._wait_for(tid)

    def _wait_for(self, tid: int) -> None:
        """Wait for the stop that was asked for. Any other stop of the thread replaces it.

        Stops of other threads are answered meanwhile: a thread that waits for its child to execute
        does not stop before that child was let go.
        """
        while tid in self._processes:
            try:
                found, status = os.waitpid(-1, _WALL)
            except ChildProcessError:
                self._processes.clear()
                return
            self._answer(found, status, sample=found == tid)
            if found == tid:
                return

    def _sample(self, tid: int) -> None:
        pid = self._processes.get(tid, tid)
        buffer = ctypes.create_string_buffer(512)
        vector = _Vector(ctypes.addressof(buffer), len(buffer))
        self._ptrace(_GETREGSET, tid, _PRSTATUS, ctypes.addressof(vector))
        raw, bits = buffer.raw[: vector.length], 64
        if self._machine == "aarch64":
            registers = dict(zip(AARCH64, struct.unpack_from("<33Q", raw), strict=True))
        elif vector.length == _I386_BYTES:
            bits = 32
            values = struct.unpack_from("<17I", raw)
            registers = dict(zip((*_I386[:12], "rip", *_I386_REST), values, strict=True))
        else:
            registers = dict(zip(_X86_64, struct.unpack_from("<21Q", raw), strict=True))
        place = registers[COUNTERS[self._machine]]
        if self._sampled.mapping_of(pid, place) is None:  # it was mapped since
            self._known.pop(pid, None)
        self._refresh(pid)
        stack = _read(pid, registers[STACK_POINTERS[self._machine]], STACK_BYTES)
        now = time.monotonic_ns()
        self._sampled.samples.append(Sample(pid, tid, place, True, bits, registers, stack, now))

    def _refresh(self, pid: int) -> None:
        """Read the mappings of a process, twice a second at most."""
        if time.monotonic() - self._known.get(pid, -1.0) < 0.5:
            return
        self._known[pid] = time.monotonic()
        with suppress(OSError):
            folder = Path("/proc") / str(pid)
            text = (folder / "maps").read_text(errors="replace")
            held = self._sampled.mappings.setdefault(pid, [])
            new = [
                mapping
                for mapping in read_mappings(text, executable_only=True)
                if mapping not in held
            ]
            held.extend(new)
            self._sampled.names[pid] = (folder / "comm").read_text(errors="replace").strip()

    def release(self) -> None:
        """Let go of all threads: they run on without us.

        A thread that waits for its child to execute stops only after that child was let go, too.
        """
        for tid in self._processes:
            with suppress(OSError):
                self._ptrace(_INTERRUPT, tid)
        until = time.monotonic() + _RELEASE_SECONDS
        while self._processes and time.monotonic() < until:
            try:
                tid, status = os.waitpid(-1, os.WNOHANG | _WALL)
            except ChildProcessError:
                break
            if tid:
                self._let_go(tid, status)
            else:
                time.sleep(0.001)
        self._processes.clear()

    def _let_go(self, tid: int, status: int) -> None:
        pid = self._processes.pop(tid, tid)
        if not os.WIFSTOPPED(status):
            if tid == pid:
                self._ends[pid] = status
            return
        number, event = os.WSTOPSIG(status), status >> 16
        with suppress(OSError):
            if event in (_EVENT_FORK, _EVENT_VFORK, _EVENT_CLONE):
                self._begin(tid, event)
            self._ptrace(_DETACH, tid, 0, 0 if event else number)


def _read(pid: int, address: int, length: int) -> bytes:
    try:
        with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
            memory.seek(address)
            return memory.read(length)
    except (OSError, OverflowError, ValueError):
        return b""


def _process_of(tid: int) -> int:
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{tid}/status").read_text(errors="replace").splitlines():
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    return tid


def _is_running(pid: int, tid: int) -> bool:
    """Whether a thread is on a CPU or wants one; a sample of a sleeping one would mean nothing."""
    try:
        text = Path(f"/proc/{pid}/task/{tid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[:1] == ["R"]
