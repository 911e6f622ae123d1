# SPDX-License-Identifier: MIT
"""Samples as regions: hot places of one function, with code, data it refers to, and callers.

A region has all that recognition looks at, so that samples can be explained elsewhere and later.
"""

import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from everycore.binary.elf import DamagedError, Elf
from everycore.environment.errors import EverycoreError
from everycore.explain import instructions, unwind
from everycore.explain.image import Function, Image, image_of, load
from everycore.explain.instructions import Op
from everycore.explain.samples import (
    SNAPSHOT_BYTES,
    STACK_POINTERS,
    Environment,
    Sample,
    Sampled,
)

GAP_BYTES = 384  # hot places that are farther apart are regions of their own
_AROUND_BYTES = 288
LONGEST_BYTES = 24576  # of a function, around its hot place
_DATA_BEFORE, _DATA_BYTES = 128, 512
MOST_LIVE = 96
SMALLEST_SHARE = 0.003  # of all samples: regions with less are not decoded
_CHAIN, _CHAINS = 12, 16  # callers that are kept, and different chains of them
GAP_GENERATED_BYTES = 1024  # functions of generated code have no bounds
_STEPS = 16  # starts that are tried
# Programs whose generated code is a guest's or a language's, not cryptography of their own.
GENERATORS = ("qemu-", "java", "node", "dotnet", "luajit", "ruby", "php", "wasmtime", "pypy")
UNITS = {"x86_64": "x86-64", "aarch64": "a64"}
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Module:
    """A file that code came from; `path` is empty where code was generated."""

    path: str
    build_id: str = ""

    @property
    def name(self) -> str:
        return Path(self.path).name


@dataclass(frozen=True, slots=True)
class Caller:
    """A function in the chain of callers."""

    module: str  # the path
    start: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """Data that code refers to."""

    address: int  # that is referred to
    data_start: int
    data: bytes
    place: int = -1  # of the instruction; -1: a live register of a sample points there


@dataclass
class Region:
    """Hot places of one function that are near each other."""

    module: Module
    process: str
    function: Function
    machine: str
    votes: dict[int, int]  # sampled places -> samples
    code_start: int = 0
    code: bytes = b""
    references: list[Reference] = field(default_factory=list)
    chains: list[tuple[int, tuple[Caller, ...]]] = field(default_factory=list)
    is_generated: bool = False
    # Variables of its process that decide which code runs; None: they are not known, and why.
    environment: dict[str, str] | None = None
    unread: str = ""

    @property
    def samples(self) -> int:
        return sum(self.votes.values())

    @property
    def key(self) -> tuple[str, int]:
        return self.module.path, self.function.start

    def callers(self) -> tuple[Caller, ...]:
        """Return the most frequent chain of callers."""
        return (
            max(self.chains, key=lambda counted_chain: counted_chain[0])[1] if self.chains else ()
        )


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts of a file that are stored with samples, for machines where it is another or none."""

    library: str
    version: str
    instructions: Mapping[str, bool]


@dataclass
class Profile:
    """All that was seen of a program, ready to be explained."""

    machine: str
    method: str
    why: str
    seconds: float
    lost: int
    total: int  # samples
    kernel: int
    elsewhere: int  # samples of user code whose place is in no known mapping
    code: int | None
    command: tuple[str, ...]
    regions: list[Region]
    core: tuple[str, str, str] = ("", "", "")  # the CPU: vendor, family, model
    user_seconds: float = 0.0  # CPU time of a command in user code; 0: not known
    files: dict[str, FileFacts] = field(default_factory=dict)  # by path; of a stored profile
    executed: int = 0  # instructions of a guest, which stand for samples then

    @property
    def counts_instructions(self) -> bool:
        return self.executed > 0

    @property
    def user(self) -> int:
        return self.total - self.kernel


class Files:
    """Images by their paths; None for a file that cannot be read."""

    def __init__(self, kept: Mapping[str, bytes] | None = None) -> None:
        self._known: dict[str, Image | None] = {}
        self._kept = kept or {}  # files that were deleted

    def image(self, path: str) -> Image | None:
        if path not in self._known:
            try:
                if path in self._kept:
                    self._known[path] = image_of(Elf(self._kept[path], path), path)
                else:
                    self._known[path] = load(Path(path.removesuffix(" (deleted)")))
            except DamagedError:  # a file in memory, for one, which holds generated code
                self._known[path] = None
            except EverycoreError as error:
                if error.hint:  # packages are missing
                    raise
                self._known[path] = None
        return self._known[path]


class Space:
    """Addresses of one process."""

    def __init__(self, sampled: Sampled, files: Files, pid: int) -> None:
        self._sampled = sampled
        self._files = files
        self._pid = pid

    def find(self, address: int) -> tuple[Image, int] | None:
        """Return the file whose code is at an address, and the address in that file."""
        mapping = self._sampled.mapping_of(self._pid, address)
        if mapping is None or not mapping.path.startswith("/"):
            return None
        image = self._files.image(mapping.path)
        if image is None:
            return None
        place = image.address_of(address - mapping.start + mapping.offset)
        return None if place is None else (image, place)

    def bias(self, image: Image) -> int | None:
        """Return the distance between addresses in memory and in a file."""
        for mapping in reversed(self._sampled.mappings.get(self._pid, [])):
            if mapping.path == image.path:
                place = image.address_of(mapping.offset)
                return None if place is None else mapping.start - place
        return None

    def variable(self, image: Image, address: int, length: int) -> bytes:
        """Return what a variable of a file held while the program ran; b"" if that is not known."""
        bias = self.bias(image)
        return b"" if bias is None else self._sampled.bytes_at(self._pid, address + bias, length)

    def read_of(self, image: Image, address: int, length: int) -> bytes:
        """Return what a file has at an address: as it was while the program ran, if known."""
        ran = self.variable(image, address, length)
        return ran if len(ran) == length else max(image.read(address, length), ran, key=len)

    def read(self, address: int, length: int) -> bytes:
        """Return memory, of a snapshot or of a file that does not change."""
        if held := self._sampled.bytes_at(self._pid, address, length):
            return held
        for path in {mapping.path for mapping in self._sampled.mappings.get(self._pid, [])}:
            image = self._files.image(path) if path.startswith("/") else None
            if image is None or (bias := self.bias(image)) is None:
                continue
            if bias <= address < bias + image.end:
                return image.read(address - bias, length)
        return b""


class Environments:
    """Environments that samples were taken in: those of the programs that ran then."""

    def __init__(self, sampled: Sampled) -> None:
        self._sampled = sampled
        self._known: dict[tuple[int, int], Environment | None] = {}

    def note(self, region: Region, samples: Iterable[Sample]) -> None:
        """Note in a region the environment of most of its samples, as far as they are known."""
        counted = Counter((sample.pid, self._program(sample)) for sample in samples)
        found: Counter[Environment] = Counter()
        for key, count in counted.items():
            if (environment := self._known[key]) is not None:
                found[environment] += count
        if found:
            region.environment = dict(found.most_common(1)[0][0])
            return
        reasons = Counter[str]()
        for (pid, _), count in counted.items():
            reasons[self._sampled.unread.get(pid, "")] += count
        region.unread = reasons.most_common(1)[0][0]

    def _program(self, sample: Sample) -> int:
        """Return which program of its process a sample is of: how many it had executed."""
        number = bisect.bisect_right(self._sampled.execs.get(sample.pid, []), sample.time)
        if (sample.pid, number) not in self._known:
            found = self._sampled.environment_at(sample.pid, sample.time)
            self._known[sample.pid, number] = found
        return number


def collect(sampled: Sampled, command: Iterable[str] = ()) -> Profile:
    """Return the regions of all samples, the hottest first."""
    files = Files(sampled.files)
    environments = Environments(sampled)
    spaces: dict[int, Space] = {}
    groups: dict[tuple[str, str, int], list[tuple[int, Sample]]] = defaultdict(list)
    functions: dict[tuple[str, str, int], Function] = {}
    elsewhere = 0
    loose: dict[int, list[tuple[int, Sample]]] = defaultdict(list)
    user = [sample for sample in sampled.samples if sample.is_user]
    for sample in user:
        space = spaces.setdefault(sample.pid, Space(sampled, files, sample.pid))
        found = space.find(sample.place)
        if found is None:
            mapping = sampled.mapping_of(sample.pid, sample.place)
            if mapping is not None and mapping.path.startswith("["):
                elsewhere += 1
            else:
                loose[sample.pid].append((sample.place, sample))
            continue
        image, place = found
        function = image.function(place)
        process = sampled.names.get(sample.pid, "")
        key = (image.path, process, function.start if function.size else -1)
        groups[key].append((place, sample))
        functions[key] = function
    regions = [
        region
        for key, placed in groups.items()
        for region in _regions(key, functions[key], placed, spaces, files, environments, len(user))
    ]
    for pid, placed in loose.items():
        regions += _generated(sampled, spaces[pid], pid, placed, environments, len(user))
    regions.sort(key=lambda code_region: -code_region.samples)
    return Profile(
        machine=sampled.machine, method=sampled.method, why=sampled.why, seconds=sampled.seconds,
        lost=sampled.lost, total=len(sampled.samples), kernel=len(sampled.samples) - len(user),
        elsewhere=elsewhere, code=sampled.code, command=tuple(command), regions=regions,
    )  # fmt: skip


def clusters(
    placed: Iterable[tuple[int, T]], gap: int = GAP_BYTES
) -> Iterator[list[tuple[int, T]]]:
    """Split places, and what was seen at each, where those that ran are far apart."""
    ordered = sorted(placed, key=lambda item: item[0])
    cluster = ordered[:1]
    for item in ordered[1:]:
        if item[0] - cluster[-1][0] > gap:
            yield cluster
            cluster = []
        cluster.append(item)
    yield cluster


def _regions(
    key: tuple[str, str, int],
    function: Function,
    placed: list[tuple[int, Sample]],
    spaces: Mapping[int, Space],
    files: Files,
    environments: Environments,
    total: int,
) -> Iterator[Region]:
    path, process, _ = key
    image = files.image(path)
    assert image is not None
    for cluster in clusters(placed):
        first, last = cluster[0][0], cluster[-1][0]
        own = function if function.size else Function(first, last - first + 1)
        votes = Counter(place for place, _ in cluster)
        region = Region(Module(path, image.build_id), process, own, image.machine, dict(votes))
        if len(cluster) >= max(2, SMALLEST_SHARE * total):
            begin, end = own.start, own.end
            if not function.size:  # only sampled places are known to begin an instruction
                before = image.read(max(0, first - _AROUND_BYTES), min(first, _AROUND_BYTES))
                begin = first - _in_step(image.machine, before, image.read(first, 16), first)
                end = last + _AROUND_BYTES
            elif own.size > LONGEST_BYTES:
                end = min(end, last + LONGEST_BYTES)
            region.code_start, region.code = begin, image.read(begin, end - begin)
            ops = instructions.decode(image.machine, region.code, begin)
            space = spaces[cluster[0][1].pid]
            region.references = list(references(image, ops, space))
            region.references += _live(ops, cluster, spaces)
        region.chains = _chains(cluster, spaces, image.machine)
        environments.note(region, (sample for _, sample in cluster))
        yield region


def _generated(
    sampled: Sampled,
    space: Space,
    pid: int,
    placed: list[tuple[int, Sample]],
    environments: Environments,
    total: int,
) -> Iterator[Region]:
    """Regions of code that is in no file."""
    machine = UNITS.get(sampled.machine, "")
    process = sampled.names.get(pid, "")
    for cluster in clusters(placed, GAP_GENERATED_BYTES):
        first, last = cluster[0][0], cluster[-1][0]
        votes = Counter(place for place, _ in cluster)
        function = Function(first, last - first + 1)
        region = Region(Module(""), process, function, machine, dict(votes), is_generated=True)
        if len(cluster) >= max(2, SMALLEST_SHARE * total):
            first, after = _known_code(sampled, pid, votes)
            before = b""
            for length in (_AROUND_BYTES, first % SNAPSHOT_BYTES):  # its page alone may be known
                before = sampled.bytes_at(pid, first - length, length)
                if len(before) == length:
                    break
            else:
                before = b""
            steps = _in_step(machine, before, after[:16], first)
            region.code_start = first - steps
            region.code = before[len(before) - steps :] + after
            ops = instructions.decode(machine, region.code, region.code_start)
            region.references = list(_constants_of(sampled, pid, ops))
            region.references += _live(ops, cluster, {pid: space})
        environments.note(region, (sample for _, sample in cluster))
        yield region


def _known_code(sampled: Sampled, pid: int, votes: Mapping[int, int]) -> tuple[int, bytes]:
    """Return the hottest code that snapshots have without a gap, from a sampled place on."""
    ordered = sorted(votes)
    best, most, end = (ordered[0], b""), 0, 0
    for first in ordered:
        if first < end:
            continue
        code = sampled.bytes_at(pid, first, min(ordered[-1] - first + 64, LONGEST_BYTES))
        end = first + len(code)
        own = sum(votes[place] for place in ordered if first <= place < end)
        if own > most:
            best, most = (first, code), own
    return best


def _in_step(machine: str, before: bytes, after: bytes, place: int) -> int:
    """Return how many bytes before an instruction can be read so that it begins in step.

    Wrong steps of x86 code soon fall in with the right ones: what all starts lead to is right.
    """
    common: set[int] | None = None
    for late in range(min(_STEPS, len(before))):
        start = place - len(before) + late
        ops = instructions.decode(machine, before[late:] + after, start)
        own = [op for op in ops if op.place < place]
        if own and own[-1].end == place and all(op.name != "(bad)" for op in own):
            places = {op.place for op in own}
            common = places if common is None else common & places
    return place - min(common) if common else 0


def _constants_of(sampled: Sampled, pid: int, ops: Iterable[Op]) -> Iterator[Reference]:
    """Data that generated code refers to by its own place; it lies beside the code."""
    for target in {op.target: op.place for op in ops if op.target is not None}.items():
        if data := sampled.bytes_at(pid, target[0], _DATA_BYTES):
            yield Reference(target[0], target[0], data, target[1])


def references(image: Image, ops: Iterable[Op], space: Space | None = None) -> Iterator[Reference]:
    """Data that code of a file refers to by its own place: as it was while the program ran."""
    read = image.read if space is None else partial(space.read_of, image)
    seen: set[int] = set()
    for op in ops:
        if op.target is None or op.target in seen:
            continue
        seen.add(op.target)
        start = op.target - _DATA_BEFORE
        data = read(start, _DATA_BYTES)
        if not data:
            start = op.target
            data = read(start, _DATA_BYTES)
        if data:
            yield Reference(op.target, start, data, op.place)
        if op.target % 8:
            continue
        pointed = int.from_bytes(image.read(op.target, 8), "little")  # perhaps to a table
        if pointed > 4096 and (more := image.read(pointed, _DATA_BYTES)):
            yield Reference(pointed, pointed, more, op.place)
        if space is not None:
            pointed = int.from_bytes(space.variable(image, op.target, 8), "little")
            if pointed > 4096 and (more := space.read(pointed, _DATA_BYTES)):
                yield Reference(pointed, pointed, more, op.place)


def _live(
    ops: list[Op], cluster: Iterable[tuple[int, Sample]], spaces: Mapping[int, Space]
) -> list[Reference]:
    """Data that hot code loads through registers, as they were when a sample was taken.

    Loads with an index come first: they look tables up. Others may point to anything, and walk
    through a message, so that their addresses alone would fill the list.
    """
    samples = list(cluster)
    found: dict[int, Reference] = {}
    for is_indexed in (True, False):
        _add_live(found, [op for op in ops if bool(op.index) == is_indexed], samples, spaces)
    return list(found.values())


def _add_live(
    found: dict[int, Reference],
    ops: list[Op],
    samples: Iterable[tuple[int, Sample]],
    spaces: Mapping[int, Space],
) -> None:
    places = [op.place for op in ops]
    most = len(found) + MOST_LIVE // 2
    for place, sample in samples:
        if len(found) >= most:
            break
        index = bisect.bisect_left(places, place)
        space = spaces[sample.pid]
        pointers = [sample.registers[n] for n in STACK_POINTERS.values() if n in sample.registers]
        stack = pointers[0] if pointers else 0
        near = (op for op in ops[max(0, index - 24) : index + 24] if abs(op.place - place) < 192)
        for op in near:
            # Either of two registers that are added may point to the table.
            pointing = (op.base, op.index) if op.scale == 1 else (op.base,)
            for register in pointing:
                if register not in sample.registers or not op.base:
                    continue
                address = (sample.registers[register] + op.displacement) & ((1 << 64) - 1)
                is_local = register in ("rsp", "sp") or 0 <= address - stack < 4096
                if address in found or address < 4096 or is_local:
                    continue
                start = address - _DATA_BEFORE
                data = space.read(start, _DATA_BYTES)
                if len(data) <= _DATA_BEFORE:
                    start, data = address, space.read(address, _DATA_BYTES)
                if data:
                    found[address] = Reference(address, start, data)


def _chains(
    cluster: Iterable[tuple[int, Sample]], spaces: Mapping[int, Space], machine: str
) -> list[tuple[int, tuple[Caller, ...]]]:
    counted: Counter[tuple[Caller, ...]] = Counter()
    for _, sample in list(cluster)[:200]:
        space = spaces[sample.pid]
        chain: list[Caller] = []
        for place in unwind.callers(sample, space.find, machine)[:_CHAIN]:
            found = space.find(place)
            if found is None:
                break
            function = found[0].function(found[1])
            chain.append(Caller(found[0].path, function.start, function.name))
        counted[tuple(chain)] += 1
    return [(count, chain) for chain, count in counted.most_common(_CHAINS)]
