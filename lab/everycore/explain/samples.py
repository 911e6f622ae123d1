# SPDX-License-Identifier: MIT
"""Values that every sampler delivers: where a program was, with registers and a part of its stack.

Times are of the clock CLOCK_MONOTONIC, in nanoseconds.

Registers have the names of their architecture, as `X86_64` and `AARCH64` list them.
"""

from collections.abc import Mapping as MappingType
from dataclasses import dataclass, field

# In the order of the bits of perf's register masks: Linux, arch/*/include/uapi/asm/perf_regs.h.
X86_64 = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip", "flags", "cs", "ss",
    "ds", "es", "fs", "gs", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
)  # fmt: skip
AARCH64 = (*(f"x{number}" for number in range(31)), "sp", "pc")
COUNTERS = {"x86_64": "rip", "aarch64": "pc"}
STACK_POINTERS = {"x86_64": "rsp", "aarch64": "sp"}


Environment = tuple[tuple[str, str], ...]  # names and values, sorted


@dataclass(frozen=True, slots=True)
class Mapping:
    """A part of a file in the memory of a process; `path` is empty where there is no file."""

    start: int
    end: int
    offset: int
    path: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One moment of one thread."""

    pid: int
    tid: int
    place: int  # the program counter
    is_user: bool
    bits: int = 64  # of the code that ran
    registers: MappingType[str, int] = field(default_factory=dict)
    stack: bytes = b""  # from the stack pointer upwards
    time: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """The environment of a process, as it was read between two moments."""

    began: int
    ended: int
    environment: Environment


@dataclass
class Sampled:
    """All that a sampler saw of a program and of the processes that it started."""

    machine: str  # as `uname -m` has it
    method: str  # the means: "perf, CPU cycles", "perf, CPU clock", "ptrace"
    why: str = ""  # better means could not be used for this reason
    samples: list[Sample] = field(default_factory=list)
    mappings: dict[int, list[Mapping]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # of processes
    memory: dict[tuple[int, int], bytes] = field(default_factory=dict)  # by process and address
    files: dict[str, bytes] = field(default_factory=dict)  # that were deleted, by their path
    looks: dict[int, list[Look]] = field(default_factory=dict)  # at environments of processes
    unread: dict[int, str] = field(default_factory=dict)  # why an environment could not be read
    execs: dict[int, list[int]] = field(default_factory=dict)  # when a process executed a program
    forks: dict[int, tuple[int, int]] = field(default_factory=dict)  # by child: parent and time
    given: tuple[int, str, Environment] | None = None  # the command: process, program, environment
    lost: int = 0
    seconds: float = 0.0
    code: int | None = None  # exit code of the command; None of a process that was there before

    def fork(self, child: int, parent: int, time: int = 0) -> None:
        """Note that a process has begun as a copy of another."""
        self.mappings.setdefault(child, list(self.mappings.get(parent, [])))
        self.names.setdefault(child, self.names.get(parent, ""))
        self.forks.setdefault(child, (parent, time))

    def exec(self, pid: int, name: str, time: int = 0) -> None:
        """Note that a process runs another program now. Old mappings serve older samples."""
        self.names[pid] = name
        if self.given and self.given[:2] == (pid, name) and pid not in self.execs:
            self.looks.setdefault(pid, []).append(Look(time, time, self.given[2]))
        self.execs.setdefault(pid, []).append(time)

    def environment_at(self, pid: int, time: int) -> Environment | None:
        """Return the environment of the program that a process ran at a time; None if not known.

        A process that has executed nothing has that of its parent.
        """
        since = max(
            (exec_time for exec_time in self.execs.get(pid, ()) if exec_time <= time), default=0
        )
        until = min(
            (exec_time for exec_time in self.execs.get(pid, ()) if exec_time > time), default=None
        )
        for look in reversed(self.looks.get(pid, ())):
            if look.began >= since and (until is None or look.ended < until):
                return look.environment
        if not since and pid in self.forks:
            parent, begun = self.forks[pid]
            return self.environment_at(parent, begun) if parent != pid else None
        return None

    def mapping_of(self, pid: int, address: int) -> Mapping | None:
        """Return the newest mapping of a process that holds an address."""
        for mapping in reversed(self.mappings.get(pid, [])):
            if mapping.start <= address < mapping.end:
                return mapping
        return None

    def bytes_at(self, pid: int, address: int, length: int) -> bytes:
        """Return what a snapshot of memory has at an address; nothing where there is none."""
        base = address & ~(SNAPSHOT_BYTES - 1)
        held = self.memory.get((pid, base), b"")
        found = held[address - base : address - base + length]
        while len(held) == SNAPSHOT_BYTES and len(found) < length:
            base += SNAPSHOT_BYTES
            held = self.memory.get((pid, base), b"")
            found += held[: length - len(found)]
        return found


SNAPSHOT_BYTES = 4096


def read_mappings(text: str, executable_only: bool = False) -> list[Mapping]:
    """Return the mappings of a /proc/PID/maps."""
    found = []
    for line in text.splitlines():
        fields = line.split(None, 5)
        if len(fields) < 5 or (executable_only and "x" not in fields[1]):
            continue
        start, _, end = fields[0].partition("-")
        path = fields[5] if len(fields) > 5 else ""
        found.append(Mapping(int(start, 16), int(end, 16), int(fields[2], 16), path))
    return found
