# SPDX-License-Identifier: MIT
"""The methods that decide, for one kernel after the other."""

from collections.abc import Iterable, Sequence
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

    def look(self, operations: Sequence[CtOperation], turn: int) -> list[Verdict]:
        """Verdicts on the operations of a kernel; `turn`: its number."""
        if not operations[0].runs or not operations[0].operation:
            return []
        verdicts: list[Verdict] = []
        if "taint" in self.methods:
            verdicts += self._taint(operations)
        if "trace" in self.methods:
            tainted = {v.operation for v in verdicts if v.result != "impossible"}
            if self.quick and tainted.issuperset(operations):
                part = sample(operations, turn, QUICK_PARTS)
                verdicts += trace(self.context, self.session, part, QUICK_LENGTHS)
            else:
                verdicts += trace(self.context, self.session, operations)
        return verdicts

    def _taint(self, operations: Sequence[CtOperation]) -> Iterable[Verdict]:
        why = ""
        if self.session.target.transport != "local":
            why = "memcheck sees the CPU of this machine, no other one"
        elif not has_valgrind(self.context):
            why = "no valgrind"
        if why:
            return [Verdict(o, "taint", "impossible", why) for o in operations]
        return taint(self.context, self.session, operations, thorough=not self.quick)
