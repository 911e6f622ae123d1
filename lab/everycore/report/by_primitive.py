# SPDX-License-Identifier: MIT
"""Group records by the primitive of their kernel."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class OfPrimitive(Protocol):
    """A record about a kernel of a primitive."""

    @property
    def primitive(self) -> str: ...


class KernelName(OfPrimitive, Protocol):
    """A kernel, as far as its name goes: of a harness, or a line of the registry."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=OfPrimitive)


def by_primitive(lines: Iterable[T]) -> dict[str, list[T]]:
    """Kernels of two primitives may have one name (every primitive has its c_ref)."""
    groups: dict[str, list[T]] = {}
    for line in lines:
        groups.setdefault(line.primitive, []).append(line)
    return groups
