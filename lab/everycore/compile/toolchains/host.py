# SPDX-License-Identifier: MIT
"""The compilers of this machine: what its PATH holds, for every target that they compile for."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from everycore.compile.toolchains.answers import Answer, ask_all
from everycore.compile.toolchains.cache_lock import folder_of
from everycore.environment.context import Context
from everycore.model.domain import Target, Toolchain

HOST = "host"
FAMILIES = ("gcc", "clang")
_NATIVE = re.compile(r"(?:(?:gcc|clang)(?:-\d+)?|cc)\Z")


def host_toolchains(context: Context, targets: Sequence[Target]) -> list[Toolchain]:
    """One for each family and major version, of all that lies on the PATH.

    The compilers that everycore fetched are not of this machine, also if their folder is there.
    """
    fetched = folder_of(context, "bin").resolve()
    folders = context.env.get("PATH", os.defpath).split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if Path(folder).resolve() != fetched)
    return toolchains_of("host", commands_on(context, path, targets))


def commands_on(context: Context, path: str, targets: Sequence[Target]) -> list[tuple[str, Answer]]:
    """The compilers on a path that answer, with the targets that they compile for."""
    programs = _programs(path)
    natives = ask_all(context, [(str(program),) for program in _native(programs)])
    serving: list[tuple[str, tuple[str, ...]]] = []
    for target in targets:
        serving += [(target.name, command) for command in _commands(target, programs, natives)]
    answers = {answer.command: answer for answer in ask_all(context, [c for _, c in serving])}
    return [(target, answers[command]) for target, command in serving if command in answers]


def native_on(path: str) -> list[str]:
    """The names of compilers on a path, whether they work or not."""
    return [place.name for place in _native(_programs(path))]


def toolchains_of(
    provider: str, served: Sequence[tuple[str, Answer]], origin: str = ""
) -> list[Toolchain]:
    """Compilers for targets, as toolchains; of two for the same one the first counts.

    A toolchain has one version: a cross compiler of another one, but of the same major version, is
    left out.
    """
    versions: dict[str, tuple[int, ...]] = {}
    compilers: dict[str, dict[str, Answer]] = {}
    for target, answer in served:
        name = f"{answer.family}-{answer.version[0]}" if answer.version else ""
        if answer.family in FAMILIES and versions.setdefault(name, answer.version) == (
            answer.version
        ):
            compilers.setdefault(name, {}).setdefault(target, answer)
    return [
        Toolchain(
            name,
            provider,
            name.partition("-")[0],
            version,
            tuple((target, answer.compiler) for target, answer in compilers[name].items()),
            origin,
        )
        for name, version in versions.items()
    ]


def triple(target: Target) -> str:
    """Return the value of clang's --target: "aarch64-linux-gnu"; empty for this machine."""
    return target.compiler.removesuffix("-gcc") if target.compiler.endswith("-gcc") else ""


def runs_here(target: Target, machine: str = "") -> bool:
    """Whether this machine's own compiler serves the target."""
    if target.board:
        return False
    return not target.compiler or (machine or platform.machine()) in target.host_machines


def _programs(path: str) -> dict[str, Path]:
    """Return the programs on the path, by name: the first folder that has one counts."""
    found: dict[str, Path] = {}
    for folder in dict.fromkeys(path.split(os.pathsep)):
        try:
            places = list(Path(folder or ".").absolute().iterdir())
        except OSError:
            continue
        for place in places:
            if "c" in place.name and place.name not in found and os.access(place, os.X_OK):
                found[place.name] = place
    return found


def _native(programs: Mapping[str, Path]) -> list[Path]:
    """Those with a version in their names first: what `gcc` is may change with the system."""
    names = sorted(filter(_NATIVE.match, programs), key=lambda name: ("-" not in name, name))
    return [programs[name] for name in names]


def _commands(
    target: Target, programs: Mapping[str, Path], natives: Sequence[Answer]
) -> list[tuple[str, ...]]:
    if runs_here(target):
        return [native.command for native in natives]
    if not target.compiler:
        return []
    own = re.compile(rf"{re.escape(target.compiler)}(?:-\d+)?\Z")
    crosses = [
        (str(programs[name]),)
        for name in sorted(filter(own.match, programs), key=lambda name: (-len(name), name))
    ]
    to = triple(target)
    clangs = [
        (*answer.command, f"--target={to}") for answer in natives if to and answer.family == "clang"
    ]
    return [*crosses, *clangs]
