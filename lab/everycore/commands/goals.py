# SPDX-License-Identifier: MIT
"""everycore goals: how far are the kernels for Arm from what they are to reach?"""

import json as jsonlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from everycore.build import catalog
from everycore.commands.options import Json, beside_results, context_of
from everycore.environment.context import Context
from everycore.environment.outputs import is_standard_output
from everycore.environment.progress import Progress
from everycore.estimate import data, goals
from everycore.estimate.core_estimates import Core, Row, techniques
from everycore.estimate.evaluate import Evaluator, Subject
from everycore.estimate.executed import CPU, TARGETS, Harness, Operation, emulator_version
from everycore.estimate.goals import Goal, Reached
from everycore.estimate.mca import Llvm, find_llvm
from everycore.estimate.measured import OURS
from everycore.estimate.models import Models
from everycore.estimate.others import Others
from everycore.estimate.others import techniques as techniques_of
from everycore.estimate.stored import run_of
from everycore.model.domain import Tree
from everycore.report import goal_lines as report
from everycore.run.session import Session, open_session
from everycore.store import run_files
from everycore.subjects import find_subject

KEY_BITS = 128


def goals_command(
    command: typer.Context,
    title: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TEXT", help="Goals with this in their title; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Store the results in a new file; `-`: standard output.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show how close the kernels for Arm are to their goals.

    Exit code 1 if a goal is missed; of one without a kernel or an estimate nothing is said.
    """
    context = context_of(command)
    stdout = context.out.file
    context, json = beside_results(context, out), json and not is_standard_output(out)
    if out:
        run_files.refuse_if_unusable(out)
    tree = catalog.find_tree(context.package, context.env.get("EVERYCORE_TREE", ""))
    folder = Path(data.__file__).parent
    wanted = goals.titled(goals.load(folder), title or ())
    llvm = find_llvm(context)
    with Progress(context.err, "goals", len(wanted)) as progress:
        rows = _Rows(context, tree, llvm)
        found: list[Reached] = []
        for goal in wanted:
            found += rows.reach(goal)
            progress.step(goal.title)
    lines = [jsonlib.dumps(report.json_line(one)) for one in found]
    if out:
        sessions = [session for session, _ in rows.sessions.values()]
        run = run_of(context, "goals", sessions, {"tools": rows.tools})
        with run_files.Writer(out, run, stdout) as writer:
            for line in lines:
                writer.write(line)
    for one, line in zip(found, lines, strict=True):
        context.print_raw(line if json else report.text(report.json_line(one)))
    raise typer.Exit(1 if any(one.met is False for one in found) else 0)


class _Rows:
    """Rows of ours and of others, each evaluated once for each set of cores."""

    def __init__(self, context: Context, tree: Tree, llvm: Llvm) -> None:
        self._context = context
        self._tree = tree
        self._llvm = llvm
        self._evaluated = data.load_evaluated(Path(data.__file__).parent)
        folder = Path(data.__file__).parent
        self._cores = data.load_cores(folder, self._evaluated.parameters)
        self._points = data.load_points(folder, self._cores)
        self._fits = data.fits(self._points, self._evaluated)
        self._models = Models(context, llvm)
        self._others = Others(context, tree, llvm, {})
        self._known: dict[tuple[object, ...], Row] = {}
        self.sessions: dict[str, tuple[Session, Harness]] = {}

    @property
    def tools(self) -> dict[str, str]:
        sessions = self.sessions.values()
        qemu = {emulator_version(self._context, one.target) for one, _ in sessions}
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

    def _own(self, goal: Goal, kernel: str, cores: Sequence[Core]) -> Row:
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

    def _theirs(self, goal: Goal, cores: Sequence[Core], name: str, function: str) -> Row:
        key = (name, function, goal.bytes, tuple(goal.cores))
        if key not in self._known:
            one = find_subject(self._tree, name).function(function)
            subject = Subject(name, function, one.computes, KEY_BITS, techniques_of(one))
            self._known[key] = self._evaluator(cores).row(
                subject, lambda n: self._others.call(name, one, KEY_BITS, n), goal.bytes
            )
        return self._known[key]
