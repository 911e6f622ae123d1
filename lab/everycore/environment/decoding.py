# SPDX-License-Identifier: MIT
"""Turns values of JSON into dataclasses, and refuses values of other types than fields have.

The only user of msgspec: records of result files, lines of the harness and TOML tables are checked
by the same rules, and an error names the member in the same words.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

WORDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
WORDS |= {"array": "a list", "object": "an object"}
_TYPES = re.compile(r"Expected `(?P<kind>[^`]+)`, got `[^`]+`")
_LENGTH = re.compile(r"Expected `array` of length (?P<wanted>\d+)")
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]+)`")
_PLACE = re.compile(r" - at `\$(?P<place>[^`]*)`$")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")


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
    """Return a text of JSON as the type `kind`; ValueError: it is no JSON. Else as `decode`."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise _in_words(str(error), msgspec.json.decode(text)) from None


def encode_line(plain: Any) -> str:
    """Return a value as one line of JSON, without spaces."""
    return msgspec.json.encode(plain).decode()


def _in_words(said: str, plain: Any) -> Exception:
    """The error of msgspec in words, with the value that is wrong."""
    found = _PLACE.search(said)
    place = found["place"] if found else ""
    if missing := _MISSING.match(said):
        return KeyError(".".join(filter(None, (place.lstrip("."), missing["name"]))))
    name = place.lstrip(".")
    if length := _LENGTH.match(said):
        return TypeError(f"'{name}' has another number of items than {length['wanted']}")
    if wrong := _TYPES.match(said):
        wanted = [one.strip() for one in wrong["kind"].split("|")]
        words = " or ".join(WORDS.get(one, one) for one in wanted if one != "null")
        value = _value_at(plain, list(_STEP.finditer(place)))
        return TypeError(f"'{name}' is {value}, not {words}")
    reason = said.removesuffix(found[0]) if found else said
    return TypeError(f"'{name}': {reason}")


def _value_at(plain: Any, steps: Sequence[re.Match[str]]) -> str:
    """The value at a place, in few characters."""
    for step in steps:
        if step["index"] == "...":  # of an object whose members have no names of their own
            return "of another type"
        plain = plain[step["name"]] if step["name"] is not None else plain[int(step["index"])]
    shown = repr(plain)
    return shown if len(shown) < 40 else f"{shown[:37]}..."
