# SPDX-License-Identifier: MIT
"""The same files once more, by a compiler and flags that are trusted: what others are held against.

All its names begin with reference_, so that both builds fit into one program.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from everycore.compile.binaries import build_tool
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Compiler

# Without optimisations that rest on rules which much code breaks: where a compiler uses a rule
# against the code, that cell is wrong, and not this build.
FLAGS = ("-O1", "-fno-strict-aliasing", "-fwrapv")
PREFIX = "reference_"  # catalog/subjects/job.c


def renamed(
    context: Context, compiler: Compiler, parts: Sequence[Path], flags: Sequence[str]
) -> Path:
    """One relocatable object of many, every symbol that it defines with the prefix."""
    linked = build_tool(context, compiler, parts, ["-r", "-nostdlib", *flags], name="reference.o")
    digest = hashlib.sha256(linked.read_bytes() + PREFIX.encode()).hexdigest()
    path = context.cache_dir() / "objects" / f"{digest}.o"
    if path.is_file():
        return path
    listed = _run(context, [_program(context, compiler, "nm"), "-g", "--defined-only", str(linked)])
    names = [line.split()[-1] for line in listed.splitlines() if line.strip()]
    with atomic_write(path) as scratch:
        words = [f"--redefine-sym={name}={PREFIX}{name}" for name in names]
        argv = [_program(context, compiler, "objcopy"), *words, str(linked), str(scratch)]
        _run(context, argv)
    return path


def _program(context: Context, compiler: Compiler, name: str) -> str:
    done = context.runner.run([*compiler.command, f"-print-prog-name={name}"])
    return done.stdout.strip() or name


def _run(context: Context, argv: Sequence[str]) -> str:
    done = context.runner.run(argv)
    if done.code != 0:
        said = next(iter(done.stderr.strip().splitlines()), "no message")
        raise EverycoreError(f"{argv[0]} failed: {said}", "Debian: apt-get install binutils")
    return done.stdout
