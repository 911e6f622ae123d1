# SPDX-License-Identifier: MIT
"""The error of bytes that are not what they should be."""

from collections.abc import Iterator
from contextlib import contextmanager

from everycore.environment.errors import EverycoreError


class MalformedError(EverycoreError):
    """A rule that bytes break so badly that their reader cannot go on.

    offset: where in the bytes. rule: what is wrong there. remedy: what the user can do.
    """

    def __init__(self, offset: int, rule: str, remedy: str = "") -> None:
        super().__init__(f"offset {offset:#x}: {rule}", remedy)
        self.offset = offset
        self.rule = rule
        self.remedy = remedy

    def moved(self, by: int) -> "MalformedError":
        """The same error in bytes that begin `by` bytes earlier."""
        return MalformedError(self.offset + by, self.rule, self.remedy)

    def named(self, name: str) -> EverycoreError:
        """The error as a user sees it: `name` is the file."""
        return EverycoreError(f"{name}: {self.message}", self.hint, self.code)


@contextmanager
def named(name: str) -> Iterator[None]:
    """Let errors of malformed bytes in this block name their file."""
    try:
        yield
    except MalformedError as error:
        raise error.named(name) from None
