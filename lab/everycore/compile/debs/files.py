# SPDX-License-Identifier: MIT
"""Files of an archive in the cache, by their sha256: fetched once, never half there."""

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import BinaryIO

from everycore.compile.debs.lock import File
from everycore.compile.debs.mirror import Mirror
from everycore.environment.atomic import atomic_write, cache_folder
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError, UnavailableError
from everycore.environment.progress import Progress
from everycore.environment.workers import worker_pool

AT_ONCE = 4  # connections to one mirror
CHUNK_BYTES = 1 << 20


class GoneError(UnavailableError):
    """The mirrors answered, and do not have a file."""


class WrongContentsError(EverycoreError):
    """A file that is not what the lock says, or lacks what is wanted of it."""


def folder_of(context: Context, name: str) -> Path:
    """A folder of the cache, made if it is not there."""
    folder = context.cache_dir() / "debs" / name
    with cache_folder(folder):
        return folder


def is_cached(context: Context, file: File) -> bool:
    return _place(context, file).is_file()


def discard(context: Context, file: File) -> int:
    """Free its space, so many bytes: it is fetched again if it is wanted again."""
    place = _place(context, file)
    try:
        n_bytes = place.stat().st_size
        place.unlink()
    except FileNotFoundError:
        return 0
    return n_bytes


def download(context: Context, mirrors: Sequence[Mirror], file: File) -> Path:
    """The file in the cache, from the first mirror that has it, if its sha256 is right."""
    path = _place(context, file)
    if path.is_file():
        return path
    for mirror in mirrors:
        if response := mirror.open(file.path):
            with response:
                _save(response, path, file, mirror)
            return path
    raise GoneError(f"{', '.join(mirror.url for mirror in mirrors)} has no {file.path}")


def download_all(context: Context, mirrors: Sequence[Mirror], files: Sequence[File]) -> list[Path]:
    with (
        Progress(context.err, "fetching", len(files)) as progress,
        worker_pool(AT_ONCE) as pool,
    ):
        jobs = {pool.submit(download, context, mirrors, file): file for file in files}
        for job in as_completed(jobs):
            job.result()
            progress.step(jobs[job].name)
    return [_place(context, file) for file in files]


def _place(context: Context, file: File) -> Path:
    return folder_of(context, "files") / f"{file.sha256}-{file.name}"


def _announced(response: BinaryIO) -> int:
    """Return how many bytes a server said that it sends; http.client lets it send fewer."""
    headers: Mapping[str, str] = getattr(response, "headers", {})
    length = headers.get("Content-Length") or ""
    return int(length) if length.isdecimal() else 0


def _save(response: BinaryIO, path: Path, file: File, mirror: Mirror) -> None:
    from http.client import HTTPException, IncompleteRead  # which few commands need

    digest = hashlib.sha256()
    try:
        with atomic_write(path) as scratch:
            with scratch.open("wb") as out:
                while out.tell() <= file.size and (chunk := response.read(CHUNK_BYTES)):
                    digest.update(chunk)
                    out.write(chunk)
                if out.tell() < min(_announced(response), file.size):
                    raise IncompleteRead(b"", file.size - out.tell())
            if digest.hexdigest() != file.sha256:
                raise WrongContentsError(
                    f"{mirror.url}/{file.path} has a wrong sha256",
                    f"expected {file.sha256}, got {digest.hexdigest()}: a mirror in the middle of"
                    " an update, or a file that somebody changed; try again later or use another"
                    " mirror",
                )
    except (OSError, HTTPException) as error:
        raise UnavailableError(f"cannot fetch {mirror.url}/{file.path}: {error}") from error
