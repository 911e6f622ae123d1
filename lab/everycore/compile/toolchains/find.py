# SPDX-License-Identifier: MIT
"""Finds a C compiler and asks it what it is."""

import hashlib
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from everycore.compile.toolchains.compiler_programs import state_of
from everycore.environment.context import Completed, Context
from everycore.environment.errors import CannotRunError, EverycoreError
from everycore.model.domain import Compiler, Target

Run = Callable[[Sequence[str]], Completed]

DEFAULT_FLAGS = ("-O2",)
OLDEST = {"gcc": (8, 0), "clang": (7, 0)}  # the first that know VAES
INSTALL_HINT = "install one (Debian: apt-get install gcc libc6-dev), or name one with --cc or CC"


def find_installed_compiler(
    context: Context, target: Target, cc: str | None, flags: Sequence[str], machine: str
) -> Compiler:
    """The compiler for a target: --cc, else the target's own, else $CC, else cc, gcc or clang."""
    if cc is not None and not cc.strip():
        raise EverycoreError("--cc names no compiler", INSTALL_HINT)
    own_serves = not target.compiler or machine in target.host_machines
    if not cc and not own_serves:
        hint = f"Debian: apt-get install {' '.join(target.packages)}" if target.packages else ""
        if target.board:
            hint += '; or let the board compile: build = "there"'
        return ask_here(context, tuple(shlex.split(target.compiler)), flags, hint)
    return _with_state(context, _first(context.runner.run, cc or context.env.get("CC"), flags))


def ask_here(
    context: Context, command: tuple[str, ...], flags: Sequence[str], hint: str = ""
) -> Compiler:
    """Ask a command of this machine what it is; its fingerprint changes with its files."""
    return _with_state(context, ask(context.runner.run, command, flags, hint))


def _with_state(context: Context, compiler: Compiler) -> Compiler:
    parts = [compiler.fingerprint, state_of(context, compiler.command)]
    fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return replace(compiler, fingerprint=fingerprint)


def find_compiler_there(run: Run, target: Target, cc: str | None, flags: Sequence[str]) -> Compiler:
    """A board's own compiler: --cc, else the one that the target names, else cc, gcc or clang."""
    return _first(run, cc or target.compiler, flags)


def _first(run: Run, named: str | None, flags: Sequence[str]) -> Compiler:
    if named:
        return ask(run, tuple(shlex.split(named)), flags, INSTALL_HINT)
    for name in ("cc", "gcc", "clang"):
        try:
            return ask(run, (name,), flags, INSTALL_HINT)
        except CannotRunError:
            continue
    raise EverycoreError("no C compiler: cannot run cc, gcc or clang", INSTALL_HINT)


def ask(run: Run, command: tuple[str, ...], flags: Sequence[str], hint: str) -> Compiler:
    """Ask a command what it is, with these flags; `hint` goes with the error if it cannot start."""
    shown = shlex.join(command)
    if not command:
        raise EverycoreError("the name of the C compiler is empty", hint)
    try:
        done = run([*command, *flags, "-dM", "-E", "-x", "c", "-"])
    except CannotRunError as error:
        raise CannotRunError(f"cannot run the C compiler '{shown}'", hint) from error
    if done.code != 0:
        first = next(iter(done.stderr.strip().splitlines()), "no message")
        raise EverycoreError(f"the C compiler '{shown}' failed: {first}", "check --cc and --flags")
    family, version = identify(done.stdout)
    if family in OLDEST and version < OLDEST[family]:
        need = ".".join(str(n) for n in OLDEST[family])
        raise EverycoreError(
            f"'{shown}' is {family} {dotted(version)}, too old",
            f"{family} {need} or newer is needed",
        )
    fingerprint = hashlib.sha256("\0".join([*command, done.stdout]).encode()).hexdigest()
    return Compiler(command, f"{family} {dotted(version)}".strip(), fingerprint)


def identify(macros: str) -> tuple[str, tuple[int, ...]]:
    """Family and version, from the macros that a compiler defines by itself."""
    defined = dict(re.findall(r"^#define (\w+) (.+)$", macros, re.MULTILINE))
    for family, prefix, parts in (
        ("clang", "__clang_", ("major__", "minor__", "patchlevel__")),
        ("gcc", "__GNUC", ("__", "_MINOR__", "_PATCHLEVEL__")),
    ):
        if prefix + parts[0] in defined:
            return family, tuple(int(defined.get(prefix + part, "0")) for part in parts)
    return "unknown compiler", ()


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(str(n) for n in version)
