# SPDX-License-Identifier: MIT
"""Every toolchain that is here, of all providers, by name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from everycore.compile.toolchains.answers import Answer, ask_all
from everycore.compile.toolchains.compilers_file import read_lock
from everycore.compile.toolchains.host import FAMILIES, HOST, host_toolchains, runs_here
from everycore.compile.toolchains.parts import HEADERS, PATH, Added, all_added
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import Compiler, Target, Toolchain, Tree
from everycore.model.targets import load_target, target_names


def installed(context: Context, tree: Tree) -> list[Toolchain]:
    """All of them: gccs, then clangs, the oldest first. No two have the same name.

    Compilers of one name and one version are one toolchain, whoever provides them. Of two versions
    under one name the machine's own keeps it; the other is called gcc-12@debian.
    """
    targets = all_targets(tree)
    found = {toolchain.name: toolchain for toolchain in host_toolchains(context, targets)}
    for toolchain in _added(context, targets):
        same = found.get(toolchain.name)
        if same is None:
            found[toolchain.name] = toolchain
        elif same.version == toolchain.version:
            found[toolchain.name] = replace(same, compilers=_merged(same, toolchain))
        else:
            other = f"{toolchain.name}@{toolchain.provider}"
            found[other] = replace(toolchain, name=other)
    return sorted(
        found.values(),
        key=lambda toolchain: (FAMILIES.index(toolchain.family), toolchain.version, toolchain.name),
    )


def named_or_fetchable(
    context: Context, tree: Tree, name: str, here: Iterable[str]
) -> EverycoreError:
    """The error for a toolchain that is not here, with the command that fetches it, if any does."""
    error = unknown_name("toolchain", name, here)
    try:
        can_be_had = name in read_lock(context, tree).names()
    except EverycoreError:  # no lock for this machine
        can_be_had = False
    hint = f"`everycore toolchain add {name}` fetches it" if can_be_had else error.hint
    return EverycoreError(error.message, hint)


def all_targets(tree: Tree) -> list[Target]:
    """Return the targets of catalog/targets/, this machine first."""
    targets = [load_target(tree, name) for name in target_names(tree)]
    return sorted(targets, key=lambda target: target.name != HOST)


def host_names(context: Context, tree: Tree) -> list[str]:
    """The toolchains that this machine has by itself, for itself."""
    here = host_toolchains(context, all_targets(tree))
    return [toolchain.name for toolchain in here if toolchain.compiler(HOST)]


def _added(context: Context, targets: Sequence[Target]) -> list[Toolchain]:
    """Return the added compilers that still answer; the parts of one compiler for several targets
    as one."""
    found: dict[tuple[str, tuple[int, ...]], Toolchain] = {}
    parts = [part for part in all_added(context) if part.name != HEADERS]
    commands = [words for part in parts for words in part.commands.values()]
    answers = {answer.command: answer for answer in ask_all(context, commands)}
    for part in sorted(parts, key=lambda added: (added.provider != PATH, added.target != HOST)):
        toolchain = _toolchain(answers, part, targets)
        if toolchain is not None:
            same = found.setdefault((toolchain.name, toolchain.version), toolchain)
            found[toolchain.name, toolchain.version] = replace(
                same, compilers=_merged(same, toolchain)
            )
    return list(found.values())


def _toolchain(
    answers: Mapping[tuple[str, ...], Answer], part: Added, targets: Sequence[Target]
) -> Toolchain | None:
    compilers = {t: answers[words] for t, words in part.commands.items() if words in answers}
    if not compilers:
        return None
    if HOST in compilers:
        compilers |= {target.name: compilers[HOST] for target in targets if runs_here(target)}
    first = next(iter(compilers.values()))
    pairs = tuple((target, answer.compiler) for target, answer in compilers.items())
    return Toolchain(part.name, part.provider, first.family, first.version, pairs, part.origin)


def _merged(first: Toolchain, second: Toolchain) -> tuple[tuple[str, Compiler], ...]:
    return tuple((dict(second.compilers) | dict(first.compilers)).items())
