# SPDX-License-Identifier: MIT
"""Checks the canaries of one binary."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from everycore.binary import pe
from everycore.binary.elf import Elf
from everycore.environment.errors import EverycoreError
from everycore.firmware.canary import (
    a64_layout,
    arrays,
    decoder,
    elf_program,
    paths,
    pe_program,
    policy,
    residue,
)
from everycore.firmware.canary.a64_layout import Layout
from everycore.firmware.canary.arrays import Arrays
from everycore.firmware.canary.canary_output import Checked, Protected
from everycore.firmware.canary.canary_rules import RULES, finding
from everycore.firmware.canary.policy import Policy
from everycore.firmware.canary.program import CHECK_NAMES, FAIL_NAMES, Program
from everycore.firmware.canary.walk import Event, Source, Trail, Walk
from everycore.firmware.findings import Finding, ordered

LEAST_UNREAD_BYTES = 4096  # a note tells of more code outside functions, if it is most of it
MOST_NAMED = 3  # functions of a guard, in the text of guard-mixed
# The canary of C libraries on x86-64, known by its place alone.
_KNOWN_SOURCE, _KNOWN_MACHINE = Source("fs", 0x28), "x86-64"


@dataclass(frozen=True, slots=True)
class Options:
    """The checks that are wanted."""

    policy: Policy = Policy()  # noqa: RUF009  # frozen
    arrays: Arrays = Arrays.ANY
    allowed: Collection[str] = ()  # functions that may be without canary
    residue: bool = False


def read(data: bytes, name: str, map_names: Mapping[int, str], guards: Sequence[str]) -> Program:
    """Read a binary of either format."""
    if data[:4] == b"\x7fELF":
        return elf_program.read(data, name, guards)
    if data[:8] == b"!<arch>\n":
        raise EverycoreError(f"{name}: an archive of objects", "unpack it (ar x), and name these")
    if data[:2] != b"MZ":
        raise EverycoreError(
            f"{name}: neither ELF nor PE: it begins with {data[:4].hex(' ') or 'nothing'}",
            "name a program, a library, an object or an .efi file",
        )
    return pe_program.read(pe.read(data), name, map_names, guards)


def check(program: Program, data: bytes, options: Options) -> Checked:
    """Check a binary, all of whose bytes `data` are."""
    _refuse_without_functions(program)
    walk = decoder.open_walk(program)
    notes = list(program.notes)
    n_open = 0
    protected: list[Protected] = []
    findings: list[Finding] = []
    trails: list[Trail] = []
    n_instructions = 0
    for function in program.functions:
        trail = walk.function(function)
        n_instructions += trail.n_instructions
        canary = _canary(trail)
        if canary is None or function.name in CHECK_NAMES | FAIL_NAMES:
            continue
        sources = tuple(dict.fromkeys(event.source for event in canary))
        protected.append(Protected(function.name, function.start, sources))
        trails.append(trail)
        if function.name not in options.allowed:
            findings += _structure(program, trail, canary)
            findings += _sources(program, trail, sources, options.policy)
            if program.machine == "aarch64":
                layout = _layout(walk, trail, canary)
                findings += _placement(function.name, layout)
                n_open += layout.is_open
    _refuse_unread(program, protected, n_instructions)
    notes += _unread(program, n_open)
    findings += _whole(program, protected, options)
    findings += _arrays(program, data, protected, options, notes)
    if options.residue:
        found, note = residue.check(program, trails)
        findings += found
        notes.append(note)
    found = ordered(findings, RULES)
    return Checked(program.name, found, notes, program, protected, n_instructions)


def _refuse_without_functions(program: Program) -> None:
    """Refuse a file with code in which no function is found: nothing would be looked at."""
    if program.functions or not program.code_bytes:
        return
    raise EverycoreError(
        f"{program.name}: not looked at: no functions found in {program.code_bytes} bytes of code:"
        " neither symbols nor unwind tables name any",
        _remedy(program),
    )


def _refuse_unread(program: Program, protected: Sequence[Protected], n_instructions: int) -> None:
    """Refuse a file in whose functions a canary would not have been recognised."""
    if protected or not program.code_bytes:
        return
    if n_instructions == 0:
        raise EverycoreError(
            f"{program.name}: not looked at: no instruction of its functions could be decoded",
            "name a file whose code is not packed or encrypted",
        )
    is_known_by_place = program.kind.startswith("ELF") and program.machine == _KNOWN_MACHINE
    if not program.has_names and not program.knows_imports and not is_known_by_place:
        raise EverycoreError(
            f"{program.name}: not looked at: it has no symbols, so that neither the guard nor the"
            " call for a changed canary is known",
            _remedy(program),
        )


def _remedy(program: Program) -> str:
    if program.kind.startswith("PE"):
        return "give the linker's map: --map"
    return "check the file before it is stripped; functions in assembly need .type and .size"


def _unread(program: Program, n_open: int) -> Iterator[str]:
    """Notes on parts of the code of which nothing is known."""
    if not program.code_bytes:
        yield "there is no code in it: nothing to check"
    n_read = sum(len(part.data) for function in program.functions for part in function.parts)
    n_unread = program.code_bytes - n_read
    if n_unread > max(n_read, LEAST_UNREAD_BYTES):
        yield f"{n_unread} of {program.code_bytes} bytes of code belong to no known function"
    if n_open:
        yield f"places of canary and return address: not known in {n_open} functions that allocate"


def _layout(walk: Walk, trail: Trail, canary: Sequence[Event]) -> Layout:
    stores = {event.address for event in canary if event.kind == "set"}
    return a64_layout.read((instruction for instruction, _ in walk.code(trail.function)), stores)


def _placement(function: str, layout: Layout) -> Iterator[Finding]:
    """The finding of a canary that an overflow reaches after the return address."""
    if layout.is_unprotected:
        above = (layout.canary or 0) - (layout.return_address or 0)
        text = f"the canary lies {above} bytes above the return address"
        yield finding("canary-above-return", function, layout.allocation, text)


def _canary(trail: Trail) -> list[Event] | None:
    """The events that belong to the canary of a function; None: it has none."""
    events = trail.events
    if not trail.calls_failure:
        events = [e for e in events if e.source.is_global or e.source == _KNOWN_SOURCE]
        if not any(event.kind == "check" or not event.is_address for event in events):
            return None
    checks = [event for event in events if event.kind == "check"]
    sets = [event for event in events if event.kind == "set" and not event.is_address]
    compared = {event.source for event in checks}
    # A thread's other variables are copied to the stack as well.
    own = [event for event in sets if event.source in compared] or (
        sets if not checks or not any(event.is_address for event in checks) else []
    )
    addresses = [
        *(event for event in checks if event.is_address),
        *(
            event
            for event in events
            if event.kind == "set" and event.is_address and not own
            if event.place not in trail.reloaded
        ),
    ]
    return [*own, *(event for event in checks if not event.is_address), *addresses]


def _structure(program: Program, trail: Trail, canary: Sequence[Event]) -> Iterator[Finding]:
    """Findings about prologue and epilogue."""
    function = trail.function
    sets = [event for event in canary if event.kind == "set"]
    checks = [event for event in canary if event.kind == "check"]
    addresses = [event for event in canary if event.is_address]
    if addresses:
        first_event = addresses[0]
        text = f"the address of {first_event.source.label}"
        yield finding("guard-address", function.name, first_event.address, text)
    if not sets and not addresses:
        if checks:
            text = f"compared with {checks[0].source.label}"
            yield finding("set-missing", function.name, checks[0].address, text)
        else:
            text = "neither the store nor the check was found"
            yield finding("guard-unknown", function.name, function.start, text)
        return
    stored, compared = {event.source for event in sets}, {event.source for event in checks}
    if stored and compared and not stored & compared:
        text = f"stored: {_labels(stored)}; compared: {_labels(compared)}"
        yield finding("check-other-guard", function.name, checks[0].address, text)
    # Without names, a part of a function looks like a function.
    starts = program.starts if program.has_names else frozenset[int]()
    place = paths.unchecked_return(trail, starts, {event.address for event in sets})
    if place is not None:
        stored_at = f"stored at {sets[0].address:#x}" if sets else "stored"
        yield finding("check-missing", function.name, place, f"{stored_at}; return at {place:#x}")


def _labels(sources: Collection[Source]) -> str:
    return ", ".join(sorted(source.label for source in sources))


def _sources(
    program: Program, trail: Trail, sources: Sequence[Source], wanted: Policy
) -> Iterator[Finding]:
    function = trail.function
    for source in sources:
        for rule, text in policy.source_findings(program, wanted, source):
            yield finding(rule, function.name, function.start, text)


def _whole(program: Program, protected: Sequence[Protected], options: Options) -> Iterator[Finding]:
    """Findings about the binary as a whole."""
    owners: dict[Source, list[str]] = {}
    for function in protected:
        for source in function.sources:
            owners.setdefault(source, []).append(function.name)
    if len(owners) > 1:
        parts = []
        for source, names in sorted(owners.items(), key=lambda item: -len(item[1])):
            named = ", ".join(names[:MOST_NAMED])
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            parts.append(f"{source.label}: {named}{more}")
        yield finding("guard-mixed", "", None, "; ".join(parts))
    if options.policy.is_given and program.functions and not protected:
        yield finding("protector-absent", "", None, f"{len(program.functions)} functions")


def _arrays(
    program: Program,
    data: bytes,
    protected: Sequence[Protected],
    options: Options,
    notes: list[str],
) -> Iterator[Finding]:
    if options.arrays == Arrays.NONE:
        return
    if not program.kind.startswith("ELF") or not Elf(data, program.name).has_debug_information:
        notes.append("arrays were not checked: no DWARF debug information (-g)")
        return
    if program.kind == "ELF object":
        notes.append("arrays were not checked: an object's debug information is not yet linked")
        return
    known = {function.address for function in protected}
    for array in arrays.read(data, program.name, options.arrays):
        if array.start & ~_thumb(program) not in known and array.function not in options.allowed:
            text = f"'{array.variable}'"
            yield finding("array-unprotected", array.function, array.start, text)


def _thumb(program: Program) -> int:
    return 1 if program.machine == "arm" else 0
