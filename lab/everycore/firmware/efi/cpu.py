# SPDX-License-Identifier: MIT
"""The processor of a model: registers, memory, calls into the driver and traps out of it.

Unicorn executes. A service of the firmware is an address in a page of traps: the driver calls it,
execution stops there, Python does the work and returns for it.
"""

import struct
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

uni: Any = import_module("unicorn")  # its types are not exported
a64: Any = import_module("unicorn.arm64_const")
x86: Any = import_module("unicorn.x86_const")

PAGE = 4096
MASK = (1 << 64) - 1
MOST_INSTRUCTIONS = 20_000_000  # between two services: more is a loop without end
SLICE = 1_000_000  # instructions between two looks at the clock
MOST_DEPTH = 24  # of calls into the driver from services that it called
TRAP_BYTES = 16
STACK_ARGUMENTS = 12  # of a call into the driver, at most

READ, WRITE, FETCH = "read", "write", "fetch"
_KINDS = {
    uni.UC_MEM_READ: READ,
    uni.UC_MEM_READ_UNMAPPED: READ,
    uni.UC_MEM_READ_PROT: READ,
    uni.UC_MEM_WRITE: WRITE,
    uni.UC_MEM_WRITE_UNMAPPED: WRITE,
    uni.UC_MEM_WRITE_PROT: WRITE,
    uni.UC_MEM_FETCH_UNMAPPED: FETCH,
    uni.UC_MEM_FETCH_PROT: FETCH,
}

T = TypeVar("T")
Arguments = Callable[[int], int]
Access = Callable[[str, int, int, int], None]  # kind, address, bytes, value
Service = Callable[[Arguments], int]


class StoppedError(Exception):
    """The driver cannot go on: the rule that says why, and how it came about."""

    def __init__(self, rule: str, text: str) -> None:
        super().__init__(text)
        self.rule = rule
        self.text = text
        self.pc: int | None = None  # where the driver was


class BadPointerError(Exception):
    """A service cannot reach memory that it was given."""


class Cpu:
    """An x86-64 or AArch64 processor with its memory."""

    def __init__(self, machine: str, traps: int, seconds: float) -> None:
        self.is_x86 = machine == "x86-64"
        if self.is_x86:
            self.uc = uni.Uc(uni.UC_ARCH_X86, uni.UC_MODE_64)
            self._pc, self._sp = x86.UC_X86_REG_RIP, x86.UC_X86_REG_RSP
            self._result = x86.UC_X86_REG_RAX
            self._inputs = [
                x86.UC_X86_REG_RCX, x86.UC_X86_REG_RDX,  # UEFI 2.10, section 2.3.4.2
                x86.UC_X86_REG_R8, x86.UC_X86_REG_R9,
            ]  # fmt: skip
        else:
            self.uc = uni.Uc(uni.UC_ARCH_ARM64, uni.UC_MODE_ARM)
            self._pc, self._sp = a64.UC_ARM64_REG_PC, a64.UC_ARM64_REG_SP
            self._result = a64.UC_ARM64_REG_X0
            self._inputs = [a64.UC_ARM64_REG_X0 + i for i in range(8)]  # AAPCS64
            self.uc.reg_write(a64.UC_ARM64_REG_CPACR_EL1, 3 << 20)  # firmware enables FP: 2.3.6
        self.deadline = time.monotonic() + seconds
        self.stack_top = 0
        self.depth = 0
        self.pending: Exception | None = None  # of a hook, to be raised behind emu_start
        self.on_service: Callable[[str, Service, Arguments], int] = _call_service
        self._traps = traps
        self._services: list[tuple[str, Service]] = []
        self._code = b"\xc3" if self.is_x86 else b"\xc0\x03\x5f\xd6"  # ret
        self.uc.mem_map(traps, 0x10000, uni.UC_PROT_READ | uni.UC_PROT_EXEC)
        self.uc.hook_add(uni.UC_HOOK_CODE, self._at_trap, None, traps, traps + 0xFFFF)
        self._halt = self.add_service("return to the caller", lambda _: 0)

    # ---- Memory

    def map(self, address: int, length: int, rights: str = "rw") -> None:
        """Put zeroed memory at an address; `rights` out of r, w, x."""
        self.uc.mem_map(address, _pages(length), _rights(rights))

    def protect(self, address: int, length: int, rights: str) -> None:
        self.uc.mem_protect(address, _pages(length), _rights(rights))

    def read(self, address: int, length: int) -> bytes:
        try:
            return bytes(self.uc.mem_read(address, length))
        except (uni.UcError, OverflowError, MemoryError, ValueError) as error:
            raise BadPointerError(f"{length:#x} bytes at {address:#x}") from error

    def write(self, address: int, data: bytes) -> None:
        try:
            self.uc.mem_write(address, data)
        except (uni.UcError, OverflowError, ValueError) as error:
            raise BadPointerError(f"{len(data):#x} bytes at {address:#x}") from error

    def read_word(self, address: int, length: int = 8) -> int:
        return int.from_bytes(self.read(address, length), "little")

    def write_word(self, address: int, value: int, length: int = 8) -> None:
        self.write(address, (value & ((1 << 8 * length) - 1)).to_bytes(length, "little"))

    # ---- Hooks

    def watch(self, begin: int, end: int, on_access: Access) -> int:
        """Call `on_access` before each read and write of the driver in [begin, end)."""

        def hook(_uc: Any, kind: int, address: int, length: int, value: int, _data: Any) -> None:
            self._guarded(lambda: on_access(_KINDS[kind], address, length, value), None)

        handle: int = self.uc.hook_add(
            uni.UC_HOOK_MEM_READ | uni.UC_HOOK_MEM_WRITE, hook, None, begin, end - 1
        )
        return handle

    def unwatch(self, handle: int) -> None:
        self.uc.hook_del(handle)

    def on_fault(self, handler: Callable[[str, int, int], bool]) -> None:
        """`handler` is told of accesses to no memory, or without the right: True to try again."""
        faults = uni.UC_HOOK_MEM_UNMAPPED | uni.UC_HOOK_MEM_PROT

        def hook(_uc: Any, kind: int, address: int, length: int, _value: int, _data: Any) -> bool:
            return self._guarded(lambda: handler(_KINDS[kind], address, length), False)

        self.uc.hook_add(faults, hook)

    def on_interrupt(self, handler: Callable[[int], None]) -> None:
        def hook(_uc: Any, number: int, _data: Any) -> None:
            self._guarded(lambda: handler(number), None)

        self.uc.hook_add(uni.UC_HOOK_INTR, hook)

    def on_port(self, handler: Callable[[str, int, int, int], int]) -> None:
        """Let `handler` (kind, port, bytes, value) do port I/O; only x86 has any."""
        if not self.is_x86:
            return

        def read(_uc: Any, port: int, length: int, _data: Any) -> int:
            return self._guarded(lambda: handler(READ, port, length, 0), 0xFFFF_FFFF)

        def write(_uc: Any, port: int, length: int, value: int, _data: Any) -> None:
            self._guarded(lambda: handler(WRITE, port, length, value), 0)

        self.uc.hook_add(uni.UC_HOOK_INSN, read, None, 1, 0, x86.UC_X86_INS_IN)
        self.uc.hook_add(uni.UC_HOOK_INSN, write, None, 1, 0, x86.UC_X86_INS_OUT)

    def _guarded(self, work: Callable[[], T], otherwise: T) -> T:
        """Return the result of a hook's work; `otherwise` if it fails, or something failed before.

        No exception may cross the emulator: it is raised after its stop.
        """
        if self.pending:
            return otherwise
        try:
            if time.monotonic() > self.deadline:
                raise StoppedError("run-endless", "the time is over")
            return work()
        except Exception as error:
            self.pending = error
            self.uc.emu_stop()
            return otherwise

    # ---- Services and calls

    def add_service(self, name: str, service: Service) -> int:
        """Return the address that the driver calls to reach a service."""
        address = self._traps + TRAP_BYTES * len(self._services)
        if address >= self._traps + 0x10000:
            raise AssertionError("the page of traps is full")
        self._services.append((name, service))
        self.uc.mem_write(address, self._code)
        return address

    def _at_trap(self, uc: Any, _address: int, _length: int, _data: Any) -> None:
        uc.emu_stop()

    @property
    def pc(self) -> int:
        return int(self.uc.reg_read(self._pc))

    @property
    def sp(self) -> int:
        return int(self.uc.reg_read(self._sp))

    def caller(self) -> int:
        """Return the address behind the call, when a trap was reached."""
        if not self.is_x86:
            return int(self.uc.reg_read(a64.UC_ARM64_REG_LR))
        try:
            return self.read_word(self.sp)
        except BadPointerError:
            return 0

    def arguments(self) -> Arguments:
        """The arguments of the service that was called."""
        sp = self.sp
        skipped = 8 if self.is_x86 else -8 * len(self._inputs)

        def argument(number: int) -> int:
            if number < len(self._inputs):
                return int(self.uc.reg_read(self._inputs[number]))
            return self.read_word(sp + skipped + 8 * number)

        return argument

    def is_stack_aligned(self) -> bool:
        """Whether the stack is as the calling convention wants it, at a trap."""
        return self.sp % 16 == (8 if self.is_x86 else 0)

    def call(self, function: int, *arguments: int) -> int:
        """Call a function of the driver and return its result."""
        if self.depth >= MOST_DEPTH:
            raise StoppedError("run-endless", f"{MOST_DEPTH} calls within each other")
        saved, top = self.uc.context_save(), self.stack_top
        self.depth += 1
        try:
            self._enter(arguments)
            self._run(function)
            return int(self.uc.reg_read(self._result))
        finally:
            self.depth -= 1
            self.stack_top = top
            self.uc.context_restore(saved)

    def _enter(self, arguments: tuple[int, ...]) -> None:
        assert len(arguments) <= STACK_ARGUMENTS
        in_registers = len(self._inputs)
        sp = (self.stack_top & ~15) - 8 * STACK_ARGUMENTS - 0x40
        for number, value in enumerate(arguments):
            if number < in_registers:
                self.uc.reg_write(self._inputs[number], value & MASK)
            else:
                skipped = 0 if self.is_x86 else in_registers
                self.write_word(sp + 8 * (number - skipped), value)
        if self.is_x86:
            sp -= 8
            self.write_word(sp, self._halt)
        else:
            self.uc.reg_write(a64.UC_ARM64_REG_LR, self._halt)
        self.uc.reg_write(self._sp, sp)

    def _run(self, begin: int) -> None:
        while True:
            self._emulate(begin)
            at = self.pc
            if at == self._halt:
                return
            number, rest = divmod(at - self._traps, TRAP_BYTES)
            if rest or not 0 <= number < len(self._services):
                text = f"{MOST_INSTRUCTIONS:,} instructions without a service"
                raise self._located(StoppedError("run-endless", text), at)
            begin = self._serve(*self._services[number])

    def _emulate(self, begin: int) -> None:
        """Execute up to a trap; in slices, so that a loop does not outlast the time."""
        for _ in range(MOST_INSTRUCTIONS // SLICE):
            if time.monotonic() > self.deadline:
                raise self._located(StoppedError("run-endless", "the time is over"), begin)
            self._execute(begin)
            begin = self.pc
            if self._traps <= begin < self._traps + 0x10000:
                return

    def _execute(self, begin: int) -> None:
        failure: Exception | None = None
        try:
            self.uc.emu_start(begin, 0, count=SLICE)
        except uni.UcError as error:
            failure = error
        if self.pending:
            pending, self.pending = self.pending, None
            raise self._located(pending, self.pc)
        if failure:
            stopped = StoppedError("run-exception", f"{failure} at {self.pc:#x}")
            raise self._located(stopped, self.pc)

    @staticmethod
    def _located(error: Exception, pc: int) -> Exception:
        if isinstance(error, StoppedError) and error.pc is None:
            error.pc = pc
        return error

    def _serve(self, name: str, service: Service) -> int:
        """Do what the driver asked for, and return the address where it goes on."""
        arguments = self.arguments()
        back, sp, top = self.caller(), self.sp, self.stack_top
        self.stack_top = sp - 0x200
        registers = self.uc.context_save()
        try:
            result = self.on_service(name, service, arguments)
        except StoppedError as error:
            self._located(error, back)
            raise
        self.uc.context_restore(registers)
        self.stack_top = top
        if self.is_x86:
            self.uc.reg_write(self._sp, sp + 8)
        self.uc.reg_write(self._result, result & MASK)
        if back == self._halt:  # a tail call
            self.uc.reg_write(self._pc, back)
        return back


def _call_service(_name: str, service: Service, arguments: Arguments) -> int:
    return service(arguments)


def _pages(length: int) -> int:
    return (length + PAGE - 1) & ~(PAGE - 1)


def _rights(letters: str) -> int:
    values = {"r": uni.UC_PROT_READ, "w": uni.UC_PROT_WRITE, "x": uni.UC_PROT_EXEC}
    return sum(values[letter] for letter in letters)


def pack(form: str, *values: int) -> bytes:
    """struct.pack in little-endian order, which all machines of UEFI use."""
    return struct.pack("<" + form, *values)
