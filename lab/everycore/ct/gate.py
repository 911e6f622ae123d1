# SPDX-License-Identifier: MIT
"""The methods that decide, for one kernel after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from everycore.ct.run_plan import sample
from everycore.ct.taint import taint
from everycore.ct.traces import trace
from everycore.ct.verdicts import Verdict
from everycore.environment.context import Context
from everycore.model.protocol import CtOperation
from everycore.run.session import Session
from everycore.run.transport.valgrind import has_valgrind

QUICK_PARTS = 4
QUICK_LENGTHS = ("--bytes", "16,45")


@dataclass(frozen=True, slots=True)
class Gate:
    """Taint, trace or both.

    `quick`: few lengths, and of what memcheck could look at only a sample is traced.
    """

    context: Context
    session: Session
    methods: Sequence[str]
    quick: bool

    def taint(self, kernels: Sequence[Sequence[CtOperation]]) -> list[Verdict]:
        """Verdicts of memcheck on the operations of kernels."""
        operations = [o for own in kernels if _is_examined(own) for o in own]
        if "taint" not in self.methods or not operations:
            return []
        why = ""
        if self.session.target.transport != "local":
            why = "memcheck sees the CPU of this machine, no other one"
        elif not has_valgrind(self.context):
            why = "no valgrind"
        if why:
            return [Verdict(o, "taint", "impossible", why) for o in operations]
        return list(taint(self.context, self.session, operations, thorough=not self.quick))

    def trace(
        self, operations: Sequence[CtOperation], turn: int, tainted: Sequence[Verdict]
    ) -> list[Verdict]:
        """Verdicts of traces on the operations of a kernel; `turn`: its number.

        `tainted`: verdicts of memcheck.
        """
        if "trace" not in self.methods or not _is_examined(operations):
            return []
        seen = {v.operation for v in tainted if v.result != "impossible"}
        if self.quick and seen.issuperset(operations):
            part = sample(operations, turn, QUICK_PARTS)
            return list(trace(self.context, self.session, part, QUICK_LENGTHS))
        return list(trace(self.context, self.session, operations))


def _is_examined(operations: Sequence[CtOperation]) -> bool:
    return operations[0].runs and bool(operations[0].operation)
