# SPDX-License-Identifier: MIT
"""The rows that goals are held against: of our kernels for Arm, and of other people's code."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.estimate import data, goals
from everycore.estimate.core_estimates import Core, OperationEstimate, techniques
from everycore.estimate.evaluate import Evaluator, Subject
from everycore.estimate.executed import CPU, TARGETS, Harness, Operation, emulator_version
from everycore.estimate.goals import Goal, Reached
from everycore.estimate.mca import Llvm
from everycore.estimate.measured import OURS
from everycore.estimate.models import Models
from everycore.estimate.others import Others
from everycore.estimate.others import techniques as techniques_of
from everycore.model.domain import Tree
from everycore.run.session import Session, open_session
from everycore.subjects import find_subject

FOLDER = Path(data.__file__).parent
KEY_BITS = 128


class GoalRows:
    """Rows of ours and of others, each evaluated once for each set of cores."""

    def __init__(self, context: Context, tree: Tree, llvm: Llvm) -> None:
        self._context = context
        self._tree = tree
        self._llvm = llvm
        self._evaluated = data.load_evaluated(FOLDER)
        self._cores = data.load_cores(FOLDER, self._evaluated.parameters)
        self._points = data.load_points(FOLDER, self._cores)
        self._fits = data.fits(self._points, self._evaluated)
        self._models = Models(context, llvm)
        self._others = Others(context, tree, llvm, {})
        self._known: dict[tuple[object, ...], OperationEstimate] = {}
        self.sessions: dict[str, tuple[Session, Harness]] = {}

    @property
    def tools(self) -> dict[str, str]:
        sessions = self.sessions.values()
        qemu = {emulator_version(self._context, session.target) for session, _ in sessions}
        return {**self._evaluated.tools, "llvm": self._llvm.version, "qemu": ", ".join(qemu)}

    def reach(self, goal: Goal) -> list[Reached]:
        cores = [data.find_core(self._cores, name) for name in goal.cores]
        lines = catalog.registry(self._tree)
        own = [self._own(goal, name, cores) for name in goals.candidates(goal, lines)]
        theirs = {at: self._theirs(goal, cores, *at) for at in goal.functions} if own else {}
        return goals.reach(goal, own, lambda subject, name: theirs.get((subject, name)))

    def _evaluator(self, cores: Sequence[Core]) -> Evaluator:
        refits = self._evaluated.refits
        return Evaluator(cores, self._fits, self._points, self._models, refits)

    def _own(self, goal: Goal, kernel: str, cores: Sequence[Core]) -> OperationEstimate:
        arch = cores[0].arch if cores else "a64"
        key = (arch, kernel, goal.mode, goal.bytes, tuple(goal.cores))
        if key not in self._known:
            if arch not in self.sessions:
                session = open_session(self._context, TARGETS[arch])
                self.sessions[arch] = session, Harness(self._context, session, CPU[arch])
            harness = self.sessions[arch][1]
            primitive = goal.primitive
            operation = Operation(primitive, kernel, goal.mode, KEY_BITS, 0)
            subject = Subject(OURS, kernel, goal.mode, KEY_BITS, techniques(primitive, kernel))
            self._known[key] = self._evaluator(cores).row(
                subject,
                lambda n: harness.call(replace(operation, bytes=n), self._llvm),
                goal.bytes,
            )
        return self._known[key]

    def _theirs(
        self, goal: Goal, cores: Sequence[Core], name: str, function: str
    ) -> OperationEstimate:
        key = (name, function, goal.bytes, tuple(goal.cores))
        if key not in self._known:
            described = find_subject(self._tree, name).function(function)
            subject = Subject(
                name, function, described.computes, KEY_BITS, techniques_of(described)
            )
            self._known[key] = self._evaluator(cores).row(
                subject, lambda n: self._others.call(name, described, KEY_BITS, n), goal.bytes
            )
        return self._known[key]
