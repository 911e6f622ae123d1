# SPDX-License-Identifier: MIT
"""How the arguments of a harness reach the place where it runs."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from everycore.context import Completed, Context
from everycore.model import Target
from everycore.transport.local import Local
from everycore.transport.qemu import Qemu
from everycore.transport.ssh import Ssh


class Transport(Protocol):
    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        """Lines of standard output as they come; the generator's value is the end."""
        ...


def transport_for(context: Context, target: Target) -> Transport:
    if target.transport == "ssh":
        return Ssh(context, target)
    if target.transport == "qemu":
        return Qemu(context, target)
    return Local(context)
