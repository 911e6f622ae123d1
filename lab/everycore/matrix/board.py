# SPDX-License-Identifier: MIT
"""A board over SSH that checks and times cells: programs are compiled here, and run there."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from everycore.environment.context import Completed, Context, collected
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Machine, Target, Toolchain, Tree
from everycore.model.targets import load_target, target_names
from everycore.run import machine
from everycore.run.transport.ssh import Ssh


@dataclass(frozen=True)
class BoardLink:
    """A connection to a board; one program runs there at a time."""

    target: Target
    ssh: Ssh
    cpus: tuple[int, ...]  # the cores that measure
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def machine(self) -> Machine:
        return machine.describe_board(self.ssh.facts, self.cpus[0])

    def run(self, binary: Path, words: Sequence[str]) -> Completed:
        """Run a program to its end; LostError: the board is gone, or silent."""
        with self._lock:
            return collected(self.ssh.stream(binary, words))


def open_board(context: Context, target: Target, cpu: int | None) -> BoardLink:
    """Connect to the board of a target, and choose the cores that measure."""
    assert target.board is not None
    if target.board.build == "there":
        raise EverycoreError(
            f'{target.name}: the matrix compiles here, and its file says build = "there"',
            "name a compiler for the board in its file",
        )
    ssh = Ssh(context, target)
    if cpu is None and target.board.cpu >= 0:
        cpu = target.board.cpu
    if cpu is not None:
        return BoardLink(target, ssh, (cpu,))
    return BoardLink(target, ssh, machine.like(ssh.facts, machine.fastest_cpu(ssh.facts)))


def with_board(
    tree: Tree, toolchains: Mapping[str, Toolchain], target: Target
) -> dict[str, Toolchain]:
    """Return the toolchains, each with the compiler that serves the board: that of a target of the
    tree with the same compiler, or this machine's own."""
    every = [load_target(tree, name) for name in target_names(tree)]
    same = next(
        (known_target.name for known_target in every if known_target.compiler == target.compiler),
        "",
    )
    return {
        name: replace(toolchain, compilers=(*toolchain.compilers, (target.name, compiler)))
        if (compiler := toolchain.compiler(same))
        else toolchain
        for name, toolchain in toolchains.items()
    }
