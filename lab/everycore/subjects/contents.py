# SPDX-License-Identifier: MIT
"""Hash the contents of a function of a subject: by its digest, results of another text are known.

No compiler is asked: files are followed as their #include lines name them.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from everycore.environment.context import Context
from everycore.environment.errors import EverycoreError
from everycore.subjects.describe import Subject
from everycore.subjects.source_files import headers_below, pinned, sources

# Members of a subject, or a function, that change nothing that is measured.
WORDS = ("name", "description", "matrix", "functions", "home", "target", "machines")
CLAIMS = ("technique", "constant_time")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^<>"\n]+)[>"]', re.MULTILINE)


def contents(context: Context, subject: Subject, function: str) -> str:
    """Hash the description and the files; a package is known by its pins. Empty: they are not here.

    What is new in a later everycore and not used by the description leaves it as it was.
    """
    said = [_said(subject, WORDS), _said(subject.function(function), CLAIMS)]
    ours = [subject.home / name for name in subject.shims]
    files = [path for folder in ours for path in headers_below(folder)]
    if subject.adapter:
        files += _reached([subject.home / subject.adapter], [])
    try:
        if subject.package:
            lock = pinned(context, subject, update=False)
            pins = [pin for pin in (*lock.sources, *lock.packages) if pin.name == subject.package]
            said += [file.sha256 for pin in pins for file in pin.files]
        else:
            folder, _ = sources(context, subject)
            names = [*subject.files, *([subject.header] if subject.header else [])]
            places = [*ours, *(folder / name for name in subject.includes)]
            files += _reached([folder / name for name in names], places)
    except EverycoreError:
        return ""
    return hashlib.sha256("\0".join([*said, *map(_digest, files)]).encode()).hexdigest()[:16]


def _said(value: Any, but: Sequence[str]) -> str:
    """The members that have not their defaults."""
    every = [(field, getattr(value, field.name)) for field in fields(value)]
    return repr([(f.name, v) for f, v in every if f.name not in but and v != f.default])


def _reached(files: Iterable[Path], folders: Sequence[Path]) -> Iterator[Path]:
    """Files, and those that they include, each once, as far as they lie beside or in folders."""
    left, seen = list(files), set()
    while left:
        path = left.pop(0).resolve()
        if path in seen:
            continue
        seen.add(path)
        yield path
        with suppress(OSError):
            for found in _INCLUDE.findall(path.read_bytes()):
                name = found.decode(errors="surrogateescape")
                places = (folder / name for folder in (path.parent, *folders))
                left += [place for place in places if place.is_file()][:1]


def _digest(path: Path) -> str:
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""
