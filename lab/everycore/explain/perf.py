# SPDX-License-Identifier: MIT
"""Samples of perf_event_open, read from rings of our own: no perf program, no perf.data.

Sources: perf_event_open(2); Linux, include/uapi/linux/perf_event.h (the numbers below).
"""

import ctypes
import fcntl
import mmap
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from everycore.explain.samples import AARCH64, X86_64, Mapping, Sample, Sampled

_SYSCALL = {"x86_64": 298, "aarch64": 241}  # asm/unistd.h of the two
_ENABLE, _DISABLE, _SET_OUTPUT = 0x2400, 0x2401, 0x2405
_CLOSE_ON_EXEC = 8
_HARDWARE, _SOFTWARE = 0, 1
# IP, TID, TIME, REGS_USER, STACK_USER of enum perf_event_sample_format
_SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 12 | 1 << 13
_LOST, _COMM, _FORK, _SAMPLE, _MMAP2 = 2, 3, 7, 9, 10
_ATTR = struct.Struct("<IIQQQQQIIQQQQIiQIHH")  # struct perf_event_attr, version 5
_ATTR_BYTES = 112
_DISABLED, _INHERIT, _NO_KERNEL, _NO_HYPERVISOR = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_NO_IDLE, _MMAP, _COMM_FLAG, _FREQUENCY = 1 << 7, 1 << 8, 1 << 9, 1 << 10
_ON_EXEC, _TASK, _SAMPLE_ID, _MMAP2_FLAG = 1 << 12, 1 << 13, 1 << 18, 1 << 23
_USE_CLOCK = 1 << 25  # of Linux 4.1
_MONOTONIC = 1  # CLOCK_MONOTONIC, uapi/linux/time.h
_COMM_OF_EXEC = 1 << 13  # PERF_RECORD_MISC_COMM_EXEC: not a name that a program gave itself
_HEAD, _TAIL = 1024, 1032  # data_head and data_tail in struct perf_event_mmap_page
_MODE_MASK, _USER_MODE = 7, 2
# Bits of the registers: all of AArch64; of x86-64 without the segment registers DS, ES, FS, GS.
_MASKS = {"x86_64": 0xFF0FFF, "aarch64": (1 << 33) - 1}
_NAMES = {"x86_64": X86_64, "aarch64": AARCH64}
STACK_BYTES = 4096
_LARGEST_RING_PAGES = 2048
_SMALLEST_RING_PAGES = 16
_SAMPLE_TIME = 24  # behind the header, the place, process and thread


@dataclass(frozen=True, slots=True)
class Event:
    """Kinds of samples that are asked for."""

    hardware: bool
    kernel: bool  # samples in the kernel too, which needs a privilege
    hz: int
    stack_bytes: int = STACK_BYTES


def is_supported(machine: str) -> bool:
    """Whether the registers of this architecture are known here."""
    return machine in _SYSCALL


class Rings:
    """A ring for each CPU, into which every event of that CPU writes."""

    def __init__(self, machine: str, event: Event, tids: Sequence[int], on_exec: bool) -> None:
        self._machine = machine
        self._names = [
            name for bit, name in enumerate(_NAMES[machine]) if _MASKS[machine] >> bit & 1
        ]
        self._event = event
        self._events: list[int] = []
        self._maps: list[mmap.mmap] = []
        self._held: list[tuple[int, int, bytes]] = []  # records that wait for earlier ones
        self._latest = 0
        try:
            for cpu in _online():
                self._open_cpu(cpu, tids, on_exec)
        except OSError:
            self.close()
            raise
        if not self._events:
            raise ProcessLookupError

    def _open_cpu(self, cpu: int, tids: Sequence[int], on_exec: bool) -> None:
        first = -1
        for tid in tids:
            try:
                event = _open(self._machine, self._event, cpu, tid, on_exec)
            except ProcessLookupError:  # a thread that has ended meanwhile
                continue
            self._events.append(event)
            if first < 0:
                first = event
                self._maps.append(_map(event))
            else:
                fcntl.ioctl(event, _SET_OUTPUT, first)

    def enable(self) -> None:
        for event in self._events:
            fcntl.ioctl(event, _ENABLE, 0)

    def disable(self) -> None:
        for event in self._events:
            fcntl.ioctl(event, _DISABLE, 0)

    def close(self) -> None:
        for ring in self._maps:
            ring.close()
        for event in self._events:
            os.close(event)
        self._maps, self._events = [], []

    def drain(self, sampled: Sampled, is_last: bool = False) -> list[Sample]:
        """Move what the rings hold into `sampled`, and return the new samples.

        Each CPU has a ring of its own, and the rings are read one after the other. So what is told
        of a process waits for the next reading, which has all that was before it.
        """
        before = len(sampled.samples)
        found = sorted((entry for ring in self._maps for entry in _records(ring)), key=_time)
        notes = sorted([*self._held, *(entry for entry in found if entry[0] != _SAMPLE)], key=_time)
        told = [note for note in notes if is_last or _time(note) <= self._latest]
        self._held = notes[len(told) :]
        self._latest = max([self._latest, *map(_time, found)])
        for kind, mode, record in [*told, *(entry for entry in found if entry[0] == _SAMPLE)]:
            self._take(kind, mode, record, sampled)
        return sampled.samples[before:]

    def _take(self, kind: int, mode: int, record: bytes, sampled: Sampled) -> None:
        if kind == _SAMPLE:
            sampled.samples.append(self._sample(mode, record))
        elif kind == _MMAP2:
            pid, _, start, length, offset = struct.unpack_from("<IIQQQ", record, 8)
            path = _text(record[72:])
            mapping = Mapping(
                start, start + length, offset, "" if path.startswith("//anon") else path
            )
            sampled.mappings.setdefault(pid, []).append(mapping)
        elif kind == _COMM:
            pid, tid = struct.unpack_from("<II", record, 8)
            if mode & _COMM_OF_EXEC:
                sampled.exec(pid, _text(record[16:]), _time((kind, mode, record)))
            elif pid == tid:
                sampled.names[pid] = _text(record[16:])
        elif kind == _FORK:
            pid, parent = struct.unpack_from("<II", record, 8)
            if pid != parent:
                sampled.fork(pid, parent, _time((kind, mode, record)))
        elif kind == _LOST:
            sampled.lost += int(struct.unpack_from("<QQ", record, 8)[1])

    def _sample(self, mode: int, record: bytes) -> Sample:
        place, pid, tid, time = struct.unpack_from("<QIIQ", record, 8)
        (abi,) = struct.unpack_from("<Q", record, 32)
        at = 40
        registers: dict[str, int] = {}
        if abi:
            values = struct.unpack_from(f"<{len(self._names)}Q", record, at)
            registers = dict(zip(self._names, values, strict=True))
            at += 8 * len(self._names)
        stack = b""
        if at + 8 <= len(record):
            (room,) = struct.unpack_from("<Q", record, at)
            if room:
                (filled,) = struct.unpack_from("<Q", record, at + 8 + room)
                stack = record[at + 8 : at + 8 + min(filled, room)]
        is_user = mode & _MODE_MASK == _USER_MODE
        return Sample(pid, tid, place, is_user, 32 if abi == 1 else 64, registers, stack, time)


def _online() -> list[int]:
    """Return the numbers of the CPUs that are online: "0-3,6"."""
    from pathlib import Path

    try:
        text = Path("/sys/devices/system/cpu/online").read_text(encoding="utf-8").strip()
    except OSError:
        return list(range(os.cpu_count() or 1))
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _open(machine: str, event: Event, cpu: int, tid: int, on_exec: bool) -> int:
    flags = _DISABLED | _INHERIT | _NO_HYPERVISOR | _NO_IDLE | _MMAP | _COMM_FLAG | _FREQUENCY
    flags |= _TASK | _SAMPLE_ID | _MMAP2_FLAG | _USE_CLOCK
    flags |= (0 if event.kernel else _NO_KERNEL) | (_ON_EXEC if on_exec else 0)
    kind = _HARDWARE if event.hardware else _SOFTWARE  # config 0: cycles, or the clock of the CPU
    attr = _ATTR.pack(
        kind, _ATTR_BYTES, 0, event.hz, _SAMPLE_TYPE, 0, flags, 0, 0, 0, 0, 0,
        _MASKS[machine], event.stack_bytes, _MONOTONIC, 0, 0, 0, 0,
    )  # fmt: skip
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(attr.ljust(_ATTR_BYTES, b"\0"), _ATTR_BYTES)
    descriptor = libc.syscall(_SYSCALL[machine], buffer, tid, cpu, -1, _CLOSE_ON_EXEC)
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return int(descriptor)


def _map(event: int) -> mmap.mmap:
    """Map a ring as large as the limit of locked memory lets it be."""
    pages = _LARGEST_RING_PAGES
    while True:
        try:
            return mmap.mmap(event, (pages + 1) * mmap.PAGESIZE)
        except OSError:
            if pages <= _SMALLEST_RING_PAGES:
                raise
            pages //= 2


def _records(ring: mmap.mmap) -> Iterator[tuple[int, int, bytes]]:
    """Yield kind, mode and bytes of each record that is in a ring, and give its room back."""
    page = mmap.PAGESIZE
    size = len(ring) - page
    (head,) = struct.unpack_from("<Q", ring, _HEAD)
    (tail,) = struct.unpack_from("<Q", ring, _TAIL)

    def take(at: int, length: int) -> bytes:
        begin = at % size
        first = ring[page + begin : page + min(begin + length, size)]
        return first + ring[page : page + length - len(first)]

    try:
        while tail < head:
            kind, mode, length = struct.unpack("<IHH", take(tail, 8))
            if not length:  # the kernel never writes this
                break
            yield kind, mode, take(tail, length)
            tail += length
    finally:
        with suppress(ValueError):
            struct.pack_into("<Q", ring, _TAIL, tail)


def _time(entry: tuple[int, int, bytes]) -> int:
    """Return when a record was written: samples have it behind the process, others at their end."""
    kind, _, record = entry
    at = _SAMPLE_TIME if kind == _SAMPLE else len(record) - 8
    return int(struct.unpack_from("<Q", record, at)[0])


def _text(raw: bytes) -> str:
    return raw.split(b"\0", 1)[0].decode(errors="replace")
