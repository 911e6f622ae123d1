# SPDX-License-Identifier: MIT
"""Static rules of instructions: a scan of the code that a driver can reach.

Sections mix code with data, and data read as code would give findings that are none. So the scan
follows the flow from where code is known to begin: the entry point, functions of the exception
table, addresses that are relocated or computed (lea, adr) and that lie in executable sections. The
only rule for all bytes of a section is that of 32-bit stack accesses, whose encoding is peculiar.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from everycore.binary import pe, pe_functions
from everycore.binary.disassembly import Flow, Instruction, decode
from everycore.environment import extras
from everycore.environment.errors import MissingPackagesError
from everycore.firmware.efi.violations import Findings
from everycore.firmware.findings import Finding

PURPOSE, EXTRA = "reading the code of EFI drivers", "firmware"
DECODED = {"x86-64": "x86-64", "aarch64": "a64"}
CHUNK = 64  # bytes that are decoded at a time where flow leads beside the linear sweep
NO_CODE = (".byte", ".insn", "udf")
# Instructions that text looks like, and that code of a driver hardly has.
UNLIKELY = {
    "insb", "insl", "insw", "outsb", "outsl", "outsw", "xlat", "xlatb", "loop", "loope",
    "loopne", "enter", "enterq", "iret", "iretd", "iretq", "retf", "lret", "lretq", "arpl",
    "jrcxz", "int1", "cmc",
}  # fmt: skip
PREFIXES = ("lock", "rep", "repe", "repz", "repne", "repnz")
CANONICAL = 1 << 47  # above: no address that software of today has
LOWEST = 0x10000  # below: a member of a structure at NULL, on a path that is never taken
MOST_INSTRUCTIONS = 2_000_000
MOST_CODE_BYTES = 16 << 20

_STACK_32 = re.compile(r"\((?:%e[sb]p)\b|[(,]%e[sb]p\b.*\)")
_PORT = re.compile(r"(?:rep[a-z]* )?(?:in|out)(?:s?[bwl])?$")
_ABSOLUTE = re.compile(r"(?:^|[ ,*])(?:%[c-g]s:)?(-?0x[0-9a-f]+|-?\d+)(?=$|,)")
_RANDOM = re.compile(r"rdrand|rdseed")
_RANDOM_A64 = re.compile(r"(?i)\b(rndr|rndrrs|s3_3_c2_c4_[01])\b")
_COMPUTED_X86 = re.compile(r"(-?0x[0-9a-f]+|-?\d+)\(%rip\)")
_NUMBER = re.compile(r"#?(-?0x[0-9a-f]+|\d+)$")
# 67h, then an instruction whose ModRM byte names memory at [esp + ...] with an 8-bit or no offset:
# what compilers and inline assembly for 32 bits make. Intel SDM volume 2, tables 2-2 and 2-3.
_RAW_STACK = re.compile(
    rb"[\xf0]?\x67[\xf0]?[\x01\x09\x21\x29\x81\x83\x87\x89\x8b][\x04\x44\x0c\x4c]\x24"
)


@dataclass(slots=True)
class Scan:
    """The findings of a scan. notes: what could not be done."""

    findings: list[Finding] = field(default_factory=list)
    instructions: int = 0
    notes: list[str] = field(default_factory=list)


def check(image: pe.Image, fixed: tuple[tuple[int, int], ...] = ()) -> Scan:
    """Scan the code of an image.

    fixed: ranges of memory that the firmware keeps at fixed addresses, which may be accessed.
    """
    scan = Scan()
    machine = DECODED.get(image.machine_name)
    if machine is None:
        scan.notes.append(f"instructions not scanned: no decoder for {image.machine_name}")
        return scan
    if sum(s.loaded_bytes for s in image.sections if s.is_executable) > MOST_CODE_BYTES:
        scan.notes.append(
            f"instructions not scanned: more than {MOST_CODE_BYTES >> 20} MiB of code"
        )
        return scan
    found = Findings()
    try:
        instructions = reachable(image, machine)
    except MissingPackagesError:
        error = extras.missing_packages(PURPOSE, EXTRA)
        scan.notes.append(f"instructions not scanned: {error.message}; {error.hint}")
        instructions = []
    scan.instructions = len(instructions)
    for instruction in instructions:
        for rule, text in _judge(machine, instruction, fixed):
            found.add(rule, instruction.place, text)
    if machine == "x86-64":
        _scan_bytes(image, found)
    scan.findings = found.ordered()
    return scan


class Code:
    """The executable sections of an image, decoded as far as something leads into them."""

    def __init__(self, image: pe.Image, machine: str) -> None:
        self.machine, self.memory = machine, pe.memory(image)
        self.ranges = [
            (s.address, s.address + s.loaded_bytes)
            for s in image.sections
            if s.is_executable and s.loaded_bytes
        ]
        self.known: dict[int, Instruction] = {}
        for begin, end in self.ranges:
            self._decode(begin, end)
        self.in_step = set(self.known)  # where a sweep from the section's begin has instructions
        self.accepted: dict[int, Instruction] = {}
        self._covered = bytearray(len(self.memory))  # 1: inside an accepted instruction

    def _decode(self, begin: int, end: int) -> None:
        for instruction in decode(self.machine, bytes(self.memory[begin:end]), begin, begin):
            self.known.setdefault(instruction.place, instruction)

    def at(self, place: int) -> Instruction | None:
        """The instruction at a place; None: there is no code."""
        if place not in self.known:
            end = next((e for b, e in self.ranges if b <= place < e), None)
            if end is None:
                return None
            self._decode(place, min(end, place + CHUNK))
        instruction = self.known.get(place)
        return None if instruction is None or instruction.mnemonic in NO_CODE else instruction

    def follow(self, beginning: int, is_certain: bool) -> list[Instruction]:
        """Accept what is reached from a place, and return the addresses' instructions.

        A place that only an address names may be data. It is accepted if all that is reached from
        it is code, in step with a sweep over the section, and begins inside of no instruction that
        is accepted.
        """
        found: dict[int, Instruction] = {}
        waiting = [beginning]
        while waiting:
            place = waiting.pop()
            while place not in found and place not in self.accepted:
                instruction = self.at(place)
                if instruction is None or self._covered[place] or len(found) > MOST_INSTRUCTIONS:
                    if not is_certain:
                        return []
                    break
                if not is_certain and (
                    instruction.mnemonic in UNLIKELY or place not in self.in_step
                ):
                    return []
                found[place] = instruction
                if instruction.target is not None:
                    waiting.append(instruction.target)
                if instruction.flow in (Flow.JUMP, Flow.RETURN, Flow.STOP):
                    break
                place = instruction.end
        for instruction in found.values():
            self._covered[instruction.place + 1 : instruction.end] = b"\1" * (instruction.size - 1)
        self.accepted.update(found)
        return list(found.values())


def reachable(image: pe.Image, machine: str) -> list[Instruction]:
    """Each instruction that flow or an address leads to, by its place relative to the base."""
    code = Code(image, machine)
    certain = [image.entry, *(begin for begin, *_ in pe_functions.exceptions(image))]
    new = [instruction for place in certain for instruction in code.follow(place, True)]
    named = sorted({*_relocated(image, code.memory)})
    while named or new:
        named += [place for instruction in new for place in _addresses(machine, instruction)]
        if not named:
            break
        new = code.follow(named.pop(), False)
    return [code.accepted[place] for place in sorted(code.accepted)]


def _relocated(image: pe.Image, memory: bytearray) -> Iterator[int]:
    """Places that addresses in the image name, which may be data."""
    for relocation in pe.relocations(image):
        if relocation.kind == pe.RELOC_DIR64:
            yield (
                int.from_bytes(memory[relocation.address : relocation.address + 8], "little")
                - image.base
            )


def _addresses(machine: str, instruction: Instruction) -> Iterator[int]:
    """Addresses that an instruction computes."""
    if machine == "x86-64" and instruction.mnemonic.startswith("lea"):
        if found := _COMPUTED_X86.search(instruction.operands):
            yield instruction.end + int(found[1], 0)
    elif (
        machine == "a64"
        and instruction.mnemonic == "adr"
        and (found := _NUMBER.search(instruction.operands))
    ):
        yield int(found[1], 0)


def _judge(
    machine: str, instruction: Instruction, fixed: tuple[tuple[int, int], ...]
) -> Iterator[tuple[str, str]]:
    name, operands = instruction.mnemonic, instruction.operands
    bare = name
    if name in PREFIXES:
        bare, _, operands = operands.partition(" ")
    if machine == "a64":
        if bare == "mrs" and _RANDOM_A64.search(operands):
            yield "code-random", instruction.text
        return
    if _STACK_32.search(operands) and not bare.startswith("lea"):
        yield "code-stack-32-bit", instruction.text
    if _PORT.match(bare):
        yield "code-port-io", instruction.text
    if _RANDOM.match(bare):
        yield "code-random", instruction.text
    if bare == "cpuid":
        yield "code-cpuid", instruction.text
    if bare in ("rdtsc", "rdtscp"):
        yield "code-time-stamp", instruction.text
    if instruction.flow == Flow.NEXT and not bare.startswith(("nop", "lea", "int", "ret", "enter")):
        for found in _ABSOLUTE.finditer(operands):
            address = int(found[1], 0)
            is_kept = any(begin <= address < begin + length for begin, length in fixed)
            if LOWEST <= address < CANONICAL and not is_kept:
                yield "code-absolute-address", instruction.text
                break


def _scan_bytes(image: pe.Image, found: Findings) -> None:
    """Look for 32-bit stack accesses in all bytes of executable sections."""
    memory = pe.memory(image)
    for section in image.sections:
        if not section.is_executable:
            continue
        part = bytes(memory[section.address : section.address + section.loaded_bytes])
        for match in _RAW_STACK.finditer(part):
            place = section.address + match.start()
            known = {address for rule, address in found.sites if rule == "code-stack-32-bit"}
            if place not in known and place + 1 not in known and place - 1 not in known:
                found.add("code-stack-32-bit", place, f"bytes {match[0].hex(' ')}")
