# SPDX-License-Identifier: MIT
"""Reads an ELF file, linked or not, into a Program."""

import io
import struct
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
MACHINES: Mapping[str, tuple[str, int | None]] = {
    "EM_X86_64": ("x86-64", None),
    "EM_AARCH64": ("aarch64", 16),
    "EM_ARM": ("arm", 8),
    "EM_RISCV": ("riscv64", 0),
}
_EXECUTABLE, _WRITABLE, _ALLOCATED = 4, 1, 2  # flags of sections
_OBJECT_ALIGNMENT = 0x10000
# RISC-V ELF psABI 1.0, "Relocations".
_RISCV = {
    **{2: "64", 3: "RELATIVE", 4: "COPY", 5: "JUMP_SLOT", 7: "TLS_DTPMOD64", 9: "TLS_DTPREL64"},
    **{11: "TLS_TPREL64", 16: "BRANCH", 17: "JAL", 18: "CALL", 19: "CALL_PLT", 20: "GOT_HI20"},
    **{21: "TLS_GOT_HI20", 22: "TLS_GD_HI20", 23: "PCREL_HI20", 24: "PCREL_LO12_I"},
    **{25: "PCREL_LO12_S", 26: "HI20", 27: "LO12_I", 28: "LO12_S", 29: "TPREL_HI20"},
    **{30: "TPREL_LO12_I", 31: "TPREL_LO12_S", 32: "TPREL_ADD", 43: "ALIGN", 44: "RVC_BRANCH"},
    **{45: "RVC_JUMP", 51: "RELAX"},
}
_FUNCTION_TYPES = ("STT_FUNC", "STT_LOOS")  # the latter: resolved when the program starts


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: str
    section: int | str
    value: int
    size: int


def read(data: bytes, name: str, guard_names: Iterable[str] = ()) -> Program:
    """Read the bytes of an ELF file; `guard_names`: further names of the guard."""
    from elftools.common.exceptions import ELFError, ELFParseError
    from elftools.elf.elffile import ELFFile

    try:
        return _Reader(ELFFile(io.BytesIO(data)), name, frozenset(guard_names)).program()
    except EverycoreError:
        raise
    except (ELFError, ELFParseError, struct.error, UnicodeDecodeError) as error:
        raise EverycoreError(
            f"{name}: the ELF file is damaged: {error}", "take the file from its source again"
        ) from error
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        # pyelftools trusts offsets and indices of a file in many places.
        raise EverycoreError(
            f"{name}: the ELF file is damaged ({type(error).__name__}: {error})",
            "take the file from its source again",
        ) from error


class _Reader:
    """One file."""

    def __init__(self, file: Any, name: str, guard_names: frozenset[str]) -> None:
        self.file = file
        self.name = name
        self.guard_names = GUARD_NAMES | guard_names
        machine = file.header["e_machine"]
        if machine not in MACHINES or (machine == "EM_RISCV" and file.elfclass != 64):
            known = ", ".join(one for one, _ in MACHINES.values())
            raise EverycoreError(f"{name}: built for {machine}", f"canary check knows {known}")
        if not file.little_endian or (machine == "EM_X86_64" and file.elfclass != 64):
            raise EverycoreError(
                f"{name}: a variant of {machine} that canary check does not know",
                "little-endian files with the usual size of addresses are checked",
            )
        self.machine, self.thread_header = MACHINES[machine]
        self.is_object = file.header["e_type"] == "ET_REL"
        self.sections = list(file.iter_sections())
        self.bases = self._bases()
        self.regions = self._regions()
        self.symbols = self._symbols(".symtab") or self._symbols(".dynsym")
        self.has_names = any(one.name == ".symtab" for one in self.sections)
        self.by_address: dict[int, str] = {}

    def program(self) -> Program:
        functions = self._functions()
        notes = []
        if not self.has_names:
            notes.append("no symbol table: parts of functions may be taken for functions")
        if not functions:
            notes.append("no functions found: neither symbols nor unwind tables name any")
        variables = {
            self._address(one): one.name
            for one in self.symbols
            if one.name in self.guard_names and one.kind != "STT_TLS" and self._is_defined(one)
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
            word_bytes=self.file.elfclass // 8,
        )

    def _kind(self) -> str:
        if self.is_object:
            return "ELF object"
        dynamic = self.file.header["e_type"] == "ET_DYN"
        has_interpreter = any(s["p_type"] == "PT_INTERP" for s in self.file.iter_segments())
        is_program = not dynamic or has_interpreter or self._is_pie()
        return "ELF executable" if is_program else "ELF shared library"

    def _is_pie(self) -> bool:
        """Whether the flags of a dynamic section say that this is a program (DF_1_PIE)."""
        dynamic = self.file.get_section_by_name(".dynamic")
        if dynamic is None or not hasattr(dynamic, "iter_tags"):
            return False
        return any(tag["d_val"] & 0x0800_0000 for tag in dynamic.iter_tags("DT_FLAGS_1"))

    # ---- Sections and symbols

    def _bases(self) -> list[int]:
        """The addresses of sections; in an object, where all are 0, made-up ones."""
        if not self.is_object:
            return [one["sh_addr"] for one in self.sections]
        bases, at = [], _OBJECT_ALIGNMENT
        for one in self.sections:
            bases.append(at)
            if one["sh_flags"] & _ALLOCATED:
                at += -(-max(one["sh_size"], 1) // _OBJECT_ALIGNMENT) * _OBJECT_ALIGNMENT
        return bases

    def _regions(self) -> list[Region]:
        found = []
        for one, base in zip(self.sections, self.bases, strict=True):
            flags = one["sh_flags"]
            if flags & _ALLOCATED and one["sh_type"] != "SHT_NOBITS" and one["sh_size"]:
                constant = not flags & _WRITABLE or one.name.startswith((".got", ".data.rel.ro"))
                found.append(Region(base, one.data(), constant))
        return sorted(found, key=lambda region: region.address)

    def _symbols(self, section: str) -> list[_Symbol]:
        table = self.file.get_section_by_name(section)
        if table is None or not hasattr(table, "iter_symbols"):
            return []
        return [
            _Symbol(
                *(one.name, one["st_info"]["type"], one["st_shndx"]),
                *(one["st_value"], one["st_size"]),
            )
            for one in table.iter_symbols()
        ]

    @staticmethod
    def _is_defined(one: _Symbol) -> bool:
        return isinstance(one.section, int)

    def _address(self, one: _Symbol) -> int:
        if self.is_object and isinstance(one.section, int) and one.section < len(self.bases):
            return self.bases[one.section] + one.value
        return one.value

    # ---- Functions

    def _functions(self) -> list[Function]:
        spans = self._spans()
        if not any(one.kind in _FUNCTION_TYPES and one.size for one in self.symbols):
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
        for one in self.symbols:
            if one.kind not in _FUNCTION_TYPES or not self._is_defined(one):
                continue
            start = self._address(one) & thumb
            if one.size:
                found.setdefault(start, (start, start + one.size, one.name))
            else:
                self.by_address.setdefault(start, one.name)
        return list(found.values())

    def _modes(self) -> list[tuple[int, str]]:
        """The places where code of another kind begins: mapping symbols of Arm's ABIs."""
        if self.machine not in ("arm", "aarch64"):
            return []
        names = {"$a": "a32", "$t": "t32", "$x": "", "$d": "data"}
        found = {
            self._address(one): names[one.name[:2]]
            for one in self.symbols
            if one.name[:2] in names and one.kind == "STT_NOTYPE" and self._is_defined(one)
        }
        if self.machine == "arm" and not found:
            for one in self.symbols:
                if one.kind in _FUNCTION_TYPES and self._is_defined(one):
                    found[self._address(one) & ~1] = "t32" if one.value & 1 else "a32"
        return sorted(found.items())

    def _parts(self, start: int, end: int, modes: Sequence[tuple[int, str]]) -> tuple[Part, ...]:
        region = next(
            (one for one in self._code if one.address <= start < one.end),
            None,
        )
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

    @property
    def _code(self) -> Sequence[Region]:
        if not hasattr(self, "_code_regions"):
            places = {
                base
                for one, base in zip(self.sections, self.bases, strict=True)
                if one["sh_flags"] & _EXECUTABLE and one["sh_size"]
                if not one.name.startswith((".plt", ".iplt"))  # entries of linkage tables
            }
            self._code_regions = [one for one in self.regions if one.address in places]
        return self._code_regions

    def _unwind_spans(self) -> list[tuple[int, int]]:
        """Begin and end of functions, from the index of the unwind tables.

        LSB Core 5.0, 10.6.2: .eh_frame_hdr has a sorted table of places and entries. The range of
        an entry stands behind its begin, both of four bytes in the encoding that linkers write.
        """
        header = self.file.get_section_by_name(".eh_frame_hdr")
        if header is None:
            return []
        data, base = header.data(), header["sh_addr"]
        if len(data) < 12 or data[1:4] != b"\x1b\x03\x3b":
            return []
        count = min(struct.unpack_from("<I", data, 8)[0], (len(data) - 12) // 8)
        found = []
        for begin, entry in struct.iter_unpack("<ii", data[12 : 12 + 8 * count]):
            place = base + entry
            region = next((one for one in self.regions if one.address <= place < one.end), None)
            if region is not None and place + 16 <= region.end:
                size = struct.unpack_from("<I", region.data, place - region.address + 12)[0]
                found.append((base + begin, base + begin + size))
        return found

    # ---- Relocations

    def _slots(self) -> dict[int, str | int]:
        """The words that the dynamic loader fills: with a symbol's address, or a known one."""
        from elftools.elf.relocation import RelocationSection

        found: dict[int, str | int] = {}
        for section in self.sections:
            if not isinstance(section, RelocationSection):
                continue
            kinds = _relocation_names(self.machine)
            table = self.file.get_section(section["sh_link"]) if section["sh_link"] else None
            symbols = table if hasattr(table, "get_symbol") else None
            for one in section.iter_relocations():
                kind = kinds.get(one["r_info_type"], "")
                if kind.endswith("_RELATIVE"):
                    place = one["r_offset"]
                    found[place] = one["r_addend"] if one.is_RELA() else self._word(place)
                elif one["r_info_sym"] and symbols is not None and "TLS" not in kind:
                    symbol = symbols.get_symbol(one["r_info_sym"])
                    if not kind.endswith("_COPY"):
                        found[one["r_offset"]] = symbol.name
        return found

    def _word(self, place: int) -> int:
        size = self.file.elfclass // 8
        for one in self.regions:
            if one.address <= place < one.end:
                return int.from_bytes(one.data[place - one.address :][:size], "little")
        return 0

    def _references(self) -> dict[int, Reference]:
        from elftools.elf.relocation import RelocationSection

        kinds = _relocation_names(self.machine)
        found: dict[int, Reference] = {}
        for section in self.sections:
            if not isinstance(section, RelocationSection):
                continue
            target = self.sections[section["sh_info"]]
            if not target["sh_flags"] & _EXECUTABLE:
                continue
            base = self.bases[section["sh_info"]]
            for one in section.iter_relocations():
                kind = kinds.get(one["r_info_type"], "")
                if kind in ("R_RISCV_RELAX", "R_ARM_V4BX", "R_ARM_NONE", "R_RISCV_ALIGN"):
                    continue
                symbol = self.symbols[one["r_info_sym"]]
                place = self._address(symbol) if self._is_defined(symbol) else None
                name = symbol.name
                if not name and isinstance(symbol.section, int):
                    name = self.sections[symbol.section].name
                addend = one["r_addend"] if one.is_RELA() else 0
                found[base + one["r_offset"]] = Reference(name, kind, addend, place)
        return found

    # ---- Thread-local variables

    def _thread(self) -> list[ThreadVariable] | None:
        """The thread-local variables of a program, which alone has them at fixed places."""
        segment = next((s for s in self.file.iter_segments() if s["p_type"] == "PT_TLS"), None)
        if self._kind() != "ELF executable":
            return None
        if segment is None:
            return []
        align = max(segment["p_align"], 1)
        if self.thread_header is None:
            first = -(-segment["p_memsz"] // align) * -align
        else:
            first = -(-self.thread_header // align) * align
        return sorted(
            (
                ThreadVariable(one.name, first + one.value, one.size)
                for one in self.symbols
                if one.kind == "STT_TLS" and self._is_defined(one)
                if not one.name.startswith("$")  # mapping symbols of Arm's ABIs
            ),
            key=lambda one: one.offset,
        )


def _joined(functions: list[Function], cold: Mapping[str, Function]) -> list[Function]:
    """Functions with the parts that the compiler put elsewhere because they are seldom run."""
    by_name: dict[str, list[int]] = {}
    for index, one in enumerate(functions):
        by_name.setdefault(one.name, []).append(index)
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
