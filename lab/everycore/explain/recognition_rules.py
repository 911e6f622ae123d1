# SPDX-License-Identifier: MIT
"""Rules of recognition, read from TOML: one file a primitive, each with its sources.

rules/*.toml name tables and implementations. A table is computed (`make`, of constants.py) or
written out (`words`). An implementation has conditions: all of `needs`, one of `any`, and none of
`without` must hold.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError
from everycore.environment.toml_tables import expect, read_toml, shape_of
from everycore.explain import constants

FOLDER = Path(__file__).parent / "rules"
KINDS = ("cipher", "mac", "hash", "public", "checksum", "random", "overhead")
SCOPES = ("samples", "window", "function", "live", "callers")
GENERAL = 38  # ranks from here on are of rules that hold for many primitives
VAGUE = 61  # and of names that many primitives' functions have
_CHUNK = 8  # bytes by which a table is found
_NEAR = 16  # bytes between an address that is loaded from and a table's piece
_WORD, _LONG = 4, 48  # bytes of the largest number, and numbers, of a table in an array
_SMALL = 64  # tables of numbers below are looked at as a whole
_FORMS = ("le", "be", "twice", "spread")
_ARRAYS = ("doubles", "upper halves")  # as engines of JavaScript keep arrays of numbers
_ENOUGH = 192  # equal bytes of a table that is compared as a whole

_FILE = {"primitive": str, "kind": str, "source": str, "table": Any, "implementation": Any}
_TABLE = {
    "name": str, "make": str, "words": tuple, "bytes": int, "forms": tuple[str, ...], "exact": bool,
}  # fmt: skip
_CONDITIONS = ("needs", "any", "without")
_PATTERNS = ("op", "table", "symbol", "to", "file")  # of a condition
_DEMANDS = (
    "op", "table", "rotate", "constant", "symbol", "lookups", "logic", "vector", "shift",
    "plain_shift", "clears", "apart", "file",
)  # fmt: skip


@dataclass(frozen=True)
class Condition:
    """One demand of a rule. Exactly one of op, table, rotate, constant, symbol, ... is set."""

    op: re.Pattern[str] | None = None
    share: float = 0.0  # at least so many per cent of the instructions that samples stand for
    most: float = 100.0
    to: re.Pattern[str] | None = None  # `share` and `most` are relative to these instructions
    count: int = 1  # or at least so many in the scope
    width: int = 0  # bits of a vector, at least
    scope: str = ""
    table: re.Pattern[str] | None = None
    rotate: tuple[int, ...] = ()  # left rotations that must all occur
    at_least: int = 0  # so many of the rotations are enough; `most`: of all that occur
    bits: int = 32
    constant: tuple[int, ...] = ()  # any of them
    shift: tuple[int, ...] = ()  # any of these shifts of lanes to the left
    plain_shift: tuple[int, ...] = ()  # all of these shifts of general registers, or of lanes
    file: re.Pattern[str] | None = None  # the name of the file that holds the code
    symbol: re.Pattern[str] | None = None  # of the function, or with scope "callers" of those
    lookups: float = 0.0  # per cent of loads with a scaled index, or of bytes as an index
    logic: float = 0.0  # per cent of and, or, xor, not
    vector: float = 0.0  # per cent of instructions on vectors
    clears: float = 0.0  # per cent of instructions that only clear registers
    apart: int = 0  # `at_least` to `most` (three to four) tables lie so many bytes from each other


@dataclass(frozen=True)
class Implementation:
    """A way to compute a primitive, and the conditions that prove it."""

    primitive: str
    kind: str
    name: str  # may hold {form}: scalar, SSE, AVX2, ...
    rank: int  # lower ones are tried first
    needs: tuple[Condition, ...]
    any: tuple[Condition, ...] = ()  # one of these must hold, if there are any
    without: tuple[Condition, ...] = ()
    together: bool = False  # it may stand beside another primitive in one loop
    vector_share: float = 25.0  # per cent of vector instructions from which on {form} names one
    needs_crypto: bool = False  # holds only for code of a cryptographic library, or called by one
    says: str = ""
    beside: re.Pattern[str] | None = None  # a primitive that was recognised in the same file
    is_family: bool = False  # its names are also those of other primitives' functions

    @property
    def is_of_names(self) -> bool:
        """Whether it asks for the function's own name alone."""
        return (
            len(self.needs) == 1
            and self.needs[0].symbol is not None
            and (self.needs[0].scope == "function" and not self.any and not self.without)
        )

    def said_in(self, name: str) -> str:
        """Return what a pattern finds in a function's name, as a name of a primitive."""
        symbols = [
            need.symbol for need in self.needs if need.symbol and "what" in need.symbol.groupindex
        ]
        found = next((match for symbol in symbols if (match := symbol.search(name))), None)
        text = found["what"] if found else ""
        return text.upper() if len(text) < 4 else text.capitalize()

    def is_name(self, name: str) -> bool:
        return bool((symbol := self.needs[0].symbol) and symbol.search(name))


@dataclass(frozen=True, slots=True)
class Piece:
    """Eight bytes of a table: which table, and where in it."""

    table: str
    offset: int
    length: int
    whole: bytes = field(default=b"", compare=False)  # of small numbers, which are everywhere
    is_exact: bool = field(default=False, compare=False)  # the whole of it, and nothing less

    def is_at(self, base: int, start: int, data: bytes) -> bool:
        """Whether the table is in some data as far as that reaches, or at least a half of it."""
        if not self.whole:
            return True
        first, last = max(base, start), min(base + self.length, start + len(data))
        own = self.whole[first - base : last - base]
        if self.is_exact and len(own) < self.length:
            return False
        is_enough = len(own) >= min(self.length / 2, _ENOUGH)
        return is_enough and data[first - start : last - start] == own


@dataclass(frozen=True)
class Rules:
    implementations: tuple[Implementation, ...]
    pieces: dict[bytes, tuple[Piece, ...]]
    kinds: dict[str, str]  # primitive -> kind
    sources: dict[str, str]

    @cached_property
    def particular(self) -> tuple[Implementation, ...]:
        """Rules of one primitive's own constants, tables or rotations."""
        return tuple(
            implementation
            for implementation in self.implementations
            if implementation.rank < GENERAL
        )

    @cached_property
    def general(self) -> tuple[Implementation, ...]:
        """Rules of names, and of arithmetic that many have; a primitive's own name comes first."""
        rules = (
            implementation
            for implementation in self.implementations
            if implementation.rank >= GENERAL
        )
        return tuple(sorted(rules, key=lambda rule: not rule.is_of_names or rule.rank >= VAGUE))

    @cached_property
    def of_names(self) -> tuple[Implementation, ...]:
        return tuple(
            implementation for implementation in self.implementations if implementation.is_of_names
        )

    def tables_at(self, address: int, start: int, data: bytes) -> dict[str, int]:
        """Return the tables that hold an address, by two or more of their pieces at it.

        One of them lies behind it: a table's last entry may be before one of another code. Pieces
        farther away are no evidence: compilers lay constants of other code there.
        """
        hits: dict[tuple[str, int, int], int] = {}
        behind: set[tuple[str, int, int]] = set()
        begin = max(0, address - start - _NEAR)
        for at in range(begin, min(address - start + _NEAR, len(data) - _CHUNK) + 1):
            for piece in self.pieces.get(data[at : at + _CHUNK], ()):
                base = start + at - piece.offset
                if base - _NEAR <= address < base + piece.length and piece.is_at(base, start, data):
                    key = (piece.table, base, piece.length)
                    hits[key] = hits.get(key, 0) + 1
                    if piece.is_exact:
                        hits[key] += 1
                    if start + at > address or piece.length <= _NEAR or piece.is_exact:
                        behind.add(key)
        found: dict[str, int] = {}
        for key, count in hits.items():
            name, _, length = key
            if count >= min(2, length // _CHUNK) and key in behind:
                found[name] = max(found.get(name, 0), count)
        return found


@lru_cache(maxsize=1)
def load_rules(folder: Path = FOLDER) -> Rules:
    """Read all rules."""
    implementations: list[Implementation] = []
    pieces: dict[bytes, dict[Piece, None]] = {}
    kinds: dict[str, str] = {}
    sources: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        table = expect(path.name, read_toml(path), _FILE, ("primitive", "kind", "source"))
        primitive, kind = table["primitive"], table["kind"]
        if kind not in KINDS:
            raise EverycoreError(
                f"{path.name}: unknown kind '{kind}'", f"valid: {', '.join(KINDS)}"
            )
        kinds[primitive], sources[primitive] = kind, table["source"]
        for entry in table.get("table", ()):
            for chunk, piece in _pieces(path.name, entry):
                pieces.setdefault(chunk, {})[piece] = None
        for entry in table.get("implementation", ()):
            implementations.append(_implementation(path.name, primitive, kind, entry))
    implementations.sort(key=lambda implementation: implementation.rank)
    found = {chunk: tuple(own) for chunk, own in pieces.items()}
    return Rules(tuple(implementations), found, kinds, sources)


def _pieces(where: str, table: Any) -> Iterator[tuple[bytes, Piece]]:
    known = expect(f"{where}: table", table, _TABLE, ("name", "bytes"))
    if "make" in known and known["make"] not in constants.MAKERS:
        raise EverycoreError(f"{where}: nothing makes '{known['make']}'")
    numbers = constants.MAKERS[known["make"]]() if "make" in known else list(known["words"])
    size = known["bytes"]
    forms = known.get("forms", ("le",))
    for form in forms:
        if form not in _FORMS:
            raise EverycoreError(f"{where}: unknown form '{form}'", f"valid: {', '.join(_FORMS)}")
    is_exact = known.get("exact", False)
    arrays = _ARRAYS if size <= _WORD and len(numbers) >= _LONG and not is_exact else ()
    for form in (*forms, *arrays):
        is_array = form in _ARRAYS
        is_small = max(numbers) < _SMALL or is_exact or is_array
        for whole in _laid_out(numbers, size, form):
            for at in range(0, len(whole) - _CHUNK + 1, _CHUNK if is_array else size):
                chunk = whole[at : at + _CHUNK]
                is_rare = any(chunk) if is_exact or is_array else len(set(chunk)) > 2
                if is_rare:  # zeros and ones are everywhere; an exact table is compared as a whole
                    held = whole if is_small else b""
                    yield chunk, Piece(known["name"], at, len(whole), held, is_exact)


def _laid_out(numbers: Sequence[int], size: int, form: str) -> Iterator[bytes]:
    """Yield the bytes of a table in one of its forms."""
    low = [number.to_bytes(size, "little") for number in numbers]
    high = [number.to_bytes(size, "big") for number in numbers]
    if form == "twice":  # each number two times, as tables for unaligned loads have it
        yield b"".join(part + part for part in low)
        yield b"".join(part + part for part in high)
    elif form == "doubles":  # floating-point numbers, where one is too large for a small integer
        yield b"".join(struct.pack("<d", number) for number in numbers)
    elif form == "upper halves":  # small integers
        if max(numbers) < 1 << 31:
            yield b"".join((number << 32).to_bytes(8, "little") for number in numbers)
    elif form == "spread":  # each number behind as many zeros
        yield b"".join(bytes(size) + part for part in low)
    else:
        yield b"".join(high if form == "be" else low)


def _implementation(where: str, primitive: str, kind: str, table: Any) -> Implementation:
    shape = shape_of(Implementation, ("primitive", "kind")) | {"beside": str}
    known = expect(f"{where}: implementation", table, shape, ("name", "rank", "needs"))
    for name in _CONDITIONS:
        own = known.get(name, ())
        known[name] = tuple(_condition(f"{where}: {known['name']}", condition) for condition in own)
    if "beside" in known:
        known["beside"] = re.compile(known["beside"])
    return Implementation(primitive, kind, **known)


def _condition(where: str, table: Any) -> Condition:
    known = expect(where, table, shape_of(Condition) | dict.fromkeys(_PATTERNS, str))
    if sum(name in known for name in _DEMANDS) != 1:
        raise EverycoreError(f"{where}: a condition has one of {', '.join(_DEMANDS)}")
    if known.get("scope", "") not in ("", *SCOPES):
        raise EverycoreError(f"{where}: unknown scope", f"valid: {', '.join(SCOPES)}")
    for name in _PATTERNS:
        if name in known:
            try:
                known[name] = re.compile(known[name], re.I if name == "symbol" else 0)
            except re.error as error:
                raise EverycoreError(f"{where}: '{name}' is no pattern: {error}") from error
    return Condition(**known)
