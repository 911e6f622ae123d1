# SPDX-License-Identifier: MIT
"""The library GMP as a second judge of numbers: it shares no code with Python's integers."""

import ctypes
import ctypes.util
from typing import Any

Integer = ctypes.c_size_t * 4  # room for an mpz_t


class Gmp:
    """Functions of GMP by their names without mpz_: of integers, which it copies."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def _integers(self, numbers: tuple[int, ...]) -> list[Any]:
        made = [Integer() for _ in numbers]
        for integer, number in zip(made, numbers, strict=True):
            self._function("init_set_str")(integer, f"{number:x}".encode(), 16)
        return made

    def _function(self, name: str) -> Any:
        return getattr(self.library, f"__gmpz_{name}")

    def computes(self, name: str, *numbers: int) -> int:
        """The result of a function that stores it in its first argument, not below 0."""
        result, *integers = self._integers((0, *numbers))
        self._function(name)(result, *integers)
        text = ctypes.create_string_buffer(self._function("sizeinbase")(result, 16) + 2)
        self._function("get_str")(text, 16, result)
        for integer in (result, *integers):
            self._function("clear")(integer)
        return int(text.value, 16)

    def is_prime(self, number: int) -> bool:
        """Baillie, PSW and six rounds of Miller, Rabin (GMP 6.2)."""
        (integer,) = self._integers((number,))
        verdict = self._function("probab_prime_p")(integer, 30)
        self._function("clear")(integer)
        return bool(verdict > 0)


def load() -> Gmp | None:
    """None where the library is missing."""
    name = ctypes.util.find_library("gmp")
    return Gmp(ctypes.CDLL(name)) if name else None
