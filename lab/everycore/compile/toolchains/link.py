# SPDX-License-Identifier: MIT
"""Who links the objects of all compilers for a target, and with which C library's headers."""

import os
import platform
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from everycore.compile.toolchains import find
from everycore.compile.toolchains.answers import ask_all
from everycore.compile.toolchains.cache_lock import folder_of
from everycore.compile.toolchains.host import HOST, runs_here, triple
from everycore.compile.toolchains.parts import HEADERS, all_added, find_added
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Compiler, Target

_OWN = re.compile(r"/(?:gcc|gcc-cross|clang)/")  # folders of a compiler, not of a C library
_SEARCH = re.compile(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", re.DOTALL)


def find_compiler(
    context: Context, target: Target, cc: str | None, flags: Sequence[str], machine: str
) -> Compiler:
    """Return the compiler of `find`, else the one that was added as `cc`, such as gcc-13.

    Without `cc`, for a cross target, the newest that was added, with its C library.
    """
    try:
        return find.find_installed_compiler(context, target, cc, flags, machine)
    except EverycoreError:
        if cc:
            words = _added_named(context, target, cc)
        else:
            words = () if runs_here(target) else _added_command(context, target)
        if not words:
            raise
        return find.ask_here(context, words, flags)


def linker_of(context: Context, target: Target, compiler: Compiler) -> Compiler:
    """Who links what a compiler made: itself; if it was fetched, this machine's own compiler."""
    fetched = _is_fetched(context, compiler.command)
    return (find_linker(context, target) if fetched else None) or compiler


def _is_fetched(context: Context, command: Sequence[str]) -> bool:
    """Tell whether a command starts a wrapper of ours, by its path or by a name on the PATH."""
    place = shutil.which(command[0], path=context.env.get("PATH", os.defpath))
    return place is not None and Path(place).resolve().parent == folder_of(context, "bin").resolve()


def _added_named(context: Context, target: Target, name: str) -> tuple[str, ...]:
    """The command of a compiler that was added, for a target."""
    place = HOST if runs_here(target) else target.name
    added = (part for part in all_added(context) if part.name == name)
    return next((part.commands[place] for part in added if place in part.commands), ())


def find_linker(
    context: Context, target: Target, more: Sequence[tuple[str, ...]] = ()
) -> Compiler | None:
    """Return the compiler that links for a target. `more`: commands that are just being added."""
    try:
        found = find_compiler(context, target, None, (), platform.machine())
        if runs_here(target) and _is_fetched(context, found.command):  # $CC names it
            others = {name: text for name, text in context.env.items() if name != "CC"}
            context = replace(context, env=others)
            found = find_compiler(context, target, None, (), platform.machine())
        return found
    except EverycoreError:
        if runs_here(target):
            raise
        words = _added_command(context, target, more)
        return find.ask_here(context, words, ()) if words else None


def _added_command(
    context: Context, target: Target, more: Sequence[tuple[str, ...]] = ()
) -> tuple[str, ...]:
    libraries = _added_library(context, target)
    if not libraries:
        return ()
    added = [part for part in all_added(context) if part.target == target.name]
    commands = [part.commands[target.name] for part in added if target.name in part.commands]
    answers = [answer for answer in ask_all(context, [*commands, *more]) if answer.family == "gcc"]
    if not answers:
        return ()
    newest = max(answers, key=lambda answer: answer.version)
    return (*newest.command, f"-B{libraries}/lib/", f"-L{libraries}/lib")


def header_folders(context: Context, target: Target) -> list[Path]:
    """Return the folders with the headers of a target's C library; none if it is not here."""
    try:
        command = find.find_installed_compiler(
            context, target, None, (), platform.machine()
        ).command
    except EverycoreError:
        if runs_here(target):
            raise
        libraries = _added_library(context, target)
        return [libraries / "include"] if libraries else []
    return _searched(context, command)


def _searched(context: Context, command: Sequence[str]) -> list[Path]:
    output = context.runner.run(["env", "LC_ALL=C", *command, "-E", "-v", "-x", "c", os.devnull])
    found = _SEARCH.search(output.stderr)
    folders = [Path(line.strip()).resolve() for line in found[1].splitlines()] if found else []
    return [path for path in dict.fromkeys(folders) if not _OWN.search(f"{path}/")]


def _added_library(context: Context, target: Target) -> Path | None:
    added = find_added(context, HEADERS, target.name)
    if added is None:
        return None
    return folder_of(context, "roots") / added.root / "usr" / triple(target)
