# SPDX-License-Identifier: MIT
"""Choose the counter that the cells of this machine are timed with."""

from collections.abc import Callable, Sequence
from pathlib import Path

from everycore.compile.binaries import build_tool
from everycore.compile.toolchains import find_compiler
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target, Tree
from everycore.subjects.assemble import HARNESS, LIBRARY

SOURCE = "catalog/subjects/which_counter.c"


def counter_name(
    context: Context,
    tree: Tree,
    target: Target,
    run: Callable[[Path, Sequence[str]], Completed] | None = None,
) -> str:
    """Asked by a program of the same parts as theirs; `run`: runs it on a board."""
    compiler = find_compiler(context, target, None, target.compile_flags, "")
    cpu = [name for name in LIBRARY if name.startswith("src/cpu/")]
    sources = [tree.root / name for name in (SOURCE, *HARNESS, *cpu)]
    flags = [
        *target.compile_flags,
        *target.link_flags,
        "-std=gnu11",
        "-O2",
        f"-I{tree.root / 'include'}",
        f"-I{tree.root / 'src'}",
    ]
    program = build_tool(context, compiler, sources, flags)
    done = run(program, ()) if run else context.runner.run([str(program)])
    if done.code:
        raise EverycoreError(
            f"no counter: {done.stderr.strip()}",
            "docs/guides/measuring.md lists the counters, and what each needs",
        )
    return done.stdout.strip()
