# SPDX-License-Identifier: MIT
"""Values that threads share: the first that wants one makes it, and the others wait for it."""

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Once:
    """Keeps values by their keys, each of which is made once, and locks."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._locks: dict[Hashable, threading.Lock] = {}

    def lock(self, key: Hashable) -> threading.Lock:
        return self._locks.setdefault(key, threading.Lock())

    def value(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of a key; `make` makes it, and is asked again after an error."""
        with self.lock(key):
            if key not in self._values:
                self._values[key] = make()
            value: T = self._values[key]
            return value
