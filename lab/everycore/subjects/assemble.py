# SPDX-License-Identifier: MIT
"""From a subject's sources to a program that calls its functions; all of it cached by content.

Three parts, so that any compiler may make the first: the objects of the subject's own files, the
surroundings (driver, adapter, the kernel that knows the answers), and the link of both.
"""

import hashlib
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from everycore.compile import catalog
from everycore.compile.binaries import build_object, build_timed, build_tool, digest_of
from everycore.compile.refusals import NotCompiledError, RefusedError
from everycore.compile.toolchains import DEFAULT_FLAGS, find_compiler
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.environment.workers import worker_pool
from everycore.model.domain import Compiler, Target, Tree
from everycore.model.targets import load_target
from everycore.run.transport.valgrind import TAINT_FLAGS, has_valgrind
from everycore.subjects import reference
from everycore.subjects.adapter import adapter_text
from everycore.subjects.describe import FOLDER, OUTPUT, OWN, Function, Subject, source_path
from everycore.subjects.source_files import (
    SubjectUnavailableError,
    headers_below,
    headers_near,
    sources,
    written,
)

# Files of catalog/subjects/, without an adapter, that are linked with every subject.
DRIVER = (
    "driver.c",
    "job.c",
    "answers.c",
    "check.c",
    "patterns.c",
    "sweep.c",
    "ct.c",
    "bench.c",
    "sanitizer.c",
)
# With which its verb bench times.
HARNESS = (
    "harness/measure.c", "harness/quiet.c", "harness/emit.c", "harness/options.c",
    "harness/port/posix.c", "harness/port/linux/linux.c", "harness/port/linux/start_riscv32.S",
    "harness/bare/libc.c",
    *(
        f"harness/counters/{name}.c"
        for name in ("counter", "chain", "clock", "cntvct", "core", "perf")
    ),
    "harness/counters/tsc.c", "harness/counters/width.c",
)  # fmt: skip
# Files that the driver compares with, and that kernels of ours need around them.
LIBRARY = (
    "src/aes/aes.c", "src/ghash/ghash.c", "src/qarma/qarma.c",
    *(f"src/gcm/{name}.c" for name in ("gcm", "key", "pair", "pieces")),
    "src/modes/cbc.c", "src/modes/ctr.c", "src/modes/xts.c",
    "src/pac/impdef_mac.c", "src/pac/keys.c", "src/pac/pac.c", "src/pac/qarma_mac.c",
    "src/bn/bn.c", "src/bn/exp.c", "src/bn_words/bn_words.c", "src/sha2/sha2.c",
    "src/common/clear.c", "src/common/number.c", "src/common/wipe.c", "src/common/status.c",
    *(f"src/cpu/{name}.c" for name in ("a64_idreg", "arm_hwcap", "none", "ppc_hwcap")),
    *(f"src/cpu/{name}.c" for name in ("hppa_uname", "riscv_hwprobe", "s390x_stfle", "x86_cpuid")),
)  # fmt: skip
OF_C_REF = ("aes", "ghash", "qarma", "bn_words", "sha2")  # primitives that c_ref answers for
REFERENCE = (*(f"src/{p}/c_ref.c" for p in OF_C_REF), "src/bn/c_limb32.c")
RENAMED = (*(f"-Devc_{p}_c_ref=answers_{p}" for p in OF_C_REF), "-Devc_bn_c_limb32=answers_bn")
LANGUAGE = ("-std=gnu11", "-O2", "-fno-pie")
OUR_FLAGS = (*LANGUAGE, "-Iinclude", "-Isrc", f"-I{FOLDER}", "-Iharness")
# Distributions differ in these.
PLAIN = ("-fno-pie", "-fno-stack-protector", "-fcf-protection=none")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All of a program but the subject's own files: one relocatable object."""

    subject: Subject
    target: Target
    compiler: Compiler  # that made it, and links
    path: Path
    link_flags: tuple[str, ...]


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
    compiler = _compiler(context, target, cc)
    made = objects(context, subject, compiler, flags, target)
    around = surroundings(context, tree, subject, target)
    binary = link(context, around, made)
    _, version = sources(context, subject)
    return Program(subject, target, compiler, tuple(flags), version, binary)


def objects(
    context: Context,
    subject: Subject,
    compiler: Compiler,
    flags: Sequence[str],
    target: Target,
    limit_seconds: float | None = None,
) -> list[Path]:
    """The subject's own files, by any compiler and flags.

    Beside NAME.o is NAME.su where the compiler wrote one (-fstack-usage); `compile_seconds` says
    how long it took. TimeoutError: a file took longer than `limit_seconds`.
    """
    _expect_machine(subject, target)
    folder, _ = sources(context, subject)
    _, around = _theirs(context, subject)
    words = compile_words(context, subject, compiler, flags, target)
    near = {path: headers_near(path) for path in {(folder / name).parent for name in subject.paths}}
    headers = {path: digest_of(dict.fromkeys([*around, *found])) for path, found in near.items()}

    def made(name: str) -> Path:
        path, output = folder / source_path(name), name.partition(OUTPUT)[2]
        if not path.is_file():
            raise EverycoreError(f"{subject.name}: the sources have no file {path.name}")
        read = headers[path.parent]
        if path.suffix == ".pl":
            path = written(context, subject, folder, path, output or path.stem)
        return build_timed(context, compiler, path, words, read, limit_seconds)

    if len(subject.files) == 1:
        return [made(subject.files[0])]
    with worker_pool() as pool:
        return list(pool.map(made, subject.files))


def compile_words(
    context: Context, subject: Subject, compiler: Compiler, flags: Sequence[str], target: Target
) -> list[str]:
    """Return the flags with which the subject's own files are compiled."""
    where, _ = _theirs(context, subject)
    return [*_plain(compiler), *target.compile_flags, *subject.flags, *where, *flags]


def _expect_machine(subject: Subject, target: Target) -> None:
    here = platform.machine()
    if subject.machines and target.transport == "local" and here not in subject.machines:
        raise SubjectUnavailableError(
            f"{subject.name} is for {' and '.join(subject.machines)}, and this is {here}"
        )


def compile_seconds(made: Path) -> float | None:
    """How long the compiler took for one of `objects`, when it was made; None: not known."""
    try:
        return float(made.with_suffix(".seconds").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def surroundings(context: Context, tree: Tree, subject: Subject, target: Target) -> Surroundings:
    """The driver, the adapter, and the kernel that knows the answers: by the target's compiler.

    Where there is valgrind, their secrets are marked for it.
    """
    compiler = _compiler(context, target, None)
    root = tree.root
    headers = digest_of(_our_headers(tree))
    marks = TAINT_FLAGS if target.transport == "local" and has_valgrind(context) else ()

    def made(path: Path, *more: str) -> Path:
        flags = [*target.compile_flags, *OUR_FLAGS, *marks, *more]
        return build_object(context, compiler, path, flags, headers, cwd=root)

    files = [
        *((root / FOLDER / name, _functions(subject) * (name == "job.c")) for name in DRIVER),
        *((root / name, []) for name in (*HARNESS, *LIBRARY)),
        *((root / name, list(RENAMED)) for name in REFERENCE),
    ]
    with worker_pool() as pool:
        parts = list(pool.map(lambda item: made(item[0], *item[1]), files))
    adapter = _adapter(context, tree, subject, compiler, target)
    parts.append(adapter)
    if any(function.computes == OWN for function in subject.functions):
        trusted = objects(context, subject, compiler, reference.FLAGS, target)
        flags = target.compile_flags
        parts.append(reference.renamed(context, compiler, [adapter, *trusted], flags))
    link_command = ["-r", "-nostdlib", *target.compile_flags]
    path = build_tool(context, compiler, parts, link_command, name="surroundings.o")
    static = [] if "-static" in target.link_flags else _static(context, compiler, target)
    words = (*target.compile_flags, "-no-pie", *target.link_flags, *static)
    return Surroundings(subject, target, compiler, path, words)


def _adapter(
    context: Context, tree: Tree, subject: Subject, compiler: Compiler, target: Target
) -> Path:
    """The subject's own, or one that is written from its calls."""
    words = [*target.compile_flags, *OUR_FLAGS]
    ours = _our_headers(tree)
    if subject.adapter:
        path = subject.home / subject.adapter
        if not path.is_file():
            raise EverycoreError(f"{subject.name}.toml: no adapter {subject.adapter} is beside it")
        words += [f"-D{name}" for name in subject.adapter_defines]
        read = digest_of([*ours, *headers_near(subject.home)])
        return build_object(context, compiler, path, words, read, cwd=tree.root)
    text = adapter_text(subject)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = context.cache_dir() / "subjects" / digest[:32] / "adapter.c"
    if not path.is_file():
        with atomic_write(path) as scratch:
            scratch.write_text(text, encoding="utf-8")
    flags, theirs = _theirs(context, subject)
    folder, _ = sources(context, subject)
    # Their headers first: ours must not be found by the names of theirs.
    words = [*target.compile_flags, *LANGUAGE, *flags, f"-I{folder}", f"-I{tree.root}"]
    read = digest_of([*ours, *theirs, *headers_near(folder)])
    return build_timed(context, compiler, path, words, read)


def _our_headers(tree: Tree) -> list[Path]:
    found = [tree.root / path for path in catalog.headers(tree)]
    return [*found, *sorted((tree.root / FOLDER).glob("*.h"))]


def _theirs(context: Context, subject: Subject) -> tuple[list[str], list[Path]]:
    """Return the folders in which their files look for headers, as flags; the headers that are
    there."""
    folder, _ = sources(context, subject)
    folders = [subject.home / name for name in subject.shims]
    folders += [folder / name for name in subject.includes]
    words = [f"-I{path.absolute()}" for path in folders]
    words += [f"-D{name}" for name in subject.defines]
    return words, [header for path in folders for header in headers_below(path)]


def link(
    context: Context,
    around: Surroundings,
    made: Sequence[Path],
    compiler: Compiler | None = None,
    flags: Sequence[str] = (),
) -> Path:
    """The program; `compiler` and `flags`: of objects that only their own compiler can link."""
    linker = compiler or around.compiler
    words = [*flags, *around.link_flags]
    name = around.subject.name
    try:
        return build_tool(context, linker, [*made, around.path], words, name=name)
    except RefusedError as error:
        said = next((line for line in error.hint.splitlines() if "undefined" in line), error.hint)
        message = f"{name} cannot be linked: {said}"
        raise NotCompiledError(message, may_pass=error.may_pass) from error


def _compiler(context: Context, target: Target, cc: str | None) -> Compiler:
    try:
        return find_compiler(context, target, cc, target.compile_flags, "")
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def _plain(compiler: Compiler) -> tuple[str, ...]:
    """GCC knows -fcf-protection since version 8."""
    return PLAIN[:-1] if compiler.name.startswith("gcc 7.") else PLAIN


def _static(context: Context, compiler: Compiler, target: Target) -> list[str]:
    """Programs without a loader start sooner, and lie at the same addresses each time."""
    argv = [*compiler.command, *target.compile_flags, "-print-file-name=libc.a"]
    return ["-static"] if "/" in context.runner.run(argv).stdout else []


def _functions(subject: Subject) -> list[str]:
    """Return the macros for catalog/subjects/job.c."""
    keys = dict.fromkeys(f.key_symbol for f in subject.functions if f.key_symbol)
    own = [function for function in subject.functions if function.computes == OWN]
    vectors = [
        f'VECTOR({f.symbol},"{v.key}","{v.iv}","{v.input}","{v.out}")'
        for f in own
        for v in f.vectors
    ]
    return [
        f"-DSUBJECT_KEYS={''.join(f'KEY({key})' for key in keys)}",
        f"-DSUBJECT_FUNCTIONS={''.join(map(_line, subject.functions))}",
        *([f"-DSUBJECT_VECTORS={''.join(vectors)}"] if vectors else []),
    ]


def _line(function: Function) -> str:
    key = function.key_symbol or "NO_KEY"
    if function.computes == OWN:
        trusted = f"{reference.PREFIX}{key}" if function.key_symbol else key
        return f"OWN({function.symbol},{function.output},{key},{trusted})"
    return f"FUNCTION({function.symbol},{function.computes.replace('-', '_')},{key})"
