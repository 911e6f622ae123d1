# SPDX-License-Identifier: MIT
"""Programs for another CPU under qemu-user: instructions that the guest executed, as a profile.

guest_plugin.c counts the blocks that QEMU translates, and keeps memory that loads read, which takes
the place of live registers. There is no stack, so there are no callers.
"""

import bisect
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.explain import instructions, regions
from everycore.explain.environments import chosen
from everycore.explain.explanation import EMULATORS
from everycore.explain.image import Function
from everycore.explain.instructions import Op
from everycore.explain.regions import Files, Module, Profile, Reference, Region, Space
from everycore.explain.samples import Mapping as Mapped
from everycore.explain.samples import Sampled, read_mappings
from everycore.explain.sampling import run_command

_NO_PLUGINS = "a QEMU with plugins: Debian's qemu-user up to version 9, or one built by yourself"
_DATA_BEFORE, _DATA_BYTES = 128, 512


@dataclass
class Counted:
    """One process of the guest: what its file tells, in addresses of the guest."""

    sampled: Sampled
    places: Counter[int] = field(default_factory=Counter)  # of instructions
    sizes: dict[int, int] = field(default_factory=dict)
    code: dict[int, bytes] = field(default_factory=dict)  # of blocks
    loads: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


def profile_guest(
    context: Context, argv: Sequence[str], build_library: Callable[[Path], Path]
) -> Profile:
    """Run a command of qemu-user to its end, and count what its guest executes.

    `build_library`: makes the shared library of a C file, which QEMU loads.
    """
    emulator = Path(argv[0]).name
    if emulator not in EMULATORS:
        raise EverycoreError(
            f"--guest looks into {' and '.join(EMULATORS)}, not into '{argv[0]}'",
            "everycore profile --guest -- qemu-aarch64 ./program",
        )
    if "-plugin " not in context.runner.run([argv[0], "--help"]).stdout:
        raise EverycoreError(f"this {emulator} takes no plugins", _NO_PLUGINS)
    library = build_library(context.package / "explain" / "guest_plugin.c")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "guest"
        words = [argv[0], "-plugin", f"{library},out={out}", *argv[1:]]
        code = run_command(words, context.env)
        texts = [
            path.read_text(encoding="ascii", errors="replace")
            for path in sorted(Path(folder).glob("guest.*"))
        ]
    machine = EMULATORS[emulator]
    counted = [
        read_counts(text, Sampled(machine, emulator, names={number: _guest_name(argv)}), number)
        for number, text in enumerate(texts)
    ]
    environment = dict(chosen(guest_environment(argv, context.env)))
    return collect_guest(counted, f"a plugin of {emulator}", machine, code, argv, environment)


def guest_environment(argv: Sequence[str], env: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Return the environment that qemu-user gives its guest: -E sets variables, -U unsets them.

    Source: QEMU 7.2, linux-user/main.c; variables of QEMU_SET_ENV and QEMU_UNSET_ENV do the same.
    """
    found = dict(env)
    options = [("-U", env.get("QEMU_UNSET_ENV", "")), ("-E", env.get("QEMU_SET_ENV", ""))]
    options += pairwise(argv)
    for option, words in options:
        for word in words.split(","):
            name, sign, value = word.partition("=")
            if option == "-E" and sign:
                found[name] = value
            elif option == "-U":
                found.pop(name, None)
    return found.items()


def _guest_name(argv: Sequence[str]) -> str:
    """Return the name of the first word that is a file, which is the guest's program."""
    found = next((word for word in argv[1:] if "/" in word or Path(word).is_file()), argv[0])
    return Path(found).name


def read_counts(text: str, sampled: Sampled, pid: int) -> Counted:
    """Read the file of one process."""
    found = Counted(sampled)
    lines = text.splitlines()
    if not lines or lines[-1] != "end":
        return found  # the process was killed while it wrote
    base, maps = 0, []
    machine = regions.UNITS[sampled.machine]
    for line in lines[:-1]:
        kind, _, rest = line.partition(" ")
        words = rest.split(" ")
        if kind == "base":
            base = int(rest, 16)
        elif kind == "map":
            maps.append(rest)
        elif kind == "block":
            address, count, code = int(words[0], 16), int(words[1], 16), bytes.fromhex(words[2])
            found.code[address] = code
            for op in instructions.decode(machine, code, address):
                found.places[op.place] += count
                found.sizes[op.place] = op.size
        elif kind == "load":
            found.loads[int(words[0], 16)].append(int(words[1], 16))
        elif kind == "page":
            sampled.memory[pid, int(words[0], 16)] = bytes.fromhex(words[1])
    sampled.mappings[pid] = [
        Mapped(mapping.start - base, mapping.end - base, mapping.offset, mapping.path)
        for mapping in read_mappings("\n".join(maps))
        if mapping.start >= base and mapping.path.startswith("/")
    ]
    return found


def collect_guest(
    counted: Sequence[Counted],
    method: str,
    machine: str,
    code: int | None,
    command: Sequence[str],
    environment: Mapping[str, str],
) -> Profile:
    """Return the regions of all processes; an executed instruction stands for a sample."""
    files = Files()
    found = [
        region
        for pid, guest_process in enumerate(counted)
        for region in _regions(guest_process, files, pid)
    ]
    found.sort(key=lambda code_region: -code_region.samples)
    for region in found:
        region.environment = dict(environment)
    total = sum(guest_process.places.total() for guest_process in counted)
    return Profile(
        machine=machine, method=method, why="", seconds=0.0, lost=0, total=total, kernel=0,
        elsewhere=0, code=code, command=tuple(command), regions=found, executed=total,
    )  # fmt: skip


def _regions(guest_process: Counted, files: Files, pid: int) -> Iterator[Region]:
    space = Space(guest_process.sampled, files, pid)
    least = regions.SMALLEST_SHARE * guest_process.places.total()
    process = guest_process.sampled.names.get(pid, "")
    groups: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    functions: dict[tuple[str, int], Function] = {}
    for address in guest_process.places:
        located = space.find(address)
        if located is None:
            groups["", -1].append((address, address))
            continue
        image, place = located
        function = image.function(place)
        key = (image.path, function.start if function.size else -1)
        groups[key].append((place, address))
        functions[key] = function
    for key, placed in groups.items():
        for cluster in regions.clusters(sorted(placed)):
            votes = {place: guest_process.places[address] for place, address in cluster}
            first, last = cluster[0][0], cluster[-1][0]
            own = functions.get(key, Function(0, 0))
            own = own if own.size else Function(first, last - first + 4)
            file = files.image(key[0]) if key[0] else None
            unit = file.machine if file else regions.UNITS[guest_process.sampled.machine]
            module = Module(key[0], file.build_id if file else "")
            region = Region(module, process, own, unit, votes, is_generated=file is None)
            if region.samples > least:
                if file:
                    region.code_start = own.start
                    region.code = file.read(own.start, min(own.size, regions.LONGEST_BYTES))
                else:
                    region.code_start, region.code = first, guest_process.code.get(first, b"")
                ops = instructions.decode(unit, region.code, region.code_start)
                if file:
                    region.references = list(regions.references(file, ops))
                region.references += _loaded(guest_process, space, ops, cluster)
            yield region


def _loaded(
    guest_process: Counted, space: Space, ops: Sequence[Op], cluster: Sequence[tuple[int, int]]
) -> list[Reference]:
    """Data that loads of a cluster read: first those with an index, which look tables up."""
    places = [op.place for op in ops]
    found: dict[int, Reference] = {}
    for is_indexed in (True, False):
        most = len(found) + regions.MOST_LIVE // 2
        for place, address in cluster:
            index = bisect.bisect_left(places, place)
            if index == len(places) or places[index] != place:
                continue
            if bool(ops[index].index) != is_indexed:
                continue
            for read in guest_process.loads.get(address, ()):
                if read in found or len(found) >= most:
                    continue
                start = read - _DATA_BEFORE
                data = space.read(start, _DATA_BYTES)
                if len(data) > _DATA_BEFORE:
                    found[read] = Reference(read, start, data)
    return list(found.values())
