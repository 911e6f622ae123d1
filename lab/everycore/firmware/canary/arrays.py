# SPDX-License-Identifier: MIT
"""Functions with arrays on their stacks, as the debug information of an ELF file has them."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from everycore.binary.elf import DamagedError, Elf
from everycore.environment.errors import EverycoreError


class Arrays(StrEnum):
    """The arrays for which a function must have a canary; after GCC's options."""

    ANY = "any"  # -fstack-protector-strong: any array, also within a structure
    CHAR = "char"  # -fstack-protector: arrays of 8 or more characters
    NONE = "none"


@dataclass(frozen=True, slots=True)
class StackArray:
    """A variable that is an array, or holds one."""

    start: int  # of the function
    function: str
    variable: str


LEAST_CHARS = 8  # GCC's --param ssp-buffer-size
_FRAME_BASE = 0x91  # DW_OP_fbreg: DWARF 5, section 7.7.1
_REGISTER_BASES = range(0x70, 0x90)  # DW_OP_breg0 to DW_OP_breg31
_WRAPPERS = frozenset({"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type"})
_STRUCTURES = frozenset({"DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"})
_SCOPES = frozenset({"DW_TAG_lexical_block", "DW_TAG_inlined_subroutine"})
_LINKS = ("DW_AT_abstract_origin", "DW_AT_specification")
_MOST_DEPTH = 32


def read(data: bytes, name: str, wanted: Arrays) -> Iterator[StackArray]:
    """The arrays on stacks, each function with its first one."""
    try:
        with Elf(data, name).debug_information() as info:
            for unit in info.iter_CUs() if info else ():
                yield from _Unit(unit, wanted).arrays()
    except DamagedError as error:
        raise EverycoreError(
            f"{name}: the debug information is damaged: {error.why}",
            "leave it out of the check with --arrays none",
        ) from error


class _Unit:
    """One compilation unit."""

    def __init__(self, unit: Any, wanted: Arrays) -> None:
        self.unit = unit
        self.wanted = wanted
        self._types: dict[int, bool] = {}

    def arrays(self) -> Iterator[StackArray]:
        for die in self.unit.get_top_DIE().iter_children():
            yield from self._below(die)

    def _below(self, die: Any) -> Iterator[StackArray]:
        if die.tag == "DW_TAG_subprogram":
            if found := self._function(die):
                yield found
        elif die.tag in ("DW_TAG_namespace", *_STRUCTURES) and die.has_children:
            for child in die.iter_children():  # functions of Rust and C++
                if child.tag in ("DW_TAG_subprogram", "DW_TAG_namespace", *_STRUCTURES):
                    yield from self._below(child)

    def _function(self, die: Any) -> StackArray | None:
        low = die.attributes.get("DW_AT_low_pc")
        if low is None or not die.has_children:
            return None
        variable = self._first_array(die)
        if variable is None:
            return None
        start = low.value
        return StackArray(start, _name(die), variable)

    def _first_array(self, scope: Any) -> str | None:
        for child in scope.iter_children():
            if child.tag == "DW_TAG_variable":
                location = child.attributes.get("DW_AT_location")
                if location is not None and _is_on_stack(location.value) and self._is_array(child):
                    return _name(child)
            elif child.tag in _SCOPES and child.has_children:
                found = self._first_array(child)
                if found is not None:
                    return found
        return None

    def _is_array(self, variable: Any) -> bool:
        kinds = (_type(origin) for origin in _origins(variable))
        kind = next((candidate for candidate in kinds if candidate is not None), None)
        return kind is not None and self._holds_array(kind, 0)

    def _holds_array(self, kind: Any, depth: int) -> bool:
        known = self._types.get(kind.offset)
        if known is None:
            known = depth < _MOST_DEPTH and self._holds_array_anew(kind, depth)
            self._types[kind.offset] = known
        return known

    def _holds_array_anew(self, kind: Any, depth: int) -> bool:
        if kind.tag in _WRAPPERS:
            inner = _type(kind)
            return inner is not None and self._holds_array(inner, depth + 1)
        if kind.tag == "DW_TAG_array_type":
            return self._counts(kind)
        if kind.tag in _STRUCTURES:
            members = (child for child in kind.iter_children() if child.tag == "DW_TAG_member")
            inner_types = (_type(member) for member in members)
            return any(
                inner_type is not None and self._holds_array(inner_type, depth + 1)
                for inner_type in inner_types
            )
        return False

    def _counts(self, kind: Any) -> bool:
        """Whether an array asks for a canary."""
        n_elements = 1
        for child in kind.iter_children():
            if child.tag == "DW_TAG_subrange_type":
                n_elements *= _count(child)
        if self.wanted == Arrays.ANY:
            return n_elements > 0
        element = _type(kind)
        while element is not None and element.tag in _WRAPPERS:
            element = _type(element)
        size = element.attributes.get("DW_AT_byte_size") if element is not None else None
        is_char = size is not None and size.value == 1
        return is_char and n_elements >= LEAST_CHARS


def _count(subrange: Any) -> int:
    """The elements of one dimension; one that is only known at run time counts as many."""
    many = 1 << 32
    for name, more in (("DW_AT_count", 0), ("DW_AT_upper_bound", 1)):
        found = subrange.attributes.get(name)
        if found is not None:
            is_number = isinstance(found.value, int) and not found.form.startswith("DW_FORM_ref")
            return found.value + more if is_number else many
    return 0


def _is_on_stack(location: Any) -> bool:
    """Whether a location is a place relative to the frame; lists are of variables in registers."""
    if not isinstance(location, list) or not location:
        return False
    return location[0] == _FRAME_BASE or location[0] in _REGISTER_BASES


def _origins(die: Any) -> Iterator[Any]:
    """Yield an entry, then those with the rest of it: an inlined or cloned function has such."""
    for _ in range(4):
        yield die
        link = next((attribute for attribute in _LINKS if attribute in die.attributes), None)
        if link is None:
            return
        die = die.get_DIE_from_attribute(link)


def _type(die: Any) -> Any:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _name(die: Any) -> str:
    found = (origin.attributes.get("DW_AT_name") for origin in _origins(die))
    name = next((attribute for attribute in found if attribute is not None), None)
    return str(name.value.decode("utf-8", errors="replace")) if name else "without a name"
