# SPDX-License-Identifier: MIT
"""The one exception that a user sees."""

import difflib
import signal
from collections.abc import Iterable
from pathlib import Path

FEW_NAMES = 8  # may all be listed


class EverycoreError(Exception):
    """A failure, and what to do about it.

    Becomes a few lines and the exit code: 2 for usage and environment, 1 where the code under test
    is to blame.
    """

    def __init__(self, message: str, hint: str = "", code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code


class SignalError(BaseException):
    """A signal asked this program to end. Notes say what becomes of the work until then."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.strsignal(number))
        self.code = 128 + number  # as shells have it


class UnavailableError(EverycoreError):
    """The network or an archive does not give what is wanted: nothing is known of what it is."""


class LostError(EverycoreError):
    """The place where a harness ran is gone, or silent; what it had said before is good."""


class MissingPackagesError(EverycoreError):
    """Python packages that only some of everycore needs, and that are not installed."""


def unreadable(path: Path, error: Exception) -> EverycoreError:
    """The error for a file of results that cannot be read, with what to do about it."""
    reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
    hint = "name a file that `everycore bench`, `peers`, `limits` or `matrix` has written"
    if isinstance(error, FileNotFoundError):
        try:
            names = [one.name for one in path.parent.iterdir()]
        except OSError:
            names = []
        near = difflib.get_close_matches(path.name, names, n=3)
        hint = f"nearest there: {', '.join(near)}" if near else hint
    elif isinstance(error, PermissionError):
        hint = "allow this user to read it, or copy it"
    elif isinstance(error, UnicodeDecodeError):
        reason = "not UTF-8"
    return EverycoreError(f"cannot read {path}: {reason}", hint)


def unknown_name(what: str, name: str, valid: Iterable[str]) -> EverycoreError:
    """The error for a name that does not exist, with the valid names: the nearest, and few all."""
    names = list(valid)
    is_few = len(names) <= FEW_NAMES
    near = difflib.get_close_matches(name.lower(), names, n=4, cutoff=0.5)
    if not near and not is_few:
        near = difflib.get_close_matches(name.lower(), names, n=4, cutoff=0.0)
    parts = [f"nearest: {', '.join(near)}"] if near else []
    parts += [f"valid: {', '.join(names)}"] if is_few else []
    hint = "; ".join(parts)
    return EverycoreError(f"unknown {what} '{name}'", hint)
