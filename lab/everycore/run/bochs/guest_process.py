# SPDX-License-Identifier: MIT
"""A program on a CPU model, from its first instruction to its end.

A few instructions of our own run with the rights of a kernel. SYSCALL lands at a WRMSR, whose hook
serves the call, then SYSRET goes back; so no instruction of the program has a hook.
"""

import signal
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from everycore.run.bochs import bochs_core as cpu
from everycore.run.bochs.bochs_core import Core
from everycore.run.bochs.guest_memory import (
    EXECUTE,
    PAGE,
    READ,
    WRITE,
    BadAddressError,
    Memory,
    OutOfMemoryError,
)
from everycore.run.bochs.guest_program import load
from everycore.run.bochs.system_calls import (
    DEFAULT,
    Calls,
    ExitedError,
    KilledError,
    UnsupportedError,
)

MEMORY_BYTES = 1 << 30  # of which the host backs what is touched
KERNEL = 0xFFFF_8000_0000_0000
# Selectors as SYSCALL and SYSRET make them of STAR; no descriptor table is read.
_KERNEL_CS, _USER_BASE = 0x10, 0x23
_STAR = _USER_BASE << 48 | _KERNEL_CS << 32
_CODE_0, _DATA_0, _CODE_3, _DATA_3 = 0xA09B, 0xC093, 0xA0FB, 0xC0F3
_CR0 = 0x80010033  # PG, WP, NE, ET, MP, PE
_CR4 = 0x620  # OSXMMEXCPT, OSFXSR, PAE
_EFER = 0xD01  # NXE, LMA, LME, SCE
_FLAGS = 0x202
_CLEARED_FLAGS = 0x47700  # by SYSCALL: TF, IF, DF, IOPL, NT, AC
_START = bytes.fromhex(
    "dbe3"  # fninit
    "b801000000"  # mov  eax, 1
    "31c9"  # xor  ecx, ecx
    "0fa2"  # cpuid
    "0fbae11a"  # bt   ecx, 26: XSAVE
    "731b"  # jnc  ready
    "0f20e0"  # mov  rax, cr4
    "0d00000400"  # or   eax, OSXSAVE
    "0f22e0"  # mov  cr4, rax
    "b80d000000"  # mov  eax, 13
    "31c9"  # xor  ecx, ecx
    "0fa2"  # cpuid: edx:eax are the states that there are
    "31c9"  # xor  ecx, ecx
    "0f01d1"  # xsetbv
    "0f30"  # ready: wrmsr
)
_SERVE = bytes.fromhex("0f30")  # wrmsr
_RETURN = bytes.fromhex("480f07")  # sysretq
_START_AT, _SERVE_AT, _RETURN_AT = KERNEL, KERNEL + 0x100, KERNEL + 0x110
_ARGUMENTS = (cpu.RDI, cpu.RSI, cpu.RDX, cpu.R10, cpu.R8, cpu.R9)
_DIVIDE, _DEBUG, _BREAKPOINT, _INVALID, _NO_DEVICE, _PROTECTION, _PAGE_FAULT, _FLOAT, _SIMD = (
    0, 1, 3, 6, 7, 13, 14, 16, 19,
)  # fmt: skip
_SIGNALS = {
    _DIVIDE: signal.SIGFPE,
    _DEBUG: signal.SIGTRAP,
    _BREAKPOINT: signal.SIGTRAP,
    _INVALID: signal.SIGILL,
    _FLOAT: signal.SIGFPE,
    _SIMD: signal.SIGFPE,
}
_NAMES = {_DIVIDE: "division error", _DEBUG: "debug trap", _BREAKPOINT: "breakpoint",
          _NO_DEVICE: "state that is not enabled", _PROTECTION: "protection fault",
          _FLOAT: "floating-point error", _SIMD: "SIMD floating-point error"}  # fmt: skip
_OF_TABLE = 2  # of error codes: no entry in the table of interrupts
_RED_ZONE, _FRAME_BYTES, _INFO_AT = 128, 1200, 1024


def _signal_of(vector: int) -> int:
    return _SIGNALS.get(vector, signal.SIGSEGV)


class Guest:
    def __init__(
        self, model: str, path: Path, arguments: Sequence[str], environment: Sequence[str]
    ) -> None:
        self._model, self._path = model, path
        self._core = core = Core(model)
        self._memory = memory = Memory(MEMORY_BYTES)
        self._loaded = load(memory, path, arguments, environment)
        self._calls = Calls(
            memory, str(path.absolute()), self._loaded.end, core.flush, self._set_fs
        )
        self._code = 0
        self._message = ""
        self._error: BaseException | None = None
        self._in_program = False
        self._fatal: tuple[int, int] | None = None  # vector and error code

    def run(self) -> tuple[int, str]:
        """The exit code, and a message if the program did not end by itself."""
        core, memory = self._core, self._memory
        memory.map(KERNEL, KERNEL + PAGE, READ | WRITE, user=False)
        memory.write(_START_AT, _START)
        memory.write(_SERVE_AT, _SERVE)
        memory.write(_RETURN_AT, _RETURN)
        memory.protect(KERNEL, KERNEL + PAGE, READ | EXECUTE, user=False)
        core.on_missing_page(self._missing_page)
        core.on_exception(self._exception)
        core.on_wrmsr(self._serve)
        core.set_long_mode(_CR0, memory.root, _CR4, _EFER)
        core.set_no_interrupt_table()
        core.set_system_calls(_STAR, _SERVE_AT, _CLEARED_FLAGS)
        core.set_segment(cpu.CS, _KERNEL_CS, 0, _CODE_0)
        for segment in (cpu.SS, cpu.DS, cpu.ES, cpu.FS, cpu.GS):
            core.set_segment(segment, _KERNEL_CS + 8, 0, _DATA_0 if segment == cpu.SS else _DATA_3)
        core.flush()
        core.start_at(_START_AT)
        core.run()
        if self._error:
            raise self._error
        return self._code, self._message

    def _end(self, code: int, message: str = "") -> None:
        self._code, self._message = code, message
        self._core.stop()

    def _missing_page(self, physical: int) -> None:
        if physical + PAGE > self._memory.len_bytes:
            self._end(1, f"a table of pages names {physical:#x}, which is no memory")
            return
        start = physical & -PAGE
        self._core.insert_page(start, self._memory.host + start)

    def _set_fs(self, base: int) -> None:
        self._core.set_segment(cpu.FS, 0, base, _DATA_3)

    def _serve(self) -> None:
        """Hook of WRMSR. An exception must not pass through the library, so it waits for `run`."""
        try:
            if self._in_program:
                self._system_call()
            else:
                self._enter_program()
        except ExitedError as exited:
            self._end(exited.code)
        except KilledError as killed:
            name = signal.Signals(killed.signal).name
            self._end(128 + killed.signal, f"{self._path} ended itself by {name}")
        except UnsupportedError as what:
            self._end(1, f"{self._path} {what}, which is not done here")
        except BaseException as error:
            self._error = error
            self._end(1)

    def _enter_program(self) -> None:
        core = self._core
        self._in_program = True
        for register in range(cpu.REGISTERS):
            if register != cpu.RSP:
                core.set(register, 0)
        core.set(cpu.RCX, self._loaded.entry)
        core.set(cpu.R11, _FLAGS)
        core.set_stack_pointer(self._loaded.stack_pointer)
        core.start_at(_RETURN_AT)

    def _system_call(self) -> None:
        core = self._core
        arguments = tuple(core.get(register) for register in _ARGUMENTS)
        result = self._calls.call(core.get(cpu.RAX), arguments)
        core.set(cpu.RAX, result & (1 << 64) - 1)
        core.start_at(_RETURN_AT)

    def _exception(self, vector: int, code: int) -> None:
        """Hook of exceptions, before they are delivered."""
        try:
            if self._fatal is not None:
                self._end_by(*self._fatal)
            elif vector == _PROTECTION and code & _OF_TABLE:  # INT3 and INT come like this
                self._end_by(code >> 3, 0)
            else:
                self._fault(vector, code)
        except BaseException as error:
            self._error = error
            self._end(1)

    def _fault(self, vector: int, code: int) -> None:
        """Call the program's handler. Without one, let the CPU deliver the exception: there is no
        table of handlers, so it raises another one, with the program counter back at the
        instruction."""
        number = _signal_of(vector)
        action = self._calls.actions.get(number, DEFAULT)
        if action.handler > 1 and not self._calls.blocked >> (number - 1) & 1:
            self._signal(number, action.handler, action.restorer)
            self._calls.blocked |= action.mask | 1 << (number - 1)
        else:
            self._fatal = (vector, code)

    def _end_by(self, vector: int, code: int) -> None:
        self._end(128 + _signal_of(vector), self._told(vector, code, self._core.program_counter))

    def _told(self, vector: int, code: int, at: int) -> str:
        where = f"{self._path}, on {self._model} of Bochs, at {at:#x}:"
        if vector == _PAGE_FAULT:
            how = "fetches" if code & 16 else "writes" if code & 2 else "reads"
            return f"{where} {how} {self._core.fault_address:#x}, which it may not"
        if vector == _INVALID:
            try:
                data = self._memory.read(at, 8).hex(" ")
            except BadAddressError:
                data = "not readable"
            return f"{where} an instruction that this CPU does not have ({data})"
        return f"{where} {_NAMES.get(vector, f'exception {vector}')}"

    def _signal(self, number: int, handler: int, restorer: int) -> None:
        """Call the program's handler on its stack (System V ABI; no register is kept for a
        return)."""
        core = self._core
        frame = (core.get(cpu.RSP) - _RED_ZONE - _FRAME_BYTES) & -16
        information = struct.pack("<iiiiQ", number, 0, 1, 0, core.fault_address)
        self._memory.write(frame - 8, restorer.to_bytes(8, "little") + bytes(_FRAME_BYTES))
        self._memory.write(frame + _INFO_AT, information)
        core.set(cpu.RDI, number)
        core.set(cpu.RSI, frame + _INFO_AT)
        core.set(cpu.RDX, frame)
        core.set_stack_pointer(frame - 8)
        core.start_at(handler)


def run(model: str, path: Path, arguments: Sequence[str], environment: Sequence[str] = ()) -> int:
    try:
        code, message = Guest(model, path, arguments, environment).run()
    except OutOfMemoryError:
        code, message = 1, f"{path} needs more than {MEMORY_BYTES >> 20} MiB of memory"
    if message:
        print(f"bochs: {message}", file=sys.stderr)
    return code
