# SPDX-License-Identifier: MIT
"""Bochs' CPU core, as the package bochscpu-python has it: one library with a C interface.

The package's own Python module has no way to choose the CPU model and moves memory as lists of
integers, so this module calls the library by ctypes. It is loaded lazily, since its build of
version 0.4.0 names two functions of a newer C library that it never calls.
"""

import ctypes
import os
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from everycore.binary.elf import Elf
from everycore.environment import extras
from everycore.environment.errors import EverycoreError

PACKAGE, DISTRIBUTION, EXTRA = "bochscpu", "bochscpu-python", "bochs"
VERSION = "0.4.0"  # whose list of models and whose functions these are
# Positions in the library's list of models (bochscpu, src/sim.rs), which have 64 bits.
MODELS = {
    "athlon64_clawhammer": 12,
    "athlon64_venice": 13,
    "turion64_tyler": 14,
    "phenom_8650_toliman": 15,
    "core2_penryn_t9600": 16,
    "corei5_lynnfield_750": 17,
    "corei5_arrandale_m520": 18,
    "corei7_sandy_bridge_2600k": 19,
    "zambezi": 20,
    "trinity_apu": 21,
    "ryzen": 22,
    "corei7_ivy_bridge_3770k": 23,
    "corei7_haswell_4770": 24,
    "broadwell_ult": 25,
    "corei7_skylake_x": 26,
    "corei3_cnl": 27,
    "corei7_icelake_u": 28,
    "tigerlake": 29,
    "sapphire_rapids": 30,
    "arrow_lake": 31,
}
RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11 = range(12)
REGISTERS = 16
ES, CS, SS, DS, FS, GS = range(6)
ONLY_CPU = 0

_u16, _u32, _u64, _pointer = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
# bochscpu_hooks_t: an argument for the hooks, and 25 functions, most of which stay empty.
_N_HOOKS, _EXCEPTION_HOOK, _WRMSR_HOOK = 26, 10, 24
_ON_EXCEPTION = ctypes.CFUNCTYPE(None, _pointer, _u32, _u32, _u32)
_ON_WRMSR = ctypes.CFUNCTYPE(None, _pointer, _u32, _u32, _u64)
_ON_MISSING_PAGE = ctypes.CFUNCTYPE(None, _u64)

# Functions that the library calls while it executes, and which only call hooks.
_UNUSED = {
    "bx_instr_before_execution",
    "bx_instr_after_execution",
    "bx_instr_repeat_iteration",
    "bx_instr_opcode",
    "bx_instr_cnear_branch_taken",
    "bx_instr_cnear_branch_not_taken",
    "bx_instr_ucnear_branch",
    "bx_instr_far_branch",
    "bx_instr_lin_access",
    "bx_instr_phy_access",
    "bx_instr_tlb_cntrl",
    "bx_instr_cache_cntrl",
    "bx_instr_prefetch_hint",
    "bx_instr_clflush",
}
_EMPTY = "_ZN12logfunctions4infoEPKcz"  # of a library that is built without messages
_ENDBR64, _RET = b"\xf3\x0f\x1e\xfa", b"\xc3"


def library_path() -> Path:
    """The library of the package, which is not imported."""
    found = find_spec(PACKAGE) if extras.is_installed(PACKAGE) else None
    folder = Path(found.origin).parent if found and found.origin else None
    libraries = sorted(folder.glob("_bochscpu.*.so")) if folder else []
    if not libraries:
        raise EverycoreError(
            "CPU models of Bochs need bochscpu-python, which is not installed",
            extras.install_command(EXTRA),
        )
    if (found_version := version(DISTRIBUTION)) != VERSION:
        raise EverycoreError(
            f"CPU models of Bochs need {DISTRIBUTION} {VERSION}, and {found_version} is installed",
            extras.install_command(EXTRA),
        )
    return libraries[0]


def _loaded(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path), mode=os.RTLD_LAZY)
    except OSError as error:
        raise EverycoreError(
            f"{path} cannot be loaded: {error}", "LD_BIND_NOW must not be set"
        ) from error


def _drop_unused_hooks(library: ctypes.CDLL, path: Path) -> None:
    """Let the library call an empty function of its own in the place of hooks that nobody has.

    It calls at least two of them for each instruction, which take more than half of the time. The
    calls go through its table of functions that are bound late, and that table can be written. A
    library that is built in another way keeps its hooks.
    """
    elf = Elf.open(path)
    table, names = elf.section(".rela.plt"), elf.section(".dynsym")
    if not table or not names:
        return
    symbols = elf.symbols(names)
    base = _address(library, "cpu_loop") - next(
        symbol.value for symbol in symbols if symbol.name == "cpu_loop"
    )
    empty = _address(library, _EMPTY)
    if ctypes.string_at(empty, 8).removeprefix(_ENDBR64)[:1] != _RET:
        return
    for relocation in elf.relocations(table):
        if symbols[relocation.symbol].name in _UNUSED:
            ctypes.c_uint64.from_address(base + relocation.offset).value = empty


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), _pointer).value or 0


class Core:
    """The one CPU of the library, which has one state for each process."""

    def __init__(self, model: str) -> None:
        if model not in MODELS:
            raise EverycoreError(f"Bochs has no CPU model {model!r}", f"it has {', '.join(MODELS)}")
        path = library_path()
        library = _loaded(path)
        self._library = library
        for name, result, *arguments in (
            ("sim_get_param_enum", _pointer, ctypes.c_char_p),
            ("_ZN15bx_param_enum_c3setEl", None, _pointer, ctypes.c_long),
            ("bochscpu_cpu_new", _pointer, _u32),
            ("bochscpu_cpu_run", None, _pointer, _pointer),
            ("bochscpu_cpu_stop", None, _pointer),
            ("bochscpu_cpu_set_rip", None, _pointer, _u64),
            ("bochscpu_mem_page_insert", None, _u64, _pointer),
            ("bochscpu_mem_missing_page", None, _pointer),
            ("cpu_get_reg64", _u64, _u32, _u32),
            ("cpu_set_reg64", None, _u32, _u32, _u64),
            ("cpu_get_pc", _u64, _u32),
            ("cpu_set_sp", None, _u32, _u64),
            ("cpu_set_seg", None, _u32, _u32, _u32, _u16, _u64, _u32, _u16),
            ("cpu_set_mode", None, _u32),
            ("cpu_set_cr0", None, _u32, _u32),
            ("cpu_get_cr2", _u64, _u32),
            ("cpu_set_cr3", None, _u32, _u64),
            ("cpu_set_cr4", None, _u32, _u32),
            ("cpu_set_efer", None, _u32, _u32),
            ("cpu_set_star", None, _u32, _u64),
            ("cpu_set_lstar", None, _u32, _u64),
            ("cpu_set_fmask", None, _u32, _u32),
            ("cpu_set_idtr", None, _u32, _u64, _u16),
        ):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        model_parameter = library.sim_get_param_enum(b"cpu.model")
        library._ZN15bx_param_enum_c3setEl(model_parameter, MODELS[model])
        self._cpu = library.bochscpu_cpu_new(ONLY_CPU)
        _drop_unused_hooks(library, path)
        self._hooks = (_pointer * _N_HOOKS)()
        self._callbacks: list[object] = []

    def get(self, register: int) -> int:
        return int(self._library.cpu_get_reg64(ONLY_CPU, register))

    def set(self, register: int, value: int) -> None:
        self._library.cpu_set_reg64(ONLY_CPU, register, value)

    def set_stack_pointer(self, address: int) -> None:
        self._library.cpu_set_sp(ONLY_CPU, address)

    @property
    def program_counter(self) -> int:
        return int(self._library.cpu_get_pc(ONLY_CPU))

    @property
    def fault_address(self) -> int:
        """The address of the last page fault (CR2)."""
        return int(self._library.cpu_get_cr2(ONLY_CPU))

    def set_segment(self, segment: int, selector: int, base: int, attributes: int) -> None:
        self._library.cpu_set_seg(ONLY_CPU, segment, 1, selector, base, 0xFFFFFFFF, attributes)

    def start_at(self, address: int) -> None:
        """Go on at `address`, also out of a hook, which then ends the instruction."""
        self._library.bochscpu_cpu_set_rip(self._cpu, address)

    def flush(self) -> None:
        """Forget translations of addresses; take changed control registers."""
        self._library.cpu_set_mode(ONLY_CPU)

    def set_long_mode(self, cr0: int, cr3: int, cr4: int, efer: int) -> None:
        library = self._library
        library.cpu_set_cr3(ONLY_CPU, cr3)
        library.cpu_set_cr4(ONLY_CPU, cr4)
        library.cpu_set_efer(ONLY_CPU, efer)
        library.cpu_set_cr0(ONLY_CPU, cr0)

    def set_system_calls(self, star: int, lstar: int, cleared_flags: int) -> None:
        self._library.cpu_set_star(ONLY_CPU, star)
        self._library.cpu_set_lstar(ONLY_CPU, lstar)
        self._library.cpu_set_fmask(ONLY_CPU, cleared_flags)

    def set_no_interrupt_table(self) -> None:
        self._library.cpu_set_idtr(ONLY_CPU, 0, 0)

    def insert_page(self, physical: int, host: int) -> None:
        self._library.bochscpu_mem_page_insert(physical, host)

    def on_missing_page(self, handler: Callable[[int], None]) -> None:
        callback = _ON_MISSING_PAGE(handler)
        self._callbacks.append(callback)
        self._library.bochscpu_mem_missing_page(ctypes.cast(callback, _pointer))

    def on_exception(self, handler: Callable[[int, int], None]) -> None:
        callback = _ON_EXCEPTION(lambda _context, _cpu, vector, code: handler(vector, code))
        self._callbacks.append(callback)
        self._hooks[_EXCEPTION_HOOK] = ctypes.cast(callback, _pointer)

    def on_wrmsr(self, handler: Callable[[], None]) -> None:
        callback = _ON_WRMSR(lambda _context, _cpu, _msr, _value: handler())
        self._callbacks.append(callback)
        self._hooks[_WRMSR_HOOK] = ctypes.cast(callback, _pointer)

    def run(self) -> None:
        """Execute until `stop`."""
        list_of_hooks = (_pointer * 2)(ctypes.addressof(self._hooks), None)
        self._library.bochscpu_cpu_run(self._cpu, ctypes.cast(list_of_hooks, _pointer))

    def stop(self) -> None:
        """End `run`; for hooks."""
        self._library.bochscpu_cpu_stop(self._cpu)
