# SPDX-License-Identifier: MIT
"""Makes a Program of an ELF file, linked or not."""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from everycore.binary import elf
from everycore.binary.elf import DamagedError, Elf, ElfSection, ElfSymbol
from everycore.environment.errors import EverycoreError
from everycore.firmware.canary.program import (
    GUARD_NAMES,
    Function,
    Part,
    Program,
    Reference,
    Region,
    ThreadVariable,
)

# Machines of the ELF specification, with the bytes between the thread register and the first
# thread-local variable: "ELF Handling For Thread-Local Storage", U. Drepper, 2013, section 3;
# RISC-V ELF psABI 1.0, "Thread Local Storage". None: the variables lie below the register.
MACHINES: Mapping[int, tuple[str, int | None]] = {
    elf.X86_64: ("x86-64", None),
    elf.AARCH64: ("aarch64", 16),
    elf.ARM: ("arm", 8),
    elf.RISCV: ("riscv64", 0),
}
_IS_PROGRAM = 0x0800_0000  # DF_1_PIE, a flag of the dynamic section
_EXECUTABLE_SEGMENT = 1  # PF_X
_OBJECT_ALIGNMENT = 0x10000
# RISC-V ELF psABI 1.0, "Relocations".
_RISCV = {
    2: "64", 3: "RELATIVE", 4: "COPY", 5: "JUMP_SLOT", 7: "TLS_DTPMOD64", 9: "TLS_DTPREL64",
    11: "TLS_TPREL64", 16: "BRANCH", 17: "JAL", 18: "CALL", 19: "CALL_PLT", 20: "GOT_HI20",
    21: "TLS_GOT_HI20", 22: "TLS_GD_HI20", 23: "PCREL_HI20", 24: "PCREL_LO12_I",
    25: "PCREL_LO12_S", 26: "HI20", 27: "LO12_I", 28: "LO12_S", 29: "TPREL_HI20",
    30: "TPREL_LO12_I", 31: "TPREL_LO12_S", 32: "TPREL_ADD", 43: "ALIGN", 44: "RVC_BRANCH",
    45: "RVC_JUMP", 51: "RELAX",
}  # fmt: skip


def read(data: bytes, name: str, guard_names: Iterable[str] = ()) -> Program:
    """Read the bytes of an ELF file; `guard_names`: further names of the guard."""
    return _Reader(Elf(data, name), name, frozenset(guard_names)).program()


class _Reader:
    """One file."""

    def __init__(self, file: Elf, name: str, guard_names: frozenset[str]) -> None:
        self.file = file
        self.name = name
        self.guard_names = GUARD_NAMES | guard_names
        head = file.header
        if head.machine not in MACHINES or (head.machine == elf.RISCV and not head.is_64_bit):
            known = ", ".join(machine for machine, _ in MACHINES.values())
            made_for = elf.machine_name(head.machine)
            raise EverycoreError(f"{name}: built for {made_for}", f"canary check knows {known}")
        if not head.is_little_endian or (head.machine == elf.X86_64 and not head.is_64_bit):
            raise EverycoreError(
                f"{name}: a variant of {elf.machine_name(head.machine)} that canary check does not"
                " know",
                "little-endian files with the usual size of addresses are checked",
            )
        self.machine, self.thread_header = MACHINES[head.machine]
        self.is_object = head.kind == elf.OBJECT
        self.sections = file.sections
        self.bases = self._bases()
        self.regions = self._regions()
        self.symbols = file.symbols_of(".symtab") or file.symbols_of(".dynsym")
        self.has_names = file.section(".symtab") is not None
        self.by_address: dict[int, str] = {}

    def program(self) -> Program:
        functions = self._functions()
        notes = []
        if not self.has_names:
            notes.append("no symbol table: parts of functions may be taken for functions")
        variables = {
            self._address(symbol): symbol.name
            for symbol in self.symbols
            if symbol.name in self.guard_names
            and symbol.kind != elf.THREAD_VARIABLE
            and symbol.is_defined
        }
        return Program(
            name=self.name,
            kind=self._kind(),
            machine=self.machine,
            functions=functions,
            names=self.by_address,
            variables=variables,
            slots={} if self.is_object else self._slots(),
            references=self._references() if self.is_object else {},
            regions=self.regions,
            thread=self._thread(),
            guard_names=self.guard_names,
            notes=tuple(notes),
            has_names=self.has_names,
            knows_imports=any(symbol.name for symbol in self.symbols),
            code_bytes=self._code_bytes(),
            word_bytes=self.file.header.bits // 8,
        )

    def _kind(self) -> str:
        if self.is_object:
            return "ELF object"
        dynamic = self.file.header.kind == elf.SHARED
        has_interpreter = any(segment.kind == elf.INTERPRETER for segment in self.file.segments)
        is_program = not dynamic or has_interpreter or self._is_pie()
        return "ELF executable" if is_program else "ELF shared library"

    def _is_pie(self) -> bool:
        """Whether the flags of a dynamic section say that this is a program."""
        return any(flags & _IS_PROGRAM for flags in self.file.dynamic(elf.FLAGS_1))

    # ---- Sections and symbols

    def _bases(self) -> list[int]:
        """The addresses of sections; in an object, where all are 0, made-up ones."""
        if not self.is_object:
            return [section.address for section in self.sections]
        bases, at = [], _OBJECT_ALIGNMENT
        for section in self.sections:
            bases.append(at)
            if section.flags & elf.ALLOCATED:
                at += -(-max(section.size, 1) // _OBJECT_ALIGNMENT) * _OBJECT_ALIGNMENT
        return bases

    def _regions(self) -> list[Region]:
        found = []
        for section, base in zip(self.sections, self.bases, strict=True):
            if section.flags & elf.ALLOCATED and section.kind != elf.NO_BITS and section.size:
                is_constant = not section.flags & elf.WRITABLE
                is_constant |= section.name.startswith((".got", ".data.rel.ro"))
                found.append(Region(base, self.file.contents(section), is_constant))
        return sorted(found, key=lambda region: region.address)

    def _section(self, index: int) -> ElfSection:
        if index >= len(self.sections):
            raise DamagedError(self.name, f"section {index} of {len(self.sections)} is named")
        return self.sections[index]

    def _symbol(self, number: int) -> ElfSymbol:
        if number >= len(self.symbols):
            raise DamagedError(self.name, f"symbol {number} of {len(self.symbols)} is named")
        return self.symbols[number]

    def _address(self, symbol: ElfSymbol) -> int:
        if self.is_object and symbol.is_defined and symbol.section < len(self.bases):
            return self.bases[symbol.section] + symbol.value
        return symbol.value

    # ---- Functions

    def _functions(self) -> list[Function]:
        spans = self._spans()
        if not any(symbol.kind in elf.FUNCTION_KINDS and symbol.size for symbol in self.symbols):
            self.has_names = False
        if not self.has_names:
            known = {start for start, _, _ in spans}
            spans += [
                (start, end, f"function at {start:#x}")
                for start, end in self._unwind_spans()
                if start not in known
            ]
        modes = self._modes()
        whole: dict[str, Function] = {}
        found: list[Function] = []
        for start, end, name in sorted(spans):
            parts = self._parts(start, end, modes)
            if not parts:
                continue
            stem, cold, _ = name.partition(".cold")
            self.by_address.setdefault(start, name)
            if cold:
                whole[name] = Function(stem, start, parts)
            else:
                found.append(Function(name, start, parts))
        return _joined(found, whole)

    def _spans(self) -> list[tuple[int, int, str]]:
        """Begin, end and name of the functions that have a symbol, each place once."""
        thumb = ~1 if self.machine == "arm" else ~0
        found: dict[int, tuple[int, int, str]] = {}
        for symbol in self.symbols:
            if symbol.kind not in elf.FUNCTION_KINDS or not symbol.is_defined:
                continue
            start = self._address(symbol) & thumb
            if symbol.size:
                found.setdefault(start, (start, start + symbol.size, symbol.name))
            else:
                self.by_address.setdefault(start, symbol.name)
        return list(found.values())

    def _modes(self) -> list[tuple[int, str]]:
        """The places where code of another kind begins: mapping symbols of Arm's ABIs."""
        if self.machine not in ("arm", "aarch64"):
            return []
        names = {"$a": "a32", "$t": "t32", "$x": "", "$d": "data"}
        found = {
            self._address(symbol): names[symbol.name[:2]]
            for symbol in self.symbols
            if symbol.name[:2] in names and symbol.kind == elf.NO_TYPE and symbol.is_defined
        }
        if self.machine == "arm" and not found:
            for symbol in self.symbols:
                if symbol.kind in elf.FUNCTION_KINDS and symbol.is_defined:
                    found[self._address(symbol) & ~1] = "t32" if symbol.value & 1 else "a32"
        return sorted(found.items())

    def _parts(self, start: int, end: int, modes: Sequence[tuple[int, str]]) -> tuple[Part, ...]:
        region = _region(self._code, start)
        if region is None:
            return ()
        end = min(end, region.end)
        index = bisect_right(modes, (start, "~")) - 1
        mode = modes[index][1] if index >= 0 else ("a32" if self.machine == "arm" else "")
        cuts = [start]
        kinds = [mode]
        while index + 1 < len(modes) and modes[index + 1][0] < end:
            index += 1
            cuts.append(modes[index][0])
            kinds.append(modes[index][1])
        parts = []
        for at, upto, kind in zip(cuts, [*cuts[1:], end], kinds, strict=True):
            if kind != "data" and upto > at:
                code = region.data[at - region.address : upto - region.address]
                parts.append(Part(at, code, kind))
        return tuple(parts)

    @cached_property
    def _code(self) -> Sequence[Region]:
        places = {
            base
            for section, base in zip(self.sections, self.bases, strict=True)
            if section.flags & elf.EXECUTABLE_CODE and section.size
            if not section.name.startswith((".plt", ".iplt"))  # entries of linkage tables
        }
        return [region for region in self.regions if region.address in places]

    def _code_bytes(self) -> int:
        """How much code there is, by sections, or by segments if there are no sections."""
        if self._code or self.sections:
            return sum(len(region.data) for region in self._code)
        return sum(
            segment.size for segment in self.file.segments if segment.flags & _EXECUTABLE_SEGMENT
        )

    def _unwind_spans(self) -> list[tuple[int, int]]:
        """Begin and end of functions, from the index of the unwind tables.

        The range of a description stands behind its begin, both of four bytes in the encoding
        that linkers write.
        """
        found = []
        for begin, place in self.file.unwind_table:
            region = _region(self.regions, place)
            if region is not None and place + 16 <= region.end:
                size = struct.unpack_from("<I", region.data, place - region.address + 12)[0]
                found.append((begin, begin + size))
        return found

    # ---- Relocations

    def _slots(self) -> dict[int, str | int]:
        """The words that the dynamic loader fills: with a symbol's address, or a known one."""
        found: dict[int, str | int] = {}
        kinds = _relocation_names(self.machine)
        for section in self._relocation_tables():
            table = self._section(section.link)
            is_of_symbols = table.kind in (elf.SYMBOLS, elf.DYNAMIC_SYMBOLS)
            symbols = self.file.symbols(table) if is_of_symbols else []
            for relocation in self.file.relocations(section):
                kind = kinds.get(relocation.kind, "")
                if kind.endswith("_RELATIVE"):
                    is_inside = relocation.addend is None
                    found[relocation.offset] = (
                        self._word(relocation.offset) if is_inside else relocation.addend or 0
                    )
                elif 0 < relocation.symbol < len(symbols) and not (
                    "TLS" in kind or "_COPY" in kind
                ):
                    found[relocation.offset] = symbols[relocation.symbol].name
        return found

    def _relocation_tables(self) -> list[ElfSection]:
        return [section for section in self.sections if section.kind in (elf.REL, elf.RELA)]

    def _word(self, place: int) -> int:
        size, region = self.file.header.bits // 8, _region(self.regions, place)
        return (
            int.from_bytes(region.data[place - region.address :][:size], "little") if region else 0
        )

    def _references(self) -> dict[int, Reference]:
        kinds = _relocation_names(self.machine)
        found: dict[int, Reference] = {}
        for section in self._relocation_tables():
            if not self._section(section.info).flags & elf.EXECUTABLE_CODE:
                continue
            base = self.bases[section.info]
            for relocation in self.file.relocations(section):
                kind = kinds.get(relocation.kind, "")
                if kind in ("R_RISCV_RELAX", "R_ARM_V4BX", "R_ARM_NONE", "R_RISCV_ALIGN"):
                    continue
                symbol = self._symbol(relocation.symbol)
                place = self._address(symbol) if symbol.is_defined else None
                name = symbol.name
                if not name and symbol.is_defined:
                    name = self._section(symbol.section).name
                found[base + relocation.offset] = Reference(
                    name, kind, relocation.addend or 0, place
                )
        return found

    # ---- Thread-local variables

    def _thread(self) -> list[ThreadVariable] | None:
        """The thread-local variables of a program, which alone has them at fixed places."""
        segment = next((s for s in self.file.segments if s.kind == elf.THREAD_LOCAL), None)
        if self._kind() != "ELF executable":
            return None
        if segment is None:
            return []
        align = max(segment.alignment, 1)
        if self.thread_header is None:
            first = -(-segment.memory_size // align) * -align
        else:
            first = -(-self.thread_header // align) * align
        return sorted(
            (
                ThreadVariable(symbol.name, first + symbol.value, symbol.size)
                for symbol in self.symbols
                if symbol.kind == elf.THREAD_VARIABLE and symbol.is_defined
                if not symbol.name.startswith("$")  # mapping symbols of Arm's ABIs
            ),
            key=lambda variable: variable.offset,
        )


def _region(regions: Sequence[Region], place: int) -> Region | None:
    return next((region for region in regions if region.address <= place < region.end), None)


def _joined(functions: list[Function], cold: Mapping[str, Function]) -> list[Function]:
    """Functions with the parts that the compiler put elsewhere because they are seldom run."""
    by_name: dict[str, list[int]] = {}
    for index, function in enumerate(functions):
        by_name.setdefault(function.name, []).append(index)
    for part in cold.values():
        owners = by_name.get(part.name, [])
        if len(owners) == 1:
            owner = functions[owners[0]]
            parts = (*owner.parts, *part.parts)
            functions[owners[0]] = Function(owner.name, owner.start, parts)
    return functions


def _relocation_names(machine: str) -> dict[int, str]:
    from elftools.elf import enums

    if machine == "riscv64":
        return {number: f"R_RISCV_{name}" for number, name in _RISCV.items()}
    tables = {
        "x86-64": enums.ENUM_RELOC_TYPE_x64,
        "aarch64": enums.ENUM_RELOC_TYPE_AARCH64,
        "arm": enums.ENUM_RELOC_TYPE_ARM,
    }
    return {number: name for name, number in tables[machine].items() if isinstance(number, int)}
