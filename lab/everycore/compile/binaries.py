# SPDX-License-Identifier: MIT
"""From the C tree to a harness binary, cached by the content of all that goes in.

The name of a cached object is a digest of its ingredients:

* the compiler: its command, the macros that it defines, the files that its driver starts and their
  libraries (`Compiler.fingerprint`);
* the flags, and what flags like -march=native mean to the compiler on this machine
  (`meaning_of_native`), for the same cache may serve other machines;
* the source: its place, its contents, and where relative paths begin;
* all files that the compiler read for it, by its own word (depends.py), and `headers`, a digest of
  files that it does not name; for the C tree, all headers of the tree.
"""

import hashlib
import io
import os
import re
import secrets
import shlex
import shutil
import signal
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from everycore.compile import catalog, depends, vendored
from everycore.compile.refusals import NotCompiledError, RefusedError, full_disk, is_passing
from everycore.compile.vendored import NotBuiltError
from everycore.environment.atomic import atomic_write, only_one, publish, scratch_file
from everycore.environment.context import Completed, Context
from everycore.environment.errors import EverycoreError
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool
from everycore.model.domain import Build, Compiler, Installed, Peer, PeerBuild, Target, Tree
from everycore.model.protocol import Kernel

if TYPE_CHECKING:
    import tarfile
_NATIVE = re.compile(r"-m(arch|cpu|tune)=native(\+.*)?")
LANGUAGE = "-std=gnu11"
BASE_FLAGS = (LANGUAGE, "-Iinclude", "-Isrc", "-Iharness")
# Folders of what takes no time of its own: layers of big numbers spend theirs in kernels.
UNTIMED = {"harness", "rsa", "dh", "prime"}
UNUSED_SECONDS = 30 * 24 * 3600
IN_USE_SECONDS = 3600  # by which other runs may still want what they have made
TIDY_SECONDS = 600  # between two looks at all that the cache holds
PROGRAMS_BYTES = 1 << 30
LAUNCHER = "EVERYCORE_LAUNCHER"  # words before compilers of the C tree, such as ccache
BOARD_OBJECTS = "objects"  # below the folder of a board: what it compiled


class CannotLinkError(RefusedError):
    """Objects that the linker refuses to make a harness of."""


class BoardShell(Protocol):
    """A board that compiles: scripts run in its folder."""

    title: str

    def has(self, name: str) -> bool: ...

    def run(self, script: str, data: bytes = b"") -> Completed: ...

    def lines(self, script: str, stdin: Iterable[str]) -> Generator[str, None, Completed]: ...

    def is_built(self, name: str) -> Path: ...


@dataclass(frozen=True, slots=True)
class _Object:
    source: Path
    path: Path
    flags: tuple[str, ...]


def build_harness(
    context: Context,
    tree: Tree,
    target: Target,
    compiler: Compiler,
    flags: Sequence[str],
    sources: Sequence[Path] = (),
    linker: Compiler | None = None,
    harness_flags: Sequence[str] = (),
) -> Build:
    """The harness for a target; nothing is compiled that was compiled before.

    `sources`: its files, by default all of the tree. `linker`: by default the compiler itself;
    another one is not given the flags, which it may not know. `harness_flags`: more flags for the
    files of UNTIMED.
    """
    linker = linker or compiler
    compile_flags = (*target.compile_flags, *flags)
    link_flags = (*compile_flags, *target.link_flags)
    words = link_flags
    if linker != compiler:
        words = (*target.compile_flags, *target.link_flags)
    objects = _plan(context, tree, compiler, compile_flags, sources, tuple(harness_flags))
    binary = _binary(context, objects, target.link_flags)
    if not binary.is_file():
        _compile_all(context, tree, compiler, objects)
        try:
            _make(context, [*linker.command, *words, *_names(objects)], binary)
        except _RefusedError as refusal:
            message = f"{linker.name} cannot link the harness"
            raise _told(refusal, message, CannotLinkError) from None
        tidy(context)
    else:
        _mark_used(binary)
    return Build(binary, compiler, link_flags)


def harness_objects(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: Sequence[str],
    sources: Sequence[Path],
    harness_flags: Sequence[str] = (),
) -> list[tuple[Path, Path]]:
    """Each source and its object, of a harness that was built with these flags."""
    objects = _plan(context, tree, compiler, tuple(flags), sources, tuple(harness_flags))
    return [(object_file.source, object_file.path) for object_file in objects]


def build_resolver(
    context: Context,
    tree: Tree,
    target: Target,
    compiler: Compiler,
    flags: Sequence[str],
    linker: Compiler | None = None,
) -> Build:
    """A harness for a target that has the commands `list` and `resolve`, and no kernels."""
    absent = context.package / "compile" / "resolver" / "absent.c"
    without_libc = "-DHARNESS_BARE" in target.compile_flags
    sources = [*catalog.resolver_sources(tree, without_libc=without_libc), absent]
    return build_harness(context, tree, target, compiler, flags, sources, linker)


def build_cipher_bench(
    context: Context,
    tree: Tree,
    target: Target,
    compiler: Compiler,
    flags: Sequence[str],
    kernels: Sequence[Kernel],
    linker: Compiler | None = None,
) -> Build:
    """A harness that measures AES and GCM, with those of their kernels that run.

    `kernels`: all of the registry, as the small harness lists them. A third of the files of the
    whole harness, which is built instead if these do not link.
    """
    running = {(kernel.primitive, kernel.name) for kernel in kernels if kernel.runs}
    stand_ins = [
        f"ABSENT_KERNEL({kernel.primitive}, {kernel.name})\n"
        for kernel in kernels
        if kernel.primitive in catalog.CIPHERS and kernel.built and not kernel.runs
    ]
    template = context.package / "compile" / "ciphers" / "absent.c"
    text = template.read_text(encoding="utf-8") + "".join(stand_ins)
    absent = context.cache_dir() / "sources" / f"absent-{_digest([text])[:32]}.c"
    if absent.is_file():
        _mark_used(absent)
    else:
        with atomic_write(absent) as scratch:
            scratch.write_text(text, encoding="utf-8")
    sources = [*catalog.cipher_sources(tree, running), absent]
    try:
        return build_harness(context, tree, target, compiler, flags, sources, linker)
    except CannotLinkError:
        return build_harness(context, tree, target, compiler, flags, linker=linker)


def build_on_board(
    context: Context,
    tree: Tree,
    board: BoardShell,
    target: Target,
    compiler: Compiler,
    flags: Sequence[str],
) -> Build:
    """The harness for a board, by its own compiler; what was compiled there before stays."""
    compile_flags = (*target.compile_flags, *flags)
    link_flags = (*compile_flags, *target.link_flags)
    objects = _plan(context, tree, compiler, compile_flags)
    name = f"harness-{_digest([*_names(objects), *link_flags])[:32]}"
    if not board.has(name):
        scratch = f"tree-{secrets.token_hex(8)}"
        sources = _archive(tree)
        try:
            _done(
                board.run(f"mkdir {scratch} && tar -xf - -C {scratch}", sources),
                f"cannot copy the sources to {board.title}",
            )
            _compile_there(context, board, compiler, objects, scratch)
            argv = [*compiler.command, *link_flags, *map(_place_there, objects)]
            link = f"{shlex.join(argv)} -o {scratch}/linked && mv {scratch}/linked {name}"
            _done(board.run(link), f"{compiler.name} cannot link the harness on {board.title}")
        finally:
            board.run(f"rm -rf {scratch}")
    return Build(board.is_built(name), compiler, link_flags)


def _place_there(unit: _Object) -> str:
    return f"{BOARD_OBJECTS}/{unit.path.stem[:32]}.o"


def _compile_there(
    context: Context,
    board: BoardShell,
    compiler: Compiler,
    objects: Sequence[_Object],
    scratch: str,
) -> None:
    """Compile on the board, as many files at a time as it has cores."""
    compile_one = " ".join(
        [
            'o="../$2"; [ -f "$o" ] && touch "$o" && exit;',
            shlex.join([*compiler.command, *BASE_FLAGS, *objects[0].flags]),
            '-c "$1" -o "$o.$$.part" && mv "$o.$$.part" "$o" && echo "$1" && exit;',
            'rm -f "$o.$$.part"; exit 255',  # on which xargs stops
        ]
    )
    script = (
        f"cd {scratch} && n=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)"
        f' && xargs -n 2 -P "$n" sh -c {shlex.quote(compile_one)} sh'
    )
    paths = [f"{unit.source.as_posix()} {_place_there(unit)}" for unit in objects]
    with Progress(context.err, f"compiling on {board.title}", len(objects)) as progress:
        stream = board.lines(script, paths)
        while True:
            try:
                progress.step(next(stream))
            except StopIteration as end:
                done: Completed = end.value
                break
    _done(done, f"{compiler.name} cannot compile the harness on {board.title}")


def _done(completed: Completed, what: str) -> None:
    if completed.code != 0:
        raise EverycoreError(what, _excerpt(completed.stderr))


def _archive(tree: Tree) -> bytes:
    """Return a tar archive of all files that are compiled or included."""
    import tarfile

    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path in (*catalog.sources(tree), *catalog.headers(tree)):
            archive.add(tree.root / path, path.as_posix(), filter=_nobody)
    return data.getvalue()


def _nobody(member: "tarfile.TarInfo") -> "tarfile.TarInfo":
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def meaning_of_native(context: Context, compiler: Compiler, flags: Sequence[str]) -> str:
    """Return the words that the driver would start the compiler proper with on this CPU.

    Empty without -march=native or its like, which the driver replaces by them.
    """
    if not any(_NATIVE.fullmatch(flag) for flag in flags):
        return ""
    words = [*compiler.command, *flags, "-###", "-E", "-x", "c", os.devnull]
    done = context.runner.run(words, cwd=context.package)  # which clang says, too
    return done.stdout + done.stderr


class PeerUnavailableError(EverycoreError):
    """A peer's adapter that does not compile, or does not link, with what is installed."""


def build_peer(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: Sequence[str],
    peer: Peer,
    installed: Installed,
) -> PeerBuild:
    """The harness for this machine, linked with one peer.

    The adapter and the link are made anew each time, for nothing tells when the library behind them
    has changed.
    """
    objects = _plan(context, tree, compiler, tuple(flags))
    peer, compile_words = _from_source(context, peer)
    compile_words += installed.compile_flags
    compile_words += [f"-isystem{installed.root / 'usr/include' / name}" for name in peer.includes]
    link_words = [*installed.link_flags, *peer.libraries]
    binary = _binary(context, objects, [peer.name, *compile_words, *link_words])
    _compile_all(context, tree, compiler, objects)
    try:
        if peer.crate:
            adapter = _build_crate(context, tree, peer)
        elif peer.module:
            adapter = _build_module(context, tree, peer)
        else:
            # Without our folders: a library's headers must not find ours by the names of theirs.
            command = [*compiler.command, LANGUAGE, *flags, *compile_words]
            adapter = binary.with_name("adapter.o")
            _make_anew(context, [*command, "-c", peer.source.as_posix()], adapter, tree.root)
        words = [*flags, *_names(objects), "-Wl,--undefined=evc_peer", str(adapter), *link_words]
        _make_anew(context, [*compiler.command, *words], binary)
    except _RefusedError as refusal:
        raise _unavailable(peer, str(refusal)) from None
    return PeerBuild(peer, binary)


def _from_source(context: Context, peer: Peer) -> tuple[Peer, list[str]]:
    """The peer with its libraries built, if a crate carries their source; words for headers."""
    if peer.vendored is None:
        return peer, []
    try:
        headers, words = vendored.built(context, peer.name, peer.vendored, peer.libraries)
    except NotBuiltError as error:
        raise PeerUnavailableError(error.message, error.hint) from error
    # Found before those of a suite, which may have others of these names.
    return replace(peer, libraries=words), [f"-I{headers}"]


def _build_crate(context: Context, tree: Tree, peer: Peer) -> Path:
    """The archive that cargo makes; it alone knows what has to be made again."""
    folder = context.cache_dir() / "cargo" / peer.name
    archive = folder / "target" / "release" / "libpeer.a"
    if not archive.is_file():
        context.err.print(f"building {peer.name} with cargo, once; this may take minutes")
    # A copy, beside which cargo may write its lock file; times are kept, for cargo goes by them.
    shutil.copytree(tree.root / "catalog/peers" / "rust", folder, dirs_exist_ok=True)
    argv = ["env", *(f"{name}={value}" for name, value in peer.build)] if peer.build else []
    argv += ["cargo", "build", "--release", "--quiet", "--features", peer.crate]
    argv += ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(folder / "target")]
    _run_builder(context, peer, argv, "install Rust: apt-get install cargo, or rustup")
    return archive


def _build_module(context: Context, tree: Tree, peer: Peer) -> Path:
    archive = context.cache_dir() / "go" / peer.name / "libpeer.a"
    folder = tree.root / "catalog/peers" / peer.module
    argv = ["go", "build", "-C", str(folder), "-trimpath", "-buildmode=c-archive", "-o"]
    _run_builder(context, peer, [*argv, str(archive), "."], "install Go: apt-get install golang")
    return archive


def _run_builder(context: Context, peer: Peer, argv: Sequence[str], hint: str) -> None:
    try:
        done = context.runner.run(argv)
    except EverycoreError as error:
        message = f"{peer.name} has to be built, and {error.message}"
        raise PeerUnavailableError(message, hint) from error
    if done.code != 0:
        raise _RefusedError(done.stderr)


def _unavailable(peer: Peer, stderr: str) -> PeerUnavailableError:
    """A header or a library that is not there is the usual reason, and then the only one named."""
    missing = re.search(r"fatal error: '?([^':]+)'?[: ].*(?:No such|not found)", stderr)
    missing = missing or re.search(
        r"cannot find (-l\S+?)(?::|$)|unable to find library (-l\S+)", stderr
    )
    if not missing:
        undefined = re.search(r"undefined (?:reference to|symbol:) .*", stderr)
        why = undefined[0] if undefined else first_error(stderr)
        return PeerUnavailableError(f"{peer.name} cannot be built", why)
    what = next(group for group in missing.groups() if group)
    hint = f"apt-get install {' '.join(peer.packages)}" if peer.packages else ""
    return PeerUnavailableError(f"{peer.name} is not installed for this compiler: no {what}", hint)


def _binary(context: Context, objects: Sequence[_Object], words: Sequence[str]) -> Path:
    link_key = _digest(o.path.name for o in objects)
    return context.cache_dir() / "bin" / _digest([link_key, *words])[:32] / "harness"


def _names(objects: Sequence[_Object]) -> list[str]:
    return [str(o.path) for o in objects]


def build_tool(
    context: Context,
    compiler: Compiler,
    sources: Sequence[Path],
    flags: Sequence[str],
    name: str = "",
) -> Path:
    """A program, or with -shared a library, of a few sources or objects.

    The program's name is by default that of the first.
    """
    name = name or sources[0].stem
    parts = [
        build_object(context, compiler, path, flags) if path.suffix == ".c" else path
        for path in sources
    ]
    native = meaning_of_native(context, compiler, flags)
    key = _digest([compiler.fingerprint, *flags, native, name, *map(_file_digest, parts)])
    binary = context.cache_dir() / "bin" / key[:32] / name
    if binary.is_file():
        _mark_used(binary)
        return binary
    try:
        _make(context, [*compiler.command, *flags, *map(str, parts)], binary)
    except _RefusedError as refusal:
        raise _told(refusal, f"{compiler.name} cannot link {name}") from None
    return binary


def build_object(
    context: Context,
    compiler: Compiler,
    source: Path,
    flags: Sequence[str],
    headers: str = "",
    cwd: Path | None = None,
) -> Path:
    """An object of one file: cached by its contents and those of all that the compiler read.

    `headers`: the `digest_of` files that the compiler does not name, such as what an assembler
    includes, or one that would be found before another. `cwd`: where relative paths among the flags
    begin.
    """
    native = meaning_of_native(context, compiler, flags)
    unit = _Unit(compiler, source, tuple(flags), headers, native, cwd)
    try:
        return _object(context, unit)
    except _RefusedError as refusal:
        raise _told(refusal, f"{compiler.name} cannot compile {source.name}") from None


def build_timed(
    context: Context,
    compiler: Compiler,
    source: Path,
    flags: Sequence[str],
    headers: str,
    limit_seconds: float | None = None,
) -> Path:
    """As build_object; beside NAME.o is NAME.seconds, and NAME.su if the compiler wrote one.

    NotCompiledError tells what the compiler said first. TimeoutError: it took longer than
    `limit_seconds`.
    """
    native = meaning_of_native(context, compiler, flags)
    unit = _Unit(compiler, source, tuple(flags), headers, native, timed=True)
    try:
        return _object(context, unit, limit_seconds)
    except _RefusedError as refusal:
        output = str(refusal)
        said = refusal.ended or first_error(output)
        message = f"{compiler.name} cannot compile {source.name}: {said}"
        raise full_disk(message, output) or NotCompiledError(
            message, may_pass=is_passing(said)
        ) from None


@dataclass(frozen=True, slots=True)
class _Unit:
    """One file to be compiled, and all that is known before."""

    compiler: Compiler
    source: Path
    flags: tuple[str, ...]
    headers: str
    native: str  # `meaning_of_native`
    cwd: Path | None = None
    timed: bool = False

    @property
    def key(self) -> str:
        """Identify the command. Its folder counts: from elsewhere, a relative path names another
        file."""
        place, beginning = self.source.absolute().as_posix(), (self.cwd or Path()).as_posix()
        parts = [str(self.timed), self.compiler.fingerprint, *self.flags, place, beginning]
        parts += [self.native] if self.native else []
        return _digest([*parts, _file_digest(self.source), self.headers])


def _object(context: Context, unit: _Unit, limit_seconds: float | None = None) -> Path:
    folder, key = context.cache_dir() / "objects", unit.key
    known = depends.find_object(folder, key, unit.cwd)
    if known:
        besides = [known.with_suffix(suffix) for suffix in (".su", ".seconds") if unit.timed]
        for path in (known, depends.memory_of(folder, key), *besides):
            _mark_used(path)
        return known
    with scratch_file(folder, ".o") as scratch, scratch_file(folder, ".d") as rule:
        argv = [*unit.compiler.command, *unit.flags, *depends.words(rule)]
        argv += ["-c", str(unit.source), "-o", str(scratch)]
        frames = scratch.with_suffix(".su")
        began_ns, began = time.time_ns(), time.monotonic()
        try:
            done = context.runner.run(argv, cwd=unit.cwd, seconds=limit_seconds)
            seconds = time.monotonic() - began
            if done.code != 0:
                raise _RefusedError(done.stderr, done.code)
            read = depends.read_files(rule, unit.cwd)
            overtaken = depends.changed_since(read, unit.cwd, began_ns)
            # Nobody knows what that one was made of: it gets a name that is never found again.
            whose = f"{key}-{secrets.token_hex(16)}" if overtaken else key
            path = depends.object_of(folder, whose, read)
            if unit.timed:
                with atomic_write(path.with_suffix(".seconds")) as timed:
                    timed.write_text(f"{seconds:.4f}", encoding="ascii")
                if frames.is_file():
                    frames.replace(path.with_suffix(".su"))
            publish(scratch, path)  # another run may have made the same meanwhile
        finally:
            frames.unlink(missing_ok=True)
    if not overtaken:
        depends.remember(folder, key, read)
    return path


def _plan(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: tuple[str, ...],
    sources: Sequence[Path] = (),
    harness_flags: tuple[str, ...] = (),
) -> list[_Object]:
    """The object that each source becomes.

    Its name is a digest of the source, all headers, the compiler and the flags.
    """
    if not (tree.root / "harness").is_dir():
        raise EverycoreError("this C tree has no harness/", f"looked in {tree.root}")
    headers = catalog.headers(tree)
    common = _digest(
        [
            compiler.fingerprint,
            *BASE_FLAGS,
            meaning_of_native(context, compiler, flags),
            *(f"{path.as_posix()} {_file_digest(tree.root / path)}" for path in headers),
        ]
    )
    folder = context.cache_dir() / "objects"
    objects: list[_Object] = []
    for source in sources or catalog.sources(tree):
        words = flags + (harness_flags if set(source.parts[:2]) & UNTIMED else ())
        own = [common, *words, source.as_posix(), _file_digest(tree.root / source)]
        objects.append(_Object(source, folder / f"{_digest(own)}.o", words))
    return objects


def _compile_all(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    objects: Sequence[_Object],
) -> None:
    missing = [o for o in objects if not o.path.is_file()]
    for present in set(objects) - set(missing):
        _mark_used(present.path)
    if not missing:
        return
    from concurrent.futures import as_completed

    with (
        Progress(
            context.err, "compiling, once for this compiler", len(missing), lines=True
        ) as progress,
        worker_pool() as pool,
    ):
        jobs = [pool.submit(_compile, context, tree, compiler, o) for o in missing]
        for job in as_completed(jobs):
            progress.step(job.result().name)


def _compile(context: Context, tree: Tree, compiler: Compiler, unit: _Object) -> Path:
    argv = [*compiler.command, *BASE_FLAGS, *unit.flags, "-c", unit.source.as_posix()]
    argv[:0] = shlex.split(context.env.get(LAUNCHER, ""))
    try:
        _make(context, argv, unit.path, tree.root)
    except _RefusedError as refusal:
        name = unit.source.as_posix()
        raise _told(refusal, f"{compiler.name} cannot compile {name}") from None
    return unit.source


class _RefusedError(Exception):
    """The compiler did not make its file; what it said."""

    def __init__(self, output: str, code: int = 1) -> None:
        super().__init__(output)
        self.ended = signal.strsignal(-code) if code < 0 else None


def _told(
    refusal: _RefusedError, message: str, kind: type[RefusedError] = RefusedError
) -> EverycoreError:
    """The error of a tool of ours; what the compiler said first is its hint."""
    output = str(refusal)
    return full_disk(message, output) or kind(message, _excerpt(output), is_passing(output))


def _make(context: Context, argv: Sequence[str], path: Path, cwd: Path | None = None) -> None:
    """Run a compiler that writes `path`, unless it is there.

    A program is created once and never replaced: another thread may run it, or trace it.
    """
    with only_one(context.cache_dir() / _kind_of(path)):
        if not path.is_file():
            with scratch_file(path.parent, path.suffix) as scratch:
                _run_compiler(context, argv, scratch, cwd)
                publish(scratch, path)


def _make_anew(context: Context, argv: Sequence[str], path: Path, cwd: Path | None = None) -> None:
    """Run a compiler that writes `path`, whether it is there or not."""
    with atomic_write(path) as scratch:
        _run_compiler(context, argv, scratch, cwd)


def _run_compiler(context: Context, argv: Sequence[str], path: Path, cwd: Path | None) -> None:
    done = context.runner.run([*argv, "-o", str(path)], cwd=cwd)
    if done.code != 0:
        raise _RefusedError(done.stderr)


def _kind_of(path: Path) -> str:
    """A name of its own for each path of the cache: programs lie in folders of their own."""
    return f"{path.parent.name}-{path.name}"


def _mark_used(path: Path) -> None:
    with suppress(OSError):  # another user's cache, or cleared by another run
        os.utime(path)


def tidy(context: Context) -> None:
    """Forget what is in nobody's use, unless that was done a few minutes ago."""
    stamp = context.cache_dir() / "tidied"
    with suppress(OSError):  # there is none; another user's cache
        if 0 <= time.time() - stamp.stat().st_mtime < TIDY_SECONDS:
            return
    with suppress(OSError):
        stamp.touch()
    forget_unused(context)


def forget_unused(context: Context, most_bytes: int = PROGRAMS_BYTES) -> None:
    """Forget what nobody has used for long, and of programs more than so many bytes.

    Objects are small, and what is made of them is linked again in no time; static programs of
    thousands of cells are gigabytes. What may be in use at this moment stays.
    """
    now = time.time()
    used: list[tuple[float, int, Path]] = []
    cache = context.cache_dir()
    for label in cache.glob("packs/*/pack.json"):  # of a result file that may have grown since
        with suppress(OSError):
            if label.stat().st_mtime < now - UNUSED_SECONDS:
                shutil.rmtree(label.parent)
    kinds = ("objects/*", "sources/*", "bin/*/*", "programs/*", "answers/*")
    for path in (path for kind in kinds for path in cache.glob(kind)):
        with suppress(OSError):  # another run renames its scratch files meanwhile
            status = path.stat()
            if status.st_mtime < now - UNUSED_SECONDS:
                _forget(path)
            elif path.parent.parent.name == "bin":
                used.append((status.st_mtime, status.st_size, path))
    kept = 0
    for when, size, path in sorted(used, reverse=True):
        kept += size
        if kept > most_bytes and when < now - IN_USE_SECONDS:
            with suppress(OSError):
                _forget(path)


def _forget(path: Path) -> None:
    path.unlink()
    if path.parent.parent.name == "bin":  # each in a folder of its own
        path.parent.rmdir()


def _excerpt(stderr: str, lines: int = 12) -> str:
    return "\n".join(stderr.strip().splitlines()[:lines])


def first_error(stderr: str) -> str:
    """One line, for a list of who is missing."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or ["no reason given"]
    return next((line for line in lines if "error" in line.lower()), lines[0])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def digest_of(paths: Iterable[Path]) -> str:
    """Return the digest of the contents of files, in their order."""
    return _digest(map(_file_digest, paths))


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
