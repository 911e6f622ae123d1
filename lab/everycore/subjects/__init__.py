# SPDX-License-Identifier: MIT
"""Kernels measured in place, other people's and ours: built from source, called by a driver.

A subject is a file catalog/subjects/NAME.toml: where the sources are (a Debian source package,
pinned by a lock file beside it), what is compiled, and which functions are called by its adapter,
a C file of ours. Nothing of the sources is kept but in the cache.

    subject = find_subject(tree, "linux-arm64")
    ctr = subject.function("bitslice-ctr")
    program = build(context, tree, subject)  # SubjectUnavailableError: to be skipped, and told
    check(context, program, ctr)
    short, long = trace(context, program, ctr, 128, [512, 4096])
    long.instructions, long.per_byte, long.pcs  # theirs alone, whole message
    steady(context, program, ctr, 128).per_byte  # what more bytes cost

For other compilers and flags, the three parts of `build`: `objects` are the subject's own files by
any compiler, `surroundings` all else by the target's own, and `link` makes the program.

Every answer is compared with that of c_ref, in the traced run too; a wrong one is an error.
"""

from pathlib import Path

from everycore.compile.refusals import NotCompiledError
from everycore.environment.errors import EverycoreError, unknown_name
from everycore.model.domain import Tree
from everycore.subjects.assemble import (
    Program,
    Surroundings,
    build,
    compile_seconds,
    compile_words,
    link,
    objects,
    surroundings,
)
from everycore.subjects.contents import contents
from everycore.subjects.count import (
    STEP_BYTES,
    Call,
    Steady,
    WrongAnswersError,
    check,
    steady,
    trace,
)
from everycore.subjects.describe import FOLDER, Function, Subject, load_subject
from everycore.subjects.ours import kernel_subjects
from everycore.subjects.source_files import SubjectUnavailableError, sources


def load_subjects(tree: Tree) -> list[Subject]:
    """Other people's code: all that catalog/subjects/ describes."""
    return [load_subject(path) for path in sorted((tree.root / FOLDER).glob("*.toml"))]


def find_subject(tree: Tree, name: str) -> Subject:
    """A name of catalog/subjects/, a kernel of ours by its name, or a TOML file."""
    path = Path(name if name.endswith(".toml") else f"{name}.toml").expanduser()
    if name.endswith(".toml") or "/" in name:
        if not path.is_file():
            raise EverycoreError(f"no file {path}", "docs/guides/adding-a-subject.md shows one")
        return load_subject(path)
    described = tree.root / FOLDER / f"{name}.toml"
    if described.is_file():
        return load_subject(described)
    ours = {subject.name: subject for subject in kernel_subjects(tree)}
    if name in ours:
        return ours[name]
    if path.is_file():  # as results name what was given by its path
        return load_subject(path)
    known = [*ours, *(found.stem for found in (tree.root / FOLDER).glob("*.toml"))]
    error = unknown_name("subject", name, known)
    raise EverycoreError(error.message, f"{error.hint}; or name a file: ./{name}.toml")


__all__ = [
    "STEP_BYTES",
    "Call",
    "Function",
    "NotCompiledError",
    "Program",
    "Steady",
    "Subject",
    "SubjectUnavailableError",
    "Surroundings",
    "WrongAnswersError",
    "build",
    "check",
    "compile_seconds",
    "compile_words",
    "contents",
    "find_subject",
    "kernel_subjects",
    "link",
    "load_subjects",
    "objects",
    "sources",
    "steady",
    "surroundings",
    "trace",
]
