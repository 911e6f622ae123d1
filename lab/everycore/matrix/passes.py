# SPDX-License-Identifier: MIT
"""LLVM's passes by number: the one after which the code is bad.

`-mllvm -opt-bisect-limit=N` leaves out all optional passes after the N-th, and names each ("Using
-opt-bisect-limit to debug optimization errors", LLVM documentation, 2024).
"""

import re
from collections.abc import Callable

ALL = 1_000_000_000
_LINE = re.compile(r"^BISECT: running pass \((\d+)\) (.+)$", re.MULTILINE)


def limit(last: int) -> tuple[str, ...]:
    """The words that end the list of passes behind the `last`."""
    return ("-mllvm", f"-opt-bisect-limit={last}")


def names(said: str) -> list[str]:
    """Return the passes that ran, in their order: "SLPVectorizerPass on aes_encrypt"."""
    return [name.strip() for _, name in _LINE.findall(said)]


def first_bad(count: int, is_bad: Callable[[int], bool]) -> int | None:
    """The number of a pass after which the code is bad, and before which it is not.

    None: it is bad before the first, or good after the last.
    """
    if count < 1 or is_bad(0) or not is_bad(count):
        return None
    good, bad = 0, count
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (good, middle) if is_bad(middle) else (middle, bad)
    return bad
