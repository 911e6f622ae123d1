# SPDX-License-Identifier: MIT
"""Libraries in C whose source a crate carries: built by CMake, once for each version of the crate.

The compiler and the flags are those that CMake chooses: a library is measured as who builds it by
its own description has it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from everycore.compile import crates
from everycore.compile.crates import Crate
from everycore.environment.atomic import only_one
from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Vendored

LIBRARY = "-l"


class NotBuiltError(EverycoreError):
    """A library that CMake does not build, or that cannot be fetched."""


def built(
    context: Context, name: str, source: Vendored, libraries: Sequence[str]
) -> tuple[Path, tuple[str, ...]]:
    """Return the folder of the headers, and the words for the linker.

    Of `libraries`, those that CMake has made are paths of archives.
    """
    crate = Crate(source.crate, source.version, source.sha256)
    try:
        folder = crates.folder(context, crate, source.folder)
    except EverycoreError as error:
        hint = error.hint or "install Rust: apt-get install cargo, or rustup"
        raise NotBuiltError(f"{name} has to be built, and {error.message}", hint) from error
    place = context.cache_dir() / "cmake" / f"{name}-{source.version}"
    done = place / "everycore-done"
    with only_one(place):
        if not done.is_file():
            context.err.print(f"building {name} with CMake, once; this may take minutes")
            _build(context, name, folder, place, source)
            done.touch()
    words = tuple(str(archive_of(place, word) or word) for word in libraries)
    return folder / "include", words


def archive_of(place: Path, word: str) -> Path | None:
    """The archive of a word for the linker, below the folder of a build; None if there is none."""
    if not word.startswith(LIBRARY):
        return None
    return next(iter(sorted(place.rglob(f"lib{word.removeprefix(LIBRARY)}.a"))), None)


def _build(context: Context, name: str, folder: Path, place: Path, source: Vendored) -> None:
    configure = ["cmake", "-S", str(folder), "-B", str(place), "-DCMAKE_BUILD_TYPE=Release"]
    _run(context, name, [*configure, *source.options])
    build = ["cmake", "--build", str(place), "--parallel", str(os.cpu_count() or 1), "--target"]
    _run(context, name, [*build, *source.targets])


def _run(context: Context, name: str, argv: Sequence[str]) -> None:
    hint = "install CMake and compilers of C and C++: apt-get install cmake g++"
    try:
        done = context.runner.run(argv)
    except EverycoreError as error:
        raise NotBuiltError(f"{name} has to be built, and {error.message}", hint) from error
    if done.code != 0:
        said = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        wrong = next((line for line in said if "error" in line.lower()), "no reason given")
        raise NotBuiltError(f"{name} cannot be built by CMake", wrong)
