# SPDX-License-Identifier: MIT
"""Turns JSON into records and dataclasses, and refuses values of other types than fields have.

Records of result files, lines of the harness and TOML tables are checked by the same rules, and an
error names the member in the same words.
"""

import re
from collections.abc import Sequence
from typing import Any, Self, TypeVar

import msgspec
from msgspec import structs

T = TypeVar("T")

WORDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
WORDS |= {"array": "a list", "object": "an object"}
_TYPES = re.compile(r"Expected `(?P<kind>[^`]+)`, got `[^`]+`")
_LENGTH = re.compile(r"Expected `array` of length (?P<wanted>\d+)")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]+)`")
_TAG = re.compile(r"Invalid value (?P<value>.+) - at `\$(?:\.\w+)*\.type`$")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]+)`")
_PLACE = re.compile(r" - at `\$(?P<place>[^`]*)`$")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value that is stored as an object of JSON; members that have their default are left out."""

    def replace(self, **changes: Any) -> Self:
        """Return the record with other values of some members."""
        return structs.replace(self, **changes)


class Opening(msgspec.Struct, frozen=True):
    """The members of a first line by which all versions of everycore know what follows."""

    type: str = ""
    format: int = 1
    version: int = 1  # of a harness's greeting


def written(default: T) -> T:
    """Return a default that is stored, too: programs that read the lines rely on the member."""
    return msgspec.field(default_factory=lambda: default)


def decode(kind: Any, plain: Any) -> Any:
    """Return a value of JSON as the type `kind`; members that `kind` does not have are left out.

    KeyError names a member that is missing; TypeError tells what is wrong with a member, which it
    names first.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise _in_words(str(error), plain) from None


def decode_line(kind: Any, text: str | bytes) -> Any:
    """Return a text of JSON as the type `kind`; ValueError: it is no JSON. Else as `decode`.

    `kind` may also be a decoder of msgspec, which is faster for many lines.
    """
    try:
        if isinstance(kind, msgspec.json.Decoder):
            return kind.decode(text)
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise _in_words(str(error), msgspec.json.decode(text)) from None


def complaint(error: Exception) -> str:
    """Return what an error of `decode` or `decode_line` says about the value."""
    if isinstance(error, KeyError):
        return f"'{error.args[0]}' is missing"
    return str(error) if isinstance(error, TypeError) else "it is not JSON"


def encode_line(plain: Any) -> str:
    """Return a value as one line of JSON, without spaces."""
    return msgspec.json.encode(plain).decode()


def _in_words(said: str, plain: Any) -> Exception:
    """The error of msgspec in words, with the value that is wrong."""
    found = _PLACE.search(said)
    place = found["place"] if found else ""
    if missing := _MISSING.match(said):
        return KeyError(".".join(filter(None, (place.lstrip("."), missing["name"]))))
    return TypeError(_wrong_member(said, place, plain))


def _wrong_member(said: str, place: str, plain: Any) -> str:
    """Return what is wrong with the member at a place."""
    name = place.lstrip(".")
    if unknown := _UNKNOWN.match(said):
        name = ".".join(filter(None, (name, unknown["name"])))
        return f"'{name}' is a member that this everycore does not know"
    if tag := _TAG.match(said):
        return f"'type' is {tag['value']}, which this everycore does not know"
    if length := _LENGTH.match(said):
        return f"'{name}' has another number of items than {length['wanted']}"
    if wrong := _TYPES.match(said):
        wanted = [kind.strip() for kind in wrong["kind"].split("|")]
        words = " or ".join(WORDS.get(kind, kind) for kind in wanted if kind != "null")
        value = _value_at(plain, list(_STEP.finditer(place)))
        return f"'{name}' is {value}, not {words}" if name else f"{value} is not {words}"
    return f"'{name}': {_PLACE.sub('', said)}"


def _value_at(plain: Any, steps: Sequence[re.Match[str]]) -> str:
    """The value at a place, in few characters."""
    for step in steps:
        if step["index"] == "...":  # of an object whose members have no names of their own
            return "of another type"
        plain = plain[step["name"]] if step["name"] is not None else plain[int(step["index"])]
    shown = repr(plain)
    return shown if len(shown) < 40 else f"{shown[:37]}..."
