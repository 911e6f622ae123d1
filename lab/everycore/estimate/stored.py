# SPDX-License-Identifier: MIT
"""The first line of stored estimates and goals, which are of no machine."""

from collections.abc import Mapping, Sequence
from typing import Any

from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.model.domain import Machine
from everycore.model.run_lines import Run
from everycore.run import machine
from everycore.run.session import Session

NO_MACHINE = "none: counts under an emulator, and models"


def run_of(
    context: Context, command: str, sessions: Sequence[Session], options: Mapping[str, Any]
) -> Run:
    """The run of a command; the compiler is that of the first session."""
    session = sessions[0]
    return Run(
        command=command,
        date=context.now().isoformat(timespec="seconds"),
        everycore=catalog.version(session.tree),
        revision=machine.revision(context, session.tree),
        machine=Machine(cpu=NO_MACHINE),
        target=", ".join(opened.target.name for opened in sessions),
        compiler=session.build.compiler.name,
        flags=session.build.flags,
        counter="none",
        options=dict(options),
    )
