# SPDX-License-Identifier: MIT
"""The exceptions that a user sees. What went wrong is a type: nobody compares messages."""

import difflib
import errno
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Self

FEW_NAMES = 8  # may all be listed
_FULL = (errno.ENOSPC, errno.EDQUOT)


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


class CannotRunError(EverycoreError):
    """A program that cannot be started: it is not there, or nobody may run it."""

    def with_hint(self, hint: str) -> Self:
        """The same error with a remedy, for who knows which package has the program."""
        return type(self)(self.message, hint, self.code)


class WrongMachineError(CannotRunError):
    """A program for a machine that this one is not."""


class CannotWriteError(EverycoreError):
    """A file or a folder that cannot be written."""


class NoSpaceError(CannotWriteError):
    """A disk is full, or this user may have no more of it."""


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


def cannot_run(program: str, error: OSError) -> CannotRunError:
    """The error for a program that the system does not start."""
    kind = WrongMachineError if error.errno == errno.ENOEXEC else CannotRunError
    return kind(f"cannot run {program}: {error.strerror}")


def cannot_write(
    what: object, error: OSError, hint: str = "", doing: str = "write"
) -> CannotWriteError:
    """The error for what cannot be written: `what` is a path, or words for one."""
    kind = NoSpaceError if error.errno in _FULL else CannotWriteError
    return kind(f"cannot {doing} {what}: {error.strerror or error}", hint)


def unreadable(path: Path, error: Exception) -> EverycoreError:
    """The error for a file of results that cannot be read, with what to do about it."""
    reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
    hint = "name a file that `everycore bench`, `peers`, `limits` or `matrix` has written"
    if isinstance(error, FileNotFoundError):
        try:
            names = [sibling.name for sibling in path.parent.iterdir()]
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
