# SPDX-License-Identifier: MIT
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from everycore.environment.decoding import decode, decode_line, encode_line


@dataclass(frozen=True)
class Inner:
    count: int


@dataclass(frozen=True)
class Outer:
    name: str
    inner: Inner | None = None
    sizes: tuple[int, ...] = ()
    pair: tuple[float, float] = (0.0, 1.0)
    known: Mapping[str, bool] | None = None
    rest: Any = None


def test_a_whole_object_is_decoded_and_unknown_members_are_left_out() -> None:
    plain = {"name": "a", "inner": {"count": 1}, "sizes": [1, 2], "pair": [1, 2.5], "newer": 1}
    plain |= {"known": {"x": True}, "rest": {"any": []}}
    found = decode(Outer, plain)
    assert found == Outer("a", Inner(1), (1, 2), (1, 2.5), {"x": True}, {"any": []})


@pytest.mark.parametrize(
    ("member", "value", "said"),
    [
        ("name", None, "'name' is None, not text"),
        ("name", 5, "'name' is 5, not text"),
        ("inner", [], r"'inner' is \[\], not an object"),
        ("inner", {"count": True}, "'inner.count' is True, not a whole number"),
        ("inner", {"count": 1.5}, "'inner.count' is 1.5, not a whole number"),
        ("sizes", "12", "'sizes' is '12', not a list"),
        ("sizes", ["x" * 99], r"'sizes\[0\]' is 'xxx.*, not a whole number"),
        ("pair", [1.0], "'pair' has another number of items than 2"),
        ("pair", [1.0, "2"], r"'pair\[1\]' is '2', not a number"),
        ("known", {"x": 1}, r"'known\[...\]' is of another type, not true or false"),
    ],
)
def test_a_value_of_another_type_is_named(member: str, value: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        decode(Outer, {"name": "a", member: value})
    with pytest.raises(TypeError, match=said):
        decode_line(Outer, encode_line({"name": "a", member: value}))


def test_a_missing_member_is_named() -> None:
    with pytest.raises(KeyError, match=r"inner\.count"):
        decode(Outer, {"name": "a", "inner": {}})


def test_a_line_that_is_no_json_is_no_value_of_another_type() -> None:
    with pytest.raises(ValueError, match="truncated"):
        decode_line(Outer, '{"name": "a')
    assert decode_line(Outer, '{"name": "a", "newer": [1]}') == Outer("a")
