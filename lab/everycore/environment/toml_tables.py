# SPDX-License-Identifier: MIT
"""TOML files as tables, and whether these have the members that their readers know."""

import tomllib
from collections.abc import Container, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from everycore.environment.decoding import decode
from everycore.environment.errors import EverycoreError


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise EverycoreError(f"cannot read {path}: it is no text in UTF-8") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise EverycoreError(f"cannot read {path}: {error}") from error


# Types that a member may have, as dataclasses declare it: as it is read, in words.
KINDS: Mapping[Any, tuple[Any, str]] = {
    str: (str, "a text"),
    int: (int, "a number"),
    float: (float, "a number"),
    bool: (bool, "true or false"),
    dict: (dict[str, Any], "a table"),
    list: (tuple[str, ...], "a list of texts"),
    tuple[str, ...]: (tuple[str, ...], "a list of texts"),
    tuple[int, ...]: (tuple[int, ...], "a list of numbers"),
}


def expect(
    where: str, table: Any, shape: Mapping[str, Any], required: Sequence[str] = ()
) -> dict[str, Any]:
    """The members of a table, lists as tuples: those of `shape` alone, and the required ones.

    `shape`: their kinds, of KINDS; of any other nothing is said.
    """
    if not isinstance(table, dict):
        raise EverycoreError(f"{where} is no table")
    for key, value in table.items():
        if key not in shape:
            raise EverycoreError(f"{where}: unknown key '{key}'", f"valid: {', '.join(shape)}")
        kind, words = KINDS.get(shape[key], (Any, ""))
        try:
            decode(kind, value)
        except TypeError:
            raise EverycoreError(f"{where}: '{key}' is not {words}") from None
    for key in required:
        if key not in table:
            raise EverycoreError(f"{where} lacks '{key}'")
    return {key: tuple(v) if isinstance(v, list) else v for key, v in table.items()}


def shape_of(kind: type, without: Container[str] = ()) -> dict[str, Any]:
    """The members of a dataclass, with their kinds."""
    return {f.name: f.type for f in fields(kind) if f.name not in without}


def required_of(kind: type, without: Container[str] = ()) -> list[str]:
    """Return the members that have no default."""
    own = [f for f in fields(kind) if f.name not in without]
    return [f.name for f in own if f.default is MISSING and f.default_factory is MISSING]
