# SPDX-License-Identifier: MIT
"""Turns values of JSON into dataclasses, and refuses values of other types than fields have."""

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from typing import Any


def decode(kind: Any, plain: Any, name: str = "") -> Any:
    """A value of JSON as the type `kind`; members that `kind` does not have are left out.

    KeyError names a member that is missing; TypeError and ValueError tell what is wrong with `name`
    (the member that has the value).
    """
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):  # with None
        (kind,) = (one for one in typing.get_args(kind) if one is not types.NoneType)
        return None if plain is None else decode(kind, plain, name)
    if origin is tuple:
        return _tuple(typing.get_args(kind), _expect(list, plain, name), name)
    if origin is not None and issubclass(origin, Mapping):
        item_kind = typing.get_args(kind)[1]
        members = _expect(dict, plain, name)
        return {key: decode(item_kind, item, f"{name}.{key}") for key, item in members.items()}
    if is_dataclass(kind):
        return _record(kind, _expect(dict, plain, name))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(plain)
    return plain if kind is Any else _expect(kind, plain, name)


def _expect(kind: type, plain: Any, name: str) -> Any:
    is_number = kind is float and type(plain) is int  # JSON has one kind of numbers
    if type(plain) is not kind and not is_number:
        shown = repr(plain) if len(repr(plain)) < 40 else f"{repr(plain)[:37]}..."
        words = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
        words |= {list: "a list", dict: "an object"}
        raise TypeError(f"'{name}' is {shown}, not {words[kind]}")
    return plain


def _tuple(inner: tuple[Any, ...], plain: list[Any], name: str) -> tuple[Any, ...]:
    repeated = len(inner) == 2 and inner[1] is Ellipsis
    kinds = [inner[0]] * len(plain) if repeated else list(inner)
    if len(kinds) != len(plain):
        raise TypeError(f"'{name}' has {len(plain)} items, not {len(kinds)}")
    return tuple(decode(one, item, name) for one, item in zip(kinds, plain, strict=True))


def _record(kind: Any, plain: Mapping[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    members: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in plain:
            members[field.name] = decode(hints[field.name], plain[field.name], field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(field.name)
    return kind(**members)
