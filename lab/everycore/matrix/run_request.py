# SPDX-License-Identifier: MIT
"""A run of the matrix as it is asked for: names are looked up once, and become values."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from everycore import subjects
from everycore.compile import catalog
from everycore.compile.toolchains.host import HOST
from everycore.compile.toolchains.installed import installed, named_or_fetchable
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.environment.version import package_version
from everycore.matrix.board import BoardLink, open_board, with_board
from everycore.matrix.cell_choice import Choice, RunOptions, resumed_choice
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.compiled_cell import CellTools
from everycore.matrix.counter import counter_name
from everycore.matrix.modelled import open_estimator
from everycore.matrix.plan import Axes, plan
from everycore.matrix.resolved_cell import HostCpu, ResolvedCell, Resolver, targets_of
from everycore.matrix.time_limits import Limits
from everycore.matrix.timed_cell import Timer
from everycore.model.cells import Head
from everycore.model.domain import Machine, Target, Toolchain, Tree
from everycore.model.targets import load_target
from everycore.run import machine
from everycore.store import matrix_files
from everycore.subjects import Function, Subject

USUAL_BYTES = (4096,)


@dataclass(frozen=True, slots=True)
class Wish:
    """Words of the command line, before anything is looked up."""

    choice: Choice
    time_limit: float | None = None
    estimate: bool = False
    cpu: int | None = None
    resumed: Path | None = None  # the file of the run that goes on
    here_only: Mapping[str, bool] = field(default_factory=dict)  # what no board can do; is it asked


@dataclass(frozen=True)
class Request:
    """The code, the compilers and the machine of a run, as they were found here."""

    context: Context
    tree: Tree
    choice: Choice
    run_options: RunOptions
    subjects: Sequence[Subject]
    facts: machine.Facts
    cpu: int | None  # the core that was named
    targets: Sequence[Target]
    board: BoardLink | None  # that is the only target
    toolchains: dict[str, Toolchain]

    @property
    def core(self) -> int:
        return machine.fastest_cpu(self.facts) if self.cpu is None else self.cpu

    def pipeline(self) -> CellPipeline:
        """Open what compiles and runs cells; an estimator is looked for here."""
        resolver = Resolver(
            self.tree,
            self.toolchains,
            host_cpu(self.facts),
            {subject.name: subject for subject in self.subjects},
            self.board.target if self.board else None,
        )
        tools = CellTools(
            self.context,
            self.tree,
            Limits(run=self.run_options.time_limit),
            self.board,
            open_estimator(self.context) if self.run_options.estimate else None,
        )
        return CellPipeline(tools, resolver, Timer(tools, self._cpus()))

    def _cpus(self) -> tuple[int, ...]:
        """Return the cores that measure."""
        if self.board:
            return self.board.cpus
        return machine.like(self.facts, self.core) if self.cpu is None else (self.core,)


def find_request(context: Context, wish: Wish) -> Request:
    """Find what is named. Options that are not given, a run that is resumed has from its file."""
    tree = catalog.tree_of(context)
    choice, run_options = wish.choice, RunOptions(wish.time_limit or Limits().run, wish.estimate)
    find_subjects = _subjects
    if wish.resumed:
        choice, before = resumed_choice(wish.resumed, wish.choice)
        run_options = RunOptions(
            wish.time_limit or before.time_limit, wish.estimate or before.estimate
        )
        find_subjects = _subjects if wish.choice.subjects else _subjects_before
    found = find_subjects(tree, choice)
    facts = machine.gather(context)
    named = {name: load_target(tree, name) for name in choice.targets or (HOST,)}
    _refuse_absent(named, facts, wish.cpu)
    here = {toolchain.name: toolchain for toolchain in installed(context, tree)}
    here_only = {**wish.here_only, "--estimate": run_options.estimate}
    board = _board(context, named, wish.cpu, here_only)
    here = with_board(tree, here, board.target) if board else here
    # A cell names a board by its own name, and any other target as it was given.
    targets = [board.target] if board else [replace(target, name=n) for n, target in named.items()]
    return Request(context, tree, choice, run_options, found, facts, wish.cpu, targets, board, here)


def plan_cells(request: Request) -> list[ResolvedCell]:
    """Plan the cells; an error names a function or a compiler that is not there."""
    choice = request.choice
    axes = Axes(
        functions=_functions(request.subjects, choice),
        toolchains=_toolchains(request),
        flag_sets=choice.sets(),
        targets=tuple(request.targets),
        key_bits=choice.key_bits,
        n_bytes=choice.bytes or USUAL_BYTES,
    )
    return plan(axes, host_cpu(request.facts))


def head_of(request: Request) -> Head:
    """Return the head of the run's file; the machine's counter is asked for."""
    context, tree, board = request.context, request.tree, request.board
    target = board.target if board else load_target(tree, HOST)
    return Head(
        date=context.now().isoformat(timespec="seconds"),
        everycore=package_version(),
        revision=machine.revision(context, tree),
        machine=_machine(request),
        counter=counter_name(context, tree, target, board.run if board else None),
        options=asdict(request.choice.without_paths(context.cwd)) | asdict(request.run_options),
    )


def result_path(context: Context, out: Path | None, resume: bool) -> Path:
    """Return the file of the run: the named one, the last one, or a new one."""
    folder = context.state_dir() / "results"
    if out:
        return out
    return matrix_files.newest(folder) if resume else matrix_files.new_path(folder, context.now())


def _subjects(tree: Tree, names: Choice) -> list[Subject]:
    """Return the subjects that are named; else all that can be compiled for one of the targets."""
    if names.subjects:
        return _each_named_once([subjects.find_subject(tree, name) for name in names.subjects])
    every = [*subjects.kernel_subjects(tree), *subjects.load_subjects(tree)]
    targets = {*(names.targets or (HOST,))}
    return [
        subject for subject in every if not (where := targets_of(subject)) or {*where} & targets
    ]


def _each_named_once(found: Sequence[Subject]) -> list[Subject]:
    """Return each subject once; refuse two of one name, which results could not tell apart."""
    by_name: dict[str, Subject] = {}
    for subject in found:
        first = by_name.setdefault(subject.name, subject)
        if first.home.resolve() != subject.home.resolve():
            raise EverycoreError(
                f"two subjects are called {subject.name}: in {first.home} and in {subject.home}",
                "give one of the files another name, or measure them one after the other",
            )
    return list(by_name.values())


def _subjects_before(tree: Tree, names: Choice) -> list[Subject]:
    """Return the subjects of an earlier run, which may have been in another folder."""
    try:
        return _subjects(tree, names)
    except EverycoreError as error:
        hint = "results do not say where your folders are: go on in the folder of that run, or"
        raise EverycoreError(error.message, f"{hint} give its options again") from error


def _functions(found: Sequence[Subject], names: Choice) -> tuple[tuple[Subject, Function], ...]:
    """Return the functions that are named; else those that each subject has measured."""
    every = dict.fromkeys(f.name for subject in found for f in subject.functions)
    for name in names.functions:
        if name not in every:
            raise unknown_name("function", name, every)
    return tuple(
        (subject, f)
        for subject in found
        for f in (subject.functions if names.functions else subject.measured)
        if not names.functions or f.name in names.functions
    )


def _toolchains(request: Request) -> tuple[Toolchain, ...]:
    """Return the compilers that are named; else all that are here."""
    here, names = request.toolchains, request.choice.toolchains
    for name in names:
        if name not in here:
            raise named_or_fetchable(request.context, request.tree, name, here)
    if not (chosen_names := names or here):
        raise EverycoreError("no compiler is here", "Debian: apt-get install gcc libc6-dev")
    return tuple(here[name] for name in dict.fromkeys(chosen_names))


def _refuse_absent(targets: Mapping[str, Target], facts: machine.Facts, cpu: int | None) -> None:
    """Raise an error for a core that this machine lacks, and for a board among other targets."""
    for name, target in targets.items():
        if target.has_cpu_model:
            raise EverycoreError(
                f"{name} has no clock and counts no instructions, so no cell has a figure there",
                f"everycore check --target {name}; the matrix takes targets of qemu-user",
            )
    boards = [name for name, target in targets.items() if target.transport == "ssh"]
    if not boards:
        machine.refuse_absent_cpu(facts, cpu)
    elif len(targets) > 1:
        raise EverycoreError(
            f"{boards[0]} is a board: a file of the matrix has cells of one machine",
            "name it alone; runs on several boards may go on side by side, each with its --out",
        )


def _board(
    context: Context,
    targets: Mapping[str, Target],
    cpu: int | None,
    here_only: Mapping[str, bool],
) -> BoardLink | None:
    """Return the connection to the board that is to measure, if one is; `here_only`: commands and
    options that need this machine, and whether they are given."""
    for name, target in targets.items():
        if target.transport == "ssh":
            if asked := next((option for option, given in here_only.items() if given), ""):
                hint = f"leave out {asked}, or {name}"
                hint = hint if asked.startswith("-") else f"everycore matrix --target {name}"
                raise EverycoreError(f"{asked} is not for boards, and {name} is one", hint)
            return open_board(context, target, cpu)
    return None


def _machine(request: Request) -> Machine:
    """Describe the machine that measures; a board has none of everycore's installations."""
    if request.board:
        return request.board.machine
    described = machine.describe(request.facts, request.core)
    return described.replace(installation=machine.installation(request.context))


def host_cpu(facts: machine.Facts) -> HostCpu:
    """Return what this machine can execute."""
    own = machine.processor(facts.texts.get("/proc/cpuinfo", ""), 0)
    return HostCpu(platform.machine(), frozenset(own.get("flags", "").split()))
