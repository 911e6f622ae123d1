# SPDX-License-Identifier: MIT
"""Names that shells complete as values of options: kernels, CPUs, targets, subjects, compilers.

Every key press of a user waits for these: names come from files, and nothing is run.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress

import typer

from everycore.compile import catalog
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Tree
from everycore.model.targets import load_cpus, other_names, target_names

Names = Callable[[Context, Tree], Iterable[str]]
Complete = Callable[[typer.Context, str], list[str]]


def _completing(names: Names) -> Complete:
    """Return a callback that completes the last word of a list with commas."""

    def complete(command: typer.Context, incomplete: str) -> list[str]:
        head, comma, _ = incomplete.rpartition(",")
        context = command.find_root().obj
        try:
            tree = catalog.tree_of(context)
            found = sorted(set(names(context, tree)))
        except EverycoreError:  # a shell has no place for it
            return []
        every = (f"{head}{comma}{name}" for name in found)
        return [word for word in every if word.startswith(incomplete)]

    return complete


def _kernels(_: Context, tree: Tree) -> Iterable[str]:
    return (line.name for line in catalog.registry(tree))


def _primitives(_: Context, tree: Tree) -> Iterable[str]:
    return (line.primitive for line in catalog.registry(tree))


def _cpus(_: Context, tree: Tree) -> Iterable[str]:
    others = (name.removesuffix("*") for name in other_names(tree))  # patterns
    return [*load_cpus(tree), *(name for name in others if "*" not in name)]


def _targets(_: Context, tree: Tree) -> Iterable[str]:
    return target_names(tree)


def _subjects(context: Context, tree: Tree) -> Iterable[str]:
    from everycore.subjects.describe import FOLDER

    described = (path.stem for path in (tree.root / FOLDER).glob("*.toml"))
    return [*described, *_kernels(context, tree)]


def _toolchains(context: Context, tree: Tree) -> Iterable[str]:
    """Return compilers on the PATH, those that were added, and those that can be."""
    from everycore.compile.toolchains.compilers_file import read_lock
    from everycore.compile.toolchains.host import native_on
    from everycore.compile.toolchains.parts import all_added

    found = [*native_on(context.env.get("PATH", os.defpath))]
    found += [toolchain.name for toolchain in all_added(context)]
    with suppress(EverycoreError):  # no lock for this machine
        found += read_lock(context, tree).names()
    return (name for name in found if "-" in name)


complete_kernels = _completing(_kernels)
complete_primitives = _completing(_primitives)
complete_cpus = _completing(_cpus)
complete_targets = _completing(_targets)
complete_subjects = _completing(_subjects)
complete_toolchains = _completing(_toolchains)


def complete_words(*words: str) -> Complete:
    """Return a callback that completes some words that are known."""
    return _completing(lambda _context, _tree: words)
