# SPDX-License-Identifier: MIT
"""How the arguments of a harness reach the place where it runs."""

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from everycore.environment.context import Completed, Context
from everycore.model.domain import Target
from everycore.run.transport.local import Local
from everycore.run.transport.qemu_user import Qemu

if TYPE_CHECKING:
    from everycore.run.transport.ssh import Ssh


class Transport(Protocol):
    def stream(
        self, binary: Path, arguments: Sequence[str], stdin: Iterable[str] = ()
    ) -> Generator[str, None, Completed]:
        """Lines of standard output as they come; the generator's value is the end."""
        ...


def transport_for(context: Context, target: Target) -> Transport:
    if target.transport == "ssh":
        from everycore.run.transport.ssh import Ssh  # with all that a connection needs

        return Ssh(context, target)
    if target.transport == "qemu":
        return Qemu(context, target)
    if target.has_cpu_model:
        from everycore.run.transport.cpu_model import CpuModel  # with the names of the extras

        return CpuModel(context, target)
    return Local(context)


def board_of(transport: Transport) -> "Ssh | None":
    """The transport, if it reaches a board over SSH; None for this machine and for emulators."""
    if isinstance(transport, Local | Qemu):
        return None
    from everycore.run.transport.ssh import Ssh

    return transport if isinstance(transport, Ssh) else None
