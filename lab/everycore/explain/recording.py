# SPDX-License-Identifier: MIT
"""Profiles in files: JSON lines with code, data and callers of each region.

Rules look at nothing else, so that a file can be explained on another machine, and again later.
"""

import base64
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from everycore.environment.errors import EverycoreError
from everycore.environment.outputs import refuse_device
from everycore.explain.explanation import facts_of
from everycore.explain.image import Function
from everycore.explain.regions import Caller, FileFacts, Module, Profile, Reference, Region

FORMAT = 1
_HEAD = ("machine", "method", "why", "seconds", "lost", "total", "kernel", "elsewhere", "code")
_MORE = ("user_seconds", "executed")  # files of older versions lack these, and the CPU


def lines(profile: Profile, cpu_flags: list[str]) -> Iterator[str]:
    """Yield the lines of a file."""
    return map(json.dumps, rows(profile, cpu_flags))


def rows(profile: Profile, cpu_flags: list[str]) -> Iterator[dict[str, Any]]:
    """Yield what the lines of a file hold."""
    head = {name: getattr(profile, name) for name in _HEAD}
    rest = {"command": list(profile.command), "environment": {}, "cpu": cpu_flags}
    more = {name: getattr(profile, name) for name in _MORE}
    files = {
        path: [facts.library, facts.version, dict(facts.instructions)]
        for path, facts in facts_of(profile).items()
    }
    first = {"type": "profile", "format": FORMAT, **head, **rest, **more}
    yield {**first, "core": list(profile.core), "files": files}
    for region in profile.regions:
        yield _region(region)
    yield {"type": "end", "regions": len(profile.regions)}


def _region(region: Region) -> dict[str, Any]:
    return {
        "type": "region",
        "module": [region.module.path, region.module.build_id],
        "process": region.process,
        "function": [*_function(region.function)],
        "machine": region.machine,
        "votes": [[place, count] for place, count in region.votes.items()],
        "code": [region.code_start, _text(region.code)],
        "references": [
            [item.address, item.data_start, _text(item.data), item.place]
            for item in region.references
        ],
        "chains": [
            [count, [[item.module, item.start, item.name] for item in chain]]
            for count, chain in region.chains
        ],
        "generated": region.is_generated,
        "environment": region.environment,
        "unread": region.unread,
    }


def _function(function: Function) -> tuple[int, int, str, str]:
    return function.start, function.size, function.name, function.origin


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def read(path: Path) -> tuple[Profile, list[str]]:
    """Return a stored profile, and the flags of the CPU that it ran on."""
    refuse_device(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _foreign(path) from error
    except OSError as error:
        raise EverycoreError(
            f"cannot read {path}: {error.strerror}", "`profile --store FILE -- CMD...` writes one"
        ) from error
    try:
        found = [json.loads(line) for line in text.splitlines()]
    except ValueError as error:
        is_own = text.startswith('{"type": "profile"')
        raise (_cut_off if is_own else _foreign)(path) from error
    return profile_of(found, path)


def profile_of(rows: Sequence[Any], path: Path) -> tuple[Profile, list[str]]:
    """Return the profile that rows of a file hold, and the flags of the CPU that it ran on."""
    if not rows or not isinstance(rows[0], dict) or rows[0].get("type") != "profile":
        raise _foreign(path)
    if rows[0].get("format") != FORMAT:
        raise EverycoreError(
            f"{path} has samples of format {rows[0].get('format')}, not {FORMAT}",
            "use the everycore that wrote it",
        )
    regions = [row for row in rows[1:] if isinstance(row, dict) and row.get("type") == "region"]
    if rows[-1] != {"type": "end", "regions": len(regions)}:
        raise _cut_off(path)
    try:
        head = {name: rows[0][name] for name in _HEAD}
        profile = Profile(
            **head,
            command=tuple(rows[0]["command"]),
            # Older files have one environment, that of the profiler.
            regions=[_read_region(row, dict(rows[0]["environment"])) for row in regions],
            **{name: rows[0][name] for name in _MORE if name in rows[0]},
            files={path: FileFacts(*facts) for path, facts in rows[0].get("files", {}).items()},
            core=_core(rows[0].get("core", ["", "", ""])),
        )
        return profile, list(rows[0]["cpu"])
    except (KeyError, TypeError, ValueError) as error:
        raise EverycoreError(f"{path}: a region is not as it was written: {error}") from error


def _core(found: list[Any]) -> tuple[str, str, str]:
    vendor, family, model = map(str, found)
    return vendor, family, model


def _foreign(path: Path) -> EverycoreError:
    return EverycoreError(f"{path} is no file of samples", "`profile --store` writes one")


def _cut_off(path: Path) -> EverycoreError:
    return EverycoreError(f"{path} is cut off: its last line is missing", "copy it again, whole")


def _read_region(row: dict[str, Any], environment: dict[str, str]) -> Region:
    start, code = row["code"]
    own = row.get("environment", environment)
    return Region(
        Module(*row["module"]),
        row["process"],
        Function(*row["function"]),
        row["machine"],
        {int(place): int(count) for place, count in row["votes"]},
        int(start),
        base64.b64decode(code, validate=True),
        [
            Reference(address, begin, base64.b64decode(data, validate=True), place)
            for address, begin, data, place in row["references"]
        ],
        [(count, tuple(Caller(*item) for item in chain)) for count, chain in row["chains"]],
        bool(row["generated"]),
        None if own is None else dict(own),
        str(row.get("unread", "")),
    )
