# SPDX-License-Identifier: MIT
"""Snapshots of memory that live registers point to, taken while the program runs.

Tables that a program makes at run time, and code that it generates, are in no file.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from everycore.explain.samples import (
    COUNTERS,
    SNAPSHOT_BYTES,
    STACK_POINTERS,
    Sample,
    Sampled,
    read_mappings,
)

_MOST_PAGES = 1500  # 6 MiB
_EACH_TIME = 4  # samples that are looked at after each reading of the rings
_MOST_LOOKS = 400
_HOT = 100  # samples of a place from which on it is looked at beyond these limits
_LOOKS_AT_A_PLACE = 12
_NEWEST = 64  # samples whose files are looked for
_LARGEST_FILE = 64 << 20
_DELETED = " (deleted)"
_VARIABLES = 64  # pages of a hot file's variables that are read


class Snapshots:
    """Pages of running processes, some time after they began: data once, code at each look."""

    def __init__(self, sampled: Sampled) -> None:
        self._sampled = sampled
        self._looked: dict[tuple[int, int, bool], int] = {}
        self._seen: Counter[tuple[int, int]] = Counter()
        self._looks = 0
        self._known_files: set[str] = set()
        self._in_file: Counter[tuple[int, str]] = Counter()

    def take(self, samples: Sequence[Sample]) -> None:
        """Read memory at the registers of some of the newest samples."""
        self._keep_files(samples[-_NEWEST:])
        user = [sample for sample in reversed(samples) if sample.is_user]
        self._seen.update(_place(sample) for sample in user)
        self._keep_variables(user)
        chosen: list[Sample] = []
        for sample in sorted(user, key=lambda candidate: -self._seen[_place(candidate)]):
            place = _place(sample)
            is_hot = self._seen[place] >= _HOT
            key = (*place, is_hot)  # a place that has become hot is looked at anew
            if self._looked.get(key, 0) >= _LOOKS_AT_A_PLACE:
                continue
            if self._looks >= _MOST_LOOKS and not is_hot:
                continue
            self._looked[key] = self._looked.get(key, 0) + 1
            chosen.append(sample)
            if len(chosen) == _EACH_TIME:
                break
        if not chosen:
            return
        self._looks += 1
        # A program's start, as of a virtual machine, must not use up what its hot loops need.
        has_hot = any(self._seen[_place(sample)] >= _HOT for sample in chosen)
        most = 2 * _MOST_PAGES if has_hot else _MOST_PAGES
        for pid in {sample.pid for sample in chosen}:
            with suppress(OSError), Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
                for page in self._pages(pid, [sample for sample in chosen if sample.pid == pid]):
                    is_known = (pid, page) in self._sampled.memory
                    if not is_known and len(self._sampled.memory) >= most:
                        continue
                    with suppress(OSError, OverflowError, ValueError):
                        memory.seek(page)
                        self._sampled.memory[pid, page] = memory.read(SNAPSHOT_BYTES)

    def _keep_files(self, samples: Iterable[Sample]) -> None:
        """Keep the files that code ran in and that have no name any more.

        Programs delete a library that they have unpacked as soon as it is loaded.
        """
        for sample in samples:
            mapping = self._sampled.mapping_of(sample.pid, sample.place) if sample.is_user else None
            if (
                mapping is None
                or not mapping.path.startswith("/")
                or mapping.path in self._known_files
            ):
                continue
            self._known_files.add(mapping.path)
            if not Path(mapping.path).exists() and (data := _mapped_file(sample.pid, mapping.path)):
                self._sampled.files[mapping.path] = data

    def _keep_variables(self, samples: Iterable[Sample]) -> None:
        """Read variables of the files that code is hot in, once: tables may be made at the start.

        Code refers to them by its own place, so that no register may hold their address.
        """
        found: Counter[tuple[int, str]] = Counter()
        for sample in samples:
            mapping = self._sampled.mapping_of(sample.pid, sample.place)
            if mapping is not None and mapping.path.startswith("/"):
                found[sample.pid, mapping.path] += 1
        for key, count in found.items():
            is_new = self._in_file[key] < _HOT <= self._in_file[key] + count
            self._in_file[key] += count
            if is_new:
                with suppress(OSError):
                    self._read_variables(*key)

    def _read_variables(self, pid: int, path: str) -> None:
        left = _VARIABLES
        with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
            for start, end in variables(
                Path(f"/proc/{pid}/maps").read_text("utf-8", "replace"), path
            ):
                for page in range(start, min(end, start + left * SNAPSHOT_BYTES), SNAPSHOT_BYTES):
                    left -= 1
                    with suppress(OSError, OverflowError, ValueError):
                        memory.seek(page)
                        self._sampled.memory[pid, page] = memory.read(SNAPSHOT_BYTES)

    def _pages(self, pid: int, samples: Iterable[Sample]) -> list[int]:
        """Pages that registers point to and that no file has, the code's own among them."""
        found: dict[int, None] = {}
        machine = self._sampled.machine
        for sample in samples:
            for name, value in sample.registers.items():
                if name in (STACK_POINTERS[machine], "flags", "cs", "ss") or value < 1 << 16:
                    continue
                first = value & ~(SNAPSHOT_BYTES - 1)
                is_code = name == COUNTERS[machine]  # a page of it may have been half written
                for page in (first, first + SNAPSHOT_BYTES):
                    known = self._sampled.mapping_of(pid, page)
                    is_file = known is not None and known.path.startswith("/")
                    if not is_file and (is_code or (pid, page) not in self._sampled.memory):
                        found[page] = None
        return list(found)


def variables(maps: str, path: str) -> list[tuple[int, int]]:
    """Return where the variables of a file lie: what may be written of it, and what follows.

    Variables that begin as zeros lie behind the file's last part, in memory without a name.
    """
    found: list[tuple[int, int]] = []
    last = 0  # end of a part of the file
    for line in maps.splitlines():
        mapping = next(iter(read_mappings(line)), None)
        if mapping is None:
            continue
        is_own = mapping.path == path
        is_behind = not mapping.path and mapping.start == last
        if (is_own or is_behind) and "w" in line.split(None, 2)[1]:
            found.append((mapping.start, mapping.end))
        last = mapping.end if is_own else 0
    return found


def _place(sample: Sample) -> tuple[int, int]:
    return sample.pid, sample.place >> 8


def _mapped_file(pid: int, path: str) -> bytes:
    """Read a file that a process has mapped, though it was deleted; b"" where that is refused."""
    with suppress(OSError):
        for link in Path(f"/proc/{pid}/map_files").iterdir():
            with suppress(OSError):
                if str(link.readlink()).removesuffix(_DELETED) == path.removesuffix(_DELETED):
                    with link.open("rb") as stream:
                        return stream.read(_LARGEST_FILE)
    return b""
