# SPDX-License-Identifier: MIT
"""Adds compilers to the cache, and removes them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any

from everycore.compile import debs
from everycore.compile.toolchains import package_store, suites, wheels
from everycore.compile.toolchains.cache_lock import folder_of, toolchain_lock
from everycore.compile.toolchains.compiler_lock import Lock, Part
from everycore.compile.toolchains.compilers_file import read_lock
from everycore.compile.toolchains.host import HOST, commands_on, native_on, runs_here, toolchains_of
from everycore.compile.toolchains.installed import all_targets, host_names, installed
from everycore.compile.toolchains.link import header_folders
from everycore.compile.toolchains.parts import (
    HEADERS,
    PATH,
    Added,
    all_added,
    find_added,
    forget,
    write_added,
)
from everycore.compile.toolchains.prove import prove
from everycore.compile.toolchains.wrappers import make_wrapper, remove_wrapper
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import Target, Toolchain, Tree
from everycore.model.targets import load_target

ORIGIN = "a folder of the user's"  # reports on compilers show it, and no path of a home


@dataclass(frozen=True, slots=True)
class ListedToolchain:
    """A toolchain as `everycore toolchain list` shows it."""

    toolchain: Toolchain
    n_bytes: int | None  # on the disk; None: not in the cache
    proofs: tuple[tuple[str, str], ...] = ()  # by target, for those that were added

    def as_json(self) -> dict[str, Any]:
        plain = asdict(self.toolchain)
        plain["compilers"] = {t: list(c.command) for t, c in self.toolchain.compilers}
        return {"type": "toolchain", **plain, "bytes": self.n_bytes, "proofs": dict(self.proofs)}


@dataclass(frozen=True, slots=True)
class Refused:
    """A compiler that could not be added, and why."""

    name: str
    error: EverycoreError


def add(
    context: Context,
    tree: Tree,
    names: Sequence[str],
    targets: Sequence[str],
    say: Callable[[str], None] = lambda _: None,
) -> tuple[list[Added], list[Refused]]:
    """Fetch compilers, for this machine or the targets named; one that fails stops no other.

    `say` is told of each one that is done.
    """
    lock = read_lock(context, tree)
    chosen = [load_target(tree, name) for name in targets] or [load_target(tree, HOST)]
    wanted = [(name, target) for name in dict.fromkeys(names) for target in chosen]
    for name, target in wanted:
        _check(lock, name, target)
    done: list[Added] = []
    refused: list[Refused] = []
    with toolchain_lock(context):
        for name, target in wanted:
            try:
                began = monotonic()
                done += _add(context, tree, lock, name, target)
                say(f"{done[-1].name} for {target.name}: {monotonic() - began:.0f} s")
            except EverycoreError as error:
                title = name if target.name == HOST else f"{name} for {target.name}"
                refused.append(Refused(title, error))
        _sweep(context)
    return done, refused


def missing(context: Context, tree: Tree, targets: Sequence[str] = ()) -> list[str]:
    """The compilers of the lock that this machine has not got.

    With targets: of those that the lock has for all of them, what was not added for each.
    """
    lock, added = read_lock(context, tree), all_added(context)
    wanted = targets or [HOST]
    served = {(part.name, target) for part in added for target in part.commands}
    served |= {(name, HOST) for name in host_names(context, tree)}
    if not targets:
        served |= {(part.name, HOST) for part in added}
    return [
        name
        for name in lock.names()
        if name.startswith("clang") or not targets or all(lock.part(name, t) for t in targets)
        if not all((name, target) in served for target in wanted)
    ]


def _check(lock: Lock, name: str, target: Target) -> None:
    if name not in lock.names():
        error = unknown_name("compiler", name, lock.names())
        raise EverycoreError(f"{error.message}: the lock file has none", error.hint)
    if runs_here(target) or name.startswith("clang") or lock.part(name, target.name):
        return
    has = [part.target for part in lock.parts if part.name == name and part.target != HOST]
    raise EverycoreError(
        f"no {name} for {target.name} is in the lock file",
        f"it has {', '.join(has)}" if has else "it has that one for this machine alone",
    )


def _add(context: Context, tree: Tree, lock: Lock, name: str, target: Target) -> list[Added]:
    """A compiler for a target, and what it needs of headers before it."""
    done = [] if runs_here(target) else _headers(context, lock, target)
    # A clang compiles for all targets: it is there once, as this machine's.
    part = lock.part(name, target.name) or lock.part(name, HOST)
    assert part is not None  # _check has seen to that
    root = _root(context, part, lock.date)
    added = find_added(context, name, part.target)
    if added is None or added.root != root.name:  # or one of an older lock
        added = _new(part, root)
    for served_target in [target, *(_crosses(tree) if name.startswith("clang") else ())]:
        command = make_wrapper(context, name, root, served_target)
        if command is None:
            continue
        try:
            proof = prove(context, served_target, command)
        except EverycoreError:
            remove_wrapper(context, command)
            if served_target == target:
                raise
            continue  # a target that this clang does not know, or gets wrong
        commands = {**added.commands, served_target.name: command}
        added = replace(
            added, commands=commands, proofs={**added.proofs, served_target.name: proof}
        )
    write_added(context, added)
    return [*done, added]


def _headers(context: Context, lock: Lock, target: Target) -> list[Added]:
    """The C library of a target, unless it is here."""
    if header_folders(context, target):
        return []
    part = lock.part(HEADERS, target.name)
    if part is None:
        raise EverycoreError(
            f"the C library of {target.name} is neither here nor in the lock file",
            f"Debian: apt-get install {' '.join(target.packages)}",
        )
    added = _new(part, _root(context, part, lock.date))
    write_added(context, added)
    return [added]


def _root(context: Context, part: Part, made: str) -> Path:
    if part.provider == suites.PROVIDER:
        return package_store.root_of(context, part, made)

    def fill(root: Path) -> None:
        with wheels.fetched_wheel(context, part) as wheel:
            wheels.unpack_wheel(wheel, root)

    return package_store.root_of_file(context, part, fill)


def _new(part: Part, root: Path) -> Added:
    keys = package_store.keys_of(part.files) if part.provider == suites.PROVIDER else ()
    return Added(part.name, part.target, part.provider, part.origin, root.name, tuple(keys))


def _crosses(tree: Tree) -> list[Target]:
    return [target for target in all_targets(tree) if target.compiler and not runs_here(target)]


def add_path(context: Context, tree: Tree, folder: Path) -> tuple[list[Added], list[Refused]]:
    """The compilers in a folder, or in its bin, as they are; each is proven like the others.

    For every target; what fails for one is left out, and stops no other.
    """
    folder = folder.expanduser()
    place = folder / "bin" if (folder / "bin").is_dir() else folder
    if not place.is_dir():
        raise EverycoreError(f"{folder} is no folder", "--path wants one that holds compilers")
    targets = all_targets(tree)
    found = toolchains_of(PATH, commands_on(context, str(place.resolve()), targets))
    if not found:
        names = ", ".join(sorted(native_on(str(place)))) or "no gcc, no clang"
        raise EverycoreError(
            f"no compiler in {place} compiles anything: there is {names}",
            "its programs must start on this system, and find their own parts",
        )
    by_name = {target.name: target for target in targets}
    done: list[Added] = []
    refused: list[Refused] = []
    with toolchain_lock(context):
        for toolchain in found:
            commands = {target: compiler.command for target, compiler in toolchain.compilers}
            proofs: dict[str, str] = {}
            for target in [t for t in commands if t == HOST or not runs_here(by_name[t])]:
                try:
                    proofs[target] = prove(context, by_name[target], commands[target])
                except EverycoreError as error:
                    del commands[target]
                    # Nobody has said that a clang knows this target.
                    if target == HOST or toolchain.family != "clang":
                        title = (
                            toolchain.name if target == HOST else f"{toolchain.name} for {target}"
                        )
                        refused.append(Refused(title, error))
            if proofs:
                added = Added(toolchain.name, HOST, PATH, ORIGIN, str(place), (), commands, proofs)
                write_added(context, added)
                done.append(added)
    return done, refused


def remove(context: Context, tree: Tree, names: Sequence[str], targets: Sequence[str]) -> int:
    """Forget compilers, and free what no other needs: how many bytes that were.

    Without names: everything that was added, and what runs that failed have fetched.
    """
    with toolchain_lock(context):
        before = disk(context)
        fetched = 0 if names else _discard(context, tree)
        added = [part for part in all_added(context) if part.name != HEADERS]
        for name in names or dict.fromkeys(part.name for part in added):
            if not (own := [part for part in added if part.name == name]):
                error = unknown_name("added toolchain", name, {part.name for part in added})
                raise EverycoreError(error.message, error.hint if added else "none was added")
            for part in own:
                _remove(context, part, targets)
        _sweep(context)
        return fetched + before - disk(context)


def _discard(context: Context, tree: Tree) -> int:
    """Remove the packages of the lock that were fetched and not unpacked."""
    try:
        parts = read_lock(context, tree).parts
    except EverycoreError:  # nothing can have been fetched by it
        return 0
    files = {file for part in parts for pin in part.files for file in pin.files}
    return sum(debs.discard(context, file) for file in files)


def _remove(context: Context, added: Added, targets: Sequence[str]) -> None:
    gone = [target for target in added.commands if not targets or target in targets]
    for target in gone if added.provider != PATH else ():
        remove_wrapper(context, added.commands[target])
    left = {t: command for t, command in added.commands.items() if t not in gone}
    if left:
        proofs = {t: proof for t, proof in added.proofs.items() if t in left}
        write_added(context, replace(added, commands=left, proofs=proofs))
    else:
        forget(context, added)


def _sweep(context: Context) -> None:
    """Remove the C libraries of targets that no compiler serves, and what belongs to nothing."""
    every = all_added(context)
    served = {target for part in every if part.provider != PATH for target in part.commands}
    for part in every:
        if part.name == HEADERS and part.target not in served:
            forget(context, part)
    every = all_added(context)
    package_store.sweep(
        context, {part.root for part in every}, {key for part in every for key in part.store}
    )


def disk(context: Context) -> int:
    """Return how many bytes all added toolchains take on the disk."""
    return package_store.disk_bytes(folder_of(context, "roots"), folder_of(context, "store"))


def listed(context: Context, tree: Tree) -> list[ListedToolchain]:
    """All that are here, each with what its own roots take; what two share counts for both."""
    rows = []
    added = all_added(context)
    for toolchain in installed(context, tree):
        name, _, provider = toolchain.name.partition("@")
        commands = {compiler.command for _, compiler in toolchain.compilers}
        own = [
            part
            for part in added
            if part.name == name
            and commands & set(part.commands.values())
            and provider in ("", part.provider)
        ]
        roots = [folder_of(context, "roots") / p.root for p in own if p.provider != PATH]
        proofs = tuple((t, proof) for part in own for t, proof in part.proofs.items())
        rows.append(
            ListedToolchain(toolchain, package_store.disk_bytes(*roots) if roots else None, proofs)
        )
    return rows
