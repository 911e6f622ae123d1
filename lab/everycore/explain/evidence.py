# SPDX-License-Identifier: MIT
"""Evidence of one region: what the sampled instructions do, weighted by samples, and what is near.

Samples decide by shares; the window and the function around them only tell whether something
occurs. A constant or a table that is merely present proves nothing by itself.
"""

import bisect
import math
import re
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

from everycore.explain import instructions
from everycore.explain.instructions import Op
from everycore.explain.recognition_rules import Condition, Rules
from everycore.explain.regions import Region

_BEFORE, _AFTER = 10, 4  # instructions that one sample stands for
_WINDOW_BYTES = 256
_FAR_BYTES = 4096  # code of a function that is farther from all samples says nothing of them
_WORD_BYTES = (4, 8)
_MASK32, _MASK64, _HALF64 = (1 << 32) - 1, (1 << 64) - 1, 1 << 63
_PLAIN_SHIFTS = {"shl": 1, "sal": 1, "lsl": 1, "shr": -1, "lsr": -1, "sar": -1, "asr": -1}
_DOUBLE_SHIFTS = {"shrd": 1, "extr": 1, "shld": -1}  # of two words: both shifts, and an `or`
_TURNS = {"rol": 1, "ror": -1}
_VARIABLE_TURNS = re.compile(r"vp(?:(ro[lr])|(s[lr]l))v([dq])")
_WORD_READ = 8  # bytes that a load into a general register reads
_COUNT_BYTES = 16  # of a vector of shift counts, at least
_MOST_TABLES = 4  # of a cipher whose key makes them, unless a rule says otherwise
_COMPUTED = 4  # instructions from a shift to the load whose address it is a part of
_NEARLY_ALL = 254  # of 256 bytes
_SMALLEST_DOUBLE, _LARGEST_DOUBLE = 0x4070 << 48, 0x4330 << 48  # 2^8 and 2^52
_SMALLEST_WORD = 256  # words in data that are below are lengths, counts and bytes
_MAY_ROTATE = re.compile(
    r"ro[lr]x?|sh[lr][dx]?|v?pshuf.*|vp(ro[lr]|s[lr]l).*|tbl|rev.*|eor|extr|xar"
)
_SHUFFLE = re.compile(r"v?pshufb|tbl")


def _byte_rotations() -> dict[int, tuple[int, int]]:
    """Return masks of byte shuffles that rotate lanes: mask -> bits of a lane, to the left."""
    found = {}
    for size in _WORD_BYTES:
        for turn in range(1, size):
            places = bytes((at - turn) % size for at in range(size))
            found[int.from_bytes(places, "little")] = (8 * size, 8 * turn)
    return found


_BYTE_ROTATIONS = _byte_rotations()
_LOGIC = re.compile(
    r"v?p?(xor|and|or|andn|not)[dq]?|v?(xor|and|or|andn)ps|vpternlog[dq]|eor|orr|bic|orn|eon|mvn|"
    r"eor3|bcax|bsl|bit|bif"
)
_ALL_VECTORS = 50.0  # per cent of instructions: rounds are in vectors, too
_PRODUCTS = re.compile(r"i?mulx?|madd|umulh|umaddl|umull|v?pmul.*|vpmadd52.*")
_FEWEST_PRODUCTS = 3.0  # per cent
_MOVES = (
    "mov",
    "movsxd",
    "cdqe",
    "cdq",
    "cqo",
    "push",
    "pop",
    "jmp",
    "leave",
    "ldr",
    "str",
    "ldp",
    "stp",
)
_USUAL_MOVES = 0.4  # of the instructions of code that a compiler has made fast
_CLEAR = "clear"  # of a register: the exclusive or with itself
_IGNORED = ("nop", "int3", "endbr64", "(bad)", "udf")


@dataclass
class Scope:
    """Facts of some instructions; of samples with a weight for each."""

    total: float = 0.0
    moves: float = 0.0  # that compute nothing
    names: Counter[str] = field(default_factory=Counter)
    widths: dict[str, int] = field(default_factory=dict)
    vectors: Counter[int] = field(default_factory=Counter)  # width -> weight
    rotations: Counter[tuple[int, int]] = field(default_factory=Counter)  # bits, to the left
    shifts: set[tuple[int, int]] = field(default_factory=set)  # lane, signed distance
    plain_shifts: set[tuple[int, int]] = field(default_factory=set)  # of general registers
    double_shifts: set[int] = field(default_factory=set)
    turns: set[tuple[int, int]] = field(default_factory=set)  # bits, 1 or -1: by a register
    counts: set[int] = field(default_factory=set)  # small numbers that are moved to registers
    constants: set[int] = field(default_factory=set)
    tables: Counter[str] = field(default_factory=Counter)
    logic: float = 0.0
    lookups: float = 0.0
    clears: float = 0.0
    offsets: set[int] = field(default_factory=set)  # of tables from their register, in bytes

    def add(self, op: Op, weight: float = 1.0, is_computed: bool = False) -> None:
        if op.name in _IGNORED:
            return
        self.total += weight
        self.moves += weight * (op.name in _MOVES)
        name = _CLEAR if op.clears and "xor" in op.name else op.name  # the sum is no sum
        self.names[name] += weight  # type: ignore[assignment]
        self.widths[name] = max(self.widths.get(name, 0), op.width)
        if op.width and "mov" not in op.name:  # compilers copy structures by vectors, too
            self.vectors[op.width] += weight  # type: ignore[assignment]
        if op.left:
            self.rotations[op.lane or op.bits or 32, op.left] += weight  # type: ignore[assignment]
        elif op.name in _TURNS and not op.numbers:
            self.turns.add((op.bits, _TURNS[op.name]))
        if op.name == "mov" and op.numbers and 0 < op.numbers[0] < 64 and not op.base:
            self.counts.add(op.numbers[0])
        if op.shift:
            self.shifts.add((op.lane, op.shift))
        if op.name in _DOUBLE_SHIFTS and op.numbers and op.bits:
            right = _DOUBLE_SHIFTS[op.name] * op.numbers[-1] % op.bits
            self.double_shifts |= {-right, op.bits - right}
        if op.name in _PLAIN_SHIFTS and op.numbers:
            self.plain_shifts.add((op.bits, _PLAIN_SHIFTS[op.name] * op.numbers[-1]))
        for number in op.numbers:
            self.constants.add(number)
            if number >> 32 == _MASK32:  # 32 bits whose sign was extended
                self.constants.add(number & _MASK32)
        self.logic += weight * bool(_LOGIC.fullmatch(op.name))
        is_lookup = (op.index != "" and op.scale > 1) or op.name in ("movzx", "uxtb", "ubfx")
        is_lookup |= is_computed
        self.lookups += weight * bool(is_lookup or (op.index and op.name in ("ldrb", "mov")))
        self.clears += weight * op.clears
        if op.index and op.scale > 1:
            self.offsets.add((op.displacement + _HALF64 & _MASK64) - _HALF64)

    def join(self, other: "Scope") -> None:
        """Take in the facts of another scope."""
        widths = dict(self.widths)
        for member in fields(self):
            own, more = getattr(self, member.name), getattr(other, member.name)
            if isinstance(own, float):
                setattr(self, member.name, own + more)
            else:  # counters add up, sets are joined
                own.update(more)
        for name, width in widths.items():
            self.widths[name] = max(self.widths[name], width)

    def add_byte_rotations(self, constants: set[int]) -> None:
        """Count shuffles of bytes as rotations, where a constant is the mask of one."""
        weight = self.ops(_SHUFFLE)
        if weight:
            for number in constants & _BYTE_ROTATIONS.keys():
                self.rotations[_BYTE_ROTATIONS[number]] += weight  # type: ignore[assignment]

    def add_variable_turns(self, counts: Iterable[Sequence[int]]) -> None:
        """Count shifts of each lane by a number of its own, where data may be the numbers."""
        for name in list(self.names):
            if not (match := _VARIABLE_TURNS.fullmatch(name)):
                continue
            turn, shift, letter = match.groups()
            lane = 64 if letter == "q" else 32
            own = {
                amount
                for size, *numbers in counts
                if 8 * size == lane and all(number < lane for number in numbers)
                for amount in numbers
                if amount
            }
            for number in own:
                if turn:
                    left = number if turn == "rol" else lane - number
                    self.rotations[lane, left] += self.names[name]
                else:
                    self.shifts.add((lane, number if shift == "sll" else -number))

    def tables_apart(self, distance: int, least: int, most: int) -> bool:
        """Whether so many tables, one behind the other, are looked up. More are another cipher.

        Four of them may be two and two, each from a register of its own.
        """
        rows = [
            sum(offset + distance * number in self.offsets for number in range(2 * most))
            for offset in self.offsets
            if offset - distance not in self.offsets
        ]
        pairs = [row for row in rows if row > 1]
        return any(least <= row <= most for row in rows) or (pairs == [2, 2] and least <= 4 <= most)

    def turned(self, bits: int) -> set[int]:
        """Return the left rotations that occur, those of two shifts and an `or` among them."""
        found = {left for own, left in self.rotations if own == bits}
        for own, sign in self.turns:  # a function that rotates, which was not inlined
            if own == bits:
                found |= {sign * count % bits for count in self.counts if count < bits}
        lanes = {shift for lane, shift in self.shifts if lane == bits}
        plain = {shift for size, shift in self.plain_shifts if size >= bits}
        return found.union(
            *(
                {shift for shift in shifts if shift > 0 and shift - bits in shifts}
                for shifts in (lanes, plain)
            )
        )

    def share(self, amount: float) -> float:
        """Return a share of the instructions. More than the usual part of moves is left out.

        Code that no compiler has made fast loads and stores each variable each time.
        """
        computing = (self.total - self.moves) / (1 - _USUAL_MOVES)
        whole = min(self.total, computing)
        return min(100.0, 100.0 * amount / whole) if whole else 0.0

    def shifts_bits(self) -> bool:
        """Whether anything may be a rotation: one instruction, two shifts, or a shuffle."""
        found = self.rotations or self.turns or self.shifts or self.plain_shifts
        return bool(found) or any(_MAY_ROTATE.fullmatch(name) for name in self.names)

    def ops(self, pattern: re.Pattern[str], width: int = 0) -> float:
        return sum(
            weight
            for name, weight in self.names.items()
            if pattern.fullmatch(name) and self.widths[name] >= width
        )


@dataclass
class Evidence:
    """All that is known of a region."""

    region: Region
    samples: Scope
    window: Scope
    function: Scope
    live: Counter[str]  # tables that registers point to
    names: tuple[str, ...]  # the function's own name, if it has one, and those of its callers
    is_crypto: bool = False
    beside: frozenset[str] = frozenset()  # primitives that were recognised in the same file

    def scopes(self, condition: Condition) -> Sequence[Scope]:
        if condition.scope == "samples":
            return (self.samples,)
        if condition.scope == "window":
            return (self.window,)
        if condition.scope == "function":
            return (self.function,)
        return (self.samples, self.window)

    def form(self, vector_share: float) -> str:
        """Name the registers that the sampled instructions work with."""
        vectors = self.samples.vectors
        if self.samples.share(sum(vectors.values())) < vector_share:
            return "scalar"
        if self.region.machine == "a64":
            return "NEON"
        wide = {width: weight for width, weight in vectors.items() if width > 128}
        if sum(wide.values()) >= 0.3 * sum(vectors.values()):
            return {256: "AVX2", 512: "AVX-512"}[max(wide, key=lambda bits: wide[bits])]
        has_vex = any(name.startswith("vp") for name in self.samples.names)
        return "AVX" if has_vex else "SSE"

    def rounds(self, vector_share: float) -> str:
        """Name the registers of a hash whose message may be expanded in vectors, not its rounds."""
        form = self.form(vector_share)
        vectors = self.samples.share(sum(self.samples.vectors.values()))
        return form if form == "scalar" or vectors >= _ALL_VECTORS else f"{form}, scalar rounds"

    def multiplies(self) -> bool:
        """Whether products are a part of what it does, as in arithmetic of a curve's field."""
        return self.samples.share(self.samples.ops(_PRODUCTS)) >= _FEWEST_PRODUCTS

    def multiplication(self) -> str:
        """Name the instructions by which scalar code multiplies."""
        near = self.samples
        if near.ops(re.compile("mulx")):
            has_chains = near.share(near.ops(re.compile("adcx|adox"))) >= 1
            return "mulx+adcx/adox" if has_chains else "mulx"
        if near.ops(re.compile("umulh")) or near.ops(re.compile("mul")):
            return "mul of 32 bits" if self.region.machine == "i386" else "mul of 64 bits"
        return "mul" if near.ops(re.compile("i?mul|madd")) else ""

    def width(self, pattern: str) -> int:
        """Return the widest vector of some operations among the samples, else near them."""
        found = re.compile(pattern)
        for scope in (self.samples, self.window):
            widths = [w for name, w in scope.widths.items() if found.fullmatch(name)]
            if widths:
                return max(widths)
        return 0


def gather(region: Region, rules: Rules) -> Evidence:
    """Read the code of a region once, and sort what it has by its distance to samples."""
    ops = instructions.decode(region.machine, region.code, region.code_start)
    samples, window, function = Scope(), Scope(), Scope()
    weights = _weights(region, [op.place for op in ops])
    hot = sorted(region.votes)
    computed = _computed_lookups(ops)
    scopes: list[tuple[Scope, set[int]]] = [(samples, set()), (window, set()), (function, set())]
    for number, op in enumerate(ops):
        distance = min((abs(op.place - near) for near in around(hot, op.place)), default=math.inf)
        if distance > _FAR_BYTES:  # compilers may join a whole program to a function
            continue
        in_window = float(distance <= _WINDOW_BYTES)
        for (scope, held), weight in zip(scopes, (weights[number], in_window, 1.0), strict=True):
            if weight:
                scope.add(op, weight, op.place in computed)
                held.add(op.place)
    # Bytes behind a word that is loaded alone are of other code.
    words_of = {
        (op.place, op.target) for op in ops if not op.width and op.name != "lea" and op.bits >= 32
    }
    live: Counter[str] = Counter()
    counts: list[tuple[int, ...]] = []
    for reference in region.references:
        tables = rules.tables_at(reference.address, reference.data_start, reference.data)
        data = reference.data[reference.address - reference.data_start :][:32]
        is_word = region.machine == "x86-64" and (reference.place, reference.address) in words_of
        read = data[:_WORD_READ] if is_word else data
        words = {word for word in _words(read) if word >= _SMALLEST_WORD}
        if reference.place < 0:
            live.update(
                tables or permutation(reference.data[reference.address - reference.data_start :])
            )
            continue
        counts += [(size, *_numbers(data[:_COUNT_BYTES], size)) for size in _WORD_BYTES]
        for scope, held in scopes:
            if reference.place in held:
                scope.tables.update(tables)
                scope.constants |= words
    for scope, _ in scopes:
        if region.is_generated:
            scope.constants |= {value for word in scope.constants if (value := _as_double(word))}
        scope.add_byte_rotations(function.constants)
        scope.add_variable_turns(counts)
    own = (region.function.name,) if region.function.name else ()
    names = tuple(caller.name for caller in region.callers() if caller.name)
    return Evidence(region, samples, window, function, live, (*own, *names))


def _weights(region: Region, places: Sequence[int]) -> Counter[int]:
    """Return the samples that each instruction has near it, by its number."""
    weights: Counter[int] = Counter()
    for place, count in region.votes.items():
        if 0 <= place - region.code_start < len(region.code):
            index = bisect.bisect_left(places, place)
            for near in range(max(0, index - _BEFORE), min(len(places), index + _AFTER)):
                weights[near] += count
    return weights


def _as_double(number: int) -> int:
    """Return the integer that 64 bits are as a floating-point number; 0 if there is none.

    Engines of JavaScript keep integers from 2^31 on so.
    """
    if not _SMALLEST_DOUBLE <= number < _LARGEST_DOUBLE:
        return 0
    value = struct.unpack("<d", number.to_bytes(8, "little"))[0]
    return int(value) if value == int(value) else 0


def _computed_lookups(ops: Sequence[Op]) -> set[int]:
    """Loads whose address is computed before: a shift by 2 or 3, and a sum."""
    found: set[int] = set()
    for number, op in enumerate(ops):
        if op.name in ("shl", "sal", "lsl") and op.bits == 64 and op.numbers[-1:] in ((2,), (3,)):
            after = ops[number + 1 : number + 1 + _COMPUTED]
            if (sums := [n for n, following in enumerate(after) if following.name == "add"]) and (
                load := next(
                    (
                        following
                        for following in after[sums[0] :]
                        if following.base and not following.displacement
                    ),
                    None,
                )
            ):
                found.add(load.place)
    return found


def joined_evidence(parts: Sequence[Evidence]) -> Evidence:
    """Put the evidence of several regions together; the hottest one stands for all."""
    hottest = max(parts, key=lambda evidence: evidence.region.samples)
    joined = Evidence(hottest.region, Scope(), Scope(), Scope(), Counter(), hottest.names)
    joined.is_crypto = any(evidence.is_crypto for evidence in parts)
    for evidence in parts:
        joined.samples.join(evidence.samples)
        joined.window.join(evidence.window)
        joined.function.join(evidence.function)
        joined.live.update(evidence.live)
    return joined


def around(hot: list[int], place: int) -> list[int]:
    index = bisect.bisect_left(hot, place)
    return hot[max(0, index - 1) : index + 1]


def permutation(data: bytes) -> dict[str, int]:
    """Tell a table of all 256 bytes, each once; while it was read, two may have been swapped."""
    own = data[:256]
    if len(own) < 256 or len(set(own)) < _NEARLY_ALL:
        return {}
    # Bytes in order, or with their bits reversed, are tables of compressors.
    is_linear = all(own[index] ^ own[index - 1] == own[1] ^ own[0] for index in (3, 5, 9, 17, 33))
    return {} if is_linear else {"permutation of bytes": 1}


def _words(data: bytes) -> Iterable[int]:
    for size in _WORD_BYTES:
        yield from _numbers(data, size)


def _numbers(data: bytes, size: int) -> Iterable[int]:
    for at in range(0, len(data) - size + 1, size):
        yield int.from_bytes(data[at : at + size], "little")


def holds(condition: Condition, evidence: Evidence, callers: Counter[str]) -> bool:
    """Whether a region has what a condition demands. `callers`: tables of its callers."""
    if condition.op is not None:
        return _has_op(condition.op, condition, evidence)
    if condition.table is not None:
        names = _tables(condition, evidence, callers)
        return any(condition.table.fullmatch(name) for name in names)
    if condition.symbol is not None or condition.file is not None:
        return _has_name(condition, evidence)
    if condition.rotate or condition.constant or condition.shift or condition.plain_shift:
        return _has_numbers(condition, evidence)
    if condition.apart:
        most = int(condition.most if condition.most < 100 else _MOST_TABLES)
        return any(
            scope.tables_apart(condition.apart, condition.at_least or 3, most)
            for scope in evidence.scopes(condition)
        )
    return _amount(condition, evidence.samples)


def _has_name(condition: Condition, evidence: Evidence) -> bool:
    if condition.file is not None:
        return bool(condition.file.search(evidence.region.module.name))
    pattern = condition.symbol
    return any(pattern.search(name) for name in _names(condition, evidence) if pattern)


def _has_op(pattern: re.Pattern[str], condition: Condition, evidence: Evidence) -> bool:
    if condition.to is not None:
        (scope,) = evidence.scopes(condition)
        ratio = 100 * scope.ops(pattern) / max(1, scope.ops(condition.to))
        return condition.share <= ratio <= condition.most
    if condition.scope in ("window", "function"):
        (scope,) = evidence.scopes(condition)
        return scope.ops(pattern, condition.width) >= condition.count
    near = evidence.samples
    share = near.share(near.ops(pattern, condition.width))
    return share > 0 and condition.share <= share <= condition.most


def _has_numbers(condition: Condition, evidence: Evidence) -> bool:
    scopes = evidence.scopes(condition)
    if condition.rotate:
        turned = set().union(*(scope.turned(condition.bits) for scope in scopes))
        if not condition.scope and not evidence.samples.shifts_bits():
            return False  # rotations beside code that has none are of a neighbour
        wanted = condition.at_least or len(condition.rotate)
        is_found = len(turned & set(condition.rotate)) >= wanted
        return is_found and len(turned) <= condition.most
    if condition.plain_shift:
        found = {shift for scope in scopes for _, shift in (*scope.shifts, *scope.plain_shifts)}
        found |= set().union(*(scope.double_shifts for scope in scopes))
        return set(condition.plain_shift) <= found
    if condition.shift:
        shifts = {shift for _, shift in evidence.window.shifts}
        return bool(shifts & set(condition.shift))
    return any(set(condition.constant) & scope.constants for scope in scopes)


def _amount(condition: Condition, near: Scope) -> bool:
    for wanted, found in (
        (condition.lookups, near.lookups),
        (condition.logic, near.logic),
        (condition.vector, sum(near.vectors.values())),
        (condition.clears, near.clears),
    ):
        if wanted:
            return wanted <= near.share(found) <= condition.most
    return False


def _tables(condition: Condition, evidence: Evidence, callers: Counter[str]) -> Iterable[str]:
    if condition.scope == "live":
        return evidence.live
    if condition.scope == "callers":
        return callers
    if condition.scope in ("samples", "window", "function"):
        return evidence.scopes(condition)[0].tables
    return {**evidence.samples.tables, **evidence.window.tables, **evidence.live}


def _names(condition: Condition, evidence: Evidence) -> Sequence[str]:
    own = evidence.region.function.name
    if condition.scope == "callers":
        return evidence.names[1:] if own else evidence.names
    if condition.scope == "function":
        return (own,) if own else ()
    return evidence.names
