# SPDX-License-Identifier: MIT
"""The packages of a suite, from the text of its Packages or Sources.

An index has some 70,000 paragraphs, of which a closure reads a hundred: they are found by name, and
parsed one by one by python-debian.
"""

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from everycore.compile.debs.lock import File, Pinned
from everycore.environment import extras
from everycore.environment.errors import EverycoreError

_NAME = re.compile(r"^Package: *(\S+)", re.MULTILINE)
_PROVIDES = re.compile(r"^Provides: *(.+)", re.MULTILINE)
_WORD = re.compile(r"[^\s(:]+")


def library(module: str) -> Any:
    """A module of python-debian, which only those who ask an archive need to have."""
    try:
        return importlib.import_module(f"debian.{module}")
    except ImportError as error:
        raise extras.missing_packages("reading Debian's archive", "debs") from error


def version_key(text: str) -> Any:
    """Return a key that sorts and compares as deb-version(7) says."""
    try:
        return library("debian_support").Version(text)
    except ValueError as error:
        raise EverycoreError(f"'{text}' is no version of a Debian package") from error


def fields_of(paragraph: str) -> Mapping[str, str]:
    """The fields of a paragraph, without regard to case."""
    fields: Mapping[str, str] = library("deb822").Deb822(paragraph)
    return fields


@dataclass(frozen=True, slots=True)
class Relation:
    """One alternative of a dependency: `libc6 (>= 2.38)`."""

    name: str
    operator: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.operator} {self.version})" if self.operator else self.name

    def accepts(self, version: str) -> bool:
        """Whether a package of that name and version is meant; "" is a name without a version."""
        if not self.operator or not version:
            return not self.operator
        have, want = version_key(version), version_key(self.version)
        return bool(
            (have == want and self.operator in ("<=", "=", ">="))
            or (have < want and self.operator in ("<<", "<="))
            or (have > want and self.operator in (">>", ">="))
        )


Clause = tuple[Relation, ...]  # alternatives, the preferred one first


def relations(text: str) -> tuple[Clause, ...]:
    """A field like Depends: `a (>= 1) | b, c`."""
    if not text.strip():
        return ()
    parsed = library("deb822").PkgRelation.parse_relations(text)
    return tuple(
        tuple(Relation(item["name"], *(item["version"] or ())) for item in clause)
        for clause in parsed
    )


@dataclass(frozen=True, slots=True)
class Package:
    """A binary package of an index."""

    name: str
    version: str
    provides: tuple[Relation, ...]
    depends: tuple[Clause, ...]
    file: File

    def satisfies(self, relation: Relation) -> bool:
        own = Relation(self.name, "=", self.version)
        return any(
            p.name == relation.name and relation.accepts(p.version) for p in (own, *self.provides)
        )


class Index:
    """The paragraphs of Packages or Sources, by name and by what they provide."""

    def __init__(self, text: str) -> None:
        self._named: dict[str, list[str]] = {}
        self._provided: dict[str, list[str]] = {}
        for paragraph in text.split("\n\n"):
            if not (name := _NAME.search(paragraph)):
                continue
            self._named.setdefault(name[1], []).append(paragraph)
            if provides := _PROVIDES.search(paragraph):
                for word in provides[1].split(","):
                    if virtual := _WORD.match(word.strip()):
                        self._provided.setdefault(virtual[0], []).append(name[1])

    def names(self) -> list[str]:
        return list(self._named)

    def packages(self, name: str) -> list[Package]:
        """Every version of a binary package, the newest first."""
        found = [_package(fields_of(p)) for p in self._named.get(name, ())]
        return sorted(found, key=lambda package: version_key(package.version), reverse=True)

    def providers(self, virtual: str) -> list[Package]:
        """Return the packages that provide a name without having it, in the order of the index."""
        names = dict.fromkeys(self._provided.get(virtual, ()))
        return [package for name in names for package in self.packages(name)]

    def sources(self, name: str) -> list[Pinned]:
        """Every version of a source package."""
        return [_source(fields_of(paragraph)) for paragraph in self._named.get(name, ())]


def _package(fields: Mapping[str, str]) -> Package:
    needs = ", ".join(fields[key] for key in ("Pre-Depends", "Depends") if fields.get(key))
    return Package(
        name=fields["Package"],
        version=fields["Version"],
        provides=tuple(clause[0] for clause in relations(fields.get("Provides", ""))),
        depends=relations(needs),
        file=File(fields["Filename"], fields["SHA256"], int(fields["Size"])),
    )


def _source(fields: Mapping[str, str]) -> Pinned:
    lines = [line.split() for line in fields["Checksums-Sha256"].splitlines() if line.strip()]
    folder = fields["Directory"]
    files = tuple(File(f"{folder}/{name}", sha256, int(size)) for sha256, size, name in lines)
    return Pinned(fields["Package"], fields["Version"], files)
