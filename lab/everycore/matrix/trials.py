# SPDX-License-Identifier: MIT
"""Bisections with the compilers and the machine that are here."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from everycore import subjects
from everycore.environment.errors import EverycoreError
from everycore.environment.workers import worker_pool
from everycore.matrix import passes, switches
from everycore.matrix.bisect import TRIAL_PROCESSES, Stage, with_switches
from everycore.matrix.bugs import Source
from everycore.matrix.cell_code import hot_loop
from everycore.matrix.cell_pipeline import CellPipeline
from everycore.matrix.checked_cell import CheckedCell
from everycore.matrix.compiled_cell import FailedCellError, compile_objects
from everycore.matrix.resolved_cell import ResolvedCell
from everycore.matrix.second_pass import looked_at
from everycore.model.cells import Anomaly, Cell, Code, Kind, Listing, Outcome, Result
from everycore.subjects import Subject

CORES = os.cpu_count() or 1
T = TypeVar("T")


@dataclass
class Trials:
    """Cells of a bisection by a `CellPipeline`: compiled on all cores, timed one by one."""

    pipeline: CellPipeline
    _made: dict[Cell, CheckedCell | Result] = field(default_factory=dict)
    _coded: dict[Cell, Result] = field(default_factory=dict)

    def code(self, cells: Sequence[Cell]) -> list[Result]:
        return self._each_once(cells, self._coded, self.pipeline.coded)

    def measure(self, cells: Sequence[Cell], kind: Kind, processes: int) -> list[Result]:
        made = self._make(cells)
        results = [
            prepared if isinstance(prepared, Result) else prepared.result for prepared in made
        ]
        if kind is Kind.LEAK:
            anew = processes > TRIAL_PROCESSES  # a rerun; trials may be alike
            seen = looked_at(self.pipeline, results, CORES, anew=anew)
            looked = {result.cell: result for result in seen}
            return [looked[result.cell] for result in results]
        for _ in range(processes if kind is Kind.SLOW else 0):
            for i, prepared in enumerate(made):
                if isinstance(prepared, CheckedCell) and results[i].outcome is Outcome.MEASURED:
                    results[i] = self.pipeline.timed(prepared, results[i])
        return results

    def stages(self, anomaly: Anomaly) -> Sequence[Stage]:
        resolved = self.pipeline.resolve(anomaly.cell)
        return switches.stages(anomaly, resolved.toolchain.family, self._asker(resolved))

    def listing(self, cell: Cell) -> Listing | None:
        (made,) = self._make([cell])
        return None if isinstance(made, Result) else hot_loop(self.pipeline.tools, made.compiled)

    def passes(self, cell: Cell, is_bad: Callable[[Code], bool]) -> tuple[str, ...]:
        """For clang alone, as gcc cannot be stopped after a pass: return the passes that make the
        code bad."""
        if self._family(cell) != "clang":
            return ()

        def bad_after(last: int) -> bool:
            (result,) = self.code([_up_to(cell, last)])
            return result.code is not None and is_bad(result.code)

        return self._pass_of(cell, bad_after)

    def _pass_of(self, cell: Cell, bad_after: Callable[[int], bool]) -> tuple[str, ...]:
        ran = self._passes_of_files(_up_to(cell, passes.ALL))
        number = passes.first_bad(max(map(len, ran), default=0), bad_after)
        if not number:
            return ()
        # Each file has a list of its own: that counts whose object the pass changes.
        before, after = (self._objects(_up_to(cell, last)) for last in (number - 1, number))
        return tuple(
            names[number - 1]
            for names, old, new in zip(ran, before, after, strict=False)
            if old != new and len(names) >= number
        )

    def are_right(self, cells: Sequence[Cell]) -> list[bool | None]:
        made = self._make(cells)
        ends = [
            prepared.outcome if isinstance(prepared, Result) else prepared.result.outcome
            for prepared in made
        ]
        right = {Outcome.MEASURED: True, Outcome.COUNTED: True, Outcome.WRONG: False}
        return [right.get(end) for end in ends]

    def wrong_after(self, cell: Cell) -> tuple[str, ...]:
        """For clang alone: return the first pass after which the answers are wrong."""
        if self._family(cell) != "clang":
            return ()
        return self._pass_of(cell, lambda last: self.are_right([_up_to(cell, last)])[0] is False)

    def source(self, cell: Cell) -> Source:
        """Return the origin of the code and how it is compiled, for those who have no everycore."""
        resolved = self.pipeline.resolve(cell)
        toolchain, subject = resolved.toolchain, resolved.subject
        origin = f" ({toolchain.origin})" if toolchain.origin else ""
        named = f"{resolved.compiler.name}{origin}"
        try:
            folder, version = subjects.sources(self.pipeline.tools.context, subject)
            words = self.words(resolved)
        except EverycoreError:  # its source is gone since
            return Source(compiler=named)
        command = Path(resolved.compiler.command[0]).name
        root = self.pipeline.tools.tree.root
        is_ours = subject.home.is_relative_to(root)
        place, told_of_place = _place_of(subject, folder, version)
        places = {str(folder): place, str(root): "$EVERYCORE"}
        lines = [shlex.join([command, *words, "-c", str(folder / name)]) for name in subject.paths]
        for path, name in places.items():
            lines = [line.replace(path, name) for line in lines]
        told = {place: told_of_place, "$EVERYCORE": "# EVERYCORE: a checkout of everycore"}
        get = [line for name, line in told.items() if line and name in "".join(lines)]
        origin = ""
        if subject.package:
            package = f"{subject.package} {version}".strip()
            origin = f"Debian's source package {package}, suite {subject.suite}"
        toml = "" if is_ours else _from_here(subject.home / f"{subject.name}.toml")
        return Source(subject.description, origin, tuple(get), tuple(lines), toml, named)

    # ---- The compiler ------------------------------------------------------------------------

    def _make(self, cells: Sequence[Cell]) -> list[CheckedCell | Result]:
        return self._each_once(cells, self._made, self.pipeline.prepare)

    def _each_once(
        self, cells: Sequence[Cell], known: dict[Cell, T], make: Callable[[ResolvedCell], T]
    ) -> list[T]:
        """Make what is not known yet, on all cores."""
        missing = [cell for cell in dict.fromkeys(cells) if cell not in known]
        with worker_pool(CORES) as pool:
            made = pool.map(make, map(self.pipeline.resolve, missing))
            known.update(zip(missing, made, strict=True))
        return [known[cell] for cell in cells]

    def _objects(self, cell: Cell) -> list[bytes]:
        """Return the contents of the objects of a cell, whatever its answers are; nothing if there
        are none."""
        try:
            made = compile_objects(self.pipeline.tools, self.pipeline.resolve(cell))
        except (EverycoreError, FailedCellError):
            return []
        return [path.read_bytes() for path in made]

    def _family(self, cell: Cell) -> str:
        return self.pipeline.resolver.toolchains[cell.toolchain].family

    def _asker(self, resolved: ResolvedCell) -> switches.Ask:
        command = resolved.compiler.command

        def ask(flags: Sequence[str]) -> str:
            done = self.pipeline.tools.context.runner.run([*command, *flags])
            return done.stdout + done.stderr

        return ask

    def _passes_of_files(self, cell: Cell) -> list[list[str]]:
        """Return the passes that ran over each file of a cell."""
        context, resolved = self.pipeline.tools.context, self.pipeline.resolve(cell)
        folder, _ = subjects.sources(context, resolved.subject)
        command = [*resolved.compiler.command, "-w", *self.words(resolved)]
        found: list[list[str]] = []
        for name in resolved.subject.files:
            argv = [*command, "-c", str(folder / name), "-o", os.devnull]
            found.append(passes.names(context.runner.run(argv).stderr))
        return found

    def words(self, resolved: ResolvedCell) -> list[str]:
        """Return the command words of a cell that was compiled, whatever its answers are."""
        return subjects.compile_words(
            self.pipeline.tools.context,
            resolved.subject,
            resolved.compiler,
            resolved.cell.flags,
            resolved.target,
        )


def _up_to(cell: Cell, last: int) -> Cell:
    return with_switches(cell, [passes.limit(last)])


def _place_of(subject: Subject, folder: Path, version: str) -> tuple[str, str]:
    """How commands name the folder of a subject's files, and the line that explains this name."""
    if subject.package:
        get = f"apt-get source {subject.package}={version}"
        return "$SOURCES", f"{get}  # SOURCES: where it is unpacked"
    if subject.setting:
        return (
            f"${subject.setting}",
            f"# {subject.setting}: the folder that {subject.files[0]} is below",
        )
    if folder.is_relative_to(Path.cwd()):
        return f"./{folder.relative_to(Path.cwd())}".removesuffix("/."), ""
    return (
        "$SOURCES",
        f"# SOURCES: the folder that has {subject.files[0]}, beside {subject.name}.toml",
    )


def _from_here(path: Path) -> str:
    """As a user would name it: ./alias/hash16.toml; of other folders, its name alone."""
    here = Path.cwd()
    return f"./{path.relative_to(here) if path.is_relative_to(here) else path.name}"
