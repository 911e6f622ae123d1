# SPDX-License-Identifier: MIT
"""Runs functions on an emulated CPU, and looks for the guard in registers when they return.

Calls are not followed: they return 0. A function is run with several sets of arguments until one
leads through its prologue to its return. Memory that does not exist reads as zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from everycore.environment import extras
from everycore.firmware.canary.canary_rules import finding
from everycore.firmware.canary.program import Program
from everycore.firmware.canary.walk import Source, Trail
from everycore.firmware.findings import Finding

PURPOSE = "running functions"
EXTRA = "firmware"
PAGE_BYTES = 0x1000
MOST_PAGES = 64  # that a function may touch where nothing is
MOST_INSTRUCTIONS = 20_000  # of one run
MOST_FUNCTIONS = 500  # of one binary
GUARD = 0x5BD1_E995_C3A5_97F1  # any value that no function makes by itself
_STACK, _SCRATCH, _THREAD, _VARIABLES, _END = (
    0x6100_0000, 0x6200_0000, 0x6300_0000,
    0x6400_0000, 0x6500_0000,
)  # fmt: skip
_AREA_BYTES = 0x4_0000
_ARGUMENTS = ((0,) * 4, (1,) * 4, (_SCRATCH, 8, _SCRATCH + 0x1000, 8), (_SCRATCH,) * 4)


@dataclass(frozen=True, slots=True)
class _Cpu:
    """The names of one machine's registers in the emulator."""

    arch: str
    mode: str
    prefix: str
    arguments: tuple[str, ...]
    returns: tuple[str, ...]
    stack: str
    link: str  # empty: the return address is on the stack
    counter: str
    thread: dict[str, str]
    scanned: tuple[str, ...]


_CPUS = {
    "x86-64": _Cpu(
        "X86", "MODE_64", "UC_X86_REG_", ("RDI", "RSI", "RDX", "RCX"), ("RAX", "RDX"),
        "RSP", "", "RIP", {"fs": "FS_BASE", "gs": "GS_BASE"},
        ("RAX", "RCX", "RDX", "RSI", "RDI", "R8", "R9", "R10", "R11"),
    ),
    "aarch64": _Cpu(
        "ARM64", "MODE_ARM", "UC_ARM64_REG_", ("X0", "X1", "X2", "X3"), ("X0", "X1"),
        "SP", "LR", "PC", {"tpidr_el0": "TPIDR_EL0", "tpidrro_el0": "TPIDRRO_EL0"},
        tuple(f"X{i}" for i in range(18)),
    ),
    "arm": _Cpu(
        "ARM", "MODE_ARM", "UC_ARM_REG_", ("R0", "R1", "R2", "R3"), ("R0", "R1"),
        "SP", "LR", "PC", {"tpidruro": "C13_C0_3", "tpidrurw": "C13_C0_2"},
        ("R0", "R1", "R2", "R3", "R12"),
    ),
    "riscv64": _Cpu(
        "RISCV", "MODE_RISCV64", "UC_RISCV_REG_", ("A0", "A1", "A2", "A3"), ("A0", "A1"),
        "SP", "RA", "PC", {"tp": "TP"},
        (*(f"A{i}" for i in range(8)), *(f"T{i}" for i in range(7))),
    ),
}  # fmt: skip


def check(program: Program, trails: Sequence[Trail]) -> tuple[list[Finding], str]:
    """Run functions; their findings, and a note that says how many were run."""
    try:
        import unicorn
    except ImportError:
        raise extras.missing_packages(PURPOSE, EXTRA) from None
    if program.kind == "ELF object":
        return [], "registers were not checked: an object is not linked, and cannot be run"
    machine = _Machine(program, unicorn)
    findings, n_run = [], 0
    for trail in trails[:MOST_FUNCTIONS]:
        registers = machine.run(trail)
        if registers is None:
            continue
        n_run += 1
        if registers:
            text = f"in {', '.join(registers)}"
            name, start = trail.function.name, trail.function.start
            findings.append(finding("residue", name, start, text))
    return findings, f"registers at return: {n_run} of {len(trails)} functions could be run"


@dataclass(slots=True)
class _Run:
    """One run of a function."""

    is_set: bool = False
    n_pages: int = 0
    skipped: dict[int, int] = field(default_factory=dict)  # calls, and what follows them


class _Machine:
    """Runs functions of a program, each on a new CPU."""

    def __init__(self, program: Program, unicorn: Any) -> None:
        self.program = program
        self.unicorn = unicorn
        self.cpu = _CPUS[program.machine]
        names = f"{self.cpu.arch.lower()}_const"
        self.constants = __import__(f"unicorn.{names}", fromlist=[names])
        self.word = program.word_bytes
        self.guard = GUARD % (1 << 8 * self.word)

    def _register(self, name: str) -> int:
        return int(getattr(self.constants, self.cpu.prefix + name))

    def run(self, trail: Trail) -> list[str] | None:
        """The registers that hold the guard at the return; None: it was not reached."""
        for arguments in _ARGUMENTS:
            try:
                found = self._run(trail, arguments)
            except self.unicorn.UcError:
                continue
            if found is not None:
                return found
        return None

    def _run(self, trail: Trail, arguments: Sequence[int]) -> list[str] | None:
        uc, unicorn = self.unicorn.Uc(*self._kind()), self.unicorn
        self._lay_out(uc, trail)
        state = _Run(
            skipped={f.address: f.address + f.size for f in trail.flows if f.kind == "call"}
        )
        is_thumb = trail.function.parts[0].mode == "t32"

        def skip(uc: Any, address: int, _size: int, _data: Any) -> None:
            for register in self.cpu.returns:
                uc.reg_write(self._register(register), 0)
            uc.reg_write(self._register(self.cpu.counter), state.skipped[address] | is_thumb)

        def store(_uc: Any, _address: int, _size: int, _data: Any) -> None:
            state.is_set = True

        def unmapped(
            uc: Any, _access: int, address: int, _size: int, _value: int, _data: Any
        ) -> bool:
            state.n_pages += 1
            if state.n_pages > MOST_PAGES:
                return False
            uc.mem_map(address & -PAGE_BYTES, PAGE_BYTES)
            return True

        for address in state.skipped:
            uc.hook_add(unicorn.UC_HOOK_CODE, skip, None, address, address)
        for event in trail.events:
            if event.kind == "set":
                uc.hook_add(unicorn.UC_HOOK_CODE, store, None, event.address, event.address)
        wanted = unicorn.UC_HOOK_MEM_READ_UNMAPPED | unicorn.UC_HOOK_MEM_WRITE_UNMAPPED
        uc.hook_add(wanted, unmapped)
        for register, value in zip(self.cpu.arguments, arguments, strict=True):
            uc.reg_write(self._register(register), value)
        start = trail.function.start | is_thumb
        uc.emu_start(start, _END, count=MOST_INSTRUCTIONS)
        if uc.reg_read(self._register(self.cpu.counter)) != _END or not state.is_set:
            return None
        scanned = self.cpu.scanned
        return [r.lower() for r in scanned if uc.reg_read(self._register(r)) == self.guard]

    def _kind(self) -> tuple[int, int]:
        u = self.unicorn
        return int(getattr(u, f"UC_ARCH_{self.cpu.arch}")), int(getattr(u, f"UC_{self.cpu.mode}"))

    def _lay_out(self, uc: Any, trail: Trail) -> None:
        pages = {
            page
            for region in self.program.regions
            for page in range(region.address & -PAGE_BYTES, region.end, PAGE_BYTES)
        }
        for first, last in _spans(sorted(pages)):
            uc.mem_map(first, last - first)
        for region in self.program.regions:
            uc.mem_write(region.address, region.data)
        for area in (_STACK, _SCRATCH, _THREAD, _VARIABLES, _END):
            uc.mem_map(area, _AREA_BYTES)
        self._fill_slots(uc)
        for source in {event.source for event in trail.events}:
            self._put_guard(uc, source)
        middle = _STACK + _AREA_BYTES // 2
        uc.reg_write(self._register(self.cpu.stack), middle)
        if self.cpu.link:
            uc.reg_write(self._register(self.cpu.link), _END)
        else:
            uc.reg_write(self._register(self.cpu.stack), middle - 8)
            uc.mem_write(middle - 8, _END.to_bytes(8, "little"))

    def _fill_slots(self, uc: Any) -> None:
        """Words that the loader fills get the addresses of variables."""
        places = {name: address for address, name in self.program.variables.items()}
        for slot, value in self.program.slots.items():
            target = value if isinstance(value, int) else places.get(value, _VARIABLES)
            uc.mem_write(slot, (target % (1 << 8 * self.word)).to_bytes(self.word, "little"))

    def _put_guard(self, uc: Any, source: Source) -> None:
        word = self.guard.to_bytes(self.word, "little")
        middle = _THREAD + _AREA_BYTES // 2
        if source.is_global:
            uc.mem_write(_VARIABLES, word)
            for address, name in self.program.variables.items():
                if name == source.name:
                    self._write(uc, address, word)
        elif source.register in self.cpu.thread:
            uc.reg_write(self._register(self.cpu.thread[source.register]), middle)
            if abs(source.offset) < _AREA_BYTES // 2 - 8:
                uc.mem_write(middle + source.offset, word)

    def _write(self, uc: Any, address: int, word: bytes) -> None:
        try:
            uc.mem_write(address, word)
        except self.unicorn.UcError:  # zeros that are not in the file
            uc.mem_map(address & -PAGE_BYTES, PAGE_BYTES)
            uc.mem_write(address, word)


def _spans(pages: Sequence[int]) -> list[tuple[int, int]]:
    """Begin and end of runs of pages."""
    found: list[tuple[int, int]] = []
    for page in pages:
        if found and found[-1][1] == page:
            found[-1] = (found[-1][0], page + PAGE_BYTES)
        else:
            found.append((page, page + PAGE_BYTES))
    return found
