# SPDX-License-Identifier: MIT
"""Looks at what the suites and the index of wheels hold now, and pins it."""

from collections.abc import Iterator

from everycore.compile import debs
from everycore.compile.toolchains import wheels
from everycore.compile.toolchains.compiler_lock import Lock, Part
from everycore.compile.toolchains.compilers_file import read_compilers_file
from everycore.compile.toolchains.parts import HEADERS
from everycore.compile.toolchains.suites import Suite, parts_of
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.model.domain import Tree
from everycore.model.targets import load_target


def make_lock(context: Context, tree: Tree) -> Lock:
    """Lock the compilers that can be had now. A suite that the mirror does not have is passed over,
    with a warning.

    One that cannot be read now is an error: its compilers must not vanish from the lock file.
    """
    fetchable = read_compilers_file(tree)
    architecture = debs.architecture_of()
    targets = [load_target(tree, name) for name in fetchable.targets]
    dates: dict[str, str] = {}

    def suites() -> Iterator[Suite]:
        with Progress(context.err, "reading indices", len(fetchable.suites)) as progress:
            for names in fetchable.suites:
                progress.step(names[-1])
                try:
                    archive = debs.open_archive(context, names, architecture)
                    indices = tuple(archive.binaries)
                except debs.NoSuiteError as error:
                    context.warn(f"no compilers of {names[-1]}: {error.message}")
                    continue
                except EverycoreError as error:
                    hint = f"{error.hint}\n" if error.hint else ""
                    raise EverycoreError(
                        f"no compilers of {names[-1]}: {error.message}",
                        f"{hint}the lock file stays as it was",
                    ) from error
                dates.update({suite.name: suite.date for suite in archive.suites})
                yield Suite(names[-1], indices)

    parts = list(parts_of(suites(), fetchable, targets))
    if not dates:
        raise EverycoreError("no suite of Debian could be read", "the warnings above say why")
    if not parts:
        raise EverycoreError(f"no compiler is in {', '.join(dates)}, or not whole", "try it later")
    for name, requirement in fetchable.wheels.items():
        parts.append(wheels.find_wheel(context, name, requirement))
    date = "; ".join(f"{name} {day}" for name, day in dates.items())
    return Lock(architecture, date, tuple(sorted(parts, key=_order)))


def _order(part: Part) -> tuple[bool, bool, int, bool, str]:
    family, _, major = part.name.partition("-")
    number = int(major) if major else 0
    return part.name == HEADERS, family != "gcc", number, part.target != "host", part.target
