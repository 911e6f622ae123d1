# SPDX-License-Identifier: MIT
"""Find the Debian suite that holds a compiler, and the packages that it needs to compile."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from everycore.compile.debs.closure import closure
from everycore.compile.debs.index import Index, Package
from everycore.compile.debs.lock import Pinned
from everycore.compile.toolchains.compiler_lock import Part
from everycore.compile.toolchains.compilers_file import FetchableCompilers
from everycore.compile.toolchains.host import HOST
from everycore.compile.toolchains.parts import HEADERS
from everycore.environment.errors import EverycoreError
from everycore.model.domain import Target

PROVIDER = "debian"
_NAME = re.compile(r"(gcc|clang)-(\d+)")
# Dependencies that a compiler has in order to link, to run what it has compiled, or for other
# languages.
_NOT_TO_COMPILE = re.compile(
    r"lib(asan|tsan|ubsan|lsan|hwasan|itm|quadmath|gomp|cc1|atomic|vtv|mpx|cilkrts|ssp)[-\d].*"
    r"|lib(32|x32|n32|64)?(stdc\+\+|objc|gcc)-.*-dev(-.*)?|lib(32|x32|64)(gcc|stdc\+\+|c6).*"
    r"|libc6-dev.*|libc-dev|libc6-(i386|x32|amd64).*|libc-gconv-modules-extra"
    r"|binutils-common|libgprofng\d+|llvm-\d+-linker-tools|libclang1?-rt.*|libclang1-.*"
    r"|gcc-.*-base|media-types"
)
_OF_CLANG = re.compile(r"binutils.*|libgcc-.*-dev")


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite, with those that its packages may need others from."""

    title: str  # "trixie"
    indices: tuple[Index, ...]

    def newest(self, name: str) -> Package | None:
        return next((p for index in self.indices for p in index.packages(name)), None)


def parts_of(
    suites: Iterable[Suite], fetchable: FetchableCompilers, targets: Sequence[Target]
) -> Iterator[Part]:
    """Each compiler, and what each target needs, out of the first suite that has it whole."""
    done: set[tuple[str, str]] = set()
    for suite in suites:
        for name, target, package in [*_compilers(suite, fetchable, targets), *_headers(targets)]:
            if (name, target) in done or suite.newest(package) is None:
                continue
            try:
                part = _part(suite, name, target, package)
            except EverycoreError:  # a suite in motion may lack what its packages need
                continue
            done.add((name, target))
            yield part


def _compilers(
    suite: Suite, fetchable: FetchableCompilers, targets: Sequence[Target]
) -> Iterator[tuple[str, str, str]]:
    names = {name for index in suite.indices for name in index.names()}
    found = [match for name in names if (match := _NAME.fullmatch(name))]
    for match in sorted(found, key=lambda match: (match[1] != "gcc", int(match[2]))):
        if int(match[2]) < fetchable.oldest.get(match[1], 0):
            continue
        yield match[0], HOST, match[0]
        for target in targets if match[1] == "gcc" else ():
            triple = target.compiler.removesuffix("-gcc")
            yield match[0], target.name, f"{match[0]}-{triple}"


def _headers(targets: Sequence[Target]) -> Iterator[tuple[str, str, str]]:
    for target in targets:
        for package in target.packages:
            if package.startswith("libc6-dev-"):
                yield HEADERS, target.name, package


def _part(suite: Suite, name: str, target: str, package: str) -> Part:
    unneeded = () if name == HEADERS else _Unneeded(name)
    packages = closure(suite.indices, [package], unneeded)
    version = next(needed.version for needed in packages if needed.name == package)
    pins = tuple(Pinned(needed.name, needed.version, (needed.file,)) for needed in packages)
    return Part(name, target, PROVIDER, f"Debian {suite.title}", package, version, pins)


@dataclass(frozen=True, slots=True)
class _Unneeded:
    """Names of packages that a compiler does without.

    A cross compiler keeps its own libgcc, with which its target's programs are linked.
    """

    compiler: str

    def __contains__(self, package: object) -> bool:
        name = str(package)
        if self.compiler.startswith("clang") and _OF_CLANG.fullmatch(name):
            return True
        own = f"libgcc-{self.compiler.removeprefix('gcc-')}-dev"
        return bool(_NOT_TO_COMPILE.fullmatch(name)) and not name.startswith(own)
