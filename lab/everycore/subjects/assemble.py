# SPDX-License-Identifier: MIT
"""From a subject's sources to a program that calls its functions; all of it cached by content."""

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from everycore import catalog, debs
from everycore.build import build_object, build_tool
from everycore.context import Context
from everycore.debs.lock import Request
from everycore.errors import EverycoreError
from everycore.model import Compiler, Target, Tree
from everycore.subjects.describe import FOLDER, Function, Subject
from everycore.targets import load_target
from everycore.toolchains import DEFAULT_FLAGS, find_compiler
from everycore.whole import whole

# What the driver compares with.
REFERENCE = (
    *("src/aes/aes.c", "src/aes/c_ref.c", "src/ghash/ghash.c", "src/ghash/c_ref.c"),
    *("src/gcm/gcm.c", "src/modes/cbc.c", "src/modes/ctr.c", "src/modes/xts.c"),
    *("src/common/wipe.c", "src/common/status.c"),
)
OUR_FLAGS = ("-std=gnu11", "-O2", "-Iinclude", "-Isrc", f"-I{FOLDER}")
HEADERS = (".h", ".inc", ".S", ".s", ".pl")  # what a file may read


class SubjectUnavailableError(EverycoreError):
    """A subject that cannot be had here: no network, no compiler, no perl. No fault of its own."""


@dataclass(frozen=True, slots=True)
class Program:
    """The driver with the functions of a subject."""

    subject: Subject
    target: Target
    compiler: Compiler  # of their files
    flags: tuple[str, ...]
    version: str  # of the source package
    binary: Path


def build(
    context: Context,
    tree: Tree,
    subject: Subject,
    cc: str | None = None,
    flags: Sequence[str] = DEFAULT_FLAGS,
    target_name: str = "",
) -> Program:
    """The program; `cc` and `flags` are for their files, ours are always compiled alike.

    `target_name`: another target than its own, for files that are portable.
    """
    target = load_target(tree, target_name or subject.target)
    compiler, ours = _compilers(context, target, cc)
    sources, version = _sources(context, subject)
    theirs = [*target.compile_flags, *flags, *subject.flags]
    theirs += [f"-I{subject.home / name}" for name in subject.shims]
    theirs += [f"-I{sources / name}" for name in subject.includes]
    theirs += [f"-D{name}" for name in subject.defines]
    shims = [path for name in subject.shims for path in _headers(subject.home / name)]
    around = [path for name in subject.includes for path in _headers(sources / name)]

    def made(name: str) -> Path:
        path = sources / name
        if not path.is_file():
            raise EverycoreError(f"{subject.name}.toml: the sources have no file {name}")
        read = [*shims, *around, *_headers(path.parent)]
        if path.suffix == ".pl":
            path = _written(context, subject, sources, path)
        return build_object(context, compiler, path, theirs, read)

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        objects = list(pool.map(made, subject.files))
    objects += _ours(context, tree, subject, ours, target)
    link = [*target.compile_flags, *target.link_flags]
    binary = build_tool(context, ours, objects, link, name=subject.name)
    return Program(subject, target, compiler, tuple(flags), version, binary)


def _compilers(context: Context, target: Target, cc: str | None) -> tuple[Compiler, Compiler]:
    try:
        ours = find_compiler(context, target, None, target.compile_flags, "")
        return (find_compiler(context, target, cc, target.compile_flags, "") if cc else ours), ours
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def _sources(context: Context, subject: Subject) -> tuple[Path, str]:
    """Where they are, and their version."""
    if subject.folder:
        return subject.home / subject.folder, ""
    lock = pinned(context, subject, update=False)
    version = next((p.version for p in lock.sources if p.name == subject.package), "")
    try:
        return debs.unpacked_source(context, lock, subject.package, subject.unpack), version
    except debs.WrongContentsError:
        raise
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def pinned(context: Context, subject: Subject, update: bool) -> debs.Lock:
    """The lock beside the subject's file; with `update`, what the suite has now."""
    request = Request((subject.suite,), "source", sources=(subject.package,))
    try:
        return debs.pinned(context, request, subject.lock, update)
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def _headers(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in HEADERS and p.is_file())


def _written(context: Context, subject: Subject, sources: Path, program: Path) -> Path:
    """What a perl program writes: the assembly of its flavour."""
    read = [program, *_headers(sources)]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in read]
    key = hashlib.sha256("\0".join([subject.flavour, program.name, *digests]).encode()).hexdigest()
    written = context.cache_dir() / "subjects" / key[:32] / f"{program.stem}.S"
    if not written.is_file():
        with whole(written) as scratch:
            argv = ["perl", str(program), subject.flavour, str(scratch)]
            try:
                done = context.runner.run(argv)
            except EverycoreError as error:
                raise SubjectUnavailableError(
                    f"{subject.name} is written by perl, and {error.message}",
                    "Debian: apt-get install perl",
                ) from error
            if done.code != 0 or not scratch.stat().st_size:
                said = done.stderr.strip().splitlines() or ["it wrote nothing"]
                raise EverycoreError(f"perl cannot run {program.name}: {said[-1]}")
    return written


def _ours(
    context: Context, tree: Tree, subject: Subject, compiler: Compiler, target: Target
) -> list[Path]:
    """The driver, the adapter, and the kernel that knows the answers."""
    root = tree.root
    headers = [root / path for path in catalog.headers(tree)]
    headers += sorted((root / FOLDER).glob("*.h"))
    keys = dict.fromkeys(function.key for function in subject.functions if function.key)
    functions = [
        f"-DSUBJECT_KEYS={''.join(f'KEY({key})' for key in keys)}",
        f"-DSUBJECT_FUNCTIONS={''.join(map(_line, subject.functions))}",
    ]

    def made(path: Path, *more: str) -> Path:
        flags = [*target.compile_flags, *OUR_FLAGS, *more]
        return build_object(context, compiler, path, flags, headers, cwd=root)

    adapter = subject.home / subject.adapter
    if not adapter.is_file():
        raise EverycoreError(f"{subject.name}.toml: no adapter {subject.adapter} is beside it")
    objects = [made(root / name) for name in REFERENCE]
    return [made(root / FOLDER / "driver.c", *functions), made(adapter), *objects]


def _line(function: Function) -> str:
    mode = function.computes.replace("-", "_")
    return f"FUNCTION({function.symbol},{mode},{function.key or 'NO_KEY'})"
