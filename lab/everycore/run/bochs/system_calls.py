# SPDX-License-Identifier: MIT
"""The system calls of Linux on x86-64 that a program of one thread makes."""

import errno
import os
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from everycore.run.bochs.guest_memory import (
    BadAddressError,
    Memory,
    OutOfMemoryError,
    page_down,
    page_up,
)

MMAP_TOP = 0x7F00_0000_0000
_PRIVATE, _ANONYMOUS, _FIXED, _FIXED_NOREPLACE = 0x02, 0x20, 0x10, 0x100000
_SET_FS, _GET_FS = 0x1002, 0x1003
_SIG_BLOCK, _SIG_UNBLOCK, _SIG_SETMASK = 0, 1, 2
_AT_FDCWD, _AT_EMPTY_PATH = -100, 0x1000
_UNLIMITED = (1 << 64) - 1
_STACK_LIMIT, _RLIMIT_STACK = 8 << 20, 3
_MASK = (1 << 64) - 1


class ExitedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class KilledError(Exception):
    """The program has sent itself a signal, as abort() does."""

    def __init__(self, signal: int) -> None:
        super().__init__(signal)
        self.signal = signal


class UnsupportedError(Exception):
    """The program wants something that this runner does not do."""


@dataclass(frozen=True, slots=True)
class Action:
    """The program's handler of a signal."""

    handler: int
    flags: int
    restorer: int
    mask: int


DEFAULT = Action(0, 0, 0, 0)


class Calls:
    """`flush`: translations of addresses have changed. `set_fs`: sets FS's base."""

    def __init__(
        self,
        memory: Memory,
        program: str,
        heap: int,
        flush: Callable[[], None],
        set_fs: Callable[[int], None],
    ) -> None:
        self._memory = memory
        self._program = program
        self._heap_start = self._heap_end = heap
        self._flush = flush
        self._set_fs = set_fs
        self._fs = 0
        self._lowest_mapping = MMAP_TOP
        self.actions: dict[int, Action] = {}
        self.blocked = 0
        self._told: set[int] = set()
        self._table: dict[int, Callable[..., int]] = {
            0: self._read,
            1: self._write,
            3: self._close,
            5: self._fstat,
            8: self._lseek,
            9: self._mmap,
            10: self._mprotect,
            11: self._munmap,
            12: self._brk,
            13: self._rt_sigaction,
            14: self._rt_sigprocmask,
            15: self._rt_sigreturn,
            16: lambda *_: -errno.ENOTTY,
            17: self._pread64,
            20: self._writev,
            21: self._access,
            24: lambda *_: 0,  # sched_yield
            28: lambda *_: 0,  # madvise
            35: lambda *_: 0,  # nanosleep: time of the guest is not the time of the host
            39: lambda *_: os.getpid(),
            60: self._exit,
            62: self._kill,
            63: self._uname,
            79: self._getcwd,
            89: self._readlink,
            158: self._arch_prctl,
            186: lambda *_: os.getpid(),
            200: self._kill,
            202: lambda *_: 0,  # futex: nobody else waits
            203: lambda *_: 0,  # sched_setaffinity
            218: lambda *_: os.getpid(),  # set_tid_address
            228: self._clock_gettime,
            231: self._exit,
            234: self._tgkill,
            257: self._openat,
            262: self._newfstatat,
            273: lambda *_: 0,  # set_robust_list
            302: self._prlimit64,
            318: self._getrandom,
            334: lambda *_: -errno.ENOSYS,  # rseq: the C library does without
        }

    def call(self, number: int, arguments: tuple[int, ...]) -> int:
        """The result of a call; a negative error number if it fails."""
        serve = self._table.get(number)
        if serve is None:
            if number not in self._told:
                self._told.add(number)
                print(
                    f"bochs: {self._program} makes system call {number}, which is not served here; "
                    "the call returns ENOSYS",
                    file=sys.stderr,
                )
            return -errno.ENOSYS
        try:
            return serve(*arguments)
        except BadAddressError:
            return -errno.EFAULT
        except OutOfMemoryError:
            return -errno.ENOMEM
        except OSError as error:
            return -(error.errno or errno.EIO)

    # Files

    def _read(self, fd: int, address: int, len_bytes: int, *_: int) -> int:
        data = os.read(fd, len_bytes)
        self._memory.write(address, data)
        return len(data)

    def _pread64(self, fd: int, address: int, len_bytes: int, offset: int, *_: int) -> int:
        data = os.pread(fd, len_bytes, offset)
        self._memory.write(address, data)
        return len(data)

    def _access(self, path: int, mode: int, *_: int) -> int:
        return 0 if os.access(self._memory.read_text(path), mode) else -errno.ENOENT

    def _write(self, fd: int, address: int, len_bytes: int, *_: int) -> int:
        return os.write(fd, self._memory.read(address, len_bytes))

    def _writev(self, fd: int, address: int, count: int, *_: int) -> int:
        pairs = struct.iter_unpack("<QQ", self._memory.read(address, 16 * count))
        return os.write(fd, b"".join(self._memory.read(start, size) for start, size in pairs))

    def _openat(self, folder: int, path: int, flags: int, *_: int) -> int:
        if _signed32(folder) != _AT_FDCWD or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return -errno.EACCES
        return os.open(self._memory.read_text(path), flags)

    def _close(self, fd: int, *_: int) -> int:
        if fd > 2:
            os.close(fd)
        return 0

    def _lseek(self, fd: int, offset: int, whence: int, *_: int) -> int:
        return os.lseek(fd, _signed64(offset), whence)

    def _fstat(self, fd: int, address: int, *_: int) -> int:
        self._put_status(os.fstat(fd), address)
        return 0

    def _newfstatat(self, folder: int, path: int, address: int, flags: int, *_: int) -> int:
        name = self._memory.read_text(path)
        if not name and flags & _AT_EMPTY_PATH:
            return self._fstat(folder, address)
        if _signed32(folder) != _AT_FDCWD:
            return -errno.EACCES
        self._put_status(Path(os.fsdecode(name)).stat(), address)
        return 0

    def _put_status(self, status: os.stat_result, address: int) -> None:
        data = struct.pack(
            "<QQQIIIIQqqqqqqqqq24x",
            *(status.st_dev, status.st_ino, status.st_nlink, status.st_mode),
            *(status.st_uid, status.st_gid, 0, status.st_rdev, status.st_size),
            *(status.st_blksize, status.st_blocks),
            *(int(status.st_atime), 0, int(status.st_mtime), 0, int(status.st_ctime), 0),
        )
        self._memory.write(address, data)

    def _readlink(self, path: int, address: int, len_bytes: int, *_: int) -> int:
        name = self._memory.read_text(path)
        if name == b"/proc/self/exe":
            target = os.fsencode(self._program)
        else:
            target = os.fsencode(Path(os.fsdecode(name)).readlink())
        self._memory.write(address, target[:len_bytes])
        return min(len(target), len_bytes)

    def _getcwd(self, address: int, len_bytes: int, *_: int) -> int:
        path = os.fsencode(Path.cwd()) + b"\0"
        if len(path) > len_bytes:
            return -errno.ERANGE
        self._memory.write(address, path)
        return len(path)

    # Memory

    def _brk(self, end: int, *_: int) -> int:
        if end < self._heap_start:
            return self._heap_end
        old, new = page_up(self._heap_end), page_up(end)
        if new > old:
            self._memory.map(old, new, 3)
        elif new < old:
            self._memory.unmap(new, old)
            self._flush()
        self._heap_end = end
        return end

    def _mmap(
        self, address: int, len_bytes: int, protection: int, flags: int, fd: int, offset: int
    ) -> int:
        """A mapped file is a private copy of what it has now."""
        if not flags & (_ANONYMOUS | _PRIVATE):
            return -errno.ENODEV
        if not len_bytes:
            return -errno.EINVAL
        size = page_up(len_bytes)
        if flags & _FIXED_NOREPLACE and self._memory.is_used(address, address + size):
            return -errno.EEXIST
        if not flags & (_FIXED | _FIXED_NOREPLACE):
            self._lowest_mapping -= size
            address = self._lowest_mapping
        data = b"" if flags & _ANONYMOUS else os.pread(_signed32(fd), len_bytes, offset)
        self._memory.map(address, address + size, protection)
        self._memory.write(address, data)
        self._flush()
        return address

    def _mprotect(self, address: int, len_bytes: int, protection: int, *_: int) -> int:
        if address != page_down(address):
            return -errno.EINVAL
        try:
            self._memory.protect(address, page_up(address + len_bytes), protection)
        except BadAddressError:
            return -errno.ENOMEM
        finally:
            self._flush()
        return 0

    def _munmap(self, address: int, len_bytes: int, *_: int) -> int:
        self._memory.unmap(address, page_up(address + len_bytes))
        self._flush()
        return 0

    # Signals

    def _rt_sigaction(self, signal: int, new: int, old: int, *_: int) -> int:
        before = self.actions.get(signal, DEFAULT)
        if new:
            self.actions[signal] = Action(*struct.unpack("<4Q", self._memory.read(new, 32)))
        if old:
            words = (before.handler, before.flags, before.restorer, before.mask)
            self._memory.write(old, struct.pack("<4Q", *words))
        return 0

    def _rt_sigprocmask(self, how: int, new: int, old: int, *_: int) -> int:
        before = self.blocked
        if new:
            mask = int.from_bytes(self._memory.read(new, 8), "little")
            if how == _SIG_BLOCK:
                self.blocked |= mask
            elif how == _SIG_UNBLOCK:
                self.blocked &= ~mask
            elif how == _SIG_SETMASK:
                self.blocked = mask
            else:
                return -errno.EINVAL
        if old:
            self._memory.write(old, before.to_bytes(8, "little"))
        return 0

    def _rt_sigreturn(self, *_: int) -> int:
        raise UnsupportedError("returns from a handler of a signal instead of jumping out of it")

    # All else

    def _exit(self, code: int, *_: int) -> int:
        raise ExitedError(code & 255)

    def _kill(self, process: int, signal: int, *_: int) -> int:
        if process != os.getpid():
            return -errno.EPERM
        raise KilledError(signal)

    def _tgkill(self, process: int, _thread: int, signal: int, *_: int) -> int:
        return self._kill(process, signal)

    def _arch_prctl(self, code: int, value: int, *_: int) -> int:
        if code == _SET_FS:
            self._fs = value
            self._set_fs(value)
            return 0
        if code == _GET_FS:
            self._memory.write(value, self._fs.to_bytes(8, "little"))
            return 0
        return -errno.EINVAL

    def _uname(self, address: int, *_: int) -> int:
        words = [*os.uname()[:4], "x86_64", ""]
        self._memory.write(address, b"".join(word.encode().ljust(65, b"\0") for word in words))
        return 0

    def _clock_gettime(self, clock: int, address: int, *_: int) -> int:
        seconds, nanoseconds = divmod(time.clock_gettime_ns(clock), 10**9)
        self._memory.write(address, struct.pack("<2q", seconds, nanoseconds))
        return 0

    def _prlimit64(self, _pid: int, which: int, new: int, old: int, *_: int) -> int:
        if new:
            return -errno.EPERM
        if old:
            limit = _STACK_LIMIT if which == _RLIMIT_STACK else _UNLIMITED
            self._memory.write(old, struct.pack("<2Q", limit, _UNLIMITED))
        return 0

    def _getrandom(self, address: int, len_bytes: int, *_: int) -> int:
        self._memory.write(address, os.urandom(len_bytes))
        return len_bytes


def _signed32(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def _signed64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
