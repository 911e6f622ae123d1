# SPDX-License-Identifier: MIT
"""Messages of a compiler that made no file: whether the code, the machine or the disk is to
blame."""

import re

from everycore.environment.errors import EverycoreError, NoSpaceError

MAKE_ROOM = "make room, or set XDG_CACHE_HOME and TMPDIR to another place"
# Messages of a compiler, or its driver, when the machine failed it.
_PASSING = re.compile(
    r"(^|: )(Killed|Terminated)\b|out of memory|memory exhausted|cannot allocate memory|bad_alloc"
    r"|temporary file|resource temporarily unavailable|no space left on device",
    re.MULTILINE | re.IGNORECASE,
)
_FULL = re.compile(r"no space left on device|disk quota exceeded", re.IGNORECASE)


class RefusedError(EverycoreError):
    """A compiler or a linker made nothing.

    `may_pass`: the machine, not the compiler, is the reason, and the next try may end otherwise.
    """

    def __init__(self, message: str, hint: str = "", may_pass: bool = False) -> None:
        super().__init__(message, hint)
        self.may_pass = may_pass


class NotCompiledError(RefusedError):
    """A subject's file that the compiler refuses, or objects that the linker does.

    It says the first error of the compiler.
    """


def is_passing(said: str) -> bool:
    """Whether the machine, not the compiler, is the reason: it may be otherwise at the next try."""
    return bool(_PASSING.search(said))


def full_disk(message: str, said: str) -> NoSpaceError | None:
    """The error of a compiler that had no room for its files; None: it had."""
    found = _FULL.search(said)
    if found is None:
        return None
    more = "" if found[0] in message else f": {found[0]}"
    return NoSpaceError(message + more, MAKE_ROOM)
