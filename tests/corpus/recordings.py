# SPDX-License-Identifier: MIT
"""Recordings of programs: stored profiles without what their answers do not need.

Recordings of one day are one file, so that equal code of several programs is stored once.
"""

import base64
import dataclasses
import json
import lzma
import pathlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from corpus import HERE, RIGHT, Answer, Program, answer_of, judged

from everycore.explain import instructions, recording
from everycore.explain.evidence import around, permutation
from everycore.explain.image import Function
from everycore.explain.instructions import Op
from everycore.explain.recognise import Named, recognise
from everycore.explain.recognition_rules import load_rules
from everycore.explain.regions import Profile, Reference, Region

FOLDER = HERE / "recordings"


@dataclasses.dataclass(frozen=True)
class Extent:
    """How much of a profile is recorded."""

    is_named: bool  # regions without a name have no code
    smallest: float  # per cent of the samples: regions with less have no code
    joined: float  # per cent of the samples: regions with less are one for each file
    code: int  # bytes on each side of the sampled places
    before: int  # bytes of data before an address that is referred to
    after: int  # and behind it
    live: int  # of each region: data that registers point to, for each table, and of none
    chains: int  # of callers


# A recording has the first extent by which the answer is that of the whole profile.
EXTENTS = (
    Extent(True, 2.0, 2.0, 48, 16, 48, 2, 1),
    Extent(True, 1.0, 0.3, 64, 16, 48, 2, 2),
    Extent(True, 1.0, 0.1, 64, 16, 48, 4, 4),
    Extent(False, 2.0, 2.0, 64, 16, 48, 2, 1),
    Extent(False, 1.0, 0.3, 64, 16, 256, 2, 2),
    Extent(False, 0.3, 0.1, 256, 16, 256, 4, 4),
    Extent(False, 0.0, 0.0, 1024, 128, 384, 8, 16),
    Extent(False, 0.0, 0.0, 4096, 128, 384, 96, 16),
)
MUCH = 3  # from this one on: where the answer is wrong
NEARLY_ALL = 6  # from this one on: controls, in which a new rule must find nothing
NOPS = {"x86-64": b"\x90", "i386": b"\x90", "a64": bytes.fromhex("1f2003d5")}
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26}]
_LARGEST_CHANGE = 3.0  # per cent of the samples, of any name


def shortened(program: Program, profile: Profile, cpu_flags: Sequence[str]) -> Profile:
    """Return a profile without what its answer does not need."""
    named, whole = recognise(profile), answer_of(profile, cpu_flags)
    verdict, _ = judged(program, whole)
    first = NEARLY_ALL if program.control else MUCH if verdict != RIGHT else 0
    for extent in EXTENTS[first:]:
        found = cut(named, profile, extent)
        answer = answer_of(found, cpu_flags)
        if is_same(answer, whole) and judged(program, answer)[0] == verdict:
            return found
    return profile


def is_same(answer: Answer, other: Answer) -> bool:
    """Say whether two answers differ by few samples alone."""
    labels = {*answer.shares, *other.shares}
    differences = [
        abs(answer.shares.get(label, 0) - other.shares.get(label, 0)) for label in labels
    ]
    return max(differences, default=0) <= _LARGEST_CHANGE


def cut(named: Sequence[Named], profile: Profile, extent: Extent) -> Profile:
    """Return a profile with so much of its regions."""
    regions: list[Region] = []
    joined: dict[tuple[str, str, bool], Region] = {}
    total = sum(region.samples for region in profile.regions)
    for region, has_name in (
        (named_region.region, bool(named_region.found)) for named_region in named
    ):
        has_code = region.code and (has_name or not extent.is_named)
        if has_code and region.samples >= extent.smallest / 100 * total:
            regions.append(_cut_region(region, extent))
            continue
        bare = dataclasses.replace(
            region,
            code=b"",
            references=[],
            votes={region.function.start: region.samples},
            chains=region.chains[: extent.chains],
        )
        if region.samples >= extent.joined / 100 * total:
            regions.append(bare)
            continue
        key = (region.module.path, region.process, region.is_generated)
        if key not in joined:
            joined[key] = dataclasses.replace(
                bare, function=Function(0, 0), chains=[], votes={0: 0}
            )
        joined[key].votes[0] += region.samples
    return dataclasses.replace(profile, regions=[*regions, *joined.values()])


def _cut_region(region: Region, extent: Extent) -> Region:
    """Keep instructions near sampled places; those between are made NOPs, which no rule counts."""
    ops = instructions.decode(region.machine, region.code, region.code_start)
    hot = sorted(region.votes)
    kept = [
        op
        for op in ops
        if any(abs(op.place - place) <= extent.code for place in around(hot, op.place))
    ]
    if not kept:
        return region
    start, end = kept[0].place, kept[-1].end
    nop = NOPS[region.machine]
    code = bytearray(nop * ((end - start) // len(nop)))
    for op in kept:
        at = op.place - region.code_start
        code[op.place - start : op.end - start] = region.code[at : at + op.end - op.place]
    return dataclasses.replace(
        region,
        code_start=start,
        code=bytes(code),
        references=list(_cut_references(region, extent, kept)),
        chains=region.chains[: extent.chains],
    )


def _cut_references(region: Region, extent: Extent, kept: Sequence[Op]) -> Iterator[Reference]:
    """Yield the data that instructions which are kept refer to, and tables at registers."""
    rules = load_rules()
    places = {op.place for op in kept}
    seen: Counter[tuple[str, ...]] = Counter()
    for reference in region.references:
        at = reference.address - reference.data_start
        if reference.place < 0:
            tables = tuple(
                rules.tables_at(reference.address, reference.data_start, reference.data)
                or permutation(reference.data[at:])
            )
            seen[tables] += 1
            if seen[tables] > extent.live or (not tables and extent.live <= 4):
                continue
        elif reference.place not in places:
            continue
        begin = max(0, at - extent.before)
        after = max(extent.after, 256) if reference.place < 0 else extent.after
        data = reference.data[begin : at + after]
        yield dataclasses.replace(reference, data_start=reference.data_start + begin, data=data)


def store(program: Program, profile: Profile, cpu_flags: Sequence[str]) -> None:
    """Put a program's recording into the file of its day."""
    path = FOLDER / f"{program.first_used}.xz"
    held = load(path) if path.exists() else {}
    held[program.name] = packed(program, profile, cpu_flags)
    save(path, held)


def packed(program: Program, profile: Profile, cpu_flags: Sequence[str]) -> list[Any]:
    """Return the rows of a recording, with bytes where files of samples have text."""
    rows = list(recording.rows(shortened(program, profile, cpu_flags), list(cpu_flags)))
    for row in rows[1:-1]:
        row["code"][1] = base64.b64decode(row["code"][1])
        for reference in row["references"]:
            reference[2] = base64.b64decode(reference[2])
    return rows


def save(path: pathlib.Path, held: Mapping[str, list[Any]]) -> None:
    """Write recordings to a file."""
    path.parent.mkdir(exist_ok=True)
    data = msgspec.msgpack.encode(dict(sorted(held.items())))
    path.write_bytes(lzma.compress(data, filters=FILTERS))


def load(path: pathlib.Path) -> dict[str, list[Any]]:
    """Return the recordings of a file by the names of their programs."""
    data = lzma.decompress(path.read_bytes())
    return msgspec.msgpack.decode(data, type=dict[str, list[Any]])


def profile_of(rows: list[Any], name: str) -> tuple[Profile, list[str]]:
    """Return the profile of a recording, and the flags of the CPU that it ran on."""
    head, *regions, end = rows
    text = [
        {
            **row,
            "code": [row["code"][0], base64.b64encode(row["code"][1])],
            "references": [
                [at, start, base64.b64encode(data), place]
                for at, start, data, place in row["references"]
            ],
        }
        for row in regions
    ]
    return recording.profile_of([head, *text, end], pathlib.Path(name))


def moved(rows: list[Any], places: Mapping[str, str]) -> list[Any]:
    """Replace folders of this machine in rows."""
    text = json.dumps(rows)
    for place, other in places.items():
        text = text.replace(place, other)
    found: list[Any] = json.loads(text)
    return found
