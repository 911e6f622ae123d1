# SPDX-License-Identifier: MIT
"""The guest's memory: frames of one mapping of the host, and page tables of four levels in them."""

import ctypes
import mmap

PAGE = 4096
PRESENT, WRITABLE, USER, NO_EXECUTE = 1 << 0, 1 << 1, 1 << 2, 1 << 63
READ, WRITE, EXECUTE = 1, 2, 4  # protections, as mmap has them
_FRAME = 0x000F_FFFF_FFFF_F000
_LEVELS = (39, 30, 21, 12)  # the lowest bit of each table's index in an address


class OutOfMemoryError(Exception):
    """No frame is left."""


class BadAddressError(Exception):
    """The guest named an address at which nothing is mapped."""


def page_down(address: int) -> int:
    return address & -PAGE


def page_up(address: int) -> int:
    return (address + PAGE - 1) & -PAGE


class Memory:
    def __init__(self, len_bytes: int) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._bytes = mmap.mmap(-1, len_bytes, flags=flags)
        self._view = memoryview(self._bytes)
        self.host = ctypes.addressof(ctypes.c_char.from_buffer(self._bytes))
        self.len_bytes = len_bytes
        self._next = PAGE
        self._free: list[int] = []
        self._used: dict[int, int] = {}  # from a page of the guest to the place of its entry
        self.root = self._frame()

    def _frame(self) -> int:
        if self._free:
            frame = self._free.pop()
            self._view[frame : frame + PAGE] = bytes(PAGE)
            return frame
        if self._next + PAGE > self.len_bytes:
            raise OutOfMemoryError
        self._next += PAGE
        return self._next - PAGE

    def _entry(self, place: int) -> int:
        return int.from_bytes(self._view[place : place + 8], "little")

    def _set_entry(self, place: int, entry: int) -> None:
        self._view[place : place + 8] = entry.to_bytes(8, "little")

    def _place_of(self, address: int) -> int:
        """The place of the last entry for an address; tables on the way are made."""
        table = self.root
        for bit in _LEVELS[:-1]:
            place = table + (address >> bit & 511) * 8
            entry = self._entry(place)
            if not entry:
                entry = self._frame() | PRESENT | WRITABLE | USER
                self._set_entry(place, entry)
            table = entry & _FRAME
        return table + (address >> _LEVELS[-1] & 511) * 8

    def is_used(self, start: int, end: int) -> bool:
        return any(page in self._used for page in range(start, end, PAGE))

    def map(self, start: int, end: int, protection: int, user: bool = True) -> None:
        """Pages of zeros; what was mapped there is gone."""
        self.unmap(start, end)
        for page in range(start, end, PAGE):
            place = self._used[page] = self._place_of(page)
            self._set_entry(place, self._frame() | _bits(protection, user))

    def protect(self, start: int, end: int, protection: int, user: bool = True) -> None:
        for page in range(start, end, PAGE):
            place = self._used.get(page)
            if place is None:
                raise BadAddressError
            self._set_entry(place, self._entry(place) & _FRAME | _bits(protection, user))

    def unmap(self, start: int, end: int) -> None:
        for page in range(start, end, PAGE):
            place = self._used.pop(page, None)
            if place is not None:
                self._free.append(self._entry(place) & _FRAME)
                self._set_entry(place, 0)

    def _pieces(self, address: int, len_bytes: int) -> list[slice]:
        pieces = []
        while len_bytes > 0:
            place = self._used.get(page_down(address))
            if place is None:
                raise BadAddressError
            offset = address % PAGE
            piece = min(PAGE - offset, len_bytes)
            start = (self._entry(place) & _FRAME) + offset
            pieces.append(slice(start, start + piece))
            address += piece
            len_bytes -= piece
        return pieces

    def read(self, address: int, len_bytes: int) -> bytes:
        return b"".join(self._view[piece] for piece in self._pieces(address, len_bytes))

    def write(self, address: int, data: bytes) -> None:
        done = 0
        for piece in self._pieces(address, len(data)):
            step = piece.stop - piece.start
            self._view[piece] = data[done : done + step]
            done += step

    def read_text(self, address: int) -> bytes:
        """The bytes up to the first zero."""
        text = b""
        while b"\0" not in text:
            text += self.read(address, PAGE - address % PAGE)
            address = page_down(address) + PAGE
        return text.partition(b"\0")[0]


def _bits(protection: int, user: bool) -> int:
    if not protection & (READ | WRITE | EXECUTE):
        return 0
    bits = PRESENT | (USER if user else 0)
    if protection & WRITE:
        bits |= WRITABLE
    if not protection & EXECUTE:
        bits |= NO_EXECUTE
    return bits
