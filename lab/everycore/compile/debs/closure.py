# SPDX-License-Identifier: MIT
"""Find the packages that a package needs.

Only Depends and Pre-Depends count. Conflicts do not: packages are unpacked into one folder, nothing
is installed.
"""

from collections import deque
from collections.abc import Container, Iterator, Sequence

from everycore.compile.debs.index import Clause, Index, Package, Relation, relations, version_key
from everycore.environment.errors import EverycoreError

# Needed by the scripts of packages, of which none is ever run here.
NEVER_RUN = ("cdebconf", "debconf", "debconf-2.0", "dpkg", "install-info", "libc-bin", "perl")

Todo = deque[tuple[Clause, str]]  # what has to be there, and for which package


def closure(
    indices: Sequence[Index], roots: Sequence[str], exclude: Container[str] = ()
) -> list[Package]:
    """The packages named and all that they need, without those excluded and what only these need.

    `indices` are those of the suites asked for. What is named comes in the newest version of all
    suites, what it needs from the first suite that has it. Sorted by name.
    """
    chosen: dict[str, Package] = {}
    todo: Todo = deque()
    for root in roots:
        _choose(_newest(indices, root), chosen, todo)
    while todo:
        clause, needed_by = todo.popleft()
        names = [relation.name for relation in clause]
        if any(name in exclude or name in NEVER_RUN for name in names) or _is_met(clause, chosen):
            continue
        _choose(_first(indices, clause, needed_by, chosen), chosen, todo)
    return sorted(chosen.values(), key=lambda package: package.name)


def _newest(indices: Sequence[Index], root: str) -> Package:
    (alternatives,) = relations(root)
    for relation in alternatives:
        if found := [p for p in _meant(indices, relation) if p.name == relation.name]:
            return max(found, key=lambda package: version_key(package.version))
    raise EverycoreError(f"the archive has no package {root}")


def _first(
    indices: Sequence[Index], clause: Clause, needed_by: str, chosen: dict[str, Package]
) -> Package:
    wanted = " | ".join(map(str, clause))
    for relation in clause:
        for package in _meant(indices, relation):
            if package.name in chosen:
                raise EverycoreError(
                    f"{needed_by} needs {wanted}, but {package.name}"
                    f" {chosen[package.name].version} is taken already",
                    "name that package, too: what is named comes in its newest version",
                )
            return package
    raise EverycoreError(f"{needed_by} needs {wanted}, which the archive does not have")


def _choose(package: Package, chosen: dict[str, Package], todo: Todo) -> None:
    chosen[package.name] = package
    todo.extend((clause, package.name) for clause in package.depends)


def _is_met(clause: Clause, chosen: dict[str, Package]) -> bool:
    return any(package.satisfies(r) for r in clause for package in chosen.values())


def _meant(indices: Sequence[Index], relation: Relation) -> Iterator[Package]:
    """Yield the packages that satisfy a relation: packages of that name first, then those that
    provide it."""
    for index in indices:
        yield from (p for p in index.packages(relation.name) if relation.accepts(p.version))
    for index in indices:
        yield from (p for p in index.providers(relation.name) if p.satisfies(relation))
