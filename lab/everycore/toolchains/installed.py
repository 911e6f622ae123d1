# SPDX-License-Identifier: MIT
"""Every toolchain that is here, of all providers, by name."""

from everycore.context import Context
from everycore.errors import EverycoreError, unknown_name
from everycore.model import Toolchain, Tree
from everycore.targets import load_target, target_names
from everycore.toolchains.host import FAMILIES, host_toolchains


def installed(context: Context, tree: Tree) -> list[Toolchain]:
    """All of them: gccs, then clangs, the oldest first. No two have the same name."""
    targets = [load_target(tree, name) for name in target_names(tree)]
    targets.sort(key=lambda target: target.name != "host")
    found = host_toolchains(context, targets)
    return sorted(found, key=lambda one: (FAMILIES.index(one.family), one.version, one.name))


def find_toolchain(context: Context, tree: Tree, name: str) -> Toolchain:
    """The one of a name, or an error that says which are here."""
    here = {toolchain.name: toolchain for toolchain in installed(context, tree)}
    if name not in here:
        error = unknown_name("toolchain", name, here)
        raise EverycoreError(error.message, error.hint)
    return here[name]
