# SPDX-License-Identifier: MIT
"""How many bytes of stack a function takes below its return address.

Compilers say it (-fstack-usage) since GCC 4.6 and clang 14; else the code does. GCC for x86 counts
the return address, too, clang does not: here nobody does.
"""

import re
from collections.abc import Callable
from pathlib import Path

from everycore.binary.disassembly import Instruction

_LINE = re.compile(r"(?P<place>.*):(?P<name>[^:\t]+)\t(?P<bytes>\d+)\t(?P<kind>\S+)")
_GCC = re.compile(r"(^|:)\d+:\d+$")  # line and column; clang says the line only


def read_usage(path: Path, machine: str) -> dict[str, int]:
    """By name of the function, without what compilers add to it; empty without the file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    pushed = {"x86-64": 8, "i386": 4}.get(machine, 0)
    found: dict[str, int] = {}
    for line in text.splitlines():
        if match := _LINE.fullmatch(line):
            own = int(match["bytes"]) - (pushed if _GCC.search(match["place"]) else 0)
            name = plain_name(match["name"])
            found[name] = max(found.get(name, 0), own)
    return found


def plain_name(symbol: str) -> str:
    """As the source has it: aes_encrypt of aes_encrypt.constprop.0."""
    return symbol.split(".", maxsplit=1)[0] or symbol


def growth(machine: str) -> Callable[[Instruction], int]:
    """By how many bytes an instruction makes the stack larger."""
    known: dict[str, Callable[[Instruction], int]] = {
        "x86-64": lambda instruction: _x86(instruction, 8),
        "i386": lambda instruction: _x86(instruction, 4),
        "a64": _a64,
        "a32": _a32,
        "rv64": _Riscv(),
        "ppc64le": _Power(),
        "s390x": _s390,
    }
    return known[machine]


_NUMBER = r"(-?(?:0x[0-9a-f]+|\d+))"
_X86_SUB = re.compile(rf"\${_NUMBER}, ?%[re]sp")
_X86_LEA = re.compile(rf"{_NUMBER}\(%([re])sp\), ?%\2sp")


def _x86(instruction: Instruction, word: int) -> int:
    name = instruction.mnemonic
    if name.startswith("push"):
        return word
    if name.startswith("pop"):
        return -word
    if name.startswith(("sub", "add")) and (match := _X86_SUB.fullmatch(instruction.operands)):
        size = _signed(match[1], 8 * word)
        return size if name.startswith("sub") else -size
    if name.startswith("lea") and (match := _X86_LEA.fullmatch(instruction.operands)):
        return -_signed(match[1], 8 * word)
    return 0


def _signed(text: str, bits: int) -> int:
    value = int(text, 0) & (1 << bits) - 1
    return value - (1 << bits) if value >> bits - 1 else value


_A64_SP = re.compile(rf"sp, sp, #{_NUMBER}(?:, lsl #(\d+))?")
_A64_PUSH = re.compile(rf".*\[sp, #{_NUMBER}\]!")
_A64_POP = re.compile(rf".*\[sp\], #{_NUMBER}")


def _a64(instruction: Instruction) -> int:
    if instruction.mnemonic in ("sub", "add") and (
        match := _A64_SP.fullmatch(instruction.operands)
    ):
        size = int(match[1], 0) << int(match[2] or 0)
        return size if instruction.mnemonic == "sub" else -size
    match = _A64_PUSH.fullmatch(instruction.operands) or _A64_POP.fullmatch(instruction.operands)
    if match and instruction.mnemonic.startswith(("st", "ld")):
        return -int(match[1], 0)
    return 0


_A32_SP = re.compile(rf"sp, (?:sp, )?#{_NUMBER}")
_A32_LIST = re.compile(r"(?:sp!, )?\{([^}]*)\}")


def _a32(instruction: Instruction) -> int:
    name = instruction.mnemonic.split(".")[0]
    if name in ("sub", "subw", "add", "addw") and (
        match := _A32_SP.fullmatch(instruction.operands)
    ):
        return int(match[1], 0) * (1 if name.startswith("sub") else -1)
    pushes = name in ("push", "vpush", "stmdb", "vstmdb")
    pops = name in ("pop", "vpop", "ldm", "ldmia", "vldmia")
    if (pushes or pops) and (match := _A32_LIST.fullmatch(instruction.operands)):
        size = _list_bytes(match[1])
        return size if pushes else -size
    if match := _A64_PUSH.fullmatch(instruction.operands) or _A64_POP.fullmatch(
        instruction.operands
    ):
        return -int(match[1], 0)
    return 0


def _list_bytes(text: str) -> int:
    size = 0
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        count = 1
        if last and first[1:].isdigit() and last[1:].isdigit():
            count = int(last[1:]) - int(first[1:]) + 1
        size += count * {"d": 8, "q": 16}.get(first[:1], 4)
    return size


class _Riscv:
    """A large frame is computed in a register first."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, instruction: Instruction) -> int:
        name = instruction.mnemonic.removeprefix("c.")
        words = [word.strip() for word in instruction.operands.split(",")]
        match name, words:
            case "lui", [to, number]:
                self._known[to] = _signed(number, 20) << 12
            case "li", [to, number]:
                self._known[to] = int(number, 0)
            case "addi16sp", [*_, number]:
                return -int(number, 0)
            case (("addi" | "addiw"), ["sp", "sp", number] | ["sp", number]):
                return -int(number, 0)
            case (("addi" | "addiw"), [to, source, number]) if source in self._known:
                self._known[to] = self._known[source] + int(number, 0)
            case (("addi" | "addiw"), [to, number]) if to in self._known:
                self._known[to] += int(number, 0)
            case "add", ["sp", *_, source] if source in self._known:
                return -self._known[source]
            case "sub", ["sp", *_, source] if source in self._known:
                return self._known[source]
        return 0


class _Power:
    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, instruction: Instruction) -> int:
        words = [word.strip() for word in instruction.operands.split(",")]
        match instruction.mnemonic, words:
            case "stdu", ["r1", place] if match := re.fullmatch(rf"{_NUMBER}\(r1\)", place):
                return -int(match[1], 0)
            case "stdux", ["r1", "r1", source] if source in self._known:
                return -self._known[source]
            case "lis", [to, number]:
                self._known[to] = _signed(number, 16) << 16
            case "li", [to, number]:
                self._known[to] = _signed(number, 16)
            case "ori", [to, source, number] if source in self._known:
                self._known[to] = self._known[source] | int(number, 0)
            case "addi", ["r1", "r1", number]:
                return -_signed(number, 16)
        return 0


_S390 = re.compile(rf"%r15, (?:{_NUMBER}|{_NUMBER}\(%r15\))")


def _s390(instruction: Instruction) -> int:
    match = _S390.fullmatch(instruction.operands)
    if match and instruction.mnemonic in ("aghi", "agfi", "lay", "la", "slgfi", "algfi"):
        value = int(match[1] or match[2], 0)
        return value if instruction.mnemonic == "slgfi" else -value
    return 0
