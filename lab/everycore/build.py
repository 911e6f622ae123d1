# SPDX-License-Identifier: MIT
"""From the C tree to a harness binary, cached by the content of all that goes in."""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from everycore import catalog
from everycore.context import Context
from everycore.errors import EverycoreError
from everycore.model import Build, Compiler, Peer, Target, Tree
from everycore.progress import Progress

BASE_FLAGS = ("-std=gnu11", "-Iinclude", "-Isrc", "-Iharness")
UNUSED_SECONDS = 30 * 24 * 3600


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
    peers: Sequence[Peer] = (),
) -> Build:
    """The harness for a target; nothing is compiled that was compiled before."""
    if not (tree.root / "harness").is_dir():
        raise EverycoreError("this C tree has no harness/", f"looked in {tree.root}")
    compile_flags = (*target.compile_flags, *flags)
    libraries = tuple(word for peer in peers for word in peer.libraries)
    objects = _plan(context, tree, compiler, compile_flags, peers)
    link_key = _digest(str(o.path.name) for o in objects)
    link_key = _digest([link_key, *target.link_flags, *libraries])
    binary = context.cache_dir() / "bin" / link_key[:32] / "harness"
    if not binary.is_file():
        _compile_all(context, tree, compiler, objects)
        link_flags = (*compile_flags, *target.link_flags)
        _link(context, compiler, link_flags, objects, libraries, binary)
        _forget_unused(context.cache_dir())
    else:
        _mark_used(binary)
    return Build(binary, compiler, (*compile_flags, *target.link_flags))


def _plan(
    context: Context,
    tree: Tree,
    compiler: Compiler,
    flags: tuple[str, ...],
    peers: Sequence[Peer],
) -> list[_Object]:
    """The object that each source becomes.

    Its name is a digest of the source, all headers, the compiler and the flags. Peers concern the
    harness only.
    """
    defines = tuple(peer.define for peer in peers)
    headers = catalog.headers(tree)
    common = _digest(
        [
            compiler.fingerprint,
            *BASE_FLAGS,
            *(f"{path.as_posix()} {_file_digest(tree.root / path)}" for path in headers),
        ]
    )
    folder = context.cache_dir() / "objects"
    objects: list[_Object] = []
    for source in [*catalog.sources(tree), *(peer.source for peer in peers)]:
        own_flags = flags if source.parts[0] == "src" else (*flags, *defines)
        own = [common, *own_flags, source.as_posix(), _file_digest(tree.root / source)]
        objects.append(_Object(source, folder / f"{_digest(own)}.o", own_flags))
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
    with (
        Progress(context.err, "compiling", len(missing)) as progress,
        ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool,
    ):
        jobs = [pool.submit(_compile, context, tree, compiler, o) for o in missing]
        try:
            for job in as_completed(jobs):
                progress.step(job.result().name)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _compile(context: Context, tree: Tree, compiler: Compiler, unit: _Object) -> Path:
    with _Scratch(unit.path) as scratch:
        argv = [*compiler.command, *BASE_FLAGS, *unit.flags, "-c", unit.source.as_posix()]
        done = context.runner.run([*argv, "-o", str(scratch)], cwd=tree.root)
        if done.code != 0:
            raise EverycoreError(
                f"{compiler.name} cannot compile {unit.source.as_posix()}", _excerpt(done.stderr)
            )
    return unit.source


def _link(
    context: Context,
    compiler: Compiler,
    flags: Sequence[str],
    objects: Sequence[_Object],
    libraries: Sequence[str],
    binary: Path,
) -> None:
    with _Scratch(binary) as scratch:
        files = [str(o.path) for o in objects]
        argv = [*compiler.command, *flags, *files, *libraries, "-o", str(scratch)]
        done = context.runner.run(argv)
        if done.code != 0:
            raise EverycoreError(f"{compiler.name} cannot link the harness", _excerpt(done.stderr))


def can_link(context: Context, compiler: Compiler, peer: Peer) -> bool:
    """Whether the peer's library is installed for this compiler."""
    with tempfile.TemporaryDirectory() as folder:
        argv = [*compiler.command, "-x", "c", "-", *peer.libraries, "-o", f"{folder}/probe"]
        done = context.runner.run(argv, stdin="int main(void) { return 0; }\n")
    return done.code == 0


class _Scratch:
    """A file beside `path` that becomes `path` only when all went well."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Path:
        folder = self._path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=folder, suffix=self._path.suffix)
        except OSError as error:
            raise EverycoreError(
                f"cannot write the cache {folder}: {error.strerror}",
                "set XDG_CACHE_HOME to another place",
            ) from error
        os.close(handle)
        self._scratch = Path(name)
        return self._scratch

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._scratch.replace(self._path)
        else:
            self._scratch.unlink(missing_ok=True)


def _mark_used(path: Path) -> None:
    with suppress(OSError):  # another user's cache, or cleared by another run
        os.utime(path)


def _forget_unused(cache: Path) -> None:
    """Objects, and binaries each in a folder of its own."""
    oldest = time.time() - UNUSED_SECONDS
    for path in (*cache.glob("objects/*"), *cache.glob("bin/*/*")):
        with suppress(OSError):  # another run renames its scratch files meanwhile
            if path.stat().st_mtime < oldest:
                path.unlink()
                if path.parent.parent.name == "bin":
                    path.parent.rmdir()


def _excerpt(stderr: str, lines: int = 12) -> str:
    return "\n".join(stderr.strip().splitlines()[:lines])


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
