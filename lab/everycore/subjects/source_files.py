# SPDX-License-Identifier: MIT
"""Find the files of a subject: in a package, beside its description, written by perl."""

import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory

from everycore.compile import debs
from everycore.compile.debs.lock import Request
from everycore.environment.atomic import atomic_write
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.subjects.describe import Subject

NEEDED_BY_SOURCES = ("binutils", "xz-utils")
# OpenSSL's programs for x86 ask $CC what its assembler knows.
WITH_CC = ("-e", '$ENV{CC} ||= "cc"; exec $^X, @ARGV')
HEADERS = (".h", ".inc", ".def", ".S", ".s", ".pl")  # what a file may read
NEAR = (*HEADERS, ".c", ".tbl", ".tab")  # and what one beside it may


class SubjectUnavailableError(EverycoreError):
    """A subject that cannot be had here: no network, no compiler, no perl. No fault of its own."""


def sources(context: Context, subject: Subject) -> tuple[Path, str]:
    """The folder that its files are in, and their version."""
    if subject.setting:
        return _named_tree(context, subject), ""
    if not subject.package:
        return (subject.home / subject.folder).absolute(), ""
    lock = pinned(context, subject, update=False)
    pins = (*lock.sources, *lock.packages)
    version = next((pin.version for pin in pins if pin.name == subject.package), "")
    try:
        if subject.tarball:
            folder = debs.unpacked_tarball(context, lock, subject.tarball, subject.unpack)
        else:
            folder = debs.unpacked_source(context, lock, subject.package, subject.unpack)
        return folder, version
    except debs.WrongContentsError:
        raise
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def pinned(context: Context, subject: Subject, update: bool) -> debs.Lock:
    """The lock beside the subject's file; with `update`, what the suite has now."""
    suites = (subject.suite,)
    request = Request(suites, "source", sources=(subject.package,))
    if subject.tarball:  # alone: what it depends on serves to build it
        request = Request(suites, "amd64", (subject.package,), exclude=NEEDED_BY_SOURCES)
    try:
        return debs.pinned(context, request, subject.lock, update)
    except EverycoreError as error:
        raise SubjectUnavailableError(error.message, error.hint) from error


def sources_in(lock: debs.Lock) -> list[debs.File]:
    """Return the files to fetch for a few files of upstream's: without what Debian adds."""
    files = [file for pin in (*lock.sources, *lock.packages) for file in pin.files]
    return [f for f in files if ".orig" in f.name and not f.name.endswith(".asc")] or files


def headers_below(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.suffix in HEADERS and p.is_file())


def headers_near(folder: Path) -> list[Path]:
    """Those that a file of this folder reads by a path of its own; it may be a home directory."""
    found = [path for depth in ("*", "*/*", "*/*/*") for path in folder.glob(depth)]
    return sorted(path for path in found if path.suffix in NEAR and path.is_file())


def _named_tree(context: Context, subject: Subject) -> Path:
    named = context.env.get(subject.setting, "")
    if not named:
        raise SubjectUnavailableError(
            f"{subject.name} is in no archive, and {subject.setting} names no folder with it",
            f"set {subject.setting} to the folder that {subject.files[0]} is below",
        )
    folder = Path(named).expanduser().absolute()
    if not (folder / subject.files[0]).is_file():
        raise EverycoreError(
            f"{subject.setting}={named}: there is no {subject.files[0]}",
            f"it is to be the folder that {subject.files[0]} is below",
        )
    return folder


def written(context: Context, subject: Subject, folder: Path, program: Path, output: str) -> Path:
    """Run a perl program that writes the assembly of its flavour.

    `output`: the name of what it writes, without a suffix. OpenSSL's programs may look for a size
    of SHA-2 in it, so that they are not told the folder.
    """
    read = [program, *headers_below(folder)]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in read]
    key = hashlib.sha256(
        "\0".join([*WITH_CC, subject.flavour, program.name, output, *digests]).encode()
    ).hexdigest()
    assembly = context.cache_dir() / "subjects" / key[:32] / f"{output}.S"
    if not assembly.is_file():
        place = assembly.parent
        place.mkdir(parents=True, exist_ok=True)
        with atomic_write(assembly) as scratch, TemporaryDirectory(dir=place) as own:
            made = Path(own) / assembly.name
            argv = ["perl", *WITH_CC, str(program), subject.flavour, made.name]
            try:
                done = context.runner.run(argv, cwd=made.parent)
            except EverycoreError as error:
                raise SubjectUnavailableError(
                    f"{subject.name} is written by perl, and {error.message}",
                    "Debian: apt-get install perl",
                ) from error
            if done.code != 0 or not made.is_file() or not made.stat().st_size:
                said = done.stderr.strip().splitlines() or ["it wrote nothing"]
                raise EverycoreError(f"perl cannot run {program.name}: {said[-1]}")
            made.replace(scratch)
    return assembly
